"""Restarting from a checkpoint: two runs at a time, and kill -9 at each step of a micro-batch."""
import pytest
from harness.crashes import STEPS, crash_and_resume
from harness.stream_cases import InputFolder, drain, progress_list, read_files, rows
from harness.thalweg_server import ThalwegServer
from harness.waiting import wait_until
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F

SCHEMA = "k STRING, i BIGINT, ts TIMESTAMP"


@pytest.fixture(autouse=True)
def two_partitions(request):
    if "spark" in request.fixturenames:
        spark = request.getfixturevalue("spark")
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        spark.conf.set("spark.sql.shuffle.partitions", "2")


@pytest.fixture
def folder(tmp_path):
    one = InputFolder(tmp_path / "in")
    return one.put("1.json", '{"k":"1","i":10,"ts":"2024-03-01T10:00:00Z"}', '{"k":"2","i":20,"ts":"2024-03-01T10:00:05Z"}')


def count_and_sum(stream):
    return stream.groupBy("k").agg(F.count("*").alias("n"), F.sum("i").alias("s"))


def test_the_number_of_state_partitions_stays(spark, folder, tmp_path):
    stream = read_files(spark, folder, SCHEMA)
    drain(count_and_sum(stream), "complete", "partitions", tmp_path / "ck")
    spark.conf.set("spark.sql.shuffle.partitions", "7")
    folder.put("2.json", '{"k":"1","i":1}')
    query = drain(count_and_sum(stream), "complete", "partitions", tmp_path / "ck")
    assert query.lastProgress["stateOperators"][0]["numShufflePartitions"] == 2
    assert rows(spark.table("partitions")) == [("1", 2, 11), ("2", 1, 20)]


def test_a_second_run_stops_the_first(spark, folder, tmp_path):
    def start():
        return (read_files(spark, folder, SCHEMA).writeStream.format("noop")
                .option("checkpointLocation", str(tmp_path / "ck")).start())

    first = start()
    first.processAllAvailable()
    second = start()
    try:
        wait_until(lambda: not first.isActive, "the first run ends")
        assert first.exception() is None
        assert second.isActive
        assert second.id == first.id and second.runId != first.runId
        folder.put("2.json", '{"k":"1","i":1}')
        second.processAllAvailable()
        assert [(p["batchId"], p["numInputRows"]) for p in progress_list(second) if p["numInputRows"]] == [(1, 1)]
        spark.conf.set("spark.sql.streaming.stopActiveRunOnRestart", "false")
        with pytest.raises(Exception, match="as another query with same id is already active"):
            start()
        assert second.isActive
    finally:
        second.stop()


def test_two_servers_on_one_checkpoint(spark, folder, tmp_path):
    other = ThalwegServer(tmp_path / "other").start()
    try:
        def start(session):
            return (read_files(session, folder, SCHEMA).writeStream.format("noop")
                    .option("checkpointLocation", str(tmp_path / "ck")).start())

        first = start(spark)
        first.processAllAvailable()
        with pytest.raises(StreamingQueryException) as error:
            start(other.session()).awaitTermination(30)
        assert "CHECKPOINT_IN_USE" in str(error.value)
        assert first.isActive
        first.stop()
        assert start(other.session()).awaitTermination(1) is False
    finally:
        other.stop()


def put_hour(folder):
    for i in range(5):
        folder.put(f"{i}.json", *[f'{{"k":"{k}","i":{i},"ts":"2024-03-01T10:{10 * i:02d}:00Z"}}' for k in ("a", "b", "c")])


@pytest.mark.parametrize("nth", [1, 3])
@pytest.mark.parametrize("step", STEPS)
def test_counts_survive_a_crash(tmp_path, step, nth):
    folder = InputFolder(tmp_path / "in")
    put_hour(folder)

    def start(session):
        session.conf.set("spark.sql.shuffle.partitions", "2")
        return (count_and_sum(read_files(session, folder, SCHEMA)).writeStream.format("memory").queryName("counted")
                .outputMode("complete").option("checkpointLocation", str(tmp_path / "ck")).trigger(availableNow=True).start())

    server, query = crash_and_resume(tmp_path, step, nth, start)
    try:
        table = server.sessions[0].table("counted")
        assert rows(table) == [("a", 5, 10), ("b", 5, 10), ("c", 5, 10)]
        first = nth if step == "committed" else nth - 1  # the batch that was not committed runs again
        assert [p["batchId"] for p in progress_list(query)] == list(range(first, 5))
    finally:
        server.stop()


@pytest.mark.parametrize("nth", [1, 4])
@pytest.mark.parametrize("step", STEPS)
def test_a_delta_table_has_each_window_once(tmp_path, step, nth):
    folder = InputFolder(tmp_path / "in")
    put_hour(folder)
    table = str(tmp_path / "table")

    def start(session):
        session.conf.set("spark.sql.shuffle.partitions", "2")
        windows = (read_files(session, folder, SCHEMA).withWatermark("ts", "1 minute")
                   .groupBy(F.window("ts", "10 minutes"), "k").agg(F.count("*").alias("n")))
        return (windows.select(F.col("window.start").cast("string").alias("start"), "k", "n").writeStream.format("delta")
                .outputMode("append").option("checkpointLocation", str(tmp_path / "ck")).trigger(availableNow=True).start(table))

    server, _ = crash_and_resume(tmp_path, step, nth, start)
    try:
        got = rows(server.sessions[0].read.format("delta").load(table))
        assert got == sorted((f"2024-03-01 10:{10 * i:02d}:00", k, 1) for i in range(3) for k in ("a", "b", "c"))
    finally:
        server.stop()
