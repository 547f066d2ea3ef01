"""Small programs from public bug reports that no other test holds: P25, P26, P28 to P30, P33, P42 to P44 of the cases. Expectations were
confirmed on Spark 4.2.0, but for P25, where Spark reads files twice."""
# ctest: TIMEOUT 300
import ast
import os
import shutil

import pytest
from harness.python_functions import Log, by_value
from harness.stream_cases import END_TIMEOUT_S, InputFolder, drain, progress_list, read_files, rows
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F

by_value(__name__)


@pytest.fixture(autouse=True)
def two_partitions(spark):
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.shuffle.partitions", "2")


@pytest.fixture
def folder(tmp_path):
    return InputFolder(tmp_path / "in")


def run(stream, sink, checkpoint, target=None, **options):
    """One availableNow run to its end. sink: a format, or a foreachBatch function."""
    writer = stream.writeStream.option("checkpointLocation", str(checkpoint)).options(**options).trigger(availableNow=True)
    query = writer.foreachBatch(sink).start() if callable(sink) else writer.format(sink).start(str(target))
    assert query.awaitTermination(END_TIMEOUT_S)
    return query


def batches_of(query):
    return [(p["batchId"], p["numInputRows"]) for p in progress_list(query) if p["numInputRows"]]


def test_p25_names_of_paths_are_plain(spark, tmp_path):
    base = tmp_path / "base"
    folder = InputFolder(base / "in %20#x")
    for number, name in enumerate(("a b.json", "part[1-3].json", "50%25.json", "ü.json"), 1):
        folder.put(name, f'{{"v":{number}}}')
    stream = spark.readStream.schema("v INT").json(str(folder.path))
    checkpoint, out = base / "chk %2F#1", base / "out %#"
    assert batches_of(run(stream, "parquet", checkpoint, out)) == [(0, 4)]
    assert batches_of(run(stream, "parquet", checkpoint, out)) == []
    folder.put("c d.json", '{"v":5}')
    run(stream, "parquet", checkpoint, out)
    assert rows(spark.read.parquet(str(out))) == [(1,), (2,), (3,), (4,), (5,)]
    assert sorted(path.name for path in base.iterdir() if not path.name.startswith("stage-")) == ["chk %2F#1", "in %20#x", "out %#"]


def test_p26_a_run_ends_where_the_input_ended_when_it_began(spark, folder, tmp_path):
    log, late = Log(tmp_path / "log"), str(folder.path / "f4.json")
    for number in (1, 2, 3):
        folder.put(f"f{number}.json", f'{{"v":{number}}}')

    def save(batch, batch_id):
        if batch_id == 0:
            with open(late, "w", encoding="utf-8") as file:
                file.write('{"v":4}\n')
        log.add(f"{batch_id}: {[row.v for row in batch.collect()]}")

    query = run(read_files(spark, folder, "v INT"), save, tmp_path / "ck")
    assert not query.isActive and query.exception() is None
    assert log.lines() == ["0: [1]", "1: [2]", "2: [3]"]
    run(read_files(spark, folder, "v INT"), save, tmp_path / "ck")
    assert log.lines()[3:] == ["3: [4]"]


def test_p28_a_path_that_was_read_is_not_read_again(server, tmp_path):
    folder = InputFolder(tmp_path / "in").put("orders.csv", "1,10", "2,20")

    def once():
        stream = read_files(server.session(), folder, "id INT, amt INT", "csv")
        return batches_of(run(stream, "json", tmp_path / "ck", tmp_path / "out"))

    assert once() == [(0, 2)]
    folder.put("orders.csv", "1,10", "2,25", "3,30")
    assert once() == []
    server.restart()
    assert once() == []
    folder.put("orders_fix.csv", "1,10", "2,25", "3,30")
    assert [rows_of_it for _, rows_of_it in once()] == [3]
    found = rows(server.session().read.schema("id INT, amt INT").json(str(tmp_path / "out")))
    assert found == [(1, 10), (1, 10), (2, 20), (2, 25), (3, 30)]


