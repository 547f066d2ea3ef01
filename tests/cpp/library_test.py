"""libthalweg.so: what it shows, and that programs outside of this tree build on an installed one.

# ctest: TIMEOUT 300 SERIAL
"""
import os
import pathlib
import re
import subprocess

import pytest
from harness.processes import clean_environment
from harness.thalweg_server import ThalwegServer, build_dir
from harness.waiting import patience

SOURCE = pathlib.Path(os.environ["TW_SOURCE_DIR"])
COMPILER = "g++"
# A library built with a sanitizer works in programs built with it.
SANITIZE = [f"-fsanitize={os.environ['TW_SANITIZE']}"] if os.environ.get("TW_SANITIZE") else []
if os.environ.get("TW_SANITIZE") == "thread":  # with what a program needs so that the sanitizer sees the order of things
    OBJECTS = pathlib.Path(build_dir()) / "CMakeFiles" / "tw_sanitizer.dir" / "cmake" / "sanitizers"
    SANITIZE += ["-rdynamic", *(str(OBJECTS / f"{source.name}.o") for source in sorted((SOURCE / "cmake" / "sanitizers").glob("tsan_*.cc")))]


def run(*command, cwd=None, **environment):
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False, timeout=patience(240),
                          env=clean_environment(**environment))
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An installation, as `make release` makes it."""
    folder = tmp_path_factory.mktemp("installed")
    run("cmake", "--install", build_dir(), "--prefix", folder, "--strip")
    return folder


def exported():
    lines = run("nm", "-D", "--defined-only", build_dir() / "lib" / "libthalweg.so").splitlines()
    return [line.split()[-1] for line in lines]


def test_the_public_api_alone_is_exported():
    names = exported()
    assert len(names) > 300
    strangers = [name for name in names if not re.match(r"_Z(N|NK|TIN|TSN|TVN)7thalweg", name)]
    assert strangers == []
    plain = run("c++filt", *names).splitlines()
    rooms = re.compile(r"thalweg::(data|sql|engine|connectors|streaming|front|apps)::")
    assert [name for name in plain if rooms.search(name)] == []
    assert [name for name in names if re.search(r"5arrow|7parquet|8protobuf|4grpc|5spark7connect|SSL_", name)] == []
    # What the macros and templates of the headers call.
    internal = [name.split("(")[0] for name in plain if "thalweg::internal::" in name.split("(")[0]]
    assert sorted(set(internal)) == ["thalweg::internal::CheckFailed", "thalweg::internal::DieOnError"]


def test_an_outside_project_finds_the_package(prefix, tmp_path):
    build = tmp_path / "build"
    run("cmake", "-S", SOURCE / "tests" / "cpp" / "outside", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={COMPILER}",
        f"-DCMAKE_CXX_FLAGS={' '.join(SANITIZE[:1])}", f"-DCMAKE_EXE_LINKER_FLAGS={' '.join(SANITIZE[1:])}")
    run("cmake", "--build", build)
    assert run(build / "outside", cwd=tmp_path) == "0 18\n1 12\n2 15\n"


def test_the_readme_program_runs(prefix, tmp_path):
    """The program and its command line stand in README.md; its paths are those of `make release`."""
    text = (SOURCE / "README.md").read_text(encoding="utf-8")
    section = text.split("## C++")[1].split("\n## ")[0]
    program = re.search(r"```cpp\n(.*?)```", section, re.DOTALL).group(1)
    command = re.search(r"```sh\n(g\+\+[^\n]*)\n", section).group(1)
    (tmp_path / "program.cc").write_text(program, encoding="utf-8")
    (tmp_path / "dist").symlink_to(prefix)
    run("bash", "-c", " ".join([command, *SANITIZE]), cwd=tmp_path)
    expected = "+---+\n| id|\n+---+\n|  0|\n|  2|\n|  4|\n+---+\n\n"
    assert run(tmp_path / "program", cwd=tmp_path) == expected
    server = ThalwegServer(tmp_path / "server").start()
    try:
        assert run(tmp_path / "program", cwd=tmp_path, SPARK_REMOTE=server.url) == expected
    finally:
        server.stop()


def test_a_program_may_end_with_all_running(prefix, tmp_path):
    """Sessions and queries of static objects, or left behind by exit(), end without a crash or a wait."""
    (tmp_path / "program.cc").write_text("""
        #include <thalweg/thalweg.h>
        #include <cstdio>
        #include <cstdlib>
        #include <optional>
        static std::optional<thalweg::Session> global;
        int main(int argc, char**) {
          global = thalweg::Session::Builder().Create().ValueOrDie();
          auto query = global->ReadStream().Format("rate").Load().WriteStream().Format("noop").Start().ValueOrDie();
          std::puts(query.IsActive().ValueOrDie() ? "active" : "not active");
          if (argc > 1) std::exit(5);
          return 0;
        }
        """, encoding="utf-8")
    run(COMPILER, *SANITIZE, "-std=c++20", "program.cc", "-o", "program", f"-I{prefix}/include", f"-L{prefix}/lib", "-lthalweg", f"-Wl,-rpath,{prefix}/lib",
        cwd=tmp_path)
    for arguments, status in (([], 0), (["x"], 5)):
        done = subprocess.run([tmp_path / "program", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=patience(20),
                              env=clean_environment())
        assert (done.returncode, done.stdout, done.stderr) == (status, "active\n", "")


def test_the_api_is_the_same_on_a_server(tmp_path):
    server = ThalwegServer(tmp_path / "server", ["--token", "secret"], conf={"spark.sql.session.timeZone": "UTC"}).start()
    try:
        remote = server.url + "/;token=secret"
        run(build_dir() / "bin" / "cpp_api_test", "--gtest_filter=-EmbeddedTest.*", cwd=SOURCE, SPARK_REMOTE=remote, TZ="UTC")
    finally:
        server.stop()
