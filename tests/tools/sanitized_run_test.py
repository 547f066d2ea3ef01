"""Promise: a sanitizer's report of any process of a test fails the test, and is printed."""
import os
import subprocess
import sys

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


def test_what_the_caller_sets_goes_before(tmp_path):
    print_options = python("import os; print(os.environ['TSAN_OPTIONS'])")
    options = run(tmp_path, *print_options, TSAN_OPTIONS="halt_on_error=0:log_path=elsewhere").stdout.strip().split(":")
    assert options.index("halt_on_error=1") < options.index("halt_on_error=0")
    assert options[-1] == f"log_path={tmp_path / 'connect.some' / 'report'}"
