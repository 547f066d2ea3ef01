"""The single checkpoints that Spark left (samples of every stateful operator, and vectors), and how their queries go on: two more
files each, and what then comes out. Runs on Spark (any Python with pyspark) and on Thalweg alike."""
import collections
import json
import os
import pathlib
import re
import shutil

from harness.waiting import patience

END_TIMEOUT_S = patience(120)
NARROW = "k STRING, v INT, ts TIMESTAMP"
ZOO = "k STRING, i INT, d DOUBLE, s STRING, dec DECIMAL(38,18), d10 DECIMAL(10,2), ts TIMESTAMP"
LEFT, RIGHT = "k BIGINT, v STRING, ts TIMESTAMP", "rk BIGINT, w STRING, rts TIMESTAMP"

# folder: below spark-4.2.0. schemas: of the input folders. make(streams) -> frame. steps: for both runs the rows of a new file in each
# input folder, and what comes out.
Sample = collections.namedtuple("Sample", "folder schemas mode make steps", defaults=["append", None, ()])


def row(schema, *values):
    return dict(zip(re.findall(r"(\w+) [A-Z]", schema), values))


def event(k, v, time):
    return {"k": k, "v": v, "ts": f"2024-03-01T{time}Z"}


def zoo(second, k="apple", s=None, dec=None):
    """Seconds after 2023-11-14 22:13:20, as the vectors count."""
    from datetime import datetime, timedelta
    when = datetime(2023, 11, 14, 22, 13, 20) + timedelta(seconds=second)
    return {"k": k, "s": s, "dec": dec, "ts": when.strftime("%Y-%m-%dT%H:%M:%SZ")}


def functions():
    from pyspark.sql import functions as F
    return F


def windows(streams):
    F = functions()
    return (streams[0].withWatermark("ts", "5 seconds").groupBy(F.window("ts", "10 seconds"), "k").agg(F.count("*"), F.avg("v"), F.max("k"))
            .toDF("window", "k", "n", "mean", "last").selectExpr("cast(window.start as string) start", "k", "n", "mean", "last"))


def chained(streams):
    F = functions()
    return (streams[0].withWatermark("ts", "5 seconds").groupBy(F.window("ts", "5 seconds")).count()
            .groupBy(F.window(F.window_time("window"), "10 seconds")).agg(F.sum("count").alias("n")).selectExpr("cast(window.start as string) start", "n"))


def zoo_windows(streams):
    F = functions()
    return (streams[0].withWatermark("ts", "10 seconds").groupBy(F.window("ts", "10 seconds"), "k").count()
            .selectExpr("cast(window.start as string) start", "k", "count"))


def narrow_join(how):
    def make(streams):
        F = functions()
        left, right = (stream.withWatermark("ts", "5 seconds").alias(name) for stream, name in zip(streams, "lr"))
        return left.join(right, F.expr("l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL 5 SECONDS"), how).selectExpr("l.k", "l.v", "r.v AS rv")
    return make


def vector_join(streams):
    F = functions()
    left, right = streams[0].withWatermark("ts", "5 seconds"), streams[1].withWatermark("rts", "5 seconds")
    return left.join(right, F.expr("k = rk AND rts BETWEEN ts AND ts + INTERVAL 10 SECONDS"), "left_outer").selectExpr("k", "v", "w")


def marked(streams):
    return streams[0].withWatermark("ts", "5 seconds")


# Spark's watermark at the end of the samples: 10:00:16. What its state holds: FILES of make_checkpoints.py, (a 1, b 2, a 3) at 10:00:01 to 03
# and (a 4, c 5) at 10:00:20 and 21.
WINDOW_STEPS = (
    ([[event("a", 6, "10:00:25"), event("z", 1, "10:00:40")]], [["2024-03-01 10:00:20", "a", 2, 5.0, "a"], ["2024-03-01 10:00:20", "c", 1, 5.0, "c"]]),
    ([[event("q", 7, "10:01:00"), event("q", 7, "10:00:24")]], [["2024-03-01 10:00:40", "z", 1, 1.0, "z"]]))
