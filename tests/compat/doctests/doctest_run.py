"""Runs the examples in the docstrings of one module of the installed PySpark against a server, and prints how many hold.

    doctest_run.py MODULE sc://HOST:PORT [SHARD OF]

One docstring counts as one: it holds when each of its examples prints what it says. The module's own _test() prepares its globals, as
PySpark's own runs do; only what it hands to doctest.testmod is run here, SHARD of OF of it. The last line is JSON: {"held": [names], "broke": [names]}."""
import doctest
import importlib
import io
import json
import os
import sys
import tempfile

NORMAL = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


class Counted:
    """Stands in for doctest.testmod."""

    def __init__(self, shard, shards):
        self.shard, self.shards, self.held, self.broke = shard, shards, [], []

    def __call__(self, module=None, globs=None, optionflags=0, **_):
        found = doctest.DocTestFinder().find(module, module.__name__, globs=globs or dict(module.__dict__))
        found = sorted((test for test in found if test.examples), key=lambda test: test.name)
        runner = doctest.DocTestRunner(optionflags=optionflags, verbose=False)
        for at, test in enumerate(found):
            # Neighbours together: some share the name of a global view.
            if at * self.shards // len(found) != self.shard:
                continue
            try:
                result = runner.run(test, out=io.StringIO().write, clear_globs=False)
                if result.attempted:
                    (self.broke if result.failed else self.held).append(test.name)
            except Exception:  # an example that breaks the runner
                self.broke.append(test.name)
        return doctest.TestResults(len(self.broke), len(self.held) + len(self.broke))


def main(name, remote, shard=0, shards=1):
    os.environ["SPARK_CONNECT_TESTING_REMOTE"] = remote
    os.environ.setdefault("SPARK_HOME", os.path.dirname(importlib.import_module("pyspark").__file__))
    counted = Counted(int(shard), int(shards))
    doctest.testmod = counted
    module = importlib.import_module(name)
    if ".connect." in name:
        try:
            module._test()
        except SystemExit:
            pass  # its way to say that something failed
    else:  # documented on a class that classic Spark and Connect share
        from pyspark.sql import SparkSession
        counted(module, globs=dict(module.__dict__, spark=SparkSession.builder.remote(remote).getOrCreate()), optionflags=NORMAL)
    print("\n" + json.dumps({"held": counted.held, "broke": counted.broke}), flush=True)
    os._exit(0)  # PySpark's exit handlers may wait for a server


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main(*sys.argv[1:])
