#!/usr/bin/env python3
"""Reads the tree and reports what the house does not allow (docs: CONTRIBUTING.md, "The tidy test").

tidy.py SOURCE_DIR

Checks: banned calls with their replacement, refused names, long files, leftover markers, machine paths, skipped tests,
conditions that src/base/errors.json does not know, settings that nobody lists, tests that no CMakeLists.txt registers, documents that name files which
do not exist. A finding that is right where it stands is allowed by a comment on its line or the line before:

    // tidy: allow(sleep_for) the worker of a foreign process has no condition to wait on

Exit status 1 if there is a finding.
"""
import json
import pathlib
import re
import subprocess
import sys

LONGEST_FILE = 1500
TEXT_SUFFIXES = {".cc", ".h", ".py", ".sh", ".cmake", ".md", ".txt", ".yml"}
CODE_SUFFIXES = {".cc", ".h"}

# name, pattern in C++ code (comments and strings removed), what to write instead, folders where it is fine
BANNED = (
    ("sleep_for", r"\bsleep_(?:for|until)\b|\b(?:u|nano)?sleep\s*\(", "wait for progress: a condition, a Clock, a BoundedQueue", ()),
    ("detach", r"[.>]detach\s*\(\s*\)", "a jthread with an owner that joins it", ()),
    ("system_clock", r"\bsystem_clock::now\b|\bgettimeofday\s*\(|\btime\s*\(\s*(?:nullptr|NULL|0)\s*\)", "Clock from base", ("src/base/",)),
    ("rand", r"\bs?rand\s*\(|\brandom_device\b", "Random(seed) from base", ("src/base/",)),
    ("stoi", r"\bsto(?:i|l|ll|ul|ull|f|d|ld)\s*\(|\bato(?:i|l|ll|f)\s*\(", "std::from_chars or data/text: they return errors", ()),
    ("catch", r"\bcatch\s*\(\s*\.\.\.\s*\)", "catch what the library throws; at a thread's or RPC's entry say so with an allow comment", ()),
    ("throw", r"\bthrow\b", "return a Status", ()),
    ("std_thread", r"\bstd::thread\s*(?:[({]|\w+\s*[({;=])", "std::jthread", ()),
    ("using_namespace_std", r"\busing\s+namespace\s+std\b", "std:: in front", ()),
    ("assert", r"(?<![\w.])assert\s*\(", "TW_DCHECK, TW_INVARIANT or a Status", ()),
    ("system", r"\b(?:std::)?(?:system|popen)\s*\(", "an exec of an argument list, never a shell", ()),
)
# The same for tests alone; `ValueOrDie` is theirs.
BANNED_OUTSIDE_TESTS = (
    ("ValueOrDie", r"\bValueOrDie\s*\(", "TW_ASSIGN_OR_RETURN; Arrow's results are converted where Arrow is called", ("include/thalweg/status.h",)),
)
BANNED_TEST_CALLS = (
    ("skipped_test", r"\bGTEST_SKIP\b|\bDISABLED_\w+", "a test that runs"),
)
BANNED_PYTHON = (
    ("time.sleep", r"\btime\.sleep\s*\(", "wait for progress (tests/harness/waiting.py)", ("tests/harness/waiting.py", "examples/")),
    ("skipped_test", r"pytest\.(?:mark\.)?(?:skip|skipif|xfail|importorskip)\b", "a test that runs", ()),
)
MARKERS = re.compile(r"\b(?:TODO|FIXME|HACK)\b")
# Folders of one person's or one machine's; a document may speak of the user's own home folder as ~.
MACHINE_PATH = re.compile(r"(?<![\w.~}])/(?:root|work|home/\w+|Users/\w+)/[\w.]")
REFUSED_NAME = re.compile(r"(?:^|/)(?:utils?|helpers?|common|misc|manager)(?:_test)?\.(?:h|cc|py)$")
CONDITION = re.compile(r'\b(?:Error|AnalysisError|UserError)\s*\(\s*"([A-Z][A-Z0-9_]*(?:\.[A-Z][A-Z0-9_]*)*)"\s*[),]')
ALLOW = re.compile(r"tidy: allow\(([\w., ]+)\)\s*\S")
DOCUMENT_PATH = re.compile(r"`((?:src|tests|tools|cmake|docs|examples|include|benchmarks|python|changes)/[\w./-]+)`")
# A setting's declaration; a key of a setting that is looked up by name or that a constant holds.
SETTING = re.compile(r'\bSetting<[\w:]+>\s+(\w+)\s*\{\s*\.key\s*=\s*"((?:spark|thalweg)\.[^"]+)"')
ASKED_KEY = re.compile(r'(?:\b(?:flag|says|Lookup|LookupLocked|GetBool|GetInt|GetConfOption|Find|Setting)\(\s*(?:std::string\()?'
                       r'|\b(?:string_view|char\s*\*|char)\s+(?:const\s+)?k\w+(?:\[\])?\s*[={]\s*)'
                       r'"((?:spark\.sql|spark\.databricks|thalweg)\.[\w.]*\w)"')
