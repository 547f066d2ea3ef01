# ctest: TIMEOUT 600
"""foreachBatch from unmodified PySpark: what the function may do, what happens when it fails, hangs or dies."""
import json
import os
import signal
import sys
import threading

import pytest
from harness.python_functions import Log, alive, hang, launched_by
from harness.stream_cases import InputFolder, read_files, rows
from harness.waiting import wait_until
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import functions as F

END_TIMEOUT_S = 120


@pytest.fixture
def folder(tmp_path):
    return InputFolder(tmp_path / "in")


def start(frame, function, checkpoint=None, **triggers):
    writer = frame.writeStream.foreachBatch(function).trigger(**(triggers or {"availableNow": True}))
    if checkpoint is not None:
        writer = writer.option("checkpointLocation", str(checkpoint))
    return writer.start()


def run(frame, function, checkpoint=None):
    query = start(frame, function, checkpoint)
    assert query.awaitTermination(END_TIMEOUT_S)
    return query


def test_the_whole_batch_interface(spark, folder, tmp_path):
    folder.put("1.json", '{"v":1,"k":"a"}', '{"v":2,"k":"b"}').put("2.json", '{"v":3,"k":"a"}')
    log, parquet, delta = Log(tmp_path / "log"), str(tmp_path / "parquet"), str(tmp_path / "delta")
    spark.createDataFrame([("a", "ann"), ("b", "bob")], "k STRING, name STRING").createOrReplaceTempView("names")
    spark.sql("CREATE TABLE saved (v BIGINT, name STRING) USING delta")

    def save(batch, batch_id):
        session = batch.sparkSession
        log.add(json.dumps([batch_id, batch.isStreaming, batch.count(), batch.count(), batch.columns]))
        batch.persist()
        joined = batch.join(session.table("names"), "k").select("v", "name")
        joined.write.mode("append").parquet(parquet)
        batch.write.format("delta").mode("append").save(delta)
        joined.createOrReplaceTempView("joined")
        session.sql("INSERT INTO saved SELECT v, name FROM joined")
        session.conf.set("spark.sql.session.timeZone", "UTC")
        batch.unpersist()

    query = run(read_files(spark, folder, "v BIGINT, k STRING"), save)
    assert [json.loads(line) for line in log.lines()] == [[0, False, 2, 2, ["v", "k"]], [1, False, 1, 1, ["v", "k"]]]
    assert rows(spark.read.parquet(parquet)) == [(1, "ann"), (2, "bob"), (3, "ann")]
    assert rows(spark.read.format("delta").load(delta)) == [(1, "a"), (2, "b"), (3, "a")]
    assert rows(spark.table("saved")) == [(1, "ann"), (2, "bob"), (3, "ann")]
    assert rows(spark.table("joined")) == [(3, "ann")], "a view outlives its batch"
    assert query.exception() is None
    sink = query.lastProgress["sink"]
    assert (sink["description"], sink["numOutputRows"]) == ("ForeachBatchSink", -1)
    spark.sql("DROP TABLE saved")


def test_a_batch_without_rows_is_one_too(spark, folder, tmp_path):
    folder.put("1.json", '{"v":1}').put("2.json", '{"v":7}')
    log = Log(tmp_path / "log")
    run(read_files(spark, folder, "v BIGINT").where("v > 5"), lambda batch, i: log.add(f"{i}: {[r.v for r in batch.collect()]}"))
    assert log.lines() == ["0: []", "1: [7]"]


def test_aggregates_in_update_mode(spark, folder, tmp_path):
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    folder.put("1.json", '{"k":"a"}', '{"k":"b"}').put("2.json", '{"k":"a"}')
    log = Log(tmp_path / "log")
    counts = read_files(spark, folder, "k STRING").groupBy("k").count()
    writer = counts.writeStream.outputMode("update").trigger(availableNow=True)
    query = writer.foreachBatch(lambda batch, i: log.add(f"{i}: {sorted(map(tuple, batch.collect()))}")).start()
    assert query.awaitTermination(END_TIMEOUT_S)
    assert log.lines() == ["0: [('a', 1), ('b', 1)]", "1: [('a', 2)]"]


