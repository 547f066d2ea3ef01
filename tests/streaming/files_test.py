"""Folders of files as streams: formats, limits per micro-batch, one run to the end, resuming from the checkpoint."""
import pytest
from harness.stream_cases import InputFolder, drain, progress_list, read_files, rows
from harness.waiting import wait_until
from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import functions as F


@pytest.fixture(autouse=True)
def two_partitions(spark):
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.shuffle.partitions", "2")


@pytest.fixture
def folder(tmp_path):
    return InputFolder(tmp_path / "in")


def per_batch(query):
    return [(p["batchId"], p["numInputRows"]) for p in progress_list(query)]


def test_json_lines(spark, folder):
    folder.put("a.json", '{"k":"x","n":1,"s":{"t":"2024-03-01T10:00:00Z","l":[1,null]}}', "", '{"n":2}', '{"k":"z","n":"bad"}')
    stream = read_files(spark, folder, "k STRING, n INT, s STRUCT<t: TIMESTAMP, l: ARRAY<INT>>")
    drain(stream.select("k", "n", "s.t", "s.l"), "append", "json_lines")
    assert rows(spark.table("json_lines")) == [
        (None, 2, None, None), ("x", 1, "2024-03-01 10:00:00", (1, None)), ("z", None, None, None)]


def test_csv_with_header(spark, folder):
    folder.put("a.csv", "k,n,t", "x,1,2024-03-01T10:00:00Z", '"y, ""quoted""",,').put("b.csv", "k,n,t", "z,-3,2024-03-02")
    stream = read_files(spark, folder, "k STRING, n INT, t TIMESTAMP", "csv", header="true", escape='"')
    query = drain(stream, "append", "csv_header")
    assert rows(spark.table("csv_header")) == [
        ("x", 1, "2024-03-01 10:00:00"), ('y, "quoted"', None, None), ("z", -3, "2024-03-02 00:00:00")]
    assert per_batch(query) == [(0, 2), (1, 1)]


def test_text_lines_need_no_schema(spark, folder):
    folder.put("a.txt", "one two", "", "three")
    stream = spark.readStream.text(str(folder.path))
    assert stream.schema.simpleString() == "struct<value:string>"
    drain(stream, "append", "text_lines")
    assert rows(spark.table("text_lines")) == [("",), ("one two",), ("three",)]


@pytest.mark.parametrize("limit, batches", [(1, [1, 1, 1, 1, 1]), (2, [2, 2, 1]), (100, [5])])
def test_the_limit_of_files_makes_the_batches(spark, folder, limit, batches):
    for i in range(5):
        folder.put(f"{i}.json", f'{{"n":{i}}}')
    query = drain(read_files(spark, folder, "n INT", per_trigger=limit), "append", f"limit_{limit}")
    assert per_batch(query) == list(enumerate(batches))
    assert rows(spark.table(f"limit_{limit}")) == [(i,) for i in range(5)]


def test_files_come_in_order_of_their_times(spark, folder):
    for name in ("c", "a", "b"):
        folder.put(f"{name}.json", f'{{"k":"{name}"}}')
    drain(read_files(spark, folder, "k STRING"), "append", "by_time")
    assert [row.k for row in spark.table("by_time").collect()] == ["c", "a", "b"]
    drain(read_files(spark, folder, "k STRING", latestFirst="true"), "append", "newest_first")
    assert [row.k for row in spark.table("newest_first").collect()] == ["b", "a", "c"]


def test_a_running_query_sees_new_files_and_no_hidden_ones(spark, folder):
    query = (read_files(spark, folder, "n INT").writeStream.format("memory").queryName("running").outputMode("append").start())
    try:
        query.processAllAvailable()
        assert rows(spark.table("running")) == []
        folder.put("1.json", '{"n":1}').put("_hidden.json", '{"n":7}').put(".hidden.json", '{"n":8}')
        wait_until(lambda: rows(spark.table("running")) == [(1,)], "the first file", alive=query.exception)
        folder.put("2.json", '{"n":2}').put("3.json", '{"n":3}')
        query.processAllAvailable()
        assert rows(spark.table("running")) == [(1,), (2,), (3,)]
    finally:
        query.stop()
    assert query.exception() is None


def test_columns_from_folder_names(spark, folder):
    InputFolder(folder.path / "day=2024-03-01").put("1.json", '{"n":1}')
    InputFolder(folder.path / "day=2024-03-02").put("2.json", '{"n":2}')
    drain(read_files(spark, folder, "n INT, day DATE"), "append", "by_day")
    assert [(n, str(day)) for n, day in rows(spark.table("by_day"))] == [(1, "2024-03-01"), (2, "2024-03-02")]


