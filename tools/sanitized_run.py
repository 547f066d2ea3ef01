#!/usr/bin/env python3
"""Runs a test of a sanitizer build: a report of any of its processes makes it fail, whatever the test itself says.

sanitized_run.py REPORTS_DIR NAME COMMAND [ARGUMENT ...]

Servers, workers and killed programs write their reports into files below REPORTS_DIR/NAME, as nobody may read their standard
error; after the command the files are printed. What is not ours to mend is named, with its reason, in cmake/sanitizers/*.supp.

Exit status: that of the command; REPORTED when there is a report.
"""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

SUPPRESSIONS = pathlib.Path(__file__).resolve().parents[1] / "cmake" / "sanitizers"
REPORTED = 99
REFUSED = re.compile("WARNING: AddressSanitizer failed to allocate")
STACK_BYTES = 64 * 2**20  # the frames of such a build are several times larger
SHOWN_CHARACTERS = 20_000

# What holds for every process of a test. The rest is each runtime's own default.
OPTIONS = {
    # GCC's libubsan writes to standard error when libasan is there (its log_path is taken for libasan's): it aborts, which libasan reports.
    "ASAN_OPTIONS": {"detect_stack_use_after_return": 1, "check_initialization_order": 1, "strict_init_order": 1, "strict_string_checks": 1,
                     "handle_abort": 1, "quarantine_size_mb": 64,
                     "allocator_may_return_null": 1},  # too large a request gets nothing, as without it: who asks looks
    "LSAN_OPTIONS": {"suppressions": SUPPRESSIONS / "lsan.supp", "print_suppressions": 0},
    "UBSAN_OPTIONS": {"print_stacktrace": 1, "halt_on_error": 1, "abort_on_error": 1},
    # Libraries that were not compiled for it look like races without number: calls out of them are not judged, their locks are seen.
    "TSAN_OPTIONS": {"suppressions": SUPPRESSIONS / "tsan.supp", "ignore_noninstrumented_modules": 1, "halt_on_error": 1,
                     "second_deadlock_stack": 1, "history_size": 4},
}


def environment(folder):
    """This process's environment with the options above; what the caller has set goes before them."""
    changed = dict(os.environ)
    for variable, options in OPTIONS.items():
        words = [*(f"{name}={value}" for name, value in options.items()), *filter(None, [changed.get(variable)])]
        if variable != "LSAN_OPTIONS":  # leaks are reported where ASAN_OPTIONS says
            words.append(f"log_path={folder / 'report'}")
        changed[variable] = ":".join(words)
    return changed


def finding(report):
    """Whether a report says more than that a request for memory was refused."""
    return any(line.strip() and not REFUSED.search(line) for line in report.splitlines())


def main(arguments):
    reports, name, *command = arguments
    folder = pathlib.Path(reports) / name.replace("/", ".")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    resource.setrlimit(resource.RLIMIT_STACK, (STACK_BYTES if hard == resource.RLIM_INFINITY else min(STACK_BYTES, hard), hard))
    status = subprocess.run(command, env=environment(folder), check=False).returncode
    found = sorted(one for one in folder.iterdir() if finding(one.read_text(errors="replace")))
    for one in found:
        print(f"== sanitizer report {one}\n{one.read_text(errors='replace')[:SHOWN_CHARACTERS]}", flush=True)
    if found:
        return REPORTED
    shutil.rmtree(folder)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
