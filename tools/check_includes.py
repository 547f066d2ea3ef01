#!/usr/bin/env python3
"""Compares every #include of the tree with what the rooms declare.

check_includes.py SOURCE_DIR ROOMS_JSON

ROOMS_JSON is written by the build from thalweg_library(): per room its DEPS, TEST_DEPS and LINK. A file may include
- headers of its own room and of the rooms in its DEPS (tests and benchmarks: in TEST_DEPS too), named from src/;
- headers of external libraries that its room, or a room it uses directly or indirectly, names in LINK;
- the standard library and the operating system.
Prints one line per forbidden edge; exit status 1 if there is one.
"""
import json
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)

# First match wins. Headers of libraries that may be included only by rooms that link one of the names.
EXTERNAL = (
    (r"(spark|delta)/connect/|google/rpc/", ("protocol_messages",)),
    (r"google/protobuf/", ("protocol_messages", "protobuf")),
    (r"grpc(pp)?/|grpcpp", ("protocol_messages", "grpc")),
    (r"parquet/", ("parquet",)),
    (r"arrow/", ("arrow", "parquet")),
    (r"simdjson", ("simdjson",)),
    (r"nlohmann/", ("nlohmann",)),
    (r"fmt/", ("fmt", "spdlog")),
    (r"spdlog/", ("spdlog",)),
    (r"librdkafka/", ("rdkafka",)),
    (r"CLI/", ("cli11",)),
    (r"unicode/", ("icu",)),
    (r"openssl/", ("openssl",)),
    (r"sqlite3", ("sqlite3",)),
    (r"pcre2", ("pcre2",)),
    (r"absl/", ("absl_time", "grpc")),
    (r"xxhash", ("xxhash",)),
    (r"lz4", ("lz4",)),
    (r"zstd", ("zstd",)),
    (r"snappy", ("snappy",)),
    (r"zlib\.h", ("zlib",)),
    (r"rocksdb/", ("rocksdb",)),
)
# Who may include the public headers of include/thalweg.
PUBLIC_API_ROOMS = ("front/dataframe", "base", "apps")


class Rooms:
    """What each room declares, with the closure of what it links."""

    def __init__(self, entries):
        self.deps, self.test_deps, self.link = {}, {}, {}
        for entry in entries:  # `apps` has an entry per program
            name = entry["name"]
            self.deps.setdefault(name, set()).update(entry["deps"])
            self.test_deps.setdefault(name, set()).update(entry["test_deps"])
            self.link.setdefault(name, set()).update(entry["link"])

    def room_of(self, path):
        """The room a path below src/ belongs to, or None: the longest room name that is a folder of the path."""
        best = None
        for name in self.deps:
            if path.startswith(name + "/") and (best is None or len(name) > len(best)):
                best = name
        return best

    def linked(self, room, for_test, seen=None):
        """External names that a room sees."""
        seen = set() if seen is None else seen
        if room in seen:
            return set()
        seen.add(room)
        found = set(self.link.get(room, ()))
        below = self.deps.get(room, set()) | (self.test_deps.get(room, set()) if for_test else set())
        for dep in below:
            found |= self.linked(dep, False, seen)
        return found


def is_test(path):
    return path.endswith(("_test.cc", "_benchmark.cc", "_fuzz.cc"))


def check_file(rooms, path, text):
    """Yields (line number, message) for each forbidden include. path: below src/, with slashes."""
    room = rooms.room_of(path)
    if room is None:
        yield 1, "belongs to no room (src/rooms.cmake, thalweg_library)"
        return
    test = is_test(path)
    allowed = {room} | rooms.deps[room] | (rooms.test_deps[room] if test else set())
    links = None
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        target = match.group(1) or match.group(2)
        if target.startswith("thalweg/"):
            if not room.startswith(PUBLIC_API_ROOMS):
                yield line, f"the public header {target} is for users and {PUBLIC_API_ROOMS[0]} only"
            continue
        external = next((names for pattern, names in EXTERNAL if re.match(pattern, target)), None)
        if external is not None:
            links = rooms.linked(room, test) if links is None else links
            if not links & set(external):
                yield line, f"{target}: {room} does not LINK {' or '.join(external)}"
            continue
        if match.group(1) is None:
            continue  # standard library or operating system
        owner = rooms.room_of(target)
        if owner is None:
            yield line, f'"{target}" names no room; write the path from src/'
        elif owner not in allowed:
            yield line, f"{room} includes {target}, but {owner} is not in its DEPS"


def check_tree(source_dir, entries):
    """All findings of a tree as printable lines."""
    rooms = Rooms(entries)
    src = source_dir / "src"
    findings = []
    for file in sorted(src.rglob("*")):
        if file.suffix not in (".h", ".cc"):
            continue
        path = file.relative_to(src).as_posix()
        if path == "base/pch.h":
            continue  # a list for the compiler, not code of the room
        for line, message in check_file(rooms, path, file.read_text(encoding="utf-8")):
            findings.append(f"src/{path}:{line}: {message}")
    return findings


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    entries = json.loads(pathlib.Path(arguments[1]).read_text(encoding="utf-8"))
    findings = check_tree(pathlib.Path(arguments[0]), entries)
    print("\n".join(findings) or "includes: no forbidden edge")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
