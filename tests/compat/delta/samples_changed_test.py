# ctest: TIMEOUT 600
"""Tables that Spark wrote (tests/delta), changed here by INSERT, DELETE, UPDATE, MERGE, OPTIMIZE and RESTORE: the rows are those that real Spark
comes to, statement by statement, and delta-rs reads the same; a table that we may not change is refused by name and stays as it was.

TW_CHANGED_OUT: a folder to leave the changed tables in, for samples_changed.py read, with real Spark.
"""
import importlib.util
import json
import os

import deltalake
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "delta")
spec = importlib.util.spec_from_file_location("samples_changed", os.path.join(HERE, "samples_changed.py"))
program = importlib.util.module_from_spec(spec)
spec.loader.exec_module(program)
REFUSED = ("UNSUPPORTED_FEATURE", "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", "DELTA_UNSUPPORTED_FEATURES_FOR_READ")


def recorded():
    with open(os.path.join(HERE, "samples_changed.jsonl"), encoding="utf-8") as file:
        assert json.loads(next(file))["spark"] == "4.2.0"
        told = {}
        for line in file:
            name, label, outcome = json.loads(line)
            told.setdefault(name, []).append((label, outcome))
    return told


RECORDED = recorded()


@pytest.fixture(scope="module")
def session(shared_server):
    spark = shared_server.session()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    return spark


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_changed_as_spark_changes_it(session, tmp_path, name):
    path = os.path.join(os.environ.get("TW_CHANGED_OUT") or tmp_path, name)
    got = []
    program.change(session, SAMPLES, name, path, lambda _, label, outcome: got.append((label, outcome)))
    refused = [label for label, outcome in got if isinstance(outcome, dict) and outcome["error"].startswith(REFUSED)]
    if refused:  # then nothing of it changes
        assert all(isinstance(outcome, dict) for label, outcome in got if label != "read"), got
        if got[0][0] not in refused:
            assert got[0] == RECORDED[name][0]
            assert program.rows_of(session, path) == RECORDED[name][0][1]
        return
    assert got == RECORDED[name]
    keep_for_spark(name, got[-1][1])
    key = session.read.format("delta").load(path).columns[0]
    try:
        rows = deltalake.DeltaTable(path).to_pyarrow_table(columns=[key]).column(key).to_pylist()
    except Exception as error:  # what delta-rs has not is not our fault
        assert "unsupported" in str(error).lower() or "not supported" in str(error).lower() or "reader feature" in str(error).lower(), error
        return
    assert sorted(map(str, rows)) == sorted(str(json.loads(row)[key]) if json.loads(row)[key] is not None else "None" for row in got[-1][1])


def keep_for_spark(name, rows):
    out = os.environ.get("TW_CHANGED_OUT")
    if not out:
        return
    place = os.path.join(out, "rows.json")
    told = json.load(open(place, encoding="utf-8")) if os.path.exists(place) else {}
    told[name] = rows
    with open(place, "w", encoding="utf-8") as file:
        json.dump(told, file)