def test_p29_hidden_and_temporary_names(spark, folder, tmp_path):
    InputFolder(folder.path / "sub").put("deep.json", '{"v":5}').put("_no.json", '{"v":6}')
    for name, text in (("ok.json", '{"v":1}\n'), ("_tmp.json", '{"v":2}\n'), (".part.json", '{"v":3}\n'), ("x.json._COPYING_", '{"v":4}\n'),
                       ("_SUCCESS", ""), ("empty.json", ""), ("blank.json", "\n"), ("_a=b.json", '{"v":7}\n')):
        (folder.path / name).write_text(text)
    for leftover in folder.path.glob("stage-*"):
        leftover.unlink()
    stream = spark.readStream.schema("v INT").option("recursiveFileLookup", "true").json(str(folder.path))
    run(stream, "parquet", tmp_path / "ck", tmp_path / "out")
    assert rows(spark.read.parquet(str(tmp_path / "out"))) == [(1,), (5,), (7,)]
    (folder.path / "_tmp.json").rename(folder.path / "tmp.json")
    query = run(stream, "parquet", tmp_path / "ck", tmp_path / "out")
    assert [count for _, count in batches_of(query)] == [1]
    assert rows(spark.read.parquet(str(tmp_path / "out"))) == [(1,), (2,), (5,), (7,)]


@pytest.mark.parametrize("enforce", ["true", "false"])
def test_p30_an_export_with_a_mark_and_blank_lines(spark, folder, enforce):
    folder.path.joinpath("a.csv").write_bytes(b"\xef\xbb\xbf" + b'id,name,amt\r\n1,"Ann, B",2.5\r\n\r\n2,,\r\n   \r\n3,Cy,4\r\n')
    stream = read_files(spark, folder, "id INT, name STRING, amt DOUBLE", "csv", header="true", enforceSchema=enforce)
    drain(stream, "append", f"exported_{enforce}")
    assert rows(spark.table(f"exported_{enforce}")) == [(1, "Ann, B", 2.5), (2, None, None), (3, "Cy", 4.0)]


def test_p33_numbers_are_seconds(spark, folder, tmp_path):
    folder.put("f1.json", '{"raw":"{\\"t\\":1700000000}","n":1700000000}', '{"raw":"{\\"t\\":1700000000000}","n":-1}', '{"raw":"{\\"t\\":0}","n":0}')
    stream = read_files(spark, folder, "raw STRING, n BIGINT").selectExpr(
        "n", "unix_seconds(from_json(raw, 't TIMESTAMP').t) AS a", "CAST(n AS TIMESTAMP) AS b", "CAST(CAST(n AS TIMESTAMP) AS BIGINT) AS c",
        "timestamp_millis(n) AS d")
    drain(stream, "append", "seconds")
    assert sorted(rows(spark.table("seconds"))) == [
        (-1, 1700000000000, "1969-12-31 23:59:59", -1, "1969-12-31 23:59:59.999000"), (0, 0, "1970-01-01 00:00:00", 0, "1970-01-01 00:00:00"),
        (1700000000, 1700000000, "2023-11-14 22:13:20", 1700000000, "1970-01-20 16:13:20")]
    other = InputFolder(tmp_path / "other").put("a.json", '{"t":1700000000}', '{"t":1.5}', '{"t":"1700000000"}', '{"t":-1}')
    drain(read_files(spark, other, "t TIMESTAMP"), "append", "whole")
    assert rows(spark.table("whole")) == [(None,), (None,), ("1969-12-31 23:59:59",), ("2023-11-14 22:13:20",)]


