"""Programs under `thalweg submit` and what they print with the console sink."""
import sys

import pytest
from harness.processes import Process, clean_environment
from harness.thalweg_server import thalweg_program
from harness.waiting import wait_until


@pytest.fixture
def submit(tmp_path):
    """submit(program, *arguments) starts a program; it is killed when the test ends."""
    running = []

    def start(program, *arguments):
        running.append(Process([thalweg_program(), "submit", program, *arguments], tmp_path / "submitted", "program",
                               clean_environment(PYSPARK_PYTHON=sys.executable)))
        return running[-1]

    yield start
    for program in running:
        program.kill()


def printed(program, *rows):
    """Waits for a printed table that holds exactly these rows, in any order."""
    def found():
        text = "\n".join(program.lines)
        tables = text.split("Batch: ")[1:]
        cells = [[tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table.splitlines() if line.startswith("|")][1:]
                 for table in tables if table.count("+--") >= 3]
        return any(sorted(one) == sorted(rows) for one in cells)
    wait_until(found, f"the table {rows}", alive=program.check_alive)