def test_an_error_ends_the_query_with_its_traceback(spark, folder, tmp_path):
    folder.put("1.json", '{"v":1}').put("2.json", '{"v":2}').put("3.json", '{"v":3}')
    log, mark = Log(tmp_path / "log"), str(tmp_path / "mark")

    def save(batch, batch_id):
        log.add(f"{batch_id}: {sorted(r.v for r in batch.collect())}")
        if batch_id == 1 and not os.path.exists(mark):
            open(mark, "w", encoding="utf-8").close()
            raise ValueError("boom-42")

    stream = read_files(spark, folder, "v BIGINT")
    query = start(stream, save, tmp_path / "ck")
    with pytest.raises(StreamingQueryException) as error:
        query.awaitTermination(END_TIMEOUT_S)
    text = str(error.value)
    assert error.value.getCondition() == "STREAM_FAILED"
    assert "[PYTHON_EXCEPTION] [session: " in text and "Found error inside foreachBatch Python process: Traceback (most recent" in text
    assert "ValueError: boom-42" in text and ", in save" in text
    assert "boom-42" in str(query.exception())
    assert log.lines() == ["0: [1]", "1: [2]"]
    assert sorted(os.listdir(tmp_path / "ck" / "commits"), key=str)[-1] == "0"
    # The restart repeats exactly that batch, even when more could be read at a time now.
    run(read_files(spark, folder, "v BIGINT", per_trigger=5), save, tmp_path / "ck")
    assert log.lines() == ["0: [1]", "1: [2]", "1: [2]", "2: [3]"]


def test_a_function_that_cannot_be_loaded_fails_the_start(spark, folder, tmp_path):
    folder.put("1.json", '{"v":1}')

    class Unloadable:
        def __reduce__(self):
            return (int, ("no number",))

    unloadable = Unloadable()
    with pytest.raises(Exception, match="STREAMING_PYTHON_RUNNER_INITIALIZATION_FAILURE") as error:
        start(read_files(spark, folder, "v BIGINT"), lambda batch, i: unloadable)
    assert "returned -2" in str(error.value) and "no number" in str(error.value)
    assert spark.streams.active == []


def test_what_a_start_refuses_before_python_is_launched(spark, folder):
    with pytest.raises(AnalysisException, match="WRITE_STREAM_NOT_ALLOWED|writeStream"):
        start(spark.range(3), lambda batch, i: None)
    with pytest.raises(AnalysisException, match="foreachBatch"):
        (read_files(spark, folder, "v BIGINT").writeStream.partitionBy("v").foreachBatch(lambda b, i: None).start())


def test_the_function_may_stop_its_own_query(spark, folder, tmp_path):
    folder.put("1.json", '{"v":1}').put("2.json", '{"v":2}')
    log = Log(tmp_path / "log")

    def once(batch, batch_id):
        log.add(f"{batch_id}: {batch.count()}")
        for query in batch.sparkSession.streams.active:
            query.stop()
        log.add("after stop()")

    query = start(read_files(spark, folder, "v BIGINT"), once, tmp_path / "ck", processingTime="0 seconds")
    assert query.awaitTermination(END_TIMEOUT_S)
    assert query.exception() is None
    assert log.lines() == ["0: 1", "after stop()"]
    assert os.listdir(tmp_path / "ck" / "commits").count("0") == 1
    assert log.lines() == ["0: 1", "after stop()"]


def test_waiting_for_itself_is_refused(spark, folder, tmp_path):
    folder.put("1.json", '{"v":1}')
    query = start(read_files(spark, folder, "v BIGINT"),
                  lambda batch, i: [q.processAllAvailable() for q in batch.sparkSession.streams.active], tmp_path / "ck")
    with pytest.raises(StreamingQueryException, match="Cannot wait for a query state from the same thread"):
        query.awaitTermination(END_TIMEOUT_S)


def test_stop_ends_a_function_that_hangs(server, folder, tmp_path):
    folder.put("1.json", '{"v":1}')
    spark, log = server.session(), Log(tmp_path / "log")
    query = start(read_files(spark, folder, "v BIGINT"), hang(log), tmp_path / "ck", processingTime="0 seconds")
    wait_until(log.lines, "the function runs", END_TIMEOUT_S)
    assert spark.range(5).count() == 5, "the session answers meanwhile"
    assert spark.sql("select 1").collect()[0][0] == 1
    query.stop()
    assert query.exception() is None and not query.isActive
    assert launched_by(server) == set()
    assert not os.path.exists(tmp_path / "ck" / "commits" / "0")


