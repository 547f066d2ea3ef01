#!/usr/bin/env python3
"""Records what real Spark's batch readers of checkpoints give: format("statestore") and format("state-metadata").

usage: spark-run record_state_reader.py TREE OUTPUT.jsonl

Each line: a checkpoint of tests/checkpoints/spark-4.2.0 (and what is removed from a copy of it first), format and options, then either the
schema and the rows as sorted JSON, or the condition and the message. tests/checkpoints/state_reader_test.py compares.
"""
import json
import pathlib
import re
import shutil
import sys
import tempfile

from pyspark.sql import SparkSession

JOIN = "join-left-outer"
STORES = [f"{side}-{kind}" for side in ("left", "right") for kind in ("keyToNumValues", "keyWithIndexToValue")]
PLAIN = ["count", "window-append", "session", "dedup", "dedup-watermark", "dedup-within-watermark", "limit", "chained-windows", "pandas-with-state"]


def cases():
    """(checkpoint, format, options, removed)."""
    for name in [*PLAIN, "join-inner", JOIN, "window-append-rocksdb"]:
        yield name, "state-metadata", {}, []
    for name in PLAIN:
        yield name, "statestore", {}, []
        yield name, "statestore", {"batchId": "0"}, []
    yield "chained-windows", "statestore", {"operatorId": "1"}, []
    for name in ("join-inner", JOIN):
        for store in STORES:
            yield name, "statestore", {"storeName": store}, []
    for side in ("left", "right", "Left", "middle"):
        yield JOIN, "statestore", {"joinSide": side}, []
    yield JOIN, "statestore", {"joinSide": "none", "storeName": STORES[1], "batchId": "1"}, []
    yield JOIN, "statestore", {}, []
    yield JOIN, "statestore", {"joinSide": "left", "storeName": STORES[0]}, []
    feed = {"readChangeFeed": "true"}
    for name, last in (("dedup", 1), ("dedup-watermark", 2), ("window-append", 2), ("count", 1)):
        yield name, "statestore", {**feed, "changeStartBatchId": "0"}, []
        yield name, "statestore", {**feed, "changeStartBatchId": "1", "changeEndBatchId": str(last)}, []
    yield JOIN, "statestore", {**feed, "changeStartBatchId": "0", "storeName": STORES[0]}, []
    for options in (feed, {**feed, "changeStartBatchId": "-1"}, {**feed, "changeStartBatchId": "2", "changeEndBatchId": "1"},
                    {**feed, "changeStartBatchId": "5"}, {**feed, "changeStartBatchId": "0", "changeEndBatchId": "9"},
                    {**feed, "changeStartBatchId": "0", "batchId": "1"}, {**feed, "changeStartBatchId": "0", "joinSide": "left"},
                    {**feed, "changeStartBatchId": "0", "snapshotStartBatchId": "0"}, {**feed, "changeStartBatchId": "0", "snapshotPartitionId": "0"},
                    {"changeStartBatchId": "0"}, {"changeEndBatchId": "0"}, {"readChangeFeed": "maybe"}, {**feed, "changeStartBatchId": "x"}):
        yield "dedup-watermark", "statestore", options, []
    for options in ({"batchId": "7"}, {"batchId": "-1"}, {"batchId": "x"}, {"operatorId": "-1"}, {"operatorId": "3"}, {"operatorId": "x"},
                    {"storeName": " "}, {"storeName": "nothing"}, {"snapshotStartBatchId": "0"}, {"snapshotPartitionId": "0"},
                    {"snapshotStartBatchId": "-1", "snapshotPartitionId": "0"}, {"snapshotStartBatchId": "0", "snapshotPartitionId": "-1"},
                    {"snapshotStartBatchId": "2", "snapshotPartitionId": "0", "batchId": "1"},
                    {"snapshotStartBatchId": "0", "snapshotPartitionId": "0"}, {"snapshotStartBatchId": "0", "snapshotPartitionId": "9"},
                    {"stateVarName": "x"}, {"readRegisteredTimers": "true"}, {"readRegisteredTimers": "true", "stateVarName": "x"},
                    {"readRegisteredTimers": "maybe"}, {"flattenCollectionTypes": "maybe"}, {"flattenCollectionTypes": "false"}, {"BATCHID": "0"}):
        yield "dedup-watermark", "statestore", options, []
    yield "dedup", "statestore", {"operatorId": "0", "unknownOption": "1"}, []
    for removed in (["commits"], ["commits/0", "commits/1"], ["offsets"], ["offsets/1"], ["state"], ["state/0/_metadata"], ["state/0/0/_metadata"],
                    ["state/0/1/1.delta", "state/0/1/.1.delta.crc"], ["state/0/0", "state/0/1"], ["metadata"]):
        yield "dedup", "statestore", {}, removed
        yield "dedup", "state-metadata", {}, removed
    for options in ({"batchId": "0"}, {"batchId": "9"}, {"batchId": "-1"}, {"batchId": "x"}):
        yield "dedup", "state-metadata", options, []
    yield None, "statestore", {}, []
    yield None, "state-metadata", {}, []
    yield "nowhere", "statestore", {}, []
    yield "nowhere", "state-metadata", {}, []


def run(spark, place, source, options):
    reader = spark.read.format(source).options(**options)
    frame = reader.load(str(place)) if place else reader.load()
    columns = ["*", "_numColsPrefixKey"] if source == "state-metadata" else ["*"]
    shown = frame.select(*columns)
    shown = shown.selectExpr("to_json(struct(*), map('ignoreNullFields', 'false')) AS j")
    rows = sorted(row.j for row in shown.collect())
    return {"schema": frame.schema.jsonValue(), "rows": rows}


def main(tree, output):
    goldens = pathlib.Path(tree) / "tests" / "checkpoints" / "spark-4.2.0"
    spark = SparkSession.builder.getOrCreate()
    spark.streams.active  # without it every statestore read fails
    with tempfile.TemporaryDirectory() as scratch, open(output, "w") as out:
        for number, (name, source, options, removed) in enumerate(cases()):
            place = None
            if name:
                place = pathlib.Path(scratch) / str(number)
                if name != "nowhere":
                    shutil.copytree(goldens / name / "checkpoint", place)
            for path in removed:
                gone = place / path
                shutil.rmtree(gone) if gone.is_dir() else gone.unlink(missing_ok=True)
            record = {"checkpoint": name, "format": source, "options": options, "removed": removed}
            try:
                record.update(run(spark, place, source, options))
            except Exception as e:
                text = str(e).replace(str(place), "<place>")
                condition = re.search(r"\[([A-Z][A-Z_]+(?:\.[A-Z_]+)?)\]", text.split("\n")[0])
                record["class"] = type(e).__name__
                record["condition"] = (e.getCondition() if hasattr(e, "getCondition") else None) or (condition and condition[1])
                record["message"] = text.split("\n\n")[0].split("JVM stacktrace")[0].split("\n\tat ")[0][:400]
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            out.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
