# ctest: TIMEOUT 120
"""Delta tables that we write are read by delta-rs, row by row, and a table that it writes is read by us."""

import datetime
import decimal
import os
import subprocess

import deltalake
import pytest


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    out = str(tmp_path_factory.mktemp("delta"))
    program = os.path.join(os.environ["TW_BUILD_DIR"], "bin", "connectors_delta_test")
    subprocess.run(
        [program, "--gtest_filter=DeltaInteropTest.WritesTablesForOtherEngines"],
        env={**os.environ, "TW_DELTA_OUT": out},
        cwd=os.path.join(os.path.dirname(__file__), "..", "..", ".."),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return out


def rows(path):
    return deltalake.DeltaTable(path).to_pyarrow_table().to_pylist()


def test_types_and_partitions(tables):
    got = sorted(rows(tables + "/types"), key=lambda row: row["id"])
    assert [row["id"] for row in got] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 100, 101, 102]
    first = got[4]
    assert first["i"] == 1 and first["d"] == 0.5
    assert first["dc"] == decimal.Decimal("246913.578") and first["small"] == decimal.Decimal("-1.05")
    assert first["s"] == "text 1" and first["b"] is True and first["bin"] == b"\x00\xff"
    assert first["day"] == datetime.date(2022, 1, 9)
    assert first["ts"].replace(tzinfo=None) == datetime.datetime(2024, 1, 2, 3, 4, 5, 123457)
    assert first["st"] == {"a": 1, "l": ["x", None]} and dict(first["m"]) == {"k": 1}
    assert [row["p"] for row in got if row["id"] < 9] == ["plain"] * 3 + ["a b/c:d%e=f?g#h"] * 3 + ["ü"] * 3
    assert all(value is None for key, value in got[-1].items() if key != "id")


def test_stream_past_checkpoints(tables):
    table = deltalake.DeltaTable(tables + "/stream")
    assert table.version() == 23
    assert sorted(row["id"] for row in rows(tables + "/stream")) == list(range(240))
    assert os.path.exists(tables + "/stream/_delta_log/00000000000000000020.checkpoint.parquet")
    for version in range(20):  # the checkpoint alone carries what was before
        os.remove(tables + f"/stream/_delta_log/{version:020d}.json")
    assert sorted(row["id"] for row in rows(tables + "/stream")) == list(range(240))


def test_overwrite_and_history(tables):
    assert sorted(row["id"] for row in rows(tables + "/overwritten")) == list(range(10, 15))
    assert [entry["operation"] for entry in deltalake.DeltaTable(tables + "/overwritten").history()] == ["WRITE"] * 3
    old = deltalake.DeltaTable(tables + "/overwritten", version=0).to_pyarrow_table()
    assert sorted(old.column("id").to_pylist()) == list(range(10))