KNOWN_SETTINGS = "src/apps/known_settings.cc"
TOLD_SETTINGS = "src/front/session/spark_settings_table.cc"

CXX_TOKEN = re.compile(
    r'(?P<raw>R"(?P<tag>[^(\s]{0,16})\(.*?\)(?P=tag)")'
    r"|(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)"
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<char>(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')", re.DOTALL)


def strip_cxx(text):
    """The code of a C++ file: comments, strings and characters become blanks; line numbers stay."""
    return CXX_TOKEN.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def allowed_lines(text):
    """Line number -> names allowed there by a comment on that line or the one before."""
    allowed = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = ALLOW.search(line)
        if match:
            names = {name.strip() for name in match.group(1).split(",")}
            allowed.setdefault(number, set()).update(names)
            allowed.setdefault(number + 1, set()).update(names)
    return allowed


def search(text, name, pattern, allowed):
    for match in re.finditer(pattern, text):
        line = text.count("\n", 0, match.start()) + 1
        if name not in allowed.get(line, ()):
            yield line, match.group().strip()


def check_code(path, text):
    """Yields (line, message) for a C++ file."""
    allowed = allowed_lines(text)
    code = strip_cxx(text)
    test = path.endswith(("_test.cc", "_benchmark.cc")) or path.startswith("tests/")
    rules = [rule for rule in BANNED + (() if test else BANNED_OUTSIDE_TESTS) if not path.startswith(rule[3])]
    if test:  # a test may throw from a callback to see what its caller does, and parse what it knows to be right
        rules = [rule for rule in rules if rule[0] not in ("throw", "stoi", "std_thread")] + [rule + ((),) for rule in BANNED_TEST_CALLS]
    for name, pattern, instead, _folders in rules:
        for line, found in search(code, name, pattern, allowed):
            yield line, f"{found}: {instead} [{name}]"
    if path.endswith(".h") and "#pragma once" not in text:
        yield 1, "a header begins with #pragma once [pragma_once]"


def check_python(path, text):
    allowed = allowed_lines(text)
    for name, pattern, instead, folders in BANNED_PYTHON:
        if path.startswith(folders):
            continue
        for line, found in search(text, name, pattern, allowed):
            yield line, f"{found}: {instead} [{name}]"


def check_text(path, text):
    """Yields (line, message) for any text file."""
    allowed = allowed_lines(text)
    if path not in ("tools/tidy.py", "tests/tools/tidy_test.py"):
        for line, found in search(text, "marker", MARKERS, allowed):
            yield line, f"leftover marker {found} [marker]"
        for line, found in search(text, "machine_path", MACHINE_PATH, allowed):
            yield line, f"path of one machine: {found} [machine_path]"
    lines = text.count("\n")
    if path.endswith((".cc", ".h", ".py")) and lines > LONGEST_FILE:
        yield lines, f"{lines} lines: look for the second noun [long_file]"
    if REFUSED_NAME.search(path):
        yield 1, "say of what: no utils, helpers, common, misc, manager [file_name]"


def strip_comments(text):
    """The same with strings kept."""
    return CXX_TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group()) if m.group("line") or m.group("block") else m.group(), text)


def conditions_of(text):
    """Yields (line, condition) for each Error("...") of a C++ file."""
    for match in CONDITION.finditer(strip_comments(text)):
        yield text.count("\n", 0, match.start()) + 1, match.group(1)


def known_conditions(errors_json):
    """All names of errors.json: a main condition, or main.sub where sub-conditions are nested."""
    known = set()
    for name, entry in json.loads(errors_json).items():
        known.add(name)
        for key in ("subClass", "sub_class", "sub"):
            known.update(f"{name}.{sub}" for sub in entry.get(key, {}) if isinstance(entry, dict))
    return known


