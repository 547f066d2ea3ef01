# ctest: TIMEOUT 300 LABELS broker
"""What the progress tells of a Kafka source: offsets of the batch, the newest ones, how far behind."""
import json

from pyspark.sql import functions as F


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
