# ctest: TIMEOUT 400 LABELS broker
"""Promise: PySpark programs read and write Kafka as on Spark 4.2.0 (cases P35 to P40; expectations were recorded there)."""
import itertools

import pytest
from harness.waiting import wait_until
from pyspark.errors import IllegalArgumentException, PySparkException, StreamingQueryException

_numbers = itertools.count()


@pytest.fixture
def kafka(broker, spark, tmp_path):
    return Cases(broker, spark, tmp_path)


class Cases:
    """A topic of its own, and queries from it into a Delta table."""

    def __init__(self, broker, spark, folder):
        self.broker, self.spark, self.folder = broker, spark, folder
        self.topic = f"case-{next(_numbers)}"

    def send(self, *values, partition=0):
        self.broker.produce(self.topic, [{"value": value, "partition": partition} for value in values])

    def stream(self, **options):
        options = {"kafka.bootstrap.servers": self.broker.bootstrap, "subscribe": self.topic, "startingOffsets": "earliest", **options}
        options = {key: value for key, value in options.items() if value is not None}
        return self.spark.readStream.format("kafka").options(**options).load()

    def values(self, **options):
        return self.stream(**options).selectExpr("CAST(value AS STRING) AS v", "partition", "offset")

    def start(self, frame, checkpoint="ck", table="out", **trigger):
        writer = frame.writeStream.format("delta").option("checkpointLocation", str(self.folder / checkpoint))
        return (writer.trigger(**trigger) if trigger else writer).start(str(self.folder / table))

    def drain(self, frame, checkpoint="ck", table="out"):
        query = self.start(frame, checkpoint, table, availableNow=True)
        assert query.awaitTermination(90)
        return query

    def rows(self, table="out"):
        if not (self.folder / table / "_delta_log").exists():
            return []
        return sorted(tuple(row) for row in self.spark.read.format("delta").load(str(self.folder / table)).collect())

    def files(self, kind, checkpoint="ck"):
        return {int(f.name): f.read_text().splitlines()[-1] for f in (self.folder / checkpoint / kind).iterdir() if f.name.isdigit()}


@pytest.mark.parametrize("running", [False, True])
def test_p35_a_new_partition_is_read_from_its_beginning(kafka, running):
    kafka.broker.create_topic(kafka.topic)
    kafka.send("o0", "o1")
    frame = kafka.values(startingOffsets="latest", **{"kafka.metadata.max.age.ms": "500"})
    query = kafka.start(frame)
    wait_until(lambda: query.lastProgress is not None, "the first micro-batch", 30)
    kafka.send("a0")
    query.processAllAvailable()
    if not running:
        query.stop()
    kafka.broker.add_partitions(kafka.topic, 2)
    kafka.send("b0", "b1", "b2", partition=1)
    if not running:
        query = kafka.start(frame)
    wait_until(lambda: len(kafka.rows()) == 4, "the records of the new partition", 60)
    assert kafka.rows() == [("a0", 0, 2), ("b0", 1, 0), ("b1", 1, 1), ("b2", 1, 2)]
    query.stop()
    assert kafka.files("offsets")[max(kafka.files("offsets"))] == f'{{"{kafka.topic}":{{"0":3,"1":3}}}}'


def test_p36_a_topic_made_anew_with_fewer_records(kafka):
    kafka.broker.create_topic(kafka.topic)
    kafka.send(*[f"m{i}" for i in range(20)])
    kafka.drain(kafka.values())
    assert len(kafka.rows()) == 20
    kafka.broker.delete_topic(kafka.topic)
    kafka.broker.create_topic(kafka.topic)
    kafka.send(*[f"n{i}" for i in range(5)])
    with pytest.raises(StreamingQueryException) as failure:
        kafka.drain(kafka.values(), table="out2")
    text = str(failure.value)
    assert "Some data may have been lost" in text and f"{kafka.topic}-0 offset was changed from 20 to 5" in text and "failOnDataLoss" in text
    assert kafka.rows("out2") == []
    assert kafka.files("offsets") == {0: f'{{"{kafka.topic}":{{"0":20}}}}', 1: f'{{"{kafka.topic}":{{"0":5}}}}'}
    assert set(kafka.files("commits")) == {0}
    kafka.drain(kafka.values(failOnDataLoss="false"), table="out3")
    assert kafka.rows("out3") == []
    kafka.send("n5")
    kafka.drain(kafka.values(failOnDataLoss="false"), table="out4")
    assert kafka.rows("out4") == [("n5", 0, 5)]
    assert kafka.files("offsets")[2] == f'{{"{kafka.topic}":{{"0":6}}}}'


