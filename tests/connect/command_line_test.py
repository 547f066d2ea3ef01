"""The command line of `thalweg`: help, what a mistyped line is told, and `thalweg sql` from a text, a file and a terminal.

# ctest: TIMEOUT 180
"""
import os
import pty
import socket
import subprocess
import sys

import pytest
from harness.processes import clean_environment
from harness.thalweg_server import run_thalweg, thalweg_program
from harness.waiting import patience


def test_help_names_every_command_and_every_command_has_help(tmp_path):
    run = run_thalweg(["--help"], tmp_path)
    assert run.returncode == 0 and "Usage: thalweg [OPTIONS]" in run.stdout
    for command in ("version", "server", "submit", "demo", "sql"):
        assert f"\n  {command} " in run.stdout
        help_of_it = run_thalweg([command, "--help"], tmp_path)
        assert help_of_it.returncode == 0 and f"Usage: thalweg {command} [OPTIONS]" in help_of_it.stdout, help_of_it.stdout
    assert "[OPTIONS] FILE.py [ARGUMENTS]" in run_thalweg(["submit", "--help"], tmp_path).stdout


def test_the_version_is_told_in_both_ways(tmp_path):
    version, flag = run_thalweg(["version"], tmp_path), run_thalweg(["--version"], tmp_path)
    assert version.returncode == flag.returncode == 0
    assert version.stdout == flag.stdout and version.stdout.startswith("thalweg ")


@pytest.mark.parametrize("line, told", [
    (["serve", "--port", "0"], "thalweg: there is no command 'serve'"),
    (["--foo"], "thalweg: there is no option --foo"),
    (["server", "--prot", "3"], "thalweg server: there is no option --prot"),
    (["server", "--port", "http"], "thalweg server: --port"),
    (["version", "extra"], "nothing is expected at 'extra'"),
    (["sql", "-e"], "thalweg sql: -e"),
    (["sql", "-e", "SELECT 1", "-f", "absent.sql"], "thalweg sql: -e excludes -f"),
    ([], "Usage: thalweg"),
])
def test_a_mistyped_line_is_named(tmp_path, line, told):
    run = run_thalweg(line, tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert told in run.stderr and "--help" in run.stderr


@pytest.mark.parametrize("pair", ["thalweg.memory.limit=abc", "thalweg.memory.limit=1.5g", "thalweg.memory.limit=", "thalweg.memory.limit=99999999999999999999g",
                                  "thalweg.python.stopGrace=-1", "spark.sql.shuffle.partitions=abc", "spark.sql.shuffle.partitions=0",
                                  "spark.sql.session.timeZone=Mars/X", "spark.sql.streaming.pollingDelay=soon"])
def test_a_setting_that_cannot_be_is_refused_at_the_start(tmp_path, pair):
    (tmp_path / "program.py").write_text("print('ran')\n")
    key, text = pair.split("=")
    for line in (["sql", "-e", "SELECT 1"], ["server", "--port", "0"], ["submit", tmp_path / "program.py"]):
        run = run_thalweg([line[0], "-c", pair, *line[1:]], tmp_path, environment={"PYSPARK_PYTHON": sys.executable})
        assert (run.returncode, run.stdout) == (1, ""), line
        assert "[INVALID_CONF_VALUE." in run.stderr and key in run.stderr and f"'{text}'" in run.stderr, run.stderr


@pytest.mark.parametrize("line, told", [
    (["submit"], "give the program to run"),
    (["submit", "absent.py"], "absent.py: No such file"),
    (["submit", "--foo", "program.py"], "there is no option --foo"),
    (["server", "--log-level", "loud"], "[ILLEGAL_ARGUMENT] the log level is one of"),
    (["sql", "-f", "absent.sql"], "absent.sql: No such file"),
    (["demo", "--program", "absent.py"], "there is no program absent.py"),
])
def test_what_cannot_be_run_is_told(tmp_path, line, told):
    run = run_thalweg(line, tmp_path, environment={"TMPDIR": str(tmp_path)})
    assert (run.returncode, run.stdout) == (1, "")
    assert told in run.stderr
    assert not list(tmp_path.iterdir())


def test_a_port_that_is_taken_is_told_in_one_line(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        run = run_thalweg(["server", "--port", str(taken.getsockname()[1])], tmp_path)
    assert (run.returncode, run.stdout) == (1, "")
    assert "Address already in use" in run.stderr and len(run.stderr.splitlines()) == 1, run.stderr


def test_sql_from_a_text_and_from_a_file(tmp_path):
    run = run_thalweg(["sql", "-e", "CREATE TABLE t USING parquet AS SELECT 1 AS a; SELECT a, ';' AS b FROM t"], tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == "+---+---+\n|a  |b  |\n+---+---+\n|1  |;  |\n+---+---+\n"
    (tmp_path / "script.sql").write_text("SELECT a + 1 AS next FROM t; -- of another run\nSELECT nothing; SELECT 3;\n")
    run = run_thalweg(["sql", "-f", "script.sql"], tmp_path)
    assert run.returncode == 1 and "|2   |" in run.stdout and "|3" not in run.stdout
    assert "UNRESOLVED_COLUMN" in run.stderr
    run = run_thalweg(["sql", "-e", "SELECT id FROM range(1001)"], tmp_path)
    assert run.stdout.endswith("only showing top 1000 rows\n")


def test_a_plan_is_printed_as_lines(tmp_path):
    run = run_thalweg(["sql", "-e", "EXPLAIN SELECT id + 1 FROM range(3)"], tmp_path)
    assert run.stdout.startswith("== Physical Plan ==\n") and "|" not in run.stdout


def converse(folder, text):
    """What a terminal shows when `text` is typed."""
    terminal, own = pty.openpty()
    child = subprocess.Popen([thalweg_program(), "sql"], stdin=own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
                             env=clean_environment())
    os.close(own)
    os.write(terminal, text.encode())
    try:
        return child.communicate(timeout=patience(60))[0], child.returncode
    finally:
        child.kill()
        os.close(terminal)


@pytest.mark.parametrize("word", ["exit", "quit;", "EXIT ;"])
def test_words_leave_the_prompt(tmp_path, word):
    said, status = converse(tmp_path, f"SELECT 41 + 1\n AS n;\n{word}\nSELECT 'after' AS later;\n")
    assert status == 0 and "|42 |" in said and "later" not in said, said


def test_the_prompt_waits_for_the_semicolon_that_ends_the_statement(tmp_path):
    said, _ = converse(tmp_path, "SELECT 'a;\nb' AS text; -- done\nSELECT nothing;\nSELECT 7 AS n -- not yet;\n;\nexit\n")
    assert "PARSE_SYNTAX_ERROR" not in said and "|a;\\nb|" in said, said
    assert "UNRESOLVED_COLUMN" in said and "|7  |" in said, said
