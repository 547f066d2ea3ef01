# ctest: TIMEOUT 300 LABELS broker
"""What the progress tells of a Kafka source: offsets of the batch, the newest ones, how far behind."""
import collections
import json
import struct

from harness.kafka_broker import KafkaBroker
from pyspark.sql import functions as F

LIST_OFFSETS = 2  # Kafka's number of the request


def test_progress_of_a_limited_source(spark, broker):
    broker.create_topic("zeta", 2)
    broker.produce("zeta", [{"value": str(i), "partition": 0} for i in range(4)] + [{"value": "x", "partition": 1}])
    stream = (spark.readStream.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap).option("subscribe", "zeta")
              .option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", 2).load())
    query = stream.select(F.col("value").cast("string")).writeStream.format("noop").trigger(availableNow=True).start()
    assert query.awaitTermination(60)
    batches = [json.loads(p.json) for p in query.recentProgress]
    assert sum(p["numInputRows"] for p in batches) == 5
    end = {"zeta": {"0": 4, "1": 1}}
    for before, after in zip([None, *batches], batches):
        source = after["sources"][0]
        assert source["description"] == "KafkaV2[Subscribe[zeta]]"
        assert source["startOffset"] == (before["sources"][0]["endOffset"] if before else None)
        assert source["latestOffset"] == end
        behind = [end["zeta"][p] - source["endOffset"]["zeta"][p] for p in ("0", "1")]
        assert source["metrics"] == {"avgOffsetsBehindLatest": str(sum(behind) / 2), "maxOffsetsBehindLatest": str(max(behind)),
                                     "minOffsetsBehindLatest": str(min(behind))}
        assert source["numInputRows"] <= 2
    assert batches[-1]["sources"][0]["endOffset"] == end


class Requests:
    """Counts a client's requests by their number: each begins with its length and that number."""

    def __init__(self):
        self.count = collections.Counter()
        self._rest = collections.defaultdict(bytes)

    def __call__(self, connection, data):
        data = self._rest[connection] + data
        while len(data) >= 6:
            length, number = struct.unpack_from(">ih", data)
            if len(data) < 4 + length:
                break
            self.count[number] += 1
            data = data[4 + length:]
        self._rest[connection] = data


def test_the_ends_of_many_partitions_are_asked_for_at_once(spark, tmp_path):
    broker = KafkaBroker(tmp_path / "broker", proxied=True).start()
    try:
        broker.create_topic("many", 100)
        broker.produce("many", [{"value": "x", "partition": i} for i in range(100)])
        broker.proxy.watch = requests = Requests()
        stream = (spark.readStream.format("kafka").option("kafka.bootstrap.servers", broker.proxied_bootstrap).option("subscribe", "many")
                  .option("startingOffsets", "earliest").load())
        query = stream.writeStream.format("noop").trigger(availableNow=True).start()
        assert query.awaitTermination(60)
        assert sum(p["numInputRows"] for p in query.recentProgress) == 100
        assert 1 <= requests.count[LIST_OFFSETS] <= 12, requests.count
    finally:
        broker.stop()
