"""What a program sees of its queries: progress, status, end, failure, names, the manager, listeners."""
import json
import pathlib
import re

import pytest
from harness.stream_cases import InputFolder, drain, progress_list, read_files, rows
from harness.waiting import wait_until
from pyspark.errors import IllegalArgumentException, StreamingQueryException
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import StreamingQueryListener

RECORDED = pathlib.Path(__file__).parent / "recorded"
# What differs from run to run and from machine to machine.
VOLATILE = {"id", "runId", "timestamp", "batchDuration", "inputRowsPerSecond", "processedRowsPerSecond", "allUpdatesTimeMs",
            "allRemovalsTimeMs", "commitTimeMs", "memoryUsedBytes", "stateOnCurrentVersionSizeBytes", "loadedMapCacheHitCount",
            "loadedMapCacheMissCount"}
DURATIONS = {"addBatch", "commitOffsets", "getBatch", "latestOffset", "queryPlanning", "triggerExecution", "walCommit"}


@pytest.fixture(autouse=True)
def two_partitions(spark):
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.shuffle.partitions", "2")


@pytest.fixture(autouse=True)
def no_query_left(spark):
    yield
    for query in spark.streams.active:
        query.stop()


@pytest.fixture
def folder(tmp_path):
    return InputFolder(tmp_path / "in")


def event(key, second):
    return f'{{"k":"{key}","ts":"2023-11-14T22:13:{second:02d}Z"}}'


def put_events(folder):
    folder.put("1.json", event("a", 20), event("b", 25)).put("2.json", event("a", 50))
    return folder.put("3.json", event("a", 20), event("c", 20), event("c", 23), event("d", 55))


def ordered(value, path=""):
    """The progress as nested lists of (key, value), so that order counts; volatile values are cut down to their kind."""
    if isinstance(value, dict):
        return [(key, type(one).__name__ if key in VOLATILE or key in DURATIONS else ordered(one, key)) for key, one in value.items()]
    if isinstance(value, list):
        return [ordered(one) for one in value]
    if path == "description" and isinstance(value, str):
        return re.sub(r"\[file:.*/in\]", "[<in>]", value)
    return value


def raw(progress):
    """What the server sent, in its order."""
    return json.loads(progress.json) if hasattr(progress, "json") else progress


def test_progress_is_sparks_key_by_key(spark, folder):
    put_events(folder)
    counts = (read_files(spark, folder, "k STRING, ts TIMESTAMP").withWatermark("ts", "10 seconds")
              .observe("obs", F.count(F.lit(1)).alias("n"), F.max("k").alias("mx"))
              .groupBy(F.window("ts", "10 seconds"), "k").count())
    query = counts.writeStream.format("noop").queryName("named").outputMode("append").trigger(availableNow=True).start()
    assert query.awaitTermination(60)
    recorded = json.loads((RECORDED / "progress_stateful_append.json").read_text())
    got = [raw(one) for one in progress_list(query)]
    assert [one["batchId"] for one in got] == [one["batchId"] for one in recorded]
    for mine, theirs in zip(got, recorded):
        assert ordered(mine) == ordered(theirs)
    assert all(one["id"] == query.id and one["runId"] == query.runId for one in got)


def test_idle_entries_of_the_progress(spark, folder, tmp_path):
    spark.conf.set("spark.sql.streaming.noDataProgressEventInterval", "50")
    put_events(folder)
    recorded = json.loads((RECORDED / "progress_idle.json").read_text())

    def idle_entries(name):
        counts = (read_files(spark, folder, "k STRING, ts TIMESTAMP").withWatermark("ts", "10 seconds")
                  .groupBy(F.window("ts", "10 seconds"), "k").count())
        query = (counts.writeStream.format("noop").queryName(name).outputMode("append")
                 .option("checkpointLocation", str(tmp_path / "ck")).start())
        try:
            wait_until(lambda: [p["batchId"] for p in progress_list(query)].count(4) >= 2, "idle entries", alive=query.exception)
            return [raw(p) for p in progress_list(query) if p["batchId"] == 4]
        finally:
            query.stop()

    def without_operators(entry):
        return [(key, value) for key, value in ordered(entry) if key not in ("stateOperators", "name")]

    after = idle_entries("idle")[-1]
    assert without_operators(after) == without_operators(recorded["after_batches"][-1])
    operator = after["stateOperators"][0]
    assert (operator["numRowsTotal"], operator["numRowsUpdated"], operator["numRowsRemoved"]) == (2, 0, 0)
    again = idle_entries("idle2")[-1]
    assert ordered({**again, "name": "idle2"}) == ordered(recorded["restart_without_data"][-1])