def test_counts_go_on_from_the_checkpoint(spark, folder, tmp_path):
    def run():
        counts = read_files(spark, folder, "k STRING").groupBy("k").count()
        return drain(counts, "complete", "resumed", tmp_path / "ck")

    folder.put("1.json", '{"k":"a"}', '{"k":"b"}').put("2.json", '{"k":"a"}')
    first = run()
    assert per_batch(first) == [(0, 2), (1, 1)]
    assert rows(spark.table("resumed")) == [("a", 2), ("b", 1)]
    folder.put("3.json", '{"k":"b"}', '{"k":"c"}')
    second = run()
    assert per_batch(second) == [(2, 2)]
    assert rows(spark.table("resumed")) == [("a", 2), ("b", 2), ("c", 1)]
    assert second.id == first.id and second.runId != first.runId
    third = run()
    assert [p["numInputRows"] for p in progress_list(third)] in ([], [0])


def test_a_literal_tag_keeps_its_groups_apart(spark, tmp_path):
    left, right = InputFolder(tmp_path / "a"), InputFolder(tmp_path / "b")

    def run(mode, table, checkpoint):
        tagged = [read_files(spark, one, "v INT").withColumn("tag", F.lit(tag)) for one, tag in ((left, "left"), (right, "right"))]
        return drain(tagged[0].union(tagged[1]).groupBy("tag").count(), mode, table, tmp_path / checkpoint)

    left.put("a1.json", '{"v":1}', '{"v":2}')
    run("complete", "tags", "ck")
    assert rows(spark.table("tags")) == [("left", 2)]
    right.put("b1.json", '{"v":3}')
    run("complete", "tags", "ck")
    assert rows(spark.table("tags")) == [("left", 2), ("right", 1)]


def test_a_query_keeps_the_number_of_its_sources(spark, tmp_path):
    one, other = InputFolder(tmp_path / "a").put("1.json", '{"v":1}'), InputFolder(tmp_path / "b").put("1.json", '{"v":2}')
    counted = read_files(spark, one, "v INT").groupBy("v").count()
    drain(counted, "complete", "sources", tmp_path / "ck")
    both = read_files(spark, one, "v INT").union(read_files(spark, other, "v INT")).groupBy("v").count()
    with pytest.raises(Exception) as error:
        drain(both, "complete", "sources", tmp_path / "ck")
    assert "There are [1] sources in the checkpoint offsets and now there are [2] sources" in str(error.value)


def test_the_schema_of_a_frame_is_that_of_its_making(spark, folder, tmp_path):
    """Case P50: inferred once, whatever comes later; a frame that is built anew looks anew."""
    folder.put("a.json", '{"v":1}')
    (tmp_path / "texts").mkdir()
    assert spark.readStream.text(str(tmp_path / "texts")).schema.simpleString() == "struct<value:string>"
    with pytest.raises(IllegalArgumentException, match="Schema must be specified"):
        spark.readStream.json(str(folder.path)).schema  # pylint: disable=expression-not-assigned
    with pytest.raises(AnalysisException, match="PATH_NOT_FOUND"):
        spark.readStream.schema("v INT").json(str(tmp_path / "nowhere")).schema  # pylint: disable=expression-not-assigned
    spark.conf.set("spark.sql.streaming.schemaInference", "true")
    frame = spark.readStream.json(str(folder.path))
    assert frame.schema.simpleString() == "struct<v:bigint>"

    def run(stream):
        writer = stream.writeStream.format("json").option("checkpointLocation", str(tmp_path / "ck")).trigger(availableNow=True)
        assert writer.start(str(tmp_path / "out")).awaitTermination(60)
        return rows(spark.read.schema("v BIGINT, w STRING").json(str(tmp_path / "out")))

    assert run(frame) == [(1, None)]
    folder.put("b.json", '{"v":2,"w":"new"}')
    assert run(frame) == [(1, None), (2, None)]
    drain(frame.union(frame.select("v")), "append", "twice")
    assert rows(spark.table("twice")) == [(1,), (1,), (2,), (2,)]
    anew = spark.readStream.json(str(folder.path))
    assert anew.schema.simpleString() == "struct<v:bigint,w:string>"
    folder.put("c.json", '{"v":3,"w":"n"}')
    assert run(anew) == [(1, None), (2, None), (3, "n")]