def test_p42_a_table_that_was_updated(spark, tmp_path):
    table, checkpoint, log = str(tmp_path / "t"), tmp_path / "ck", Log(tmp_path / "log")
    frame = spark.createDataFrame([(1, 10), (2, 20), (3, 30)], "id INT, v INT").coalesce(1)
    frame.write.format("delta").option("delta.enableDeletionVectors", "false").save(table)

    def save(batch, _):
        log.add(sorted(tuple(row) for row in batch.collect()))

    def follow(at, **options):
        before = len(log.lines())
        run(spark.readStream.format("delta").options(**options).load(table), save, at)
        return [line for line in log.lines()[before:] if line != "[]"]

    assert follow(checkpoint) == ["[(1, 10), (2, 20), (3, 30)]"]
    shutil.copytree(checkpoint, tmp_path / "after-1")
    spark.sql(f"UPDATE delta.`{table}` SET v = 99 WHERE id = 2").collect()
    with pytest.raises(StreamingQueryException, match="DELTA_SOURCE_TABLE_IGNORE_CHANGES.* version 1"):
        follow(checkpoint)
    assert follow(checkpoint, skipChangeCommits="true") == []
    spark.sql(f"INSERT INTO delta.`{table}` VALUES (4, 40)").collect()
    assert follow(checkpoint, skipChangeCommits="true") == ["[(4, 40)]"]
    for at, options in ((tmp_path / "new", {}), (tmp_path / "after-1", {"ignoreChanges": "true"})):
        seen = sorted(row for line in follow(at, **options) for row in ast.literal_eval(line))
        assert seen == [(1, 10), (2, 99), (3, 30), (4, 40)]


@pytest.mark.parametrize("case", ["matched twice", "inserted twice", "reduced first"])
def test_p43_two_changes_of_one_key_in_a_batch(spark, folder, tmp_path, case):
    table = str(tmp_path / "t")
    spark.createDataFrame([(1, "old")], "id INT, v STRING").write.format("delta").save(table)
    key = 2 if case == "inserted twice" else 1
    folder.put("f.json", f'{{"id":{key},"v":"a"}}', f'{{"id":{key},"v":"b"}}')
    reduce = case == "reduced first"

    def merge(batch, _):
        one = batch.groupBy("id").agg(F.max("v").alias("v")) if reduce else batch
        one.createOrReplaceTempView("changes")
        one.sparkSession.sql(f"MERGE INTO delta.`{table}` t USING changes s ON t.id = s.id "
                             "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *").collect()

    stream = read_files(spark, folder, "id INT, v STRING")
    if case == "matched twice":
        with pytest.raises(StreamingQueryException, match="DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"):
            run(stream, merge, tmp_path / "ck")
        assert os.listdir(tmp_path / "t" / "_delta_log") == ["00000000000000000000.json"]
        assert not (tmp_path / "ck" / "commits" / "0").exists()
    else:
        run(stream, merge, tmp_path / "ck")
    expected = {"matched twice": [(1, "old")], "inserted twice": [(1, "old"), (2, "a"), (2, "b")], "reduced first": [(1, "b")]}
    assert rows(spark.read.format("delta").load(table)) == expected[case]


def test_p44_an_applications_number_and_a_new_checkpoint(spark, folder, tmp_path):
    table = str(tmp_path / "t")

    def once(application, checkpoint):
        def save(batch, batch_id):
            batch.write.format("delta").mode("append").option("txnAppId", application).option("txnVersion", batch_id).save(table)

        run(read_files(spark, folder, "v INT"), save, checkpoint)
        return [row[0] for row in rows(spark.read.format("delta").load(table).orderBy("v"))]

    for number in (1, 2, 3):
        folder.put(f"f{number}.json", f'{{"v":{number}}}')
    assert sorted(once("job", tmp_path / "ck1")) == [1, 2, 3]
    for path in folder.path.iterdir():
        path.unlink()
    for number in (1, 2, 3, 4):
        folder.put(f"g{number}.json", f'{{"v":{10 + number}}}')
    assert sorted(once("job", tmp_path / "ck2")) == [1, 2, 3, 14]
    assert sorted(once("job2", tmp_path / "ck3")) == [1, 2, 3, 11, 12, 13, 14, 14]
