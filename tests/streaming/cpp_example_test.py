"""The worked example in C++, against `thalweg server`.

# ctest: TIMEOUT 120 LABELS broker
"""
import json
import subprocess

import deltalake
from harness.processes import clean_environment
from harness.thalweg_server import ThalwegServer, build_dir


def click(page, minute, second):
    return {"value": json.dumps({"user_id": "u", "page": page, "event_time": f"2024-03-01T10:{minute:02d}:{second:02d}Z"})}


def test_cpp_program_fills_the_table(broker, tmp_path):
    broker.create_topic("clicks", partitions=2)
    broker.produce("clicks", [click("home", 1, 0), click("home", 2, 30), click("cart", 3, 0), click("home", 6, 0), click("home", 30, 0)])
    server = ThalwegServer(tmp_path / "server", conf={"spark.sql.warehouse.dir": str(tmp_path / "warehouse")}).start()
    try:
        done = subprocess.run([str(build_dir() / "bin" / "clicks_by_page"), server.url, broker.bootstrap, str(tmp_path / "checkpoint"), "once"],
                              timeout=60, capture_output=True, text=True, check=False, env=clean_environment())
        assert done.returncode == 0, done.stderr
    finally:
        server.stop()
    rows = deltalake.DeltaTable(str(tmp_path / "warehouse" / "analytics.db" / "clicks_by_page")).to_pyarrow_table().to_pylist()
    counts = {(row["window"]["start"].minute, row["page"]): row["count"] for row in rows}
    assert counts == {(0, "home"): 2, (0, "cart"): 1, (5, "home"): 1}
