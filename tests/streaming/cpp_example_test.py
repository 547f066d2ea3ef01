"""The worked example in C++: on the engine inside the program and, unchanged, against `thalweg server`.

# ctest: TIMEOUT 120 LABELS broker
"""
import json
import subprocess

import deltalake
import pytest
from harness.processes import clean_environment
from harness.thalweg_server import ThalwegServer, build_dir
from harness.waiting import patience

CLICKS = [("home", 1, 0), ("home", 2, 30), ("cart", 3, 0), ("home", 6, 0), ("home", 30, 0)]
COUNTS = {(0, "home"): 2, (0, "cart"): 1, (5, "home"): 1}


def click(page, minute, second):
    return {"value": json.dumps({"user_id": "u", "page": page, "event_time": f"2024-03-01T10:{minute:02d}:{second:02d}Z"})}


@pytest.fixture(scope="module")
def clicks(broker):
    broker.create_topic("clicks", partitions=2)
    broker.produce("clicks", [click(*one) for one in CLICKS])
    return broker.bootstrap


def run_example(server, bootstrap, folder):
    """Two runs on one checkpoint: the second finds nothing new."""
    for _ in range(2):
        done = subprocess.run([str(build_dir() / "bin" / "clicks_by_page"), server, bootstrap, str(folder / "checkpoint"), "once"], cwd=folder,
                              timeout=patience(60), capture_output=True, text=True, check=False, env=clean_environment())
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def table(warehouse):
    rows = deltalake.DeltaTable(str(warehouse / "analytics.db" / "clicks_by_page")).to_pyarrow_table().to_pylist()
    return {(row["window"]["start"].minute, row["page"]): row["count"] for row in rows}


def test_embedded(clicks, tmp_path):
    run_example("embedded", clicks, tmp_path)
    assert table(tmp_path / "spark-warehouse") == COUNTS


def test_against_a_server(clicks, tmp_path):
    server = ThalwegServer(tmp_path / "server", conf={"spark.sql.warehouse.dir": str(tmp_path / "warehouse")}).start()
    try:
        run_example(server.url, clicks, tmp_path)
    finally:
        server.stop()
    assert table(tmp_path / "warehouse") == COUNTS