def test_p37_nulls_and_headers(kafka):
    kafka.broker.create_topic(kafka.topic)
    kafka.broker.produce(kafka.topic, [
        {"value": b'{"id":1}', "partition": 0}, {"key": b"k1", "value": None, "partition": 0}, {"key": b"k2", "value": b"", "partition": 0},
        {"key": b"k3", "value": b'{"id":3}', "headers": [("h", b"1"), ("h", b"2"), ("n", None)], "partition": 0}])
    frame = kafka.stream(includeHeaders="true")
    assert [(f.name, f.dataType.simpleString()) for f in frame.schema.fields] == [
        ("key", "binary"), ("value", "binary"), ("topic", "string"), ("partition", "int"), ("offset", "bigint"),
        ("timestamp", "timestamp"), ("timestampType", "int"), ("headers", "array<struct<key:string,value:binary>>")]
    assert "headers" not in kafka.stream().columns
    kafka.drain(frame.selectExpr("offset", "key", "value", "from_json(CAST(value AS STRING), 'id INT').id AS id",
                                 "value IS NULL AS isnull", "headers"))
    rows = [(o, bytes(k) if k is not None else None, bytes(v) if v is not None else None, i, n,
             None if h is None else [(x["key"], None if x["value"] is None else bytes(x["value"])) for x in h])
            for o, k, v, i, n, h in (tuple(r) for r in kafka.spark.read.format("delta").load(str(kafka.folder / "out")).orderBy("offset").collect())]
    assert rows == [(0, None, b'{"id":1}', 1, False, None), (1, b"k1", None, None, True, None), (2, b"k2", b"", None, False, None),
                    (3, b"k3", b'{"id":3}', 3, False, [("h", b"1"), ("h", b"2"), ("n", None)])]


@pytest.mark.parametrize("columns, option, text", [
    (["txt"], True, "Required attribute 'value' not found"),
    (["id AS value"], True, "value attribute unsupported type int. value must be a(n) string or binary"),
    (["txt AS value"], False, "topic option required when no 'topic' attribute is present. Use the topic option for setting a topic."),
    (["txt AS Value"], True, "Required attribute 'value' not found"),
    (["txt AS value", "'{other}' AS topic"], True, None),
    (["txt AS value", "CAST(NULL AS STRING) AS topic"], False, "null topic"),
    (["txt AS value"], True, None),
    (["CAST(id AS STRING) AS key", "txt AS value", "7 AS partition"], True, "Partition 7 of topic {topic} with partition count 1"),
], ids="abcdefgh")
def test_p38_what_the_sink_takes(kafka, columns, option, text):
    other = f"{kafka.topic}-other"
    for topic in (kafka.topic, other):
        kafka.broker.create_topic(topic)
    (kafka.folder / "in").mkdir()
    (kafka.folder / "in" / "f1.json").write_text('{"id":1,"txt":"x"}\n')
    frame = kafka.spark.readStream.schema("id INT, txt STRING").json(str(kafka.folder / "in"))
    writer = (frame.selectExpr(*[c.format(other=other) for c in columns]).writeStream.format("kafka")
              .option("kafka.bootstrap.servers", kafka.broker.bootstrap).option("checkpointLocation", str(kafka.folder / "ck"))
              .option("kafka.max.block.ms", "8000").trigger(availableNow=True))
    query = (writer.option("topic", kafka.topic) if option else writer).start()
    if text is None:
        assert query.awaitTermination(60)
        assert [(m.key(), m.value()) for m in kafka.broker.consume_all(kafka.topic)] == [(None, b"x")]
    else:
        with pytest.raises(StreamingQueryException) as failure:
            query.awaitTermination(60)
        assert text.format(topic=kafka.topic) in str(failure.value)
        assert kafka.broker.consume_all(kafka.topic) == []
        assert not (kafka.folder / "ck" / "commits" / "0").exists()
    assert kafka.broker.consume_all(other) == []