def test_progress_of_batches_made_to_measure(spark, tmp_path):
    recorded = json.loads((RECORDED / "progress_rate_micro_batch.json").read_text())
    for expected in recorded:  # one run each, on one checkpoint
        stream = (spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 5).option("numPartitions", 2)
                  .option("startTimestamp", 1000).option("advanceMsPerBatch", 1000).load())
        query = stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "ck")).trigger(once=True).start()
        assert query.awaitTermination(60)
        assert [ordered(raw(one)) for one in progress_list(query)] == [ordered(expected)]


@pytest.mark.parametrize("changelog", ["false", "true"])
def test_progress_of_state_in_rocksdb(spark, folder, changelog):
    """The names are Spark's whatever the mode; the figures of its recorded run hold where both count the same thing."""
    state = "spark.sql.streaming.stateStore."
    spark.conf.set(state + "providerClass", "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider")
    spark.conf.set(state + "rocksdb.changelogCheckpointing.enabled", changelog)
    recorded = json.loads((RECORDED / "progress_rocksdb.json").read_text())[0]
    folder.put("1.json", event("a", 20), event("b", 25))
    frame = read_files(spark, folder, "k STRING, ts TIMESTAMP").withWatermark("ts", "10 seconds").dropDuplicates(["k"])
    query = frame.writeStream.format("noop").trigger(availableNow=True).start()
    assert query.awaitTermination(60)
    progress = raw(progress_list(query)[0])
    (mine,), (theirs,) = progress["stateOperators"], recorded["stateOperators"]
    assert list(mine) == list(theirs) and list(mine["customMetrics"]) == list(theirs["customMetrics"])
    same = ["numDroppedDuplicateRows", "rocksdbPutCount", "rocksdbNumLoadedFromDfs", "rocksdbNumReplayChangelogFiles"]
    if changelog == "false":
        same += ["SnapshotLastUploaded.partition_0_default", "rocksdbFilesCopied", "rocksdbFilesReused"]
        assert 0 < mine["customMetrics"]["rocksdbBytesCopied"] == mine["customMetrics"]["rocksdbSstFileSize"]
    for name in same:
        assert mine["customMetrics"][name] == theirs["customMetrics"][name], name


def test_progress_of_the_memory_sink(spark, folder):
    recorded = json.loads((RECORDED / "progress_memory.json").read_text())[0]
    folder.put("1.json", event("a", 20), event("b", 25))
    query = drain(read_files(spark, folder, "k STRING, ts TIMESTAMP").groupBy("k").count(), "complete", "mem")
    assert ordered(raw(progress_list(query)[0])) == ordered(recorded)


def test_status_says_what_a_query_does(spark, folder):
    query = read_files(spark, folder, "k STRING").writeStream.format("noop").start()
    query.processAllAvailable()
    wait_until(lambda: query.status["message"] == "Waiting for data to arrive", "waiting", alive=query.exception)
    assert query.status == {"message": "Waiting for data to arrive", "isDataAvailable": False, "isTriggerActive": False}
    assert query.isActive and query.name is None
    query.stop()
    assert query.status == {"message": "Stopped", "isDataAvailable": False, "isTriggerActive": False}
    assert not query.isActive
    assert query.exception() is None
    query.stop()


def test_termination_is_awaited_with_and_without_limit(spark, folder):
    query = read_files(spark, folder, "k STRING").writeStream.format("noop").start()
    assert query.awaitTermination(1) is False
    with pytest.raises(Exception):
        query.awaitTermination(-1)
    query.stop()
    assert query.awaitTermination(1) is True
    assert query.awaitTermination() is None


def test_recent_progress_is_bounded(spark, folder):
    spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", "4")
    for i in range(6):
        folder.put(f"{i}.json", f'{{"k":"{i}"}}')
    query = drain(read_files(spark, folder, "k STRING"), "append", "bounded")
    assert [p["batchId"] for p in progress_list(query)] == [3, 4, 5]
    assert query.lastProgress["batchId"] == 5


