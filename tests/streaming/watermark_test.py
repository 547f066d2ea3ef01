"""Watermarks and late rows, one file per micro-batch: what is late, what leaves the state, and when."""
import pytest
from harness.stream_cases import InputFolder, drain, dropped, progress_list, read_files, rows, watermarks, written
from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import functions as F

KEYED = "k STRING, ts TIMESTAMP"
CLICKS = "page STRING, event_time TIMESTAMP"


@pytest.fixture(autouse=True)
def two_partitions(spark):
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.shuffle.partitions", "2")


@pytest.fixture
def folder(tmp_path):
    return InputFolder(tmp_path / "in")


def at(time, key=None):
    keyed = f'"k":"{key}",' if key else ""
    return f'{{{keyed}"ts":"2024-03-01T{time}Z"}}'


def test_a_row_is_late_by_the_watermark_of_the_batch_before(spark, folder):
    folder.put("f1.json", at("10:00:05", "a")).put("f2.json", at("10:00:40", "a")).put("f3.json", at("10:00:07", "a"))
    counts = (read_files(spark, folder, KEYED).withWatermark("ts", "10 seconds")
              .groupBy(F.window("ts", "10 seconds"), "k").count())
    query = drain(counts, "append", "late_by_previous")
    assert rows(spark.table("late_by_previous")) == [(("2024-03-01 10:00:00", "2024-03-01 10:00:10"), "a", 2)]
    assert written(query) == {2: 1}
    assert dropped(query) == {}
    assert progress_list(query)[-1]["stateOperators"][0]["numRowsTotal"] == 1


def test_null_event_times_leave_no_trace_in_windows(spark, folder):
    folder.put("f1.json", at("10:00:01", "a"), '{"k":"a","ts":null}', '{"k":"a"}')
    folder.put("f2.json", '{"k":"b","ts":null}').put("f3.json", at("10:05:00", "b"))
    counts = (read_files(spark, folder, KEYED).withWatermark("ts", "1 minute")
              .groupBy(F.window("ts", "1 minute"), "k").count())
    query = drain(counts, "append", "null_windows")
    assert rows(spark.table("null_windows")) == [(("2024-03-01 10:00:00", "2024-03-01 10:01:00"), "a", 1)]
    assert written(query) == {3: 1}
    assert dropped(query) == {}
    assert watermarks(query)[-1] == "2024-03-01T10:04:00.000Z"


def test_a_group_of_null_event_times_is_never_late_and_stays(spark, folder):
    folder.put("f1.json", at("10:00:00", "a"), '{"k":"n"}').put("f2.json", at("10:05:00", "b")).put("f3.json", '{"k":"n"}')
    folder.put("f4.json", at("10:10:00", "c"))
    counts = read_files(spark, folder, KEYED).withWatermark("ts", "1 minute").groupBy("ts", "k").count()
    query = drain(counts, "append", "null_groups")
    assert rows(spark.table("null_groups")) == [("2024-03-01 10:00:00", "a", 1), ("2024-03-01 10:05:00", "b", 1)]
    assert dropped(query) == {}
    assert progress_list(query)[-1]["stateOperators"][0]["numRowsTotal"] == 2  # c, and the group of nulls


@pytest.mark.parametrize("column, delay, error_class, text", [
    ("ts", "-5 seconds", IllegalArgumentException, "should not be negative"),
    ("ts", "ten minutes", AnalysisException, "CANNOT_PARSE_INTERVAL"),
    ("txt", "5 seconds", AnalysisException, "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE"),
    ("nope", "5 seconds", AnalysisException, "UNRESOLVED_COLUMN"),
    ("s.t", "5 seconds", AnalysisException, "EVENT_TIME_MUST_BE_TOP_LEVEL_COLUMN"),
    ("tn", "5 seconds", AnalysisException, "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE"),
])
def test_bad_watermarks_are_refused_at_the_first_analysis(spark, folder, column, delay, error_class, text):
    base = read_files(spark, folder, "k STRING, txt STRING, ts TIMESTAMP, tn TIMESTAMP_NTZ, s STRUCT<t: TIMESTAMP>")
    with pytest.raises(error_class, match=text):
        base.withWatermark(column, delay).schema  # pylint: disable=expression-not-assigned
    assert spark.streams.active == []


