"""Programs that come with Spark, run as they are where an installation has them."""
import importlib.util
import os
import pathlib


def _installations():
    package = importlib.util.find_spec("pyspark")
    for folder in package.submodule_search_locations if package else ():
        yield pathlib.Path(folder)
    if os.environ.get("SPARK_HOME"):
        yield pathlib.Path(os.environ["SPARK_HOME"])
    oracle = pathlib.Path(os.environ.get("ORACLE_HOME", pathlib.Path.home() / ".cache" / "thalweg-oracle"))
    yield from oracle.glob("venv/lib/python3*/site-packages/pyspark")


def with_spark_example(own, example):
    """Our own program, and Spark's of the same make, when this machine has it."""
    paths = (folder / "examples/src/main/python/sql/streaming" / example for folder in _installations())
    return [own, *[path for path in paths if path.is_file()][:1]]
