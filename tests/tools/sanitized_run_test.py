"""Promise: a sanitizer's report of any process of a test fails the test, and is printed."""
import os
import subprocess
import sys

import pytest
from tools.tool_modules import SOURCE_DIR

RUN = SOURCE_DIR / "tools" / "sanitized_run.py"
# As a sanitizer does, in the files that its options name.
REPORT = "import os; open(os.environ['%s'].split('log_path=')[-1].split(':')[0] + f'.{os.getpid()}', 'w').write('WARNING: %s')"


def run(folder, *command, **environment):
    return subprocess.run([sys.executable, RUN, folder, "connect/some", *command], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})


def python(program):
    return sys.executable, "-c", program


def test_the_status_is_the_commands(tmp_path):
    assert run(tmp_path, *python("")).returncode == 0
    assert run(tmp_path, *python("import sys; sys.exit(3)")).returncode == 3
    assert run(tmp_path, *python("import os; os.kill(os.getpid(), 9)")).returncode == 128 + 9
    assert list(tmp_path.iterdir()) == []


def test_a_report_fails_a_test_that_saw_nothing(tmp_path):
    for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
        done = run(tmp_path, *python(REPORT % (variable, f"a finding of {variable}")))
        assert done.returncode == 99 and f"a finding of {variable}" in done.stdout
    grandchild = python(f"import subprocess, sys; subprocess.run([sys.executable, '-c', {REPORT % ('ASAN_OPTIONS', 'from below')!r}])")
    assert run(tmp_path, *grandchild).returncode == 99


def test_reports_of_an_earlier_run_do_not_count(tmp_path):
    assert run(tmp_path, *python(REPORT % ("TSAN_OPTIONS", "old"))).returncode == 99
    assert run(tmp_path, *python("")).returncode == 0


def test_memory_that_is_refused_is_no_finding(tmp_path):
    refused = REPORT % ("ASAN_OPTIONS", "AddressSanitizer failed to allocate 0x140010000c0088 bytes")
    assert run(tmp_path, *python(refused)).returncode == 0


def test_what_the_caller_sets_goes_before(tmp_path):
    print_options = python("import os; print(os.environ['TSAN_OPTIONS'])")
    options = run(tmp_path, *print_options, TSAN_OPTIONS="halt_on_error=0:log_path=elsewhere").stdout.strip().split(":")
    assert options.index("halt_on_error=1") < options.index("halt_on_error=0")
    assert options[-1] == f"log_path={tmp_path / 'connect.some' / 'report'}"


FINDINGS = {
    "address,undefined": {
        "heap-use-after-free": "int* p = new int(argc); delete p; return *p == 77;",
        "__ubsan_handle_add_overflow": "volatile int big = 2147483647; big = big + argc; return 0;",
        "memory leaks": "volatile void* lost = new int[argc]; lost = nullptr; return 0;",
    },
    "thread": {
        "data race": "int n = 0; { std::jthread other([&] { ++n; }); ++n; } return 0;",
    },
}


@pytest.mark.parametrize("sanitizer, finding", [(name, finding) for name, findings in FINDINGS.items() for finding in findings])
def test_the_compilers_reports_arrive(tmp_path, sanitizer, finding):
    """A program whose end nobody looks at."""
    source = tmp_path / "program.cc"
    source.write_text("#include <thread>\nint main(int argc, char**) { %s }\n" % FINDINGS[sanitizer][finding])
    subprocess.run(["g++", "-std=c++20", "-O0", "-g1", "-pthread", f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all", source, "-o", tmp_path / "program"],
                   check=True)
    done = run(tmp_path / "reports", "sh", "-c", f"{tmp_path / 'program'}; exit 0")
    assert done.returncode == 99 and finding in done.stdout
