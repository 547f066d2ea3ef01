"""Promise: what the house bans is found in code, not in comments or strings, and an allow comment lifts it."""
import json

from tools.tool_modules import load

tidy = load("tidy")


def code(text, path="src/data/io/file.cc"):
    return [message.rsplit("[", 1)[1].rstrip("]") for _line, message in tidy.check_code(path, text)]


def test_banned_calls_are_found_in_code():
    assert code("std::this_thread::sleep_for(1s);") == ["sleep_for"]
    assert code("thread.detach();") == ["detach"]
    assert code("auto now = std::chrono::system_clock::now();") == ["system_clock"]
    assert code("int x = std::stoi(text);") == ["stoi"]
    assert code("try { F(); } catch (...) {}") == ["catch"]
    assert code("int x = rand();") == ["rand"]
    assert code("std::thread worker(Run);") == ["std_thread"]
    assert code("auto x = F().ValueOrDie();") == ["ValueOrDie"]


def test_comments_and_strings_are_not_code():
    assert code('// never sleep_for(1)\nconst char* text = "catch (...) rand()";\n/* throw */\n') == []
    assert code('auto text = R"(stoi( throw)";') == []


def test_names_that_only_look_alike_are_fine():
    assert code("int operand(int); operand(1); std::thread::id id; static_assert(true);") == []
    assert code("std::jthread worker(Run);") == []
    assert code("constexpr int kBig = 1'000'000; throw_away(kBig);") == []


def test_an_allow_comment_lifts_one_name_on_its_line_or_the_next():
    assert code("// tidy: allow(catch) thread entry\ncatch (...) {}") == []
    assert code("catch (...) {}  // tidy: allow(catch) thread entry") == []
    assert code("// tidy: allow(stoi) wrong name\ncatch (...) {}") == ["catch"]
    assert code("// tidy: allow(catch)\ncatch (...) {}") == ["catch"]  # without a reason


def test_base_owns_the_clock_and_tests_may_unwrap():
    assert code("system_clock::now()", "src/base/clock.cc") == []
    assert code("auto x = F().ValueOrDie();", "src/data/io/file_test.cc") == []
    assert code("GTEST_SKIP();", "src/data/io/file_test.cc") == ["skipped_test"]


def test_markers_machine_paths_names_and_length():
    def text(path, body):
        return [message.rsplit("[", 1)[1].rstrip("]") for _line, message in tidy.check_text(path, body)]
    assert text("a.py", "# TODO later\n") == ["marker"]
    assert text("a.py", 'open("/home/ana/file")\n') == ["machine_path"]
    assert text("a.py", 'open("/tmp/file")\n') == []
    assert text("src/x/utils.h", "") == ["file_name"]
    assert text("src/x/a.cc", "\n" * 1501) == ["long_file"]


def test_conditions_must_be_known_and_sorted():
    files = {"src/base/errors.json": json.dumps({"A_B": {"message": "x"}, "C.D": {"message": "y"}}),
             "src/x/a.cc": 'return Error("A_B");\nreturn Error("C.D");\nreturn Error(\n    "NOT_THERE.SUB");\n'}
    assert [(path, line) for path, line, _ in tidy.check_conditions(files)] == [("src/x/a.cc", 3)]
    files["src/base/errors.json"] = json.dumps({"C.D": {}, "A_B": {}, "NOT_THERE.SUB": {}})
    assert ["condition_order" in message for _, _, message in tidy.check_conditions(files)] == [True, False][:1]


def test_unregistered_tests_are_found():
    files = {"tests/a/CMakeLists.txt": "thalweg_python_test(NAME a/one FILE one_test.py)",
             "tests/a/one_test.py": "", "tests/a/two_test.py": ""}
    assert [path for path, _, _ in tidy.check_registered(files)] == ["tests/a/two_test.py"]


