# ctest: TIMEOUT 240
"""The file sink of a stream: its log, exactly once through crashes, what reads it, tables over files."""
import json
import os

import pyarrow.parquet
import pytest
from harness.crashes import STEPS, crash_and_resume
from harness.stream_cases import InputFolder, drain, read_files, rows
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import functions as F

SCHEMA = "k STRING, n INT"


@pytest.fixture
def folder(tmp_path):
    return InputFolder(tmp_path / "in")


def fill(folder, files, begin=0):
    for i in range(begin, begin + files):
        folder.put(f"{i}.json", f'{{"k":"{"ab"[i % 2]}","n":{i}}}', f'{{"k":"c","n":{100 + i}}}')
    return folder


def write_files(stream, tmp_path, file_format="json", parts=(), wait=True, mode="append", **options):
    writer = stream.writeStream.format(file_format).outputMode(mode).options(**options).trigger(availableNow=True)
    if parts:
        writer = writer.partitionBy(*parts)
    query = writer.option("checkpointLocation", str(tmp_path / "ck")).start(str(tmp_path / "out"))
    if wait:
        assert query.awaitTermination(60)
        assert query.exception() is None
    return query


def expected(files):
    return sorted([("ab"[i % 2], i) for i in range(files)] + [("c", 100 + i) for i in range(files)])


@pytest.mark.parametrize("file_format, parts", [("json", ()), ("json", ("k",)), ("csv", ()), ("parquet", ("k",))])
def test_rows_arrive_once_and_are_read_through_the_log(spark, folder, tmp_path, file_format, parts):
    write_files(read_files(spark, fill(folder, 3), SCHEMA), tmp_path, file_format, parts)
    out = str(tmp_path / "out")
    schema = "n INT, k STRING" if parts else SCHEMA
    stray = os.path.join(out, "k=a" if parts else "", "part-00000-stray-c000." + file_format)
    os.makedirs(os.path.dirname(stray), exist_ok=True)
    with open(stray, "w", encoding="utf-8") as file:
        file.write('{"n":-1}\n')  # left by a failed attempt: no reader sees it
    assert rows(spark.read.schema(schema).format(file_format).load(out).select("k", "n")) == expected(3)
    drain(spark.readStream.schema(schema).format(file_format).load(out).select("k", "n"), "append", f"seen_{file_format}_{len(parts)}")
    assert rows(spark.table(f"seen_{file_format}_{len(parts)}")) == expected(3)


def test_the_log_is_sparks(spark, folder, tmp_path):
    for i in range(12):  # a restart each: the log goes on
        fill(folder, 1, i)
        write_files(read_files(spark, folder, SCHEMA), tmp_path, parts=("k",))
    log = tmp_path / "out" / "_spark_metadata"
    assert sorted(name for name in os.listdir(log) if not name.startswith(".")) == sorted([str(i) for i in range(12) if i != 9] + ["9.compact"])
    version, *lines = (log / "9.compact").read_text().split("\n")
    assert version == "v1" and len(lines) == 20
    for line in lines:
        entry = json.loads(line)
        assert list(entry) == ["path", "size", "isDir", "modificationTime", "blockReplication", "blockSize", "action"]
        path = entry["path"].removeprefix("file://")
        assert os.path.getsize(path) == entry["size"] and entry["action"] == "add" and not entry["isDir"]
        assert os.path.basename(os.path.dirname(path)) in ("k=a", "k=b", "k=c")
    assert sorted(rows(spark.read.schema(SCHEMA).json(str(tmp_path / "out")).select("k", "n"))) == expected(12)


@pytest.mark.parametrize("step", STEPS + ["file write: files closed", "file sink: files durable", "file sink: committed"])
def test_kill_at_each_step(tmp_path, folder, step):
    fill(folder, 4)
    sound, _ = crash_and_resume(tmp_path, step, 3, lambda session: write_files(read_files(session, folder, SCHEMA), tmp_path, wait=False))
    try:
        assert rows(sound.session().read.schema(SCHEMA).json(str(tmp_path / "out"))) == expected(4)
    finally:
        sound.stop()


def test_append_alone(spark, folder, tmp_path):
    stream = read_files(spark, fill(folder, 1), SCHEMA)
    for mode, frame in (("complete", stream.groupBy("k").count()), ("update", stream)):
        with pytest.raises(AnalysisException) as error:  # at the start: nothing has run
            write_files(frame, tmp_path, mode=mode, wait=False)
        assert error.value.getCondition() == "STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE"
        assert f"mode: {mode}" in str(error.value) and not (tmp_path / "ck").exists()


def test_windows_go_to_parquet_when_they_close(spark, tmp_path):
    folder = InputFolder(tmp_path / "in")
    folder.put("1.json", '{"t":"2024-03-01T10:00:00Z"}', '{"t":"2024-03-01T10:00:04Z"}', '{"t":"2024-03-01T10:00:11Z"}')
    folder.put("2.json", '{"t":"2024-03-01T10:01:00Z"}').put("3.json", '{"t":"2024-03-01T10:02:00Z"}')
    stream = read_files(spark, folder, "t TIMESTAMP").withWatermark("t", "5 seconds")
    counts = stream.groupBy(F.window("t", "10 seconds")).count().select(F.col("window.start").alias("t"), "count")
    write_files(counts, tmp_path, "parquet")
    assert rows(spark.read.parquet(str(tmp_path / "out"))) == [
        ("2024-03-01 10:00:00", 2), ("2024-03-01 10:00:10", 1), ("2024-03-01 10:01:00", 1)]
    named = [json.loads(line)["path"].removeprefix("file://") for log in sorted(os.listdir(tmp_path / "out" / "_spark_metadata"))
             if not log.startswith(".") for line in (tmp_path / "out" / "_spark_metadata" / log).read_text().split("\n")[1:]]
    assert sum(pyarrow.parquet.read_table(path, partitioning=None).num_rows for path in named) == 3


def test_to_table_has_the_default_format(spark, folder, tmp_path):
    stream = read_files(spark, fill(folder, 2), SCHEMA)
    query = stream.writeStream.trigger(availableNow=True).option("checkpointLocation", str(tmp_path / "ck")).toTable("arrived")
    assert query.awaitTermination(60)
    assert rows(spark.table("arrived")) == expected(2)
    described = dict((r[0], r[1]) for r in spark.sql("describe extended arrived").collect())
    assert described["Provider"] == "parquet"
    with pytest.raises(PySparkException):
        stream.writeStream.format("json").option("checkpointLocation", str(tmp_path / "other")).toTable("arrived")
