# ctest: TIMEOUT 300
"""Functions over windows where streams meet them: the latest row of each key before a MERGE in foreachBatch; refused on the stream itself."""
import pytest
from harness.stream_cases import InputFolder, read_files, rows
from pyspark.errors import AnalysisException
from pyspark.sql import Window, functions as F

SCHEMA = "key STRING, at BIGINT, value STRING"


@pytest.fixture
def folder(tmp_path):
    return InputFolder(tmp_path / "in")


def latest_by_sql(batch):
    batch.createOrReplaceTempView("batch")
    return batch.sparkSession.sql("""
        SELECT key, at, value FROM (SELECT *, row_number() OVER (PARTITION BY key ORDER BY at DESC) AS n FROM batch) WHERE n = 1""")


def latest_by_qualify(batch):
    batch.createOrReplaceTempView("batch")
    return batch.sparkSession.sql("SELECT * FROM batch QUALIFY row_number() OVER (PARTITION BY key ORDER BY at DESC) = 1")


def latest_by_columns(batch):
    newest = Window.partitionBy("key").orderBy(F.col("at").desc())
    return batch.withColumn("n", F.row_number().over(newest)).where("n = 1").drop("n")


@pytest.mark.parametrize("latest", [latest_by_sql, latest_by_qualify, latest_by_columns])
def test_the_latest_row_of_each_key_is_merged(spark, folder, tmp_path, latest):
    folder.put("1.json", '{"key":"a","at":1,"value":"old"}', '{"key":"a","at":3,"value":"new"}', '{"key":"b","at":2,"value":"only"}')
    folder.put("2.json", '{"key":"b","at":9,"value":"later"}', '{"key":"c","at":1,"value":"x"}', '{"key":"b","at":8,"value":"late"}')
    target = str(tmp_path / "target")
    spark.createDataFrame([], SCHEMA).write.format("delta").save(target)

    def merge(batch, batch_id):
        latest(batch).createOrReplaceTempView("latest")
        batch.sparkSession.sql(f"""
            MERGE INTO delta.`{target}` AS t USING latest AS s ON t.key = s.key
            WHEN MATCHED AND s.at > t.at THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *""")

    query = read_files(spark, folder, SCHEMA).writeStream.foreachBatch(merge).trigger(availableNow=True).option(
        "checkpointLocation", str(tmp_path / "checkpoint")).start()
    assert query.awaitTermination(120)
    assert query.exception() is None
    assert rows(spark.read.format("delta").load(target)) == [("a", 3, "new"), ("b", 9, "later"), ("c", 1, "x")]


def test_a_stream_joined_with_what_windows_made_of_a_table(spark, folder, tmp_path):
    folder.put("1.json", '{"key":"a","at":1,"value":"x"}', '{"key":"b","at":2,"value":"y"}')
    prices = spark.createDataFrame([("a", 1, 10), ("a", 2, 11), ("b", 1, 7)], "key STRING, version INT, price INT")
    newest = prices.selectExpr("*", "rank() OVER (PARTITION BY key ORDER BY version DESC) AS r").where("r = 1").select("key", "price")
    out = str(tmp_path / "out")
    query = read_files(spark, folder, SCHEMA).join(newest, "key").select("key", "price").writeStream.format("delta").trigger(
        availableNow=True).option("checkpointLocation", str(tmp_path / "checkpoint")).start(out)
    assert query.awaitTermination(120)
    assert rows(spark.read.format("delta").load(out)) == [("a", 11), ("b", 7)]


def test_streams_have_windows_of_time_only(spark, folder):
    frame = read_files(spark, folder, SCHEMA)
    frame.createOrReplaceTempView("stream")
    for refused in (lambda: spark.sql("SELECT key, sum(at) OVER (PARTITION BY key) AS s FROM stream").schema,
                    lambda: frame.selectExpr("lag(value) OVER (PARTITION BY key ORDER BY at) AS s").schema):
        with pytest.raises(AnalysisException) as error:
            refused()
        assert error.value.getCondition() == "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING"
        assert "(as column `s`)" in str(error.value)
