"""Streaming queries from PySpark: start, status, progress, stop, listeners."""
import threading

import pytest
from harness.waiting import patience, wait_until
from pyspark.errors import AnalysisException, IllegalArgumentException, UnsupportedOperationException
from pyspark.sql.streaming.listener import StreamingQueryListener


@pytest.fixture
def ticks(spark):
    return spark.readStream.format("rate").option("rowsPerSecond", 100).load()


def stop_all(spark):
    for query in spark.streams.active:
        query.stop()


def test_rate_into_memory(spark, ticks):
    assert ticks.isStreaming
    query = ticks.writeStream.format("memory").queryName("ticks").start()
    try:
        assert query.name == "ticks"
        assert query.isActive
        wait_until(lambda: spark.table("ticks").count() >= 50, "fifty rows")
        assert query.exception() is None
        progress = query.lastProgress
        assert progress["name"] == "ticks"
        assert progress["id"] == query.id and progress["runId"] == query.runId
        assert progress["sources"][0]["description"].startswith("RateStreamV2")
        assert [p["batchId"] for p in query.recentProgress] == sorted(p["batchId"] for p in query.recentProgress)
        assert set(query.status) == {"message", "isDataAvailable", "isTriggerActive"}
        values = sorted(row.value for row in spark.sql("select value from ticks").collect())
        assert values == list(range(len(values)))
    finally:
        query.stop()
    assert not query.isActive
    assert query.awaitTermination(1) is True
    assert query.lastProgress is not None


def test_the_query_manager(spark, ticks):
    first = ticks.writeStream.format("noop").queryName("first").start()
    second = ticks.writeStream.format("noop").start()
    try:
        assert {q.id for q in spark.streams.active} == {first.id, second.id}
        assert spark.streams.get(first.id).name == "first"
        assert spark.streams.get("00000000-0000-4000-8000-000000000000") is None
        assert spark.streams.awaitAnyTermination(1) is False
        assert first.awaitTermination(1) is False
        with pytest.raises(IllegalArgumentException):
            ticks.writeStream.format("noop").queryName("first").start()
        second.stop()
        assert spark.streams.awaitAnyTermination(5) is True
        spark.streams.resetTerminated()
    finally:
        stop_all(spark)
    assert spark.streams.active == []


def test_what_a_start_refuses(spark, ticks, tmp_path):
    with pytest.raises(AnalysisException) as error:
        spark.range(3).writeStream.format("noop").start()
    assert error.value.getCondition() == "WRITE_STREAM_NOT_ALLOWED"
    with pytest.raises(IllegalArgumentException) as error:
        ticks.writeStream.format("noop").outputMode("sometimes").start()
    assert error.value.getCondition() == "STREAMING_OUTPUT_MODE.INVALID"
    with pytest.raises(IllegalArgumentException):
        ticks.writeStream.format("noop").trigger(processingTime="soon").start()
    with pytest.raises(AnalysisException):
        ticks.writeStream.format("memory").start()
    with pytest.raises(Exception, match="DATA_SOURCE_NOT_FOUND"):
        ticks.writeStream.format("no.such.format").start()
    with pytest.raises(AnalysisException, match="writeStream.start"):
        ticks.collect()


def test_listeners_hear_of_every_query(spark, ticks):
    class Listener(StreamingQueryListener):
        def __init__(self):
            self.events = []
            self.ended = threading.Event()

        def onQueryStarted(self, event):
            self.events.append(("started", str(event.id)))

        def onQueryProgress(self, event):
            self.events.append(("progress", str(event.progress.id)))

        def onQueryIdle(self, event):
            pass

        def onQueryTerminated(self, event):
            self.events.append(("terminated", str(event.id)))
            self.ended.set()

    listener = Listener()
    spark.streams.addListener(listener)
    query = ticks.writeStream.format("noop").start()
    try:
        assert ("started", query.id) in listener.events
        wait_until(lambda: ("progress", query.id) in listener.events, "a progress event")
    finally:
        query.stop()
    assert listener.ended.wait(patience(10))
    assert listener.events[-1] == ("terminated", query.id)
    spark.streams.removeListener(listener)


def test_process_all_available(spark):
    frame = (spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 5).option("numPartitions", 2).load())
    query = frame.writeStream.format("memory").queryName("batches").trigger(availableNow=True).start()
    query.processAllAvailable()
    assert query.awaitTermination(10) is True
    assert spark.table("batches").count() >= 5


def test_releasing_the_session_stops_its_queries(shared_server):
    mine, other = shared_server.session(), shared_server.session()
    query = mine.readStream.format("rate").load().writeStream.format("noop").start()
    assert query.isActive
    mine.stop()
    assert other.range(2).count() == 2
    shared_server.close_sessions()