@pytest.mark.parametrize("policy", ["min", "max"])
def test_the_slowest_input_holds_the_watermark_unless_policy_is_max(spark, tmp_path, policy):
    spark.conf.set("spark.sql.streaming.multipleWatermarkPolicy", policy)
    left, right = InputFolder(tmp_path / "a"), InputFolder(tmp_path / "b")
    streams = [read_files(spark, one, "ts TIMESTAMP").withWatermark("ts", "10 seconds") for one in (left, right)]
    counts = streams[0].union(streams[1]).groupBy(F.window("ts", "10 seconds")).count()
    query = counts.writeStream.format("memory").queryName(f"policy_{policy}").outputMode("append").start()
    expected = [(("2024-03-01 10:00:00", "2024-03-01 10:00:10"), 2)]
    try:
        left.put("a1.json", at("10:00:05"))
        right.put("b1.json", at("10:00:02"))
        query.processAllAvailable()
        left.put("a2.json", at("10:10:00"))
        query.processAllAvailable()
        if policy == "max":
            assert rows(spark.table("policy_max")) == expected
        else:
            assert rows(spark.table("policy_min")) == []
            assert watermarks(query)[-1] == "2024-03-01T09:59:52.000Z"
            right.put("b2.json", at("10:10:00"))
            query.processAllAvailable()
            assert rows(spark.table("policy_min")) == expected
    finally:
        query.stop()


def test_the_watermark_is_kept_between_runs(spark, folder, tmp_path):
    def run():
        counts = read_files(spark, folder, "ts TIMESTAMP").withWatermark("ts", "10 seconds").groupBy(F.window("ts", "10 seconds")).count()
        query = (counts.writeStream.format("console").option("truncate", "false").outputMode("append")
                 .option("checkpointLocation", str(tmp_path / "ck")).trigger(availableNow=True).start())
        assert query.awaitTermination(60)
        return [(p["batchId"], p["numInputRows"], p["stateOperators"][0]["numRowsRemoved"], p["eventTime"]["watermark"][11:19])
                for p in progress_list(query)]

    folder.put("f1.json", at("10:00:05"))
    assert run() == [(0, 1, 0, "00:00:00"), (1, 0, 0, "09:59:55")]
    folder.put("f2.json", at("10:00:30"))
    assert run() == [(2, 1, 0, "09:59:55"), (3, 0, 1, "10:00:20")]
    folder.put("f3.json", at("10:00:50"))
    assert run() == [(4, 1, 0, "10:00:20"), (5, 0, 1, "10:00:40")]


def test_update_mode_writes_changed_groups_and_nothing_for_late_rows(spark, folder):
    folder.put("f1.json", at("10:00:05")).put("f2.json", at("10:00:40")).put("f3.json", at("10:00:50"))
    folder.put("f4.json", at("10:00:06"))
    counts = read_files(spark, folder, "ts TIMESTAMP").withWatermark("ts", "10 seconds").groupBy(F.window("ts", "10 seconds")).count()
    query = drain(counts, "update", "changed_only")
    assert rows(spark.table("changed_only")) == [
        (("2024-03-01 10:00:00", "2024-03-01 10:00:10"), 1), (("2024-03-01 10:00:40", "2024-03-01 10:00:50"), 1),
        (("2024-03-01 10:00:50", "2024-03-01 10:01:00"), 1)]
    assert written(query) == {0: 1, 1: 1, 2: 1}
    assert dropped(query) == {3: 1}


