"""Recorded runs of damage.jsonl that are not about damage: several sources under Once and AvailableNow, and what is refused by name."""
import json
import os
import shutil

import pytest
from harness.spark_checkpoints import GOLDENS
from harness.stream_cases import InputFolder, progress_list, read_files
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

RECORDED = {one["case"]: one for one in map(json.loads, (GOLDENS / "damage.jsonl").read_text().splitlines())}
SCHEMA = "k STRING, ts TIMESTAMP"
WRAPPER = "spark.sql.streaming.triggerAvailableNowWrapper.enabled"


@pytest.fixture(autouse=True)
def settings(spark):
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.shuffle.partitions", "2")


@pytest.fixture
def run(tmp_path):
    """run(frame, mode, **trigger): one run to its end; [[batch id, input rows], ...] as recorded."""
    def start(frame, mode="append", **trigger):
        query = (frame.writeStream.format("noop").outputMode(mode).option("checkpointLocation", str(tmp_path / "ck"))
                 .trigger(**(trigger or {"availableNow": True})).start())
        assert query.awaitTermination(60), "the run did not end"
        return [[p["batchId"], p["numInputRows"]] for p in progress_list(query)]
    return start


def recorded(case):
    return RECORDED[case]["detail"]["batches"]


def lines(file, count):
    return [f'{{"k":"{i}","ts":"2024-03-01T10:0{5 * file}:00Z"}}' for i in range(count)]


def folder(path, files, rows):
    made = InputFolder(path)
    for file in range(files):
        made.put(f"{file}.json", *lines(file % 2, rows))
    return made


def two_sources(spark, tmp_path):
    first, second = folder(tmp_path / "in", 2, 2), folder(tmp_path / "in_b", 3, 1)
    return read_files(spark, first, SCHEMA).union(read_files(spark, second, SCHEMA))


def test_once_takes_all_of_both_sources(spark, tmp_path, run):
    assert run(two_sources(spark, tmp_path), once=True) == recorded("once, two file sources maxFilesPerTrigger=1 (2 and 3 files)")


def test_available_now_takes_both_sources_step_by_step(spark, tmp_path, run):
    assert run(two_sources(spark, tmp_path)) == recorded("availableNow, two file sources (2 and 3 files)")


def with_rate(spark, tmp_path):
    files = read_files(spark, folder(tmp_path / "in", 2, 2), SCHEMA).select("k")
    return files.union(spark.readStream.format("rate").load().selectExpr("cast(value as string) k"))


def test_a_source_without_available_now_makes_it_once(spark, tmp_path, run):
    frame = with_rate(spark, tmp_path)
    assert run(frame) == recorded("availableNow, file source (2 files, maxFiles 1) + rate")


def test_the_wrapper_freezes_such_a_source(spark, tmp_path, run):
    spark.conf.set(WRAPPER, "true")
    assert run(with_rate(spark, tmp_path)) == recorded("availableNow mixed with wrapper enabled")


def test_once_replays_what_was_not_committed_and_ends(spark, tmp_path, run):
    files = folder(tmp_path / "in", 1, 2)
    frame = read_files(spark, files, SCHEMA)
    run(frame, once=True)
    os.remove(tmp_path / "ck" / "commits" / "0")
    files.put("later.json", *lines(1, 2))
    assert run(frame, once=True) == recorded("once: uncommitted batch replayed, new data left")


def test_the_tail_of_a_window_and_runs_without_data(spark, tmp_path, run):
    frame = (read_files(spark, folder(tmp_path / "in", 2, 2), SCHEMA).withWatermark("ts", "5 seconds")
             .groupBy(F.window("ts", "10 seconds"), "k").count())
    assert run(frame) == recorded("availableNow: window tail batch")
    assert run(frame) == recorded("availableNow: rerun without data")


def test_the_same_checkpoint_twice(spark, tmp_path, run):
    frame = read_files(spark, folder(tmp_path / "in", 2, 2), SCHEMA)
    run(frame)
    assert run(frame) == recorded("same checkpoint twice")


def test_first_of_values_that_are_kept_whole(spark, tmp_path, run):
    frame = (read_files(spark, folder(tmp_path / "in", 2, 2), SCHEMA).groupBy("k")
             .agg(F.first(F.create_map("k", F.lit(1))), F.first(F.expr("make_interval(0, 1, 0, 2)"))))  # variants are not there yet
    assert run(frame, "update") == recorded("first(map, interval, variant)")


def test_a_checkpoint_of_the_other_state_provider_goes_on(spark, tmp_path, run):
    shutil.copytree(GOLDENS / "window-append-rocksdb" / "checkpoint", tmp_path / "ck")
    files = InputFolder(tmp_path / "in")
    files.put("2.json", '{"k":"a","v":1,"ts":"2024-03-01T10:01:00Z"}')
    os.utime(tmp_path / "in" / "2.json", (1_709_280_100, 1_709_280_100))  # not too old beside Spark's
    for path in (tmp_path / "ck" / "sources" / "0").iterdir():
        if not path.name.startswith("."):
            path.write_text(path.read_text().replace("/tmp/w/mk/window-append-rocksdb/in1", str(tmp_path / "in")))
    frame = (read_files(spark, files, "k STRING, v INT, ts TIMESTAMP").withWatermark("ts", "5 seconds")
             .groupBy(F.window("ts", "10 seconds"), "k").agg(F.count("*"), F.avg("v"), F.max("k")))
    run(frame)
    assert (tmp_path / "ck" / "state" / "0" / "1" / "5.zip").exists()
    kept = spark.read.format("statestore").load(str(tmp_path / "ck")).selectExpr("key.k", "value.max")
    # Of Spark's two open windows the watermark of 10:00:55 closes both; the new row's stays.
    assert [tuple(row) for row in kept.collect()] == [("a", "a")]


# What the engine has not: named, never half done.

def refusal(start):
    with pytest.raises(PySparkException) as error:
        start()
    return str(error.value)


def test_a_continuous_trigger_is_refused(spark, run):
    frame = spark.readStream.format("rate").load()
    assert "UNSUPPORTED_FEATURE" in refusal(lambda: run(frame, continuous="1 second"))
