#!/usr/bin/env python3
"""Prints what a build spent its time on.

slowest_units.py BUILD_DIR [COUNT]

Reads Ninja's log of a build: the slowest COUNT (default 10) steps with their seconds, and the sum. Times are wall time of each step, so
they mean something only on a machine that did nothing else, without a compiler cache. The house wants no unit above 30 s.
"""
import pathlib
import sys


def steps(log):
    """Output name -> seconds of its latest run."""
    found = {}
    for line in log.splitlines():
        if line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) >= 4:
            found[fields[3]] = (int(fields[1]) - int(fields[0])) / 1000
    return found


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    log = pathlib.Path(arguments[0]) / ".ninja_log"
    if not log.exists():
        print(f"{log} is not there: build first", file=sys.stderr)
        return 1
    found = steps(log.read_text(encoding="utf-8"))
    count = int(arguments[1]) if len(arguments) > 1 else 10
    for name, seconds in sorted(found.items(), key=lambda item: -item[1])[:count]:
        print(f"{seconds:8.1f} s  {name}")
    print(f"{sum(found.values()):8.1f} s  in {len(found)} steps")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
