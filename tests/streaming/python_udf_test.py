# ctest: TIMEOUT 600
"""Python UDFs inside of streaming queries."""
import os
import signal

import pytest
from harness import python_udf_cases as cases
from harness.python_functions import alive, by_value
from harness.stream_cases import InputFolder, read_files
from harness.waiting import wait_until
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F
from pyspark.sql.functions import udf

END_TIMEOUT_S = 120


@pytest.fixture(autouse=True)
def functions_by_value():
    by_value(__name__)
    by_value(cases.__name__)


@pytest.fixture
def folder(tmp_path):
    return InputFolder(tmp_path / "in")


def start(frame, out, checkpoint, mode="append", trigger=None):
    def write(batch, batch_id, path=str(out)):
        batch.write.mode("overwrite").parquet(f"{path}/{batch_id}")

    return (frame.writeStream.foreachBatch(write).outputMode(mode).option("checkpointLocation", str(checkpoint))
            .trigger(**(trigger or {"availableNow": True})).start())


def run(frame, out, checkpoint, mode="append"):
    """The rows that the query puts out until its input is at an end."""
    assert start(frame, out, checkpoint, mode).awaitTermination(END_TIMEOUT_S)
    spark = frame.sparkSession
    return sorted(tuple(r) for batch in out.iterdir() for r in spark.read.schema(frame.schema).parquet(str(batch)).collect())


@pytest.mark.parametrize("arrow", [False, True])
def test_projection_and_filter_over_micro_batches(spark, folder, tmp_path, arrow):
    f = udf(cases.plus_one, "int", useArrow=arrow)
    odd = udf(lambda x: x % 2 == 1, "boolean", useArrow=arrow)
    frame = read_files(spark, folder, "v INT").where(odd("v")).select("v", f("v").alias("y"), f(f("v")).alias("z"))
    folder.put("1.json", "\n".join(f'{{"v":{i}}}' for i in range(250)))
    assert run(frame, tmp_path / "out", tmp_path / "checkpoint") == [(i, i + 1, i + 2) for i in range(1, 250, 2)]
    folder.put("2.json", '{"v":1001}')
    assert run(frame, tmp_path / "out_2", tmp_path / "checkpoint") == [(1001, 1002, 1003)]


@pytest.mark.parametrize("arrow", [False, True])
def test_before_an_aggregation_and_as_its_key(spark, folder, tmp_path, arrow):
    key = udf(lambda x: x % 3, "int", useArrow=arrow)
    f = udf(cases.plus_one, "bigint", useArrow=arrow)
    frame = read_files(spark, folder, "v INT").groupBy(key("v").alias("k")).agg(F.sum(f("v")).alias("s"), f(F.count("*")).alias("n"))
    folder.put("1.json", "\n".join(f'{{"v":{i}}}' for i in range(9)))
    assert run(frame, tmp_path / "out", tmp_path / "checkpoint", "complete") == [(0, 12, 4), (1, 15, 4), (2, 18, 4)]
    folder.put("2.json", '{"v":30}')
    assert run(frame, tmp_path / "out_2", tmp_path / "checkpoint", "update") == [(0, 43, 5)]


def test_between_watermark_and_window(spark, folder, tmp_path):
    shift = udf(lambda x: x, "string", useArrow=False)
    frame = (read_files(spark, folder, "t TIMESTAMP, v STRING").withColumn("w", shift("v")).withWatermark("t", "10 seconds")
             .groupBy(F.window("t", "10 seconds"), "w").count().select(F.col("window.start").cast("string").alias("s"), "w", "count"))
    folder.put("1.json", '{"t":"2024-01-01T00:00:01Z","v":"a"}\n{"t":"2024-01-01T00:00:02Z","v":"a"}\n{"t":"2024-01-01T00:01:00Z","v":"b"}')
    rows = run(frame, tmp_path / "out", tmp_path / "checkpoint")
    folder.put("2.json", '{"t":"2024-01-01T00:01:01Z","v":"b"}')
    rows += run(frame, tmp_path / "out_2", tmp_path / "checkpoint")
    assert rows == [("2024-01-01 00:00:00", "a", 2)]


def test_an_exception_ends_the_query_and_a_restart_goes_on(spark, folder, tmp_path):
    flag = tmp_path / "mended"

    def picky(x, path=str(flag)):
        if x == 2 and not os.path.exists(path):
            raise ValueError("cannot have two")
        return x

    frame = read_files(spark, folder, "v INT").select(udf(picky, "int", useArrow=False)("v").alias("v"))
    folder.put("1.json", '{"v":1}\n{"v":2}')
    query = start(frame, tmp_path / "out", tmp_path / "checkpoint")
    with pytest.raises(StreamingQueryException) as raised:
        query.awaitTermination(END_TIMEOUT_S)
    assert "ValueError: cannot have two" in str(raised.value) and "PYTHON_EXCEPTION" in str(raised.value)
    flag.write_text("")
    assert run(frame, tmp_path / "out_2", tmp_path / "checkpoint") == [(1,), (2,)]


def test_stop_kills_a_function_that_hangs(spark, folder, tmp_path):
    started = tmp_path / "started"

    def hangs(x, path=str(started)):
        with open(path, "w") as file:
            file.write(str(os.getpid()))
        signal.pause()

    frame = read_files(spark, folder, "v INT").select(udf(hangs, "int", useArrow=True)("v").alias("v"))
    folder.put("1.json", '{"v":1}')
    query = start(frame, tmp_path / "out", tmp_path / "checkpoint", trigger={"processingTime": "0 seconds"})
    wait_until(lambda: started.exists() and started.read_text(), "the function to start")
    query.stop()
    assert not query.isActive
    wait_until(lambda: not alive(int(started.read_text())), "the worker to end")


def test_a_killed_worker_fails_the_batch(spark, folder, tmp_path):
    def dies(x):
        os.kill(os.getpid(), signal.SIGKILL)

    frame = read_files(spark, folder, "v INT").select(udf(dies, "int", useArrow=False)("v").alias("v"))
    folder.put("1.json", '{"v":1}')
    query = start(frame, tmp_path / "out", tmp_path / "checkpoint")
    with pytest.raises(StreamingQueryException) as raised:
        query.awaitTermination(END_TIMEOUT_S)
    assert "Python worker exited unexpectedly (crashed): signal 9 (Killed)" in str(raised.value)
