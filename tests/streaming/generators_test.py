"""explode and its kin over streams, in every output mode, and over Connect: the rows that a batch over the same files gives."""
import pytest
from harness.stream_cases import InputFolder, drain, read_files, rows
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

SCHEMA = "line STRING, ts TIMESTAMP, numbers ARRAY<INT>, pairs MAP<STRING, INT>"


@pytest.fixture(autouse=True)
def settings(spark):
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.shuffle.partitions", "2")


@pytest.fixture
def folder(tmp_path):
    folder = InputFolder(tmp_path / "in")
    folder.put("1.json", '{"line":"the cat the dog","ts":"2024-01-01T12:00:03Z","numbers":[1,null,3],"pairs":{"a":1}}',
               '{"line":"dog","ts":"2024-01-01T12:00:21Z","numbers":[]}')
    folder.put("2.json", '{"line":"cat owl","ts":"2024-01-01T12:00:04Z","numbers":null,"pairs":{}}',
               '{"line":"","ts":"2024-01-01T12:00:59Z","numbers":[7],"pairs":{"b":2,"c":null}}')
    return folder


def words(frame):
    return frame.select(F.explode(F.split("line", " ")).alias("word"), "ts")


CASES = {
    "explode": lambda frame: frame.select("line", F.explode("numbers").alias("n")),
    "explode_outer": lambda frame: frame.select("line", F.explode_outer("numbers")),
    "posexplode": lambda frame: frame.select(F.posexplode("numbers"), "ts"),
    "posexplode_outer": lambda frame: frame.select(F.posexplode_outer("pairs"), "ts"),
    "map": lambda frame: frame.select(F.explode("pairs").alias("k", "v")),
    "inline": lambda frame: frame.select(F.inline(F.array(F.struct("line", "numbers"), F.struct("line", "numbers")))),
    "stack": lambda frame: frame.select(F.stack(F.lit(2), F.lit("line"), F.col("line"), F.lit("time"), F.col("ts").cast("string"))),
    "two": lambda frame: frame.select(F.explode("numbers").alias("n"), F.posexplode(F.split("line", " ")).alias("p", "w")),
    "beside itself": lambda frame: frame.select("numbers", F.explode("numbers")),
}


@pytest.mark.parametrize("name", CASES)
def test_appended_rows_are_those_of_a_batch(spark, folder, name):
    drain(CASES[name](read_files(spark, folder, SCHEMA)), "append", "exploded")
    batch = CASES[name](spark.read.schema(SCHEMA).json(str(folder.path)))
    assert batch.count() > 0
    assert rows(spark.table("exploded")) == rows(batch)
    assert spark.table("exploded").schema.simpleString() == batch.schema.simpleString()


@pytest.mark.parametrize("mode", ["complete", "update"])
def test_words_are_counted(spark, folder, mode):
    counts = words(read_files(spark, folder, SCHEMA)).groupBy("word").count()
    drain(counts, mode, "counted")
    last = {("the", 2), ("cat", 2), ("dog", 2), ("owl", 1), ("", 1)}
    assert set(rows(spark.table("counted"))) == (last if mode == "complete" else last | {("cat", 1)})


def test_windows_of_words_are_appended_once_they_are_closed(spark, folder, tmp_path):
    folder.put("3.json", '{"line":"cat","ts":"2024-01-01T12:00:05Z"}')
    stream = read_files(spark, folder, SCHEMA).withWatermark("ts", "10 seconds")
    counts = words(stream).groupBy(F.window("ts", "10 seconds"), "word").count().select("window.start", "word", "count")
    drain(counts, "append", "closed", tmp_path / "checkpoint")
    # The second file closes 12:00:00 and still counts; what the third brings for it is late.
    assert rows(spark.table("closed")) == [("2024-01-01 12:00:00", "cat", 2), ("2024-01-01 12:00:00", "dog", 1),
                                           ("2024-01-01 12:00:00", "owl", 1), ("2024-01-01 12:00:00", "the", 2),
                                           ("2024-01-01 12:00:20", "dog", 1)]


def test_lateral_views_over_a_stream(spark, folder):
    read_files(spark, folder, SCHEMA).createOrReplaceTempView("lines")
    drain(spark.sql("SELECT word, count(*) AS n FROM lines LATERAL VIEW explode(split(line, ' ')) w AS word WHERE word != '' GROUP BY word"),
          "complete", "viewed")
    assert set(rows(spark.table("viewed"))) == {("the", 2), ("cat", 2), ("dog", 2), ("owl", 1)}


def test_an_error_names_what_spark_names(spark):
    for frame, condition in [(lambda: spark.range(1).select(F.explode(F.array("id")) + 1), "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS"),
                             (lambda: spark.range(1).where(F.explode(F.array(F.lit(True)))), "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT"),
                             (lambda: spark.range(1).select(F.explode("id")), "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")]:
        with pytest.raises(AnalysisException) as error:
            frame().collect()
        assert error.value.getCondition() == condition


def test_grouping_sets_over_connect(spark):
    frame = spark.createDataFrame([("a", 1, 10), ("a", 2, 20), ("b", 1, 30)], "k string, n int, v int")
    both = [F.grouping("k").alias("gk"), F.grouping_id("k", "n").alias("g"), F.sum("v").alias("v")]
    rolled = {("a", 1, 0, 0, 10), ("a", 2, 0, 0, 20), ("b", 1, 0, 0, 30), ("a", None, 0, 1, 30), ("b", None, 0, 1, 30), (None, None, 1, 3, 60)}
    assert set(rows(frame.rollup("k", "n").agg(*both))) == rolled
    assert set(rows(frame.cube("k", "n").agg(*both))) == rolled | {(None, 1, 1, 2, 40), (None, 2, 1, 2, 20)}
    sets = frame.groupingSets([["k"], ["n"]], "k", "n").agg(*both)
    assert set(rows(sets)) == {("a", None, 0, 1, 30), ("b", None, 0, 1, 30), (None, 1, 1, 2, 40), (None, 2, 1, 2, 20)}


def test_signs_are_named_as_they_came(spark):
    frame = spark.range(1)
    # A client sends "negative" for the sign, too.
    columns = frame.select(-F.col("id"), F.negative("id"), F.expr("-id"), F.expr("+id")).columns
    assert columns == ["negative(id)", "negative(id)", "(- id)", "(+ id)"]
