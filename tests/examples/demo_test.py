"""`thalweg demo`: the worked example on the embedded broker, its table checked by the program itself."""
# ctest: TIMEOUT 180
import os
import pathlib
import sys

from harness.thalweg_server import run_thalweg

EXAMPLE = pathlib.Path(os.environ["TW_SOURCE_DIR"]) / "examples" / "clicks_by_page.py"


def test_the_table_is_what_the_events_say(tmp_path):
    run = run_thalweg(["demo", "--program", EXAMPLE, "--python", sys.executable], tmp_path)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    assert "each as counted from the events: correct" in run.stdout, run.stdout[-2000:]
    assert not list(tmp_path.iterdir()), "files are left"
