"""What users get wrong: every case ends in a condition that says what, where and what to do, and the session goes on."""
# ctest: TIMEOUT 240
import bz2
import gzip
import json
import re

import pytest
from harness.stream_cases import InputFolder, read_files, rows
from harness.waiting import wait_until
from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import Window
from pyspark.sql import functions as F

SCHEMA = "a int, b string"


@pytest.fixture
def folder(tmp_path):
    return InputFolder(tmp_path / "in").put("a.json", '{"a":1,"b":"x"}')


def run(frame, checkpoint=None, sink="noop", **options):
    """One availableNow run to its end; the query's exception is raised."""
    writer = frame.writeStream.format(sink).options(**options).trigger(availableNow=True)
    if checkpoint is not None:
        writer = writer.option("checkpointLocation", str(checkpoint))
    query = writer.start()
    assert query.awaitTermination(60)


def fails(call, *texts):
    with pytest.raises(Exception) as error:
        call()
    for text in texts:
        assert text in str(error.value)


def kafka(spark, **options):
    return spark.readStream.format("kafka").option("kafka.bootstrap.servers", "127.0.0.1:1").options(**options).load()


def test_rows_that_are_not_json_are_null(spark, tmp_path):
    folder = InputFolder(tmp_path / "in").put("a.json", '{"a":1,"b":"x"}', "not json", '{"a":"text"}', '{"a":2', '{"a":3}')
    read_files(spark, folder, SCHEMA).writeStream.format("memory").queryName("bad_rows").trigger(availableNow=True).start().awaitTermination()
    assert rows(spark.table("bad_rows")) == [(None, None), (None, None), (None, None), (1, "x"), (3, None)]


@pytest.mark.parametrize("offsets", ["{bad", "somewhere", '{"t":{"0":"x"}}', '{"t":[0]}', "[]"])
def test_offsets_that_are_no_offsets(spark, tmp_path, offsets):
    fails(lambda: run(kafka(spark, subscribe="t", startingOffsets=offsets), tmp_path / "c"), "Expected e.g.", offsets)


def test_kafka_without_a_topic_or_a_broker(spark, tmp_path):
    fails(lambda: run(kafka(spark), tmp_path / "c"), "One of the following options must be specified", "subscribe")
    batch = spark.read.format("kafka").option("kafka.bootstrap.servers", "127.0.0.1:1").option("subscribe", "t")
    fails(lambda: batch.option("kafka.default.api.timeout.ms", "2000").option("kafka.request.timeout.ms", "1500").load().count(), "127.0.0.1:1")


@pytest.mark.parametrize("change, text", [
    ({"kafka.security.protocol": "SSL", "kafka.ssl.keystore.type": "JKS", "kafka.ssl.keystore.location": "/keys/client.jks"}, "client.jks"),
    ({"kafka.security.protocol": "SASL_PLAINTEXT", "kafka.sasl.mechanism": "PLAIN", "kafka.sasl.jaas.config": "hunter2 and no more"}, "sasl.jaas.config"),
    ({"kafka.transactional.id": "x"}, "transactional.id"),
    ({"kafka.linger.ms": "soon"}, "linger.ms"),
], ids=["jks", "jaas", "transactions", "number"])
def test_sinks_whose_kafka_properties_are_refused(spark, folder, tmp_path, change, text):
    """A sink that was never made fails its query, not the server."""
    frame = read_files(spark, folder, SCHEMA).selectExpr("b AS value")
    options = {"kafka.bootstrap.servers": "127.0.0.1:1", "topic": "t", **change}
    with pytest.raises(Exception) as error:
        run(frame, tmp_path / "c", sink="kafka", **options)
    assert text in str(error.value) and "hunter2" not in str(error.value)
    with pytest.raises(Exception, match=re.escape(text)):
        spark.range(1).selectExpr("'x' AS value").write.format("kafka").options(**options).save()
    assert spark.range(3).count() == 3


@pytest.mark.parametrize("sink", ["delta", "console_of_someone"])
def test_sinks_that_are_not_there_or_lack_a_checkpoint(spark, folder, tmp_path, sink):
    frame = read_files(spark, folder, SCHEMA)
    if sink == "delta":
        fails(lambda: run(frame, sink=sink, path=str(tmp_path / "out")), "checkpointLocation must be specified")
    else:
        fails(lambda: run(frame, tmp_path / "c", sink=sink), "DATA_SOURCE_NOT_FOUND", sink)
        fails(lambda: spark.readStream.format(sink).load().isStreaming, "DATA_SOURCE_NOT_FOUND", sink)