def test_stop_lets_a_function_end_that_is_about_to(server, folder, tmp_path):
    folder.put("1.json", '{"v":1}').put("2.json", '{"v":2}')
    spark, log = server.session(thalweg__python__stopGrace="60s"), Log(tmp_path / "log")
    mark = str(tmp_path / "mark")

    def save(batch, batch_id):
        log.add(f"{batch_id}: {batch.count()}")
        wait_until(lambda: os.path.exists(mark), "the test goes on")
        log.add(f"{batch_id} saved")

    query = start(read_files(spark, folder, "v BIGINT"), save, tmp_path / "ck", processingTime="0 seconds")
    wait_until(log.lines, "the function runs", END_TIMEOUT_S)
    stopping = threading.Thread(target=query.stop)
    stopping.start()
    wait_until(lambda: not query.isActive, "stop() has arrived")
    open(mark, "w", encoding="utf-8").close()
    stopping.join()
    assert query.exception() is None
    assert log.lines() == ["0: 1", "0 saved"]
    run(read_files(spark, folder, "v BIGINT"), save, tmp_path / "ck")
    assert log.lines() == ["0: 1", "0 saved", "1: 1", "1 saved"], "the batch does not come again"


def test_a_worker_that_is_killed_fails_its_query_only(server, folder, tmp_path):
    folder.put("1.json", '{"v":1}')
    spark, log = server.session(), Log(tmp_path / "log")
    query = start(read_files(spark, folder, "v BIGINT"), hang(log), tmp_path / "ck", processingTime="0 seconds")
    wait_until(log.lines, "the function runs", END_TIMEOUT_S)
    os.kill(int(log.lines()[0]), signal.SIGKILL)
    with pytest.raises(StreamingQueryException, match=r"Python worker exited unexpectedly \(crashed\)") as error:
        query.awaitTermination(END_TIMEOUT_S)
    assert "signal 9" in str(error.value)
    assert spark.range(5).count() == 5
    run(read_files(spark, folder, "v BIGINT"), lambda batch, i: log.add(f"{i}: {batch.count()}"), tmp_path / "ck")
    assert log.lines()[1:] == ["0: 1"]


def test_silence_is_limited_when_a_limit_is_set(server, folder, tmp_path):
    folder.put("1.json", '{"v":1}')
    spark, log = server.session(spark__python__worker__idleTimeoutSeconds=1), Log(tmp_path / "log")
    query = start(read_files(spark, folder, "v BIGINT"), hang(log), tmp_path / "ck")
    with pytest.raises(StreamingQueryException, match="PYTHON_WORKER_TIMEOUT"):
        query.awaitTermination(END_TIMEOUT_S)
    wait_until(lambda: launched_by(server) == set(), "the worker has ended")


def test_the_sessions_end_ends_the_worker(server, folder, tmp_path):
    folder.put("1.json", '{"v":1}')
    spark, log = server.session(), Log(tmp_path / "log")
    start(read_files(spark, folder, "v BIGINT"), hang(log), tmp_path / "ck", processingTime="0 seconds")
    wait_until(log.lines, "the function runs", END_TIMEOUT_S)
    spark.stop()
    wait_until(lambda: launched_by(server) == set(), "the worker has ended")


def test_nothing_is_left_after_kill_9_of_the_server(server, folder, tmp_path):
    folder.put("1.json", '{"v":1}')
    spark, log = server.session(), Log(tmp_path / "log")
    start(read_files(spark, folder, "v BIGINT"), hang(log), tmp_path / "ck", processingTime="0 seconds")
    wait_until(log.lines, "the function runs", END_TIMEOUT_S)
    worker = int(log.lines()[0])
    server.kill()
    wait_until(lambda: not alive(worker), "the worker is gone")


def test_modules_of_the_session_and_what_is_printed(server, folder, tmp_path):
    folder.put("1.json", '{"v":20}')
    (tmp_path / "doubling.py").write_text("def double(v):\n    return 2 * v\n")
    spark, log = server.session(), Log(tmp_path / "log")
    spark.addArtifacts(str(tmp_path / "doubling.py"), pyfile=True)

    def save(batch, batch_id):
        import doubling
        print("printed by the function")
        print("told to stderr", file=sys.stderr)
        log.add(str([doubling.double(r.v) for r in batch.collect()]))

    run(read_files(spark, folder, "v BIGINT"), save)
    assert log.lines() == ["[40]"]
    assert "printed by the function" in server.process.lines
    wait_until(lambda: "told to stderr" in server.process.stderr_tail(), "standard error arrives")


def test_several_queries_at_a_time(spark, folder, tmp_path):
    folder.put("1.json", *[json.dumps({"v": i}) for i in range(100)])
    logs = [Log(tmp_path / f"log{i}") for i in range(3)]

    def into(log):
        return lambda batch, batch_id: log.add(f"{batch_id}: {batch.agg(F.sum('v')).collect()[0][0]}")

    queries = [start(read_files(spark, folder, "v BIGINT"), into(log)) for log in logs]
    for query in queries:
        assert query.awaitTermination(END_TIMEOUT_S)
    assert [log.lines() for log in logs] == [["0: 4950"]] * 3