def test_a_query_without_progress(spark, folder):
    query = read_files(spark, folder, "k STRING").writeStream.format("noop").trigger(processingTime="1 hour").start()
    query.stop()
    assert query.lastProgress is None or query.lastProgress["numInputRows"] == 0


def test_a_failing_query_tells_its_cause(spark, folder):
    folder.put("1.json", '{"k":"a"}')
    divided = read_files(spark, folder, "k STRING").selectExpr("1 div (length(k) - 1) AS x")
    query = divided.writeStream.format("noop").queryName("bad").start()
    with pytest.raises(StreamingQueryException) as error:
        query.awaitTermination(30)
    assert error.value.getCondition() == "STREAM_FAILED"
    assert error.value.getSqlState() == "XXKST"
    assert f"[id = {query.id}, runId = {query.runId}] terminated with exception: [DIVIDE_BY_ZERO]" in str(error.value)
    assert not query.isActive
    assert query.status["message"].startswith("Terminated with exception: [DIVIDE_BY_ZERO] Division by zero.")
    failure = query.exception()
    assert isinstance(failure, StreamingQueryException)
    assert "DIVIDE_BY_ZERO" in str(failure)
    with pytest.raises(StreamingQueryException):
        query.processAllAvailable()
    assert spark.streams.active == []
    assert spark.range(2).count() == 2


def test_the_manager_remembers_what_ended(spark, folder):
    folder.put("1.json", '{"k":"a"}')
    stream = read_files(spark, folder, "k STRING")
    good = stream.writeStream.format("noop").queryName("good").start()
    with pytest.raises(IllegalArgumentException) as error:
        stream.writeStream.format("noop").queryName("good").start()
    assert "good" in str(error.value)
    assert [q.name for q in spark.streams.active] == ["good"]
    assert spark.streams.get(good.id).runId == good.runId
    assert spark.streams.awaitAnyTermination(1) is False
    good.stop()
    assert spark.streams.awaitAnyTermination(5) is True
    spark.streams.resetTerminated()
    bad = stream.selectExpr("1 div (length(k) - 1) AS x").writeStream.format("noop").start()
    with pytest.raises(StreamingQueryException, match=bad.runId):
        spark.streams.awaitAnyTermination(30)
    spark.streams.resetTerminated()
    again = stream.writeStream.format("noop").queryName("good").start()  # the name is free again
    assert spark.streams.awaitAnyTermination(1) is False
    again.stop()


class Heard(StreamingQueryListener):
    def __init__(self):
        self.events = []

    def onQueryStarted(self, event):
        self.events.append(("started", str(event.id), str(event.runId), event.name))

    def onQueryProgress(self, event):
        self.events.append(("progress", event.progress.batchId, event.progress.numInputRows))

    def onQueryIdle(self, event):
        self.events.append(("idle", str(event.id), str(event.runId)))

    def onQueryTerminated(self, event):
        self.events.append(("terminated", str(event.id), str(event.runId), event.exception, event.errorClassOnException))


def test_listeners_hear_events_in_order(spark, folder):
    put_events(folder)
    heard = Heard()
    spark.streams.addListener(heard)
    try:
        counts = (read_files(spark, folder, "k STRING, ts TIMESTAMP").withWatermark("ts", "10 seconds")
                  .groupBy(F.window("ts", "10 seconds"), "k").count())
        query = counts.writeStream.format("noop").queryName("heard").trigger(availableNow=True).start()
        assert query.awaitTermination(60)
        wait_until(lambda: heard.events and heard.events[-1][0] == "terminated", "the end")
        assert heard.events == [
            ("started", query.id, query.runId, "heard"), ("progress", 0, 2), ("progress", 1, 1), ("progress", 2, 4),
            ("progress", 3, 0), ("terminated", query.id, query.runId, None, None)]
        heard.events.clear()
        bad = read_files(spark, folder, "k STRING").selectExpr("1 div (length(k) - 1) AS x").writeStream.format("noop").start()
        with pytest.raises(StreamingQueryException):
            bad.awaitTermination(30)
        wait_until(lambda: heard.events and heard.events[-1][0] == "terminated", "the end of the failure")
        assert heard.events[0] == ("started", bad.id, bad.runId, None)
        _, ended, run, text, condition = heard.events[-1]
        assert (ended, run, condition) == (bad.id, bad.runId, "DIVIDE_BY_ZERO")
        assert "[DIVIDE_BY_ZERO] Division by zero." in text
    finally:
        spark.streams.removeListener(heard)