def test_a_window_over_windows(spark, folder):
    folder.put("f1.json", at("10:00:01"), at("10:00:06"), at("10:00:07"), at("10:00:12")).put("f2.json", at("10:01:00"))
    fives = read_files(spark, folder, "ts TIMESTAMP").withWatermark("ts", "0 seconds").groupBy(F.window("ts", "5 seconds")).count()
    tens = fives.groupBy(F.window(F.window_time("window"), "10 seconds").alias("w")).agg(F.sum("count").alias("n"))
    query = drain(tens, "append", "chained")
    assert rows(spark.table("chained")) == [
        (("2024-03-01 10:00:00", "2024-03-01 10:00:10"), 3), (("2024-03-01 10:00:10", "2024-03-01 10:00:20"), 1)]
    assert dropped(query) == {}
    for mode in ("update", "complete"):
        with pytest.raises(AnalysisException, match="Detected pattern of possible 'correctness' issue"):
            tens.writeStream.format("memory").queryName(f"chained_{mode}").outputMode(mode).start()


def timeline(spark, folder, mode, table, *batches):
    """Clicks per file; per micro-batch: watermark, rows written, rows in state, rows removed, rows dropped."""
    for i, times in enumerate(batches):
        folder.put(f"{i}.json", *[f'{{"page":"home","event_time":"2024-03-01T{time}:00Z"}}' for time in times])
    counts = (read_files(spark, folder, CLICKS).withWatermark("event_time", "10 minutes")
              .groupBy(F.window("event_time", "5 minutes"), "page").count())
    query = drain(counts.select(F.date_format("window.start", "HH:mm").alias("start"), "count"), mode, table)
    return [(p["eventTime"]["watermark"][11:16], p["sink"]["numOutputRows"], *[p["stateOperators"][0][metric] for metric in (
        "numRowsTotal", "numRowsRemoved", "numRowsDroppedByWatermark")]) for p in progress_list(query)]


def test_the_timeline_of_the_guide(spark, folder):
    """12:08 closes the first window, 12:16 the next two; 12:03 is dropped in the batch after the one that wrote its window."""
    told = timeline(spark, folder, "append", "guide", ["12:01", "12:04", "12:06"], ["12:11", "12:18"], ["12:26"], ["12:03"])
    assert told == [("00:00", 0, 2, 0, 0), ("11:56", 0, 4, 0, 0), ("12:08", 1, 4, 1, 0), ("12:16", 2, 2, 2, 1)]
    assert rows(spark.table("guide")) == [("12:00", 2), ("12:05", 1), ("12:10", 1)]


def test_a_click_counts_as_long_as_its_window_was_not_written_before_its_batch(spark, folder):
    told = timeline(spark, folder, "append", "together", ["12:01", "12:04", "12:06"], ["12:11", "12:18"], ["12:26", "12:03"],
                    ["12:03", "12:27"], ["12:03"])
    assert told == [("00:00", 0, 2, 0, 0), ("11:56", 0, 4, 0, 0), ("12:08", 1, 4, 1, 0), ("12:16", 2, 2, 2, 1), ("12:17", 0, 2, 0, 1)]
    assert rows(spark.table("together")) == [("12:00", 3), ("12:05", 1), ("12:10", 1)]


def test_a_click_alone_between_the_two_watermarks(spark, folder):
    told = timeline(spark, folder, "append", "alone", ["12:01", "12:04", "12:06"], ["12:11", "12:18"], ["12:03"], ["12:26"], ["12:03"])
    assert told == [("00:00", 0, 2, 0, 0), ("11:56", 0, 4, 0, 0), ("12:08", 1, 3, 1, 0), ("12:08", 0, 4, 0, 0), ("12:16", 2, 2, 2, 1)]
    assert rows(spark.table("alone")) == [("12:00", 3), ("12:05", 1), ("12:10", 1)]


def test_the_timeline_in_update_mode(spark, folder):
    told = timeline(spark, folder, "update", "updates", ["12:01", "12:04", "12:06"], ["12:11", "12:18"], ["12:26"], ["12:03"])
    assert told == [("00:00", 2, 2, 0, 0), ("11:56", 2, 4, 0, 0), ("12:08", 1, 4, 1, 0), ("12:16", 0, 2, 2, 1)]
    assert rows(spark.table("updates")) == [("12:00", 2), ("12:05", 1), ("12:10", 1), ("12:15", 1), ("12:25", 1)]
