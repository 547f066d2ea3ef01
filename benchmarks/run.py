#!/usr/bin/env python3
"""run.py [--quick] [--output FILE] [FOLDER | FIGURE]...: measures and prints one JSON line per figure, a table at the end.

FOLDER: kernels, latency, state, ysb, ingest, udf; FIGURE: one function of such a folder, as in latency/fresh_start. Nothing named: all.
The programs of the build folder in TW_BUILD_DIR are measured (`make bench`: the release build). --quick: less of everything, for trying.
"""
import argparse
import importlib.util
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]
from kit.lines import Lines

FOLDERS = ("kernels", "latency", "state", "ysb", "ingest", "udf")


def rows_of(folder):
    spec = importlib.util.spec_from_file_location(f"{folder}_run", HERE / folder / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {row.__name__: row for row in module.ROWS}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--output", type=argparse.FileType("w"))
    arguments = parser.parse_args()
    lines = Lines(arguments.output)
    failed = []
    for wanted in arguments.names or FOLDERS:
        folder, _, figure = wanted.partition("/")
        for name, row in rows_of(folder).items():
            if figure and name != figure:
                continue
            try:
                row(lines, arguments.quick)
            except Exception as error:  # the other figures are still worth having
                failed.append(f"{folder}/{name}: {type(error).__name__}: {error}")
                print(failed[-1], file=sys.stderr, flush=True)
    print(lines.table(), file=sys.stderr)
    for text in failed:
        print("FAILED", text, file=sys.stderr)
    sys.exit(1 if failed else 0)


main()