def test_checkpoints_that_cannot_be_written(spark, folder):
    fails(lambda: run(read_files(spark, folder, SCHEMA), "/proc/nowhere/checkpoint"), "/proc/nowhere")
    fails(lambda: run(read_files(spark, folder, SCHEMA), folder.path / "a.json"), "a.json")


def test_names_modes_and_operations(spark, folder, tmp_path):
    fails(lambda: spark.range(3).select("idd").collect(), "UNRESOLVED_COLUMN.WITH_SUGGESTION", "`idd`", "`id`")
    frame = read_files(spark, folder, SCHEMA)
    fails(lambda: frame.writeStream.outputMode("some").format("noop").start(), "STREAMING_OUTPUT_MODE.INVALID", "some", "'Append'")
    fails(lambda: run(frame.orderBy("a"), tmp_path / "c"), "Sorting is not supported on streaming")
    ranked = F.row_number().over(Window.partitionBy("b").orderBy("a"))
    for over in (frame.withColumn("r", ranked), frame.select(ranked.alias("r"))):
        with pytest.raises(AnalysisException) as error:
            over.schema  # pylint: disable=pointless-statement
        assert error.value.getCondition() == "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING"
        assert "in ROW_NUMBER() (as column `r`)" in str(error.value) and "(PARTITION BY B ORDER BY A ASC NULLS FIRST" in str(error.value)
    fails(frame.collect, "Queries with streaming sources must be executed with writeStream.start()")
    with pytest.raises(IllegalArgumentException, match="Schema must be specified"):
        spark.readStream.json(str(folder.path)).isStreaming  # pylint: disable=expression-not-assigned
    for options in ({"rowsPerBatch": "0"}, {"rowsPerBatch": "1", "startTimestamp": "-1"}, {"rowsPerBatch": "1", "advanceMillisPerBatch": "-1"}):
        with pytest.raises(IllegalArgumentException, match="Invalid value"):
            spark.readStream.format("rate-micro-batch").options(**options).load().isStreaming  # pylint: disable=expression-not-assigned
    fails(lambda: run(read_files(spark, tmp_path / "nowhere", SCHEMA), tmp_path / "c"), "PATH_NOT_FOUND", "nowhere")


def test_a_table_of_another_schema(spark, folder, tmp_path):
    table = str(tmp_path / "table")
    spark.range(3).selectExpr("id", "'x' as s").write.format("delta").save(table)
    fails(lambda: run(read_files(spark, folder, SCHEMA), tmp_path / "c", sink="delta", path=table), "DELTA_METADATA_MISMATCH")
    fails(lambda: spark.range(1).selectExpr("'a' as id").write.format("delta").mode("append").save(table), "DELTA_FAILED_TO_MERGE_FIELDS")
    assert spark.read.format("delta").load(table).count() == 3


@pytest.mark.parametrize("sink, mode, condition", [
    ("parquet", "update", "STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE"), ("csv", "complete", "STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE"),
    ("delta", "update", "DELTA_UNSUPPORTED_OUTPUT_MODE")])
def test_modes_that_a_sink_does_not_take_are_refused_at_the_start(spark, folder, tmp_path, sink, mode, condition):
    counts = read_files(spark, folder, SCHEMA).groupBy("b").count()
    writer = counts.writeStream.format(sink).outputMode(mode).option("checkpointLocation", str(tmp_path / "c"))
    with pytest.raises(AnalysisException) as error:
        writer.start(str(tmp_path / "out"))
    assert error.value.getCondition() == condition
    assert not (tmp_path / "c").exists() and spark.streams.active == []