@pytest.mark.parametrize("change, text", [
    ({"kafka.auto.offset.reset": "earliest"}, "Kafka option 'auto.offset.reset' is not supported."),
    ({"kafka.enable.auto.commit": "true"}, "Kafka option 'enable.auto.commit' is not supported"),
    ({"kafka.key.deserializer": "x"}, "Kafka option 'key.deserializer' is not supported as keys are deserialized"),
    ({"kafka.value.deserializer": "x"}, "Kafka option 'value.deserializer' is not supported as values are deserialized"),
    ({"assign": '{"t":[0]}'}, "Only one of the following options can be specified for Kafka source: subscribe, subscribepattern, assign."),
    ({"subscribe": None}, "One of the following options must be specified for Kafka source: subscribe, subscribepattern, assign."),
    ({"kafka.bootstrap.servers": None}, "Option 'kafka.bootstrap.servers' must be specified for configuring Kafka consumer"),
    ({"endingOffsets": "latest"}, "ending offset not valid in streaming queries"),
], ids="abcdefgh")
def test_p39_options_that_are_refused_at_load(kafka, change, text):
    options = {"kafka.bootstrap.servers": kafka.broker.bootstrap, "subscribe": kafka.topic, **change}
    options = {key: value for key, value in options.items() if value is not None}
    with pytest.raises(IllegalArgumentException) as failure:
        kafka.spark.readStream.format("kafka").options(**options).load().columns
    assert text in str(failure.value)
    assert kafka.spark.streams.active == []


def test_p39_offsets_and_topics_that_do_not_fit_fail_in_the_query(kafka):
    kafka.broker.create_topic(kafka.topic, partitions=2)
    with pytest.raises(StreamingQueryException) as failure:
        kafka.drain(kafka.values(startingOffsets=f'{{"{kafka.topic}":{{"0":1}}}}'))
    assert (f"Specified: Set({kafka.topic}-0) Assigned: Set({kafka.topic}-0, {kafka.topic}-1)") in str(failure.value)
    with pytest.raises(StreamingQueryException) as failure:
        kafka.drain(kafka.values(subscribe="nobody-made-this"), checkpoint="ck2")
    assert "UnknownTopicOrPartitionException: This server does not host this topic-partition." in str(failure.value)


def test_p40_starting_offsets_mean_nothing_once_there_is_a_checkpoint(kafka):
    kafka.broker.create_topic(kafka.topic)
    kafka.send(*[f"r{i}" for i in range(5)])
    kafka.drain(kafka.values(), table="out1")
    kafka.send("r5", "r6")
    kafka.drain(kafka.values(startingOffsets="latest"), table="out2")
    kafka.drain(kafka.values(), table="out3")
    kafka.drain(kafka.values(), checkpoint="ck2", table="out4")
    texts = {name: [row[0] for row in kafka.rows(name)] for name in ("out1", "out2", "out3", "out4")}
    assert texts == {"out1": [f"r{i}" for i in range(5)], "out2": ["r5", "r6"], "out3": [], "out4": [f"r{i}" for i in range(7)]}
    assert kafka.broker.admin().list_consumer_groups().result().valid == []
    assert (kafka.folder / "ck" / "sources" / "0" / "0").read_bytes() == b"\0v1\n" + f'{{"{kafka.topic}":{{"0":0}}}}'.encode()