# Right c@23 meets c@21; left d@25 meets nobody. Then everything is given up.
JOIN_FILES = ([[event("d", 7, "10:00:25")], [event("c", 8, "10:00:23")]], [[event("z", 1, "10:01:40")], [event("z", 2, "10:01:42")]])
SAMPLES = {
    "count": Sample("count", [NARROW], "update", lambda streams: streams[0].groupBy("k").count(), (
        ([[event("a", 6, "10:00:25"), event("d", 6, "10:00:25")]], [["a", 4], ["d", 1]]),
        ([[event("b", 6, "10:00:25"), event("b", 6, "10:00:25")]], [["b", 3]]))),
    "window-append": Sample("window-append", [NARROW], "append", windows, WINDOW_STEPS),
    "window-append-rocksdb": Sample("window-append-rocksdb", [NARROW], "append", windows, WINDOW_STEPS),
    "chained-windows": Sample("chained-windows", [NARROW], "append", chained, (
        ([[event("a", 1, "10:00:45")]], [["2024-03-01 10:00:20", 2]]),
        ([[event("a", 1, "10:02:00")]], [["2024-03-01 10:00:40", 1]]))),
    "dedup": Sample("dedup", [NARROW], "append", lambda streams: streams[0].dropDuplicates(["k"]).select("k", "v"), (
        ([[event("a", 6, "10:00:25"), event("d", 7, "10:00:25")]], [["d", 7]]),
        ([[event("d", 8, "10:00:25"), event("b", 9, "10:00:25"), event("e", 9, "10:00:25")]], [["e", 9]]))),
    "dedup-watermark": Sample("dedup-watermark", [NARROW], "append", lambda streams: marked(streams).dropDuplicates(["k", "ts"]).select("k", "v"), (
        ([[event("a", 6, "10:00:20"), event("a", 7, "10:00:16"), event("a", 8, "10:00:22")]], [["a", 8]]),
        ([[event("a", 9, "10:00:22"), event("c", 9, "10:00:21"), event("c", 10, "10:00:23")]], [["c", 10]]))),
    "dedup-within-watermark": Sample("dedup-within-watermark", [NARROW], "append",
                                     lambda streams: marked(streams).dropDuplicatesWithinWatermark(["k"]).select("k", "v"), (
        ([[event("c", 6, "10:00:22"), event("b", 7, "10:00:23"), event("z", 8, "10:00:40")]], [["b", 7], ["z", 8]]),
        ([[event("c", 9, "10:00:41"), event("z", 10, "10:00:44")]], [["c", 9]]))),
    "limit": Sample("limit", [NARROW], "append", lambda streams: streams[0].limit(4).select("k", "v"), (
        ([[event("a", 6, "10:00:25")]], []), ([[event("a", 7, "10:00:25")]], []))),
    "join-inner": Sample("join-inner", [NARROW, NARROW], "append", narrow_join("inner"), (
        (JOIN_FILES[0], [["c", 5, 8]]), (JOIN_FILES[1], [["z", 1, 2]]))),
    "join-left-outer": Sample("join-left-outer", [NARROW, NARROW], "append", narrow_join("left_outer"), (
        (JOIN_FILES[0], [["c", 5, 8]]), (JOIN_FILES[1], [["d", 7, None], ["z", 1, 2]]))),
    # Spark's watermark at the end of the vectors: -1 s; of the join see its test.
    "window_count_append": Sample("vectors/window_count_append", [ZOO], "append", zoo_windows, (
        ([[zoo(3), zoo(30, "fig")]], [["2023-11-14 22:13:20", "apple", 4]]),
        ([[zoo(60, "x"), zoo(5)]], [["2023-11-14 22:13:50", "fig", 1]]))),
    "sum_decimal38_update": Sample("vectors/sum_decimal38_update", [ZOO], "update", lambda streams: streams[0].groupBy("k").agg(
        functions().sum("dec").alias("total")).selectExpr("k", "cast(total as string) AS total"), (
        ([[zoo(0, dec=2)]], [["apple", "12345678901234567892.123456789012345677"]]),
        ([[zoo(0, k=None, dec=3)]], [[None, "3.000000000000000000"]]))),
    "collect_list_update": Sample("vectors/collect_list_update", [ZOO], "update", lambda streams: streams[0].groupBy("k").agg(
        functions().sort_array(functions().collect_list("s")).alias("all")).selectExpr("k", "array_join(all, ' ') AS texts"), (
        ([[zoo(0, s="kiwi")]], [["apple", "fig kiwi pear zebra"]]),
        ([[zoo(0, k=None, s="plum"), zoo(0, s="date")]], [[None, "plum"], ["apple", "date fig kiwi pear zebra"]]))),
    # pear expires at 10 s, fig at 15 s, zebra at 19 s; the first new file takes the watermark to 20 s.
    "dedup_within_watermark": Sample("vectors/dedup_within_watermark", [ZOO], "append", lambda streams: streams[0].withWatermark(
        "ts", "10 seconds").dropDuplicatesWithinWatermark(["s", "k"]).select("s", "k"), (
        ([[zoo(8, s="pear"), zoo(12, s="fig"), zoo(30, s="kiwi")]], [["kiwi", "apple"]]),
        ([[zoo(35, s="fig"), zoo(36, s="kiwi")]], [["fig", "apple"]]))),
    "vector-limit": Sample("vectors/limit", [ZOO], "append", lambda streams: streams[0].limit(3).select("k", "s"), (
        ([[zoo(0)]], []), ([[zoo(0)]], []))),
    "join_left_outer_v2": Sample("vectors/join_left_outer_v2", [LEFT, RIGHT], "append", vector_join, ()),
}