@pytest.mark.parametrize("codec", ["gzip", "bzip2"])
def test_compressed_files_that_are_torn(spark, tmp_path, codec):
    whole = {"gzip": gzip, "bzip2": bz2}[codec].compress(b'{"a":1,"b":"x"}\n' * 5000)
    suffix = {"gzip": "gz", "bzip2": "bz2"}[codec]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / f"torn.json.{suffix}").write_bytes(whole[:len(whole) // 2])
    fails(lambda: run(read_files(spark, tmp_path / "in", SCHEMA), tmp_path / "c"), f"torn.json.{suffix}")
    fails(spark.read.schema(SCHEMA).json(str(tmp_path / "in")).collect, "FAILED_READ_FILE", f"torn.json.{suffix}")


@pytest.mark.parametrize("damage", [b"", b"PAR1", b"PAR1 something else PAR1", b"PAR1\0\0\0\0\xff\xff\xff\x7fPAR1"],
                         ids=["empty", "short", "text", "length"])
def test_parquet_files_that_are_torn(spark, tmp_path, damage):
    (tmp_path / "x.parquet").write_bytes(damage)
    fails(spark.read.schema("a int").parquet(str(tmp_path)).collect, "FAILED_READ_FILE", "x.parquet")


@pytest.mark.parametrize("file, text", [("offsets/0", 'v1\n{"batchW'), ("metadata", '{"id'), ("sources/0/0", 'v1\n{"pa')])
def test_checkpoint_files_that_are_torn(spark, folder, tmp_path, file, text):
    checkpoint = tmp_path / "c"
    run(read_files(spark, folder, SCHEMA), checkpoint)
    (checkpoint / file).write_text(text)
    (checkpoint / "commits/0").unlink()
    folder.put("b.json", '{"a":2}')
    fails(lambda: run(read_files(spark, folder, SCHEMA), checkpoint), "MALFORMED_LOG", "restore it from a copy")


@pytest.mark.parametrize("text", ["(" * 5000 + "1" + ")" * 5000, "not " * 20_000 + "true", "1+" * 20_000 + "1", "array(" * 3000 + "1" + ")" * 3000,
                                  "case when true then " * 3000 + "1" + " end" * 3000, "cast(1 as " + "array<" * 5000 + "int" + ">" * 5000 + ")"],
                         ids=["brackets", "not", "sum", "array", "case", "type"])
def test_sql_that_is_too_deep(spark, text):
    fails(lambda: spark.sql("select " + text).collect(), "FAILED_TO_PARSE_TOO_COMPLEX")
    assert spark.sql("select 1").collect()[0][0] == 1


def test_values_that_are_too_deep(spark, tmp_path):
    deep = spark.createDataFrame([("[" * 100_000 + "]" * 100_000,)], "j string")
    assert deep.selectExpr("from_json(j, 'array<int>') as x").collect()[0].x is None
    assert deep.selectExpr("from_json(j, 'a int') as x").collect()[0].x.a is None
    fails(lambda: spark.read.schema("a " + "array<" * 5000 + "int" + ">" * 5000).json(str(tmp_path)).collect(), "FAILED_TO_PARSE_TOO_COMPLEX")


def test_secrets_stay_secret(server, tmp_path):
    """In logs, plans, progress, errors and the list of settings."""
    secret = "hunter2-is-the-password"
    spark = server.session(spark__some__password=secret)
    jaas = f'org.apache.kafka.common.security.scram.ScramLoginModule required username="u" password="{secret}";'
    frame = kafka(spark, subscribe="t", **{"kafka.security.protocol": "SASL_PLAINTEXT", "kafka.sasl.mechanism": "SCRAM-SHA-256",
                                           "kafka.sasl.jaas.config": jaas, "kafka.ssl.key.password": secret})
    plans = spark._client.explain_string(frame._plan.to_proto(spark._client), explain_mode="extended")
    query = frame.writeStream.format("noop").queryName("q").option("checkpointLocation", str(tmp_path / "c")).start()
    wait_until(lambda: "127.0.0.1:1" in server.process.stderr_tail(), "the client says which broker does not answer")
    said = [plans, json.dumps(query.status), str(query.lastProgress), server.process.stderr_tail()]
    said += [text.read_text(errors="replace") for text in (tmp_path / "c").rglob("*") if text.is_file()]
    query.stop()
    fails(lambda: kafka(spark, **{"kafka.sasl.jaas.config": jaas, "subscribe": "t", "kafka.no.such.property": secret,
                              "kafka.default.api.timeout.ms": "2000", "kafka.request.timeout.ms": "1500"}).writeStream
          .format("noop").option("checkpointLocation", str(tmp_path / "d")).start().processAllAvailable(), "STREAM_FAILED", "127.0.0.1:1")
    said += [server.process.stderr_tail(), " ".join(str(row) for row in spark.sql("set").collect())]
    spark.sql(f"CREATE TABLE with_a_secret (v INT) USING json OPTIONS (password '{secret}') LOCATION '{tmp_path}'")
    frame = spark.read.schema("v INT").option("password", secret).json(str(tmp_path))
    said += [spark._client.explain_string(frame._plan.to_proto(spark._client), explain_mode="extended"),
             *[str(spark.sql(text).collect()) for text in ("SHOW CREATE TABLE with_a_secret", "DESCRIBE EXTENDED with_a_secret",
                                                           "EXPLAIN EXTENDED SELECT * FROM with_a_secret")]]
    spark.range(1).write.format("delta").option("password", secret).save(str(tmp_path / "t"))
    said += [text.read_text() for text in (tmp_path / "t" / "_delta_log").glob("*.json")]
    assert len(said) >= 12
    for text in said:
        assert secret not in text
