# ctest: TIMEOUT 300 LABELS broker
"""Kafka to Delta through a kill -9: every message counted once, every window written once."""
import pytest
from harness.crashes import STEPS, crash_and_resume
from harness.stream_cases import rows
from pyspark.sql import functions as F

MINUTES, KEYS = 6, 50


def put_clicks(broker, topic):
    """KEYS clicks in each of MINUTES minutes, then one an hour later that closes all their windows."""
    broker.create_topic(topic, 2)
    clicks = [f'{{"page":"p{key % 5}","event_time":"2024-03-01T10:{minute:02d}:{key:02d}Z"}}' for minute in range(MINUTES) for key in range(KEYS)]
    broker.produce(topic, [{"value": click, "partition": i % 2} for i, click in enumerate(clicks)])
    broker.produce(topic, [{"value": '{"page":"last","event_time":"2024-03-01T11:00:00Z"}', "partition": 0}])


@pytest.mark.parametrize("nth", [1, 3])
@pytest.mark.parametrize("step", STEPS)
def test_clicks_are_counted_once(tmp_path, broker, step, nth):
    topic = f"clicks-{step}-{nth}".replace(" ", "-")
    put_clicks(broker, topic)
    table = str(tmp_path / "table")

    def start(session):
        session.conf.set("spark.sql.shuffle.partitions", "2")
        raw = (session.readStream.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap).option("subscribe", topic)
               .option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", 60).load())
        events = raw.select(F.from_json(F.col("value").cast("string"), "page STRING, event_time TIMESTAMP").alias("e")).select("e.*")
        counts = events.withWatermark("event_time", "10 minutes").groupBy(F.window("event_time", "1 minute"), "page").count()
        return (counts.select(F.col("window.start").cast("string").alias("start"), "page", "count").writeStream.format("delta")
                .outputMode("append").option("checkpointLocation", str(tmp_path / "ck")).trigger(availableNow=True).start(table))

    server, _ = crash_and_resume(tmp_path, step, nth, start)
    try:
        got = rows(server.sessions[0].read.format("delta").load(table))
        assert got == [(f"2024-03-01 10:{minute:02d}:00", f"p{page}", KEYS // 5) for minute in range(MINUTES) for page in range(5)]
    finally:
        server.stop()