def check_conditions(files):
    errors = files.get("src/base/errors.json")
    if errors is None:
        return
    known = known_conditions(errors)
    names = list(json.loads(errors))
    for before, after in zip(names, names[1:]):
        if before >= after:
            yield "src/base/errors.json", 1, f"keys are sorted: {before} stands before {after} [condition_order]"
    for path, text in files.items():
        if path.startswith("src/") and path.endswith((".cc", ".h")) and not path.endswith("_test.cc"):
            allowed = allowed_lines(text)
            for line, name in conditions_of(text):
                if name not in known and "condition" not in allowed.get(line, ()):
                    yield path, line, f"{name} is not in src/base/errors.json [condition]"


UNNAMED_NAMESPACE = re.compile(r"^namespace \{\n", re.MULTILINE)
LOCAL_NAMES = re.compile(
    r"^(?:inline |static )*(?:constexpr|const|constinit)\b[^\n=({;]*?\b(?P<constant>\w+)(?:\[[^\n]*\])?\s*[={]"
    r"|^(?:struct|class|enum class|enum)\s+(?P<type>\w+)[^\n;]*\{"
    r"|^(?!namespace|template|using|return|else)[\w:][^\n=;]*?\b(?P<function>\w+)\((?P<parameters>[^;{]*)\)[^;{]*\{", re.MULTILINE)
PARAMETER_NAME = re.compile(r"\s*\b\w+\s*(?=,|$)|/\*.*?\*/")


def outermost(code, start):
    """What follows the brace before `start` up to its end, without what stands in deeper braces; lines stay."""
    kept = []
    depth = 0
    for char in code[start:]:
        depth -= char == "}"
        if depth < 0:
            break
        kept.append(char if depth == 0 or char == "\n" else " ")
        depth += char == "{"
    return "".join(kept)


def local_names(text):
    """Yields (line, name) of what a source defines in unnamed namespaces; of a function, the name with its parameter types."""
    code = strip_cxx(text)
    for block in UNNAMED_NAMESPACE.finditer(code):
        for match in LOCAL_NAMES.finditer(outermost(code, block.end())):
            name = match.group("constant") or match.group("type")
            if name is None:
                types = re.sub(r"\s+", "", PARAMETER_NAME.sub("", match.group("parameters")))
                name = f"{match.group('function')}({types})"
            yield code.count("\n", 0, block.end() + match.start()) + 1, name


def check_local_names(files):
    """The ci preset compiles the sources of a room together: names in unnamed namespaces are unique within a room."""
    rooms = {}
    for path, text in files.items():
        if not path.startswith("src/") or not path.endswith(".cc") or path.startswith("src/apps/"):
            continue
        if path.endswith(("_test.cc", "_benchmark.cc", "_fuzz.cc", "_inst.cc")):
            continue
        parts = pathlib.PurePosixPath(path).parts
        room = "/".join(parts[:2] if parts[1] == "base" else parts[:3])
        alone = re.search(r"NO_UNITY([^)A-Z]*)", files.get(f"{room}/CMakeLists.txt", ""))
        if alone and path[len(room) + 1:] in alone.group(1).split():
            continue
        allowed = allowed_lines(text)
        for line, name in local_names(text):
            if "local_name" not in allowed.get(line, ()):
                rooms.setdefault((room, name), []).append((path, line))
    # A type, or a constant, hides every function of its name.
    for (room, name), places in list(rooms.items()):
        base = name.split("(")[0]
        if base != name and (room, base) in rooms:
            rooms[room, base].extend(places)
    for (_room, name), places in rooms.items():
        if len({path for path, _line in places}) > 1:
            first = f"{places[0][0]}:{places[0][1]}"
            for path, line in places[1:]:
                if path != places[0][0]:
                    yield path, line, f"{name} is defined in {first} too; unity builds compile both together [local_name]"


