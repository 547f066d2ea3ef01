"""Joins of two streams: what we write is what Spark wrote, file by file and record by record, and what Spark wrote goes on here."""
import json
import os
import shutil
import struct

import pytest
from harness import checkpoint_compare as compare, handover_queries, state_files
from harness.spark_checkpoints import GOLDENS
from harness.stream_cases import plain, read_files
from pyspark.sql import functions as F

RECORDED_AT = "/tmp/w/mk"          # where the goldens' input lay
FIRST_FILE_S = 1_709_280_000       # modification time of f0; a second more each
FILES = [[("a", 1, "10:00:01"), ("b", 2, "10:00:02"), ("a", 3, "10:00:03")], [("a", 4, "10:00:20"), ("c", 5, "10:00:21")]]
SCHEMA = "k STRING, v INT, ts TIMESTAMP"
JOINS = {"join-inner": "inner", "join-left-outer": "left_outer"}


@pytest.fixture(autouse=True)
def settings(spark):
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.shuffle.partitions", "2")


def put(folder, number, rows):
    folder.mkdir(parents=True, exist_ok=True)
    staged = folder.parent / f"stage-{folder.name}-{number}"
    staged.write_text("".join(json.dumps({"k": k, "v": v, "ts": f"2024-03-01T{ts}Z"}) + "\n" for k, v, ts in rows))
    os.utime(staged, (FIRST_FILE_S + number, FIRST_FILE_S + number))
    os.replace(staged, folder / f"f{number}.json")


def put_both(root, files, first=0):
    for side in ("in1", "in2"):
        for number, rows in enumerate(files, first):
            put(root / side, number, rows)


def join(spark, root, how):
    left, right = (read_files(spark, root / folder, SCHEMA).withWatermark("ts", "5 seconds").alias(name)
                   for folder, name in (("in1", "l"), ("in2", "r")))
    return left.join(right, F.expr("l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL 5 SECONDS"), how).select("l.k", "l.v", F.col("r.v").alias("rv"))




def to_table(spark, frame, checkpoint, table):
    query = (frame.writeStream.format("delta").option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start(str(table)))
    assert query.awaitTermination(60), "the run did not end"
    return sorted((plain(row) for row in spark.read.format("delta").load(str(table)).collect()), key=str)


def put_right(checkpoint, replacements):
    """The paths of recorded file logs."""
    for path in (checkpoint / "sources").rglob("*"):
        if path.is_file() and not path.name.startswith("."):
            text = path.read_text()
            for old, new in replacements.items():
                text = text.replace(old, str(new))
            path.write_text(text)


@pytest.mark.parametrize("golden", JOINS)
def test_a_checkpoint_is_what_spark_writes(spark, tmp_path, golden):
    put_both(tmp_path, FILES)
    to_table(spark, join(spark, tmp_path, JOINS[golden]), tmp_path / "ck", tmp_path / "table")
    assert compare.differences(tmp_path / "ck", GOLDENS / golden / "checkpoint", {str(tmp_path): f"{RECORDED_AT}/{golden}"}) == []


@pytest.mark.parametrize("golden", JOINS)
def test_a_join_of_spark_goes_on(spark, tmp_path, golden):
    shutil.copytree(GOLDENS / golden / "checkpoint", tmp_path / "ck")
    put_right(tmp_path / "ck", {f"{RECORDED_AT}/{golden}": tmp_path})
    put_both(tmp_path, FILES)
    # Right c@23 meets Spark's left c@21; left a@24 and d@25 meet nobody and leave when the watermark is at 95 s.
    put(tmp_path / "in1", 2, [("a", 6, "10:00:24"), ("d", 7, "10:00:25")])
    put(tmp_path / "in2", 2, [("c", 8, "10:00:23"), ("a", 9, "10:00:40")])
    put(tmp_path / "in1", 3, [("z", 1, "10:01:40")])
    put(tmp_path / "in2", 3, [("z", 1, "10:02:00")])
    found = to_table(spark, join(spark, tmp_path, JOINS[golden]), tmp_path / "ck", tmp_path / "table")
    alone = [("a", 6, None), ("d", 7, None)] if golden == "join-left-outer" else []
    assert found == sorted([("c", 5, 8)] + alone, key=str)


def rows_of(checkpoint, store, version):
    """key row and index -> value row of one side, over all partitions, by the deltas alone."""
    held = {}
    for partition in (checkpoint / "state" / "0").glob("[0-9]*"):
        for one in range(1, version + 1):
            for key, value in state_files.records(partition / store / f"{one}.delta"):
                held[partition.name, key] = value
    return [value for value in held.values() if value is not None]


def text_at(row, slot):
    size, offset = struct.unpack_from("<II", row, slot)
    return row[offset:offset + size].decode()


def test_rows_that_spark_left_unmatched_come_out_here(spark, tmp_path):
    """k BIGINT, v STRING, ts, matched: the unmatched left rows of the recorded state, decoded by this test, are what a far watermark brings."""
    shutil.copytree(GOLDENS / "vectors" / "join_left_outer_v2", tmp_path / "ck")
    put_right(tmp_path / "ck", {"/data": tmp_path})
    left_rows = rows_of(tmp_path / "ck", "left-keyWithIndexToValue", 3)
    unmatched = [text_at(row, 16) for row in left_rows if row[32] == 0]
    assert unmatched and len(unmatched) < len(left_rows)
    for side in ("lin", "rin"):
        (tmp_path / side).mkdir()
        for number in (0, 1):
            path = tmp_path / side / f"f{number:03d}.json"
            path.write_text("")
            seconds = 1_700_000_001 + 2 * number + (side == "rin")
            os.utime(path, (seconds, seconds))
    for side, names in (("lin", ("k", "ts")), ("rin", ("rk", "rts"))):
        (tmp_path / side / "f002.json").write_text(json.dumps({names[0]: 77, names[1]: "2023-11-15T00:00:00Z"}) + "\n")
    left = read_files(spark, tmp_path / "lin", "k BIGINT, v STRING, ts TIMESTAMP").withWatermark("ts", "5 seconds")
    right = read_files(spark, tmp_path / "rin", "rk BIGINT, w STRING, rts TIMESTAMP").withWatermark("rts", "5 seconds")
    frame = left.join(right, F.expr("k = rk AND rts BETWEEN ts AND ts + INTERVAL 10 SECONDS"), "left_outer")
    found = to_table(spark, frame, tmp_path / "ck", tmp_path / "table")
    assert sorted(row[1] for row in found if row[4] is None and row[0] != 77) == sorted(unmatched)


def test_lots_of_events_give_the_naive_answer(spark, tmp_path):
    """Left outer, disorder, late and malformed events, null keys; a restart between the lots. The same query changes hands with Spark in `make handover`."""
    case = handover_queries.CASES["join-file"]
    for lot in range(handover_queries.LOTS):
        handover_queries.put_files(tmp_path / "in", lot)
        handover_queries.run(spark, case, tmp_path, {})
        assert handover_queries.answer(spark, case, tmp_path, {}) == handover_queries.right_answer(case, lot + 1)
