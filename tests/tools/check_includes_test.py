"""Promise: an include that DEPS or LINK do not cover is found, and nothing else is."""
from tools.tool_modules import load

check_includes = load("check_includes")

ENTRIES = [
    {"name": "base", "deps": [], "test_deps": [], "link": ["fmt"]},
    {"name": "data/types", "deps": ["base"], "test_deps": [], "link": ["arrow"]},
    {"name": "data/io", "deps": ["base"], "test_deps": ["data/types"], "link": []},
    {"name": "sql/plan", "deps": ["base", "data/types"], "test_deps": [], "link": []},
]


def findings(path, text):
    return [message for _line, message in check_includes.check_file(check_includes.Rooms(ENTRIES), path, text)]


def test_own_headers_declared_rooms_and_the_standard_library_are_fine():
    text = '#include "sql/plan/node.h"\n#include "data/types/value.h"\n#include "base/status.h"\n#include <vector>\n'
    assert findings("sql/plan/node.cc", text) == []


def test_a_room_outside_deps_is_named_with_its_line():
    found = list(check_includes.check_file(
        check_includes.Rooms(ENTRIES), "data/types/value.cc", '#include "base/status.h"\n#include "data/io/file.h"\n'))
    assert found == [(2, "data/types includes data/io/file.h, but data/io is not in its DEPS")]


def test_test_deps_count_for_tests_only():
    text = '#include "data/types/value.h"\n'
    assert findings("data/io/file_test.cc", text) == []
    assert len(findings("data/io/file.cc", text)) == 1


def test_an_indirect_room_must_be_declared():
    entries = ENTRIES + [{"name": "engine/exec", "deps": ["base", "sql/plan"], "test_deps": [], "link": []}]
    rooms = check_includes.Rooms(entries)
    assert len(list(check_includes.check_file(rooms, "engine/exec/a.cc", '#include "data/types/value.h"\n'))) == 1


def test_external_libraries_are_seen_through_deps():
    assert findings("sql/plan/node.cc", "#include <arrow/array.h>\n#include <fmt/core.h>\n") == []
    assert findings("data/io/file.cc", "#include <arrow/array.h>\n") == [
        "arrow/array.h: data/io does not LINK arrow or parquet"]
    assert len(findings("data/io/file.cc", "#include <simdjson.h>\n")) == 1


def test_paths_that_name_no_room_are_refused():
    assert findings("data/io/file.cc", '#include "file.h"\n') == ['"file.h" names no room; write the path from src/']
    assert len(findings("unknown/file.cc", "")) == 1


def test_the_public_api_is_for_the_front_floor():
    assert len(findings("data/io/file.cc", "#include <thalweg/session.h>\n")) == 1
