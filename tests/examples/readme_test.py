"""What the README shows runs as it stands: the PySpark session against a server, the statements of the SQL shell."""
# ctest: TIMEOUT 120
import os
import pathlib
import re
import shlex
import subprocess
import sys

from harness.processes import clean_environment
from harness.thalweg_server import run_thalweg
from harness.waiting import patience

README = (pathlib.Path(os.environ["TW_SOURCE_DIR"]) / "README.md").read_text()


def test_the_five_lines_of_pyspark(server):
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert "sc://127.0.0.1:15002" in program
    done = subprocess.run([sys.executable, "-W", "ignore", "-"], input=program.replace("sc://127.0.0.1:15002", server.url), text=True, check=False,
                          cwd=server.folder, env=clean_environment(), capture_output=True, timeout=patience(60))
    assert done.returncode == 0, done.stderr
    shown = "\n".join(server.process.lines)
    assert "|value|odd|" in shown and re.search(r"\| *1\| *1\|", shown), shown


def test_the_statements_of_the_shell(tmp_path):
    (line,) = re.findall(r"^thalweg (sql -e .*)$", README, re.MULTILINE)
    run = run_thalweg(shlex.split(line), tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert "|2  |4    |" in run.stdout, run.stdout
