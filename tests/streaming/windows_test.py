"""Where the edges of windows lie: zones, offsets, times before 1970."""
import pytest
from harness.stream_cases import InputFolder, drain, read_files, rows
from pyspark.sql import functions as F


@pytest.fixture(autouse=True)
def two_partitions(spark):
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.shuffle.partitions", "2")


@pytest.fixture
def folder(tmp_path):
    return InputFolder(tmp_path / "in")


def counted(spark, frame, table):
    """Start and end of each window as text of the session's zone, with the count."""
    edges = frame.select(F.col("w.start").cast("string"), F.col("w.end").cast("string"), frame.columns[-1])
    drain(edges, "complete", table)
    return rows(spark.table(table))


def test_days_are_cut_at_utc_midnight_whatever_the_zone(spark, folder):
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    folder.put("f1.json", '{"ts":"2024-02-29T18:00:00Z"}')
    stream = read_files(spark, folder, "ts TIMESTAMP")
    by_utc = stream.groupBy(F.window("ts", "1 day").alias("w")).count()
    assert counted(spark, by_utc, "utc_days") == [("2024-02-29 09:00:00", "2024-03-01 09:00:00", 1)]
    local = stream.groupBy(F.window("ts", "1 day", "1 day", "15 hours").alias("w")).count()
    assert counted(spark, local, "local_days") == [("2024-03-01 00:00:00", "2024-03-02 00:00:00", 1)]


def test_sliding_windows_with_an_offset(spark, folder):
    folder.put("f1.json", *[f'{{"ts":"2024-03-01T10:00:{second}Z","v":1}}' for second in (10, 11, 12)])
    sums = (read_files(spark, folder, "ts TIMESTAMP, v INT")
            .groupBy(F.window("ts", "5 seconds", "4 seconds", "3 seconds").alias("w")).agg(F.sum("v").alias("s")))
    assert counted(spark, sums, "offset") == [
        ("2024-03-01 10:00:07", "2024-03-01 10:00:12", 2), ("2024-03-01 10:00:11", "2024-03-01 10:00:16", 2)]


def test_windows_before_1970(spark, folder):
    folder.put("f1.json", '{"ts":"1965-06-15T12:00:03Z"}', '{"ts":"1965-06-15T12:00:09Z"}')
    stream = read_files(spark, folder, "ts TIMESTAMP")
    offset = stream.groupBy(F.window("ts", "10 seconds", "10 seconds", "4 seconds").alias("w")).count()
    assert counted(spark, offset, "before_1970") == [
        ("1965-06-15 11:59:54", "1965-06-15 12:00:04", 1), ("1965-06-15 12:00:04", "1965-06-15 12:00:14", 1)]
    sliding = stream.groupBy(F.window("ts", "10 seconds", "5 seconds").alias("w")).count()
    assert counted(spark, sliding, "sliding_before_1970") == [
        ("1965-06-15 11:59:55", "1965-06-15 12:00:05", 1), ("1965-06-15 12:00:00", "1965-06-15 12:00:10", 2),
        ("1965-06-15 12:00:05", "1965-06-15 12:00:15", 1)]


def test_clock_changes_do_not_move_windows(spark, folder):
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")  # 2024-03-31: 02:00 becomes 03:00
    folder.put("f1.json", '{"ts":"2024-03-31T00:30:00Z"}', '{"ts":"2024-03-31T01:30:00Z"}')
    hours = read_files(spark, folder, "ts TIMESTAMP").groupBy(F.window("ts", "1 hour").alias("w")).count()
    assert counted(spark, hours, "clock_change") == [
        ("2024-03-31 01:00:00", "2024-03-31 03:00:00", 1), ("2024-03-31 03:00:00", "2024-03-31 04:00:00", 1)]


def test_session_windows_of_tables_are_refused_by_name(spark):
    rows = spark.sql("SELECT timestamp'2024-03-01 00:00:00' AS ts UNION ALL SELECT timestamp'2024-03-01 00:01:00'")
    with pytest.raises(Exception, match="UNSUPPORTED_FEATURE.THALWEG.*session windows"):
        rows.groupBy(F.session_window("ts", "5 minutes")).count().collect()


def test_session_windows_of_streams_are_refused_by_name(spark, folder):
    folder.put("f1.json", '{"k":"a","ts":"2024-03-01T10:00:00Z"}')
    stream = read_files(spark, folder, "k STRING, ts TIMESTAMP").withWatermark("ts", "1 minute")
    with pytest.raises(Exception, match="UNSUPPORTED_FEATURE.THALWEG.*session windows on a stream"):
        drain(stream.groupBy(F.session_window("ts", "5 seconds"), "k").count(), "append", "sessions")
    with pytest.raises(Exception, match="Global aggregation with session window in streaming query is not supported"):
        drain(stream.groupBy(F.session_window("ts", "5 seconds")).count(), "append", "all_sessions")