def test_batches_are_read_and_written(kafka):
    kafka.broker.create_topic(kafka.topic, partitions=2)
    base = {"kafka.bootstrap.servers": kafka.broker.bootstrap}
    kafka.spark.range(100).selectExpr("CAST(id AS STRING) AS value").write.format("kafka").options(topic=kafka.topic, **base).save()
    frame = kafka.spark.read.format("kafka").options(subscribe=kafka.topic, **base).load()
    assert frame.selectExpr("CAST(CAST(value AS STRING) AS INT) AS v").agg({"v": "sum"}).collect()[0][0] == 4950
    with pytest.raises(PySparkException):
        kafka.spark.range(1).selectExpr("CAST(id AS STRING) AS value").write.format("kafka").mode("overwrite").options(
            topic=kafka.topic, **base).save()


def batch(kafka, **options):
    options = {"kafka.bootstrap.servers": kafka.broker.bootstrap, "subscribe": kafka.topic, **options}
    options = {key: value for key, value in options.items() if value is not None}
    return kafka.spark.read.format("kafka").options(**options).load().selectExpr("topic", "CAST(value AS STRING) AS v", "offset")


def test_a_pattern_is_looked_for_anywhere_in_a_name(kafka):
    for topic in ("one", "one-more", "other"):
        kafka.broker.create_topic(f"{kafka.topic}-{topic}")
        kafka.broker.produce(f"{kafka.topic}-{topic}", [{"value": topic}])
    found = lambda pattern: sorted(row.v for row in batch(kafka, subscribe=None, subscribePattern=pattern).collect())
    assert found(f"{kafka.topic}-one") == ["one", "one-more"]
    assert found(f"{kafka.topic}-one$") == ["one"]
    kafka.drain(kafka.stream(subscribe=None, subscribePattern=f"{kafka.topic}-one").selectExpr("CAST(value AS STRING) AS v"))
    assert kafka.rows() == [("one",), ("one-more",)]


def test_an_end_beyond_the_partition_is_data_loss(kafka):
    kafka.broker.create_topic(kafka.topic)
    kafka.send("a", "b")
    options = {"endingOffsets": f'{{"{kafka.topic}":{{"0":5}}}}', "kafkaConsumer.pollTimeoutMs": "500"}
    with pytest.raises(PySparkException) as failure:
        batch(kafka, **options).collect()
    assert failure.value.getCondition() == "KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE"
    assert [row.v for row in batch(kafka, failOnDataLoss="false", **options).collect()] == ["a", "b"]


@pytest.mark.parametrize("option", ["startingOffsets", "endingOffsets"])
def test_offsets_of_a_batch_name_every_partition(kafka, option):
    kafka.broker.create_topic(kafka.topic, partitions=2)
    with pytest.raises(PySparkException) as failure:
        batch(kafka, **{option: f'{{"{kafka.topic}":{{"0":0}}}}'}).collect()
    assert failure.value.getCondition() == "KAFKA_START_OFFSET_DOES_NOT_MATCH_ASSIGNED"
    assert failure.value.getMessageParameters() == {
        "specifiedPartitions": f"Set({kafka.topic}-0)", "assignedPartitions": f"Set({kafka.topic}-0, {kafka.topic}-1)"}


def test_a_batch_begun_with_fewer_topics_is_done_before_new_ends_are_taken(kafka):
    other = f"{kafka.topic}-other"
    kafka.broker.create_topic(kafka.topic)
    kafka.broker.create_topic(other)
    kafka.send("a0")
    kafka.broker.produce(other, [{"value": "b0"}])
    both = {"subscribe": f"{kafka.topic},{other}"}
    kafka.drain(kafka.values(**both))
    kafka.send("a1")
    with pytest.raises(StreamingQueryException) as failure:
        kafka.drain(kafka.values(subscribe=other))
    assert "KAFKA_DATA_LOSS" in str(failure.value) or "may have been lost" in str(failure.value)
    assert set(kafka.files("offsets")) - set(kafka.files("commits")) == {1}
    kafka.broker.produce(other, [{"value": "b1"}])
    kafka.drain(kafka.values(failOnDataLoss="false", **both), table="out2")
    # The unfinished batch lost sight of the first topic, so that it is new afterwards, as in Spark.
    assert kafka.rows("out2") == [("a0", 0, 0), ("a1", 0, 1), ("b1", 0, 1)]