def check_settings(files):
    """A room declares a setting in a header and KNOWN_SETTINGS lists it, so that its text is checked where a user sets it. No other key is
    asked for than those and the ones that TOLD_SETTINGS lists of Spark's."""
    listed = set(re.findall(r"\bk\w+", strip_comments(files.get(KNOWN_SETTINGS, ""))))
    keys = set(re.findall(r'\{"([^"]+)"', files.get(TOLD_SETTINGS, "")))
    declared, asked = {}, []
    for path, text in files.items():
        if not path.startswith("src/") or pathlib.PurePosixPath(path).suffix not in CODE_SUFFIXES or path.endswith("_test.cc"):
            continue
        code, allowed = strip_comments(text), allowed_lines(text)

        def places(pattern, code=code, allowed=allowed):
            for match in pattern.finditer(code):
                line = code.count("\n", 0, match.start(match.lastindex)) + 1
                if "setting" not in allowed.get(line, ()):
                    yield line, match
        for line, match in places(SETTING):
            name, key = match.groups()
            keys.add(key)
            if name in declared:
                yield path, line, f"{name} names a setting in {declared[name]} too: the list could forget one of them [setting]"
            declared[name] = path
            if not path.endswith(".h"):
                yield path, line, f"{key} belongs into a header, the room's *_settings.h [setting]"
            if name not in listed:
                yield path, line, f"{name} is not in {KNOWN_SETTINGS}: what users set it to is not checked [setting]"
        asked += [(path, line, match.group(1)) for line, match in places(ASKED_KEY)]
    for path, line, key in asked:
        if key not in keys:
            yield path, line, f"{key} is no Setting and not in {TOLD_SETTINGS} [setting]"


def check_registered(files):
    """Every Python test under tests/ is named by the CMakeLists.txt of its folder or of one above."""
    for path in files:
        if not (path.startswith("tests/") and path.endswith("_test.py")):
            continue
        folder = pathlib.PurePosixPath(path).parent
        registers = [files.get(f"{parent}/CMakeLists.txt", "") for parent in (folder, *folder.parents)]
        name = pathlib.PurePosixPath(path).name
        globbed = any("_test.py" in text and "GLOB" in text for text in registers)
        if not globbed and not any(name in text for text in registers):
            yield path, 1, "no CMakeLists.txt registers this test [unregistered]"


def check_documents(files, exists):
    """Paths that documents quote are real, except in decisions and plans of what is to come."""
    for path, text in files.items():
        if not path.endswith(".md") or path.startswith(("docs/decisions/", "changes/")):
            continue
        allowed = allowed_lines(text)
        for match in DOCUMENT_PATH.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            if not exists(match.group(1)) and "path" not in allowed.get(line, ()):
                yield path, line, f"{match.group(1)} does not exist [path]"


def tracked_files(source_dir):
    listed = subprocess.run(["git", "-C", str(source_dir), "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
                            capture_output=True, check=False)
    if listed.returncode == 0:
        return sorted({name for name in listed.stdout.decode().split("\0") if name and (source_dir / name).is_file()})
    return sorted(p.relative_to(source_dir).as_posix() for p in source_dir.rglob("*")
                  if p.is_file() and not {".git", "build", "dist"} & set(p.relative_to(source_dir).parts))


def is_data(path):
    """Recorded data and inputs of tests are checked by nobody: they are what they are."""
    parts = pathlib.PurePosixPath(path).parts
    return bool({"recorded", "vectors", "data", "samples", "golden"} & set(parts[:-1])) and parts[0] == "tests" or path == "LICENSE"


def check_tree(source_dir):
    files = {}
    for path in tracked_files(source_dir):
        suffix = pathlib.PurePosixPath(path).suffix
        if is_data(path) or not (suffix in TEXT_SUFFIXES or path == "src/base/errors.json"):
            continue
        files[path] = (source_dir / path).read_text(encoding="utf-8")
    for path, text in files.items():
        checks = [check_text(path, text)] if path != "src/base/errors.json" else []
        if pathlib.PurePosixPath(path).suffix in CODE_SUFFIXES:
            checks.append(check_code(path, text))
        if path.endswith(".py"):
            checks.append(check_python(path, text))
        for check in checks:
            for line, message in check:
                yield path, line, message
    yield from check_conditions(files)
    yield from check_local_names(files)
    yield from check_settings(files)
    yield from check_registered(files)
    yield from check_documents(files, lambda name: (source_dir / name).exists())


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    findings = [f"{path}:{line}: {message}" for path, line, message in check_tree(pathlib.Path(arguments[0]))]
    print("\n".join(findings) or "tidy: nothing to report")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