def test_settings_are_in_headers_and_listed():
    files = {tidy.KNOWN_SETTINGS: "AddAll(&table, x::kA, x::kB);  // kLost\n",
             tidy.TOLD_SETTINGS: '{"spark.sql.told", "1", true},\n',
             "src/x/x_settings.h": 'inline const Setting<bool> kA{\n    .key = "spark.x.a", .doc = ""};\n'
                                   'inline const Setting<std::string> kLost{\n    .key = "thalweg.lost"};\n'
                                   '// inline const Setting<bool> kComment{.key = "spark.x.c"};\n',
             "src/x/b.cc": 'const Setting<int64_t> kB{.key = "spark.databricks.b"};\nconst Setting<bool> kLocal{.key = "maxAge"};\n',
             "src/y/y_settings.h": 'inline const Setting<bool> kA{.key = "spark.y.a"};\n',
             "src/x/x_test.cc": 'const Setting<bool> kTest{.key = "spark.x.test"};\n'}
    assert [(path, line) for path, line, _ in tidy.check_settings(files)] == [
        ("src/x/x_settings.h", 4), ("src/x/b.cc", 1), ("src/y/y_settings.h", 1)]


def test_keys_that_are_asked_for_are_known():
    files = {tidy.TOLD_SETTINGS: '{"spark.sql.told", "1", true},\n', tidy.KNOWN_SETTINGS: "kA",
             "src/x/x_settings.h": 'inline const Setting<bool> kA{.key = "spark.databricks.a"};\n',
             "src/x/a.cc": 'session.GetConfOption("spark.sql.told");\nconf.GetBool("spark.databricks.a");\n'
                           'session.GetConfOption("spark.sql.forgotten");\nconstexpr std::string_view kKey = "spark.databricks.forgotten";\n'
                           'constexpr const char* kType = "spark.sql.forgotten";\n'
                           '// tidy: allow(setting) a name in files\nconstexpr char kName[] = "spark.sql.name";\n'
                           'Error("X").With("config", "spark.sql.forgotten");\n'}
    assert [(path, line) for path, line, _ in tidy.check_settings(files)] == [("src/x/a.cc", 3), ("src/x/a.cc", 4), ("src/x/a.cc", 5)]


def test_documents_name_real_files():
    files = {"README.md": "see `src/base/status.h` and `src/gone.h`\n"}
    found = list(tidy.check_documents(files, lambda name: name == "src/base/status.h"))
    assert [message for _, _, message in found] == ["src/gone.h does not exist [path]"]


def test_file_local_names_of_a_room_are_unique():
    files = {"src/data/io/a.cc": "namespace {\nconstexpr int kPlace = 1;\nint Get(int x) { return x; }\nstruct One {};\n}  // namespace\n",
             "src/data/io/b.cc": "namespace {\n\nconstexpr char kPlace[] = {1};\nint Get(int y) { return y; }\nint Get(long y) { return 1; }\n}\n",
             "src/data/io/c_test.cc": "namespace {\nconstexpr int kPlace = 1;\n}\n",
             "src/data/types/a.cc": "namespace {\nconstexpr int kPlace = 1;\n}\n"}
    assert [(path, line) for path, line, _ in tidy.check_local_names(files)] == [("src/data/io/b.cc", 3), ("src/data/io/b.cc", 4)]
    files["src/data/io/d.cc"] = "namespace {\nvoid First() {\n  if (true) {\n  }\n}\n\nint Get(int z) {\n  return z;\n}\n}\n"
    assert [(path, line) for path, line, _ in tidy.check_local_names(files)][2:] == [("src/data/io/d.cc", 7)]
    files["src/data/io/d.cc"] = "namespace {\nvoid One(int x) {}\n}\n"
    assert [(path, line) for path, line, _ in tidy.check_local_names(files)][2:] == [("src/data/io/d.cc", 2)]
    del files["src/data/io/d.cc"]
    files["src/data/io/CMakeLists.txt"] = "thalweg_library(NAME data/io DEPS base NO_UNITY b.cc LINK fmt)"
    assert list(tidy.check_local_names(files)) == []
