#!/usr/bin/env python3
"""Runs a program and fails when the loader binds Arrow's libraries and the system's to each other.

check_bindings.py PROGRAM [ARGUMENT...]

The wheel's libraries contain copies of OpenSSL, simdjson, RE2, Abseil and protobuf (see hide_symbols.py). A binding from a
system library into one of them, or back, means that two versions of a library share a symbol: it must not happen. The
program runs with LD_BIND_NOW and LD_DEBUG=bindings, so that every symbol of every loaded library is looked at.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

BINDING = re.compile(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: normal symbol `([^']*)'")
LIBRARY = re.compile(r"/libthalweg\.so")
WHEEL = re.compile(r"/lib(?:arrow\w*|parquet)\.so")
# libstdc++, libgcc and glibc are shared by all, and their weak template instances may come from anywhere.
NEUTRAL = re.compile(r"/(?:libstdc\+\+|libgcc_s|libc|libm|libpthread|libdl|librt|ld-linux[\w-]*)\.so")
STANDARD_SYMBOL = re.compile(r"^_Z(?:T[VIST])?(?:G[VR])?Z?N?K?(?:St|S[absiod]|9__gnu_cxx)|^_ZN?K?St|^_ZGV|^_Zn|^_Zd")


def is_ours(path, program):
    return os.path.realpath(path) == program or bool(LIBRARY.search(path))


def crossings(log, program):
    """Yields (from, to, symbol) for each binding between a wheel library and a system library."""
    for match in BINDING.finditer(log):
        source, target, symbol = match.groups()
        if source == target or NEUTRAL.search(target) or STANDARD_SYMBOL.match(symbol):
            continue
        from_wheel, to_wheel = bool(WHEEL.search(source)), bool(WHEEL.search(target))
        if from_wheel == to_wheel:
            continue
        from_program = is_ours(source, program)
        own = "5arrow" in symbol or "7parquet" in symbol or symbol.lower().startswith("arrow")
        if own and (from_program or is_ours(target, program)):
            continue  # what we link Arrow for, and type information of Arrow's classes that we derive from
        yield os.path.basename(source), os.path.basename(target), symbol


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    program = os.path.realpath(arguments[0])
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, LD_DEBUG="bindings", LD_BIND_NOW="1", LD_DEBUG_OUTPUT=os.path.join(folder, "log"))
        subprocess.run([program, *arguments[1:]], env=environment, check=True, stdout=subprocess.DEVNULL)
        log = "".join(open(os.path.join(folder, name), encoding="utf-8", errors="replace").read() for name in os.listdir(folder))
    bindings = len(BINDING.findall(log))
    if bindings == 0:
        print("no binding was logged: the check saw nothing")
        return 1
    found = list(crossings(log, program))
    for (source, target), count in collections.Counter((s, t) for s, t, _ in found).most_common():
        example = next(symbol for s, t, symbol in found if (s, t) == (source, target))
        print(f"{source} -> {target}: {count} symbols, such as {example}")
    print(f"{bindings} bindings, {len(found)} between Arrow's libraries and the system's")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
