"""The batch readers of checkpoints answer what Spark 4.2.0 answered (tests/compat/streaming/state_reader.jsonl, made by tools/record_state_reader.py):
schemas, rows and error conditions over the checkpoints of spark-4.2.0/."""
import json
import os
import pathlib
import shutil

import pytest
from harness.spark_checkpoints import GOLDENS
from pyspark.errors import PySparkException

RECORDED = [json.loads(line) for line in (
    pathlib.Path(os.environ["TW_SOURCE_DIR"]) / "tests/compat/streaming/state_reader.jsonl").read_text().splitlines()]

# Spark throws bare Java exceptions here, or its own bug; what ours says instead.
BETTER_SAID = {}


def label(record):
    options = ",".join(f"{key}={value}" for key, value in record["options"].items())
    return "-".join(str(part) for part in (record["format"], record["checkpoint"], options, *record["removed"]) if part)


@pytest.fixture
def place(tmp_path):
    def make(record):
        if record["checkpoint"] is None:
            return None
        folder = tmp_path / "checkpoint"
        if record["checkpoint"] != "nowhere":
            shutil.copytree(GOLDENS / record["checkpoint"] / "checkpoint", folder)
        for path in record["removed"]:
            gone = folder / path
            shutil.rmtree(gone) if gone.is_dir() else gone.unlink(missing_ok=True)
        return folder
    return make


def read(spark, record, folder):
    reader = spark.read.format(record["format"]).options(**record["options"])
    frame = reader.load(str(folder)) if folder else reader.load()
    shown = frame.select(*(["*", "_numColsPrefixKey"] if record["format"] == "state-metadata" else ["*"]))
    shown = shown.selectExpr("to_json(struct(*), map('ignoreNullFields', 'false')) AS j")
    return frame.schema.jsonValue(), sorted(row.j for row in shown.collect())


@pytest.mark.parametrize("record", RECORDED, ids=label)
def test_reader_answers_as_recorded(spark, place, record):
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    folder = place(record)
    if "rows" in record:
        schema, rows = read(spark, record, folder)
        assert schema == record["schema"]
        assert rows == record["rows"]
        return
    with pytest.raises(PySparkException) as error:
        read(spark, record, folder)
    assert error.value.getCondition() == BETTER_SAID.get(label(record), record["condition"])


def stores():
    """(golden, header, rows) of each store in state.jsonl, as Spark's reader gave them."""
    for file in sorted(GOLDENS.glob("*/state.jsonl")):
        if "rocksdb" in file.parent.name:
            continue
        found = []
        for line in file.read_text().splitlines():
            if line.startswith('{"operator":'):
                found.append((json.loads(line), []))
            else:
                found[-1][1].append(line)
        for header, rows in found:
            yield pytest.param(file.parent.name, header, rows, id=f"{file.parent.name}-{header['operatorId']}-{header['store']}")


@pytest.mark.parametrize("name, header, rows", stores())
def test_state_is_what_sparks_reader_gave(spark, name, header, rows):
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    state = spark.read.format("statestore").option("operatorId", header["operatorId"]).option("storeName", header["store"])
    frame = state.load(str(GOLDENS / name / "checkpoint"))
    assert sorted(row.j for row in frame.selectExpr("to_json(struct(*)) AS j").collect()) == sorted(rows)