def test_interrupt_stops_tagged_queries(spark, ticks):
    spark.addTag("mine")
    query = ticks.writeStream.format("noop").start()
    spark.removeTag("mine")
    other = ticks.writeStream.format("noop").start()
    try:
        assert len(spark.interruptTag("mine")) == 1
        wait_until(lambda: not query.isActive, "the tagged query ends")
        assert other.isActive
    finally:
        stop_all(spark)


class Ends(StreamingQueryListener):
    """Keeps the terminated events."""

    def __init__(self):
        self.events = []

    def onQueryStarted(self, event):
        pass

    def onQueryProgress(self, event):
        pass

    def onQueryIdle(self, event):
        pass

    def onQueryTerminated(self, event):
        self.events.append(event)


def test_the_terminated_event_names_the_exception(spark, ticks):  # as recorded from Spark: listener_events.json
    listener = Ends()
    spark.streams.addListener(listener)
    query = ticks.selectExpr("1 div (value - value) AS x").writeStream.format("noop").start()
    wait_until(lambda: listener.events, "the terminated event")
    spark.streams.removeListener(listener)
    assert listener.events[0].exception.startswith("org.apache.spark.SparkArithmeticException: [DIVIDE_BY_ZERO] Division by zero.")
    assert listener.events[0].errorClassOnException == "DIVIDE_BY_ZERO"
    assert query.status["message"].startswith("Terminated with exception: [DIVIDE_BY_ZERO]")


def test_the_status_names_the_source_that_is_asked(spark):
    frame = spark.readStream.format("kafka").option("kafka.bootstrap.servers", "127.0.0.1:1").option("subscribe", "nobody").load()
    query = frame.writeStream.format("noop").start()
    try:
        wait_until(lambda: query.status["message"] == "Getting offsets from KafkaV2[Subscribe[nobody]]", "the status")
    finally:
        query.stop()


def test_a_source_that_cannot_be_written_is_refused_at_the_start(spark, ticks):
    with pytest.raises(UnsupportedOperationException) as failure:
        ticks.writeStream.format("rate").option("checkpointLocation", "/nowhere").start()
    assert failure.value.getCondition() == "_LEGACY_ERROR_TEMP_2049"
    assert failure.value.getMessageParameters() == {"className": "rate", "operator": "writing"}
    assert spark.streams.active == []


def test_a_memory_table_does_not_go_on_from_a_checkpoint(spark, ticks, tmp_path):
    def start(mode, frame):
        return (frame.writeStream.format("memory").queryName("again").outputMode(mode).trigger(availableNow=True)
                .option("checkpointLocation", str(tmp_path / mode)).start())
    counts = ticks.groupBy().count()
    for mode, frame in (("append", ticks), ("update", counts)):
        assert start(mode, frame).awaitTermination(60)
        with pytest.raises(AnalysisException) as failure:
            start(mode, frame)
        assert failure.value.getCondition() == "_LEGACY_ERROR_TEMP_1299"
        assert failure.value.getMessageParameters() == {"checkpointPath": f"{tmp_path}/{mode}/offsets"}
    for _ in range(2):
        assert start("complete", counts).awaitTermination(60)


@pytest.mark.parametrize("name", ["a b", "1a-", "a.", ""])
def test_names_that_no_view_can_have(spark, ticks, name):
    with pytest.raises(AnalysisException) as failure:
        spark.range(1).createOrReplaceTempView(name)
    assert failure.value.getCondition() == "_LEGACY_ERROR_TEMP_1321" and failure.value.getMessageParameters() == {"viewName": name}
    if name:
        with pytest.raises(AnalysisException) as failure:
            ticks.writeStream.format("memory").queryName(name).start()
        assert failure.value.getCondition() == "_LEGACY_ERROR_TEMP_1321"
    assert spark.streams.active == []


def test_an_id_that_is_none_is_refused(spark):
    with pytest.raises(IllegalArgumentException) as failure:
        spark.streams.get("not-a-uuid")
    assert "Invalid UUID string: not-a-uuid" in str(failure.value)


def test_the_schema_of_rate_micro_batch_is_fixed(spark):
    with pytest.raises(UnsupportedOperationException) as failure:
        spark.readStream.format("rate-micro-batch").schema("a INT").option("rowsPerBatch", 1).load().schema
    assert failure.value.getCondition() == "_LEGACY_ERROR_TEMP_2242"
    assert failure.value.getMessageParameters() == {"provider": "RatePerMicroBatchProvider"}


def test_a_view_of_a_batch_is_no_stream(spark, ticks):
    spark.range(3).createOrReplaceTempView("still")
    with pytest.raises(AnalysisException) as failure:
        spark.readStream.table("still").schema
    assert failure.value.getCondition() == "_LEGACY_ERROR_TEMP_1008" and failure.value.getMessageParameters() == {"quoted": "still"}
    ticks.createOrReplaceTempView("moving")
    assert spark.readStream.table("moving").isStreaming