def sort_rows(rows):
    return sorted((list(one) for one in rows), key=lambda one: [(value is not None, str(value)) for value in one])


def prepare(goldens, name, place):
    """Puts the checkpoint into `place`, its paths right. Side-cars of what is rewritten go: Spark would believe them."""
    source = pathlib.Path(goldens) / SAMPLES[name].folder
    checkpoint = pathlib.Path(place) / "checkpoint"
    shutil.copytree(source / "checkpoint" if (source / "checkpoint").exists() else source, checkpoint)
    for path in sorted(checkpoint.glob("sources/*/*")):
        if path.name.startswith("."):
            path.unlink()
            continue
        folder = pathlib.Path(place) / f"in{path.parent.name}"
        path.write_text(re.sub(r'"file:///[^"]*/([^"/]*)"', lambda found: f'"file://{folder}/{found.group(1)}"', path.read_text()))
    for number in range(len(SAMPLES[name].schemas)):
        (pathlib.Path(place) / f"in{number}").mkdir()


def put(place, folder, label, rows):
    """One more file, newer than all that the checkpoint knows."""
    known = [json.loads(line)["timestamp"] // 1000 for path in (pathlib.Path(place) / "checkpoint").glob("sources/*/*")
             if not path.name.startswith(".") for line in path.read_text().splitlines()[1:]]
    staged = pathlib.Path(place) / f"stage-{folder}-{label}"
    staged.write_text("".join(json.dumps(one) + "\n" for one in rows))
    seconds = max(known) + 10 + folder
    os.utime(staged, (seconds, seconds))
    os.replace(staged, pathlib.Path(place) / f"in{folder}" / f"{label}.json")


def run(spark, name, place, step):
    """The run after the `step`-th pair of new files, to its end; the rows that came out."""
    sample = SAMPLES[name]
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    streams = [spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(f"{place}/in{number}")
               for number, schema in enumerate(sample.schemas)]
    table = f"{place}/table-{step}"
    writer = sample.make(streams).writeStream.outputMode(sample.mode).option("checkpointLocation", f"{place}/checkpoint").trigger(availableNow=True)
    if sample.mode == "append":
        query = writer.format("delta").start(table)
    else:
        query = writer.foreachBatch(lambda frame, batch: frame.write.format("delta").mode("append").save(table)).start()
    if not query.awaitTermination(END_TIMEOUT_S):
        raise RuntimeError("the run did not end")
    if not (pathlib.Path(table) / "_delta_log").exists():
        return []
    return sort_rows(spark.read.format("delta").load(table).collect())
