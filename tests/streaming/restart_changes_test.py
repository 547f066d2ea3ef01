"""A query changed between two runs on one checkpoint: accepted or refused as recorded from Spark 4.2.0 (recorded/restart_changes.jsonl)."""
import json
import os
import pathlib

import pytest
from harness.stream_cases import InputFolder, progress_list, read_files
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

RECORDED = {one["case"]: one for one in map(json.loads, (
    pathlib.Path(os.environ["TW_SOURCE_DIR"]) / "tests/streaming/recorded/restart_changes.jsonl").read_text().splitlines())}
SCHEMA = "k STRING, s STRING, i BIGINT, ts TIMESTAMP"


class Inputs:
    """Three folders of input; put() adds one file with two rows to each."""

    def __init__(self, spark, root):
        self.spark = spark
        self.folders = [InputFolder(root / name) for name in ("in", "in_b", "in_c")]
        self.files = 0

    def put(self, folders=(0, 1)):
        minute = 10 * self.files
        for i in folders:
            self.folders[i].put(f"{self.files}.json", f'{{"k":"1","s":"x","i":10,"ts":"2024-03-01T10:{minute:02d}:00Z"}}',
                                f'{{"k":"{self.files + 2}","s":"y","i":20,"ts":"2024-03-01T10:{minute:02d}:05Z"}}')
        self.files += 1

    def stream(self, which=0, schema=SCHEMA, **options):
        return read_files(self.spark, self.folders[which], schema, **options)

    def rate(self):
        return self.spark.readStream.format("rate").load()


APPEND = {"mode": "append", "first_mode": "append"}


def base_over(stream):
    return stream.groupBy("k").agg(F.count("*").alias("count"), F.sum("i").alias("sum"))


def base(x):
    return base_over(x.stream())


def aggregates(make, key=lambda: ["k"]):
    """A query of these aggregates; made when it runs, since columns want a session."""
    return lambda x: x.stream().groupBy(*key()).agg(*make())


def windows(delay="5 seconds", size="10 seconds", watermark=True):
    def make(x):
        stream = x.stream().withWatermark("ts", delay) if watermark else x.stream()
        return stream.groupBy(F.window("ts", size), "k").agg(F.count("*"))
    return make


def join(how="inner", keys="l.k = r.k", within="r.ts BETWEEN l.ts AND l.ts + INTERVAL 10 SECONDS", columns=("l.k", "r.i")):
    def make(x):
        left, right = (x.stream(i).withWatermark("ts", "5 seconds").alias(name) for i, name in ((0, "l"), (1, "r")))
        return left.join(right, F.expr(" AND ".join(part for part in (keys, within) if part)), how).select(*columns)
    return make


APPEND = {"mode": "append", "first_mode": "append"}


def stateless(x):
    return x.stream().select("k")


def dedup(*columns, within=False):
    def make(x):
        stream = x.stream().withWatermark("ts", "5 seconds")
        return stream.dropDuplicatesWithinWatermark(list(columns)) if within else stream.dropDuplicates(list(columns))
    return make


def two(first, second):
    return lambda x: x.stream(first).select("k").union(x.stream(second).select("k"))


CASES = {  # recorded case: (first query, changed query, what else changes: mode, first_mode, conf)
    "agg unchanged": (base, base, {}),
    "agg: alias names changed": (base, aggregates(lambda: [F.count("*").alias("other"), F.sum("i").alias("names")]), {}),
    "agg: aggregate added": (base, aggregates(lambda: [F.count("*"), F.sum("i"), F.max("i")]), {}),
    "agg: aggregate removed": (base, aggregates(lambda: [F.count("*")]), {}),
    "agg: aggregates swapped (bigint NN, bigint -> bigint, bigint NN)": (base, aggregates(lambda: [F.sum("i"), F.count("*")]), {}),
    "agg: count(*) -> count(i), same types": (base, aggregates(lambda: [F.count("i"), F.sum("i")]), {}),
    "agg: count -> sum at NN position (new nullable, stored NN)": (base, aggregates(lambda: [F.sum("i"), F.sum("i")]), {}),
    "agg: sum -> count at nullable position (new NN, stored nullable)": (base, aggregates(lambda: [F.count("*"), F.count("i")]), {}),
    "agg: key type changed string -> int": (base, aggregates(lambda: [F.count("*"), F.sum("i")], lambda: [F.col("k").cast("int").alias("i")]), {}),
    "agg: other key column of same type": (base, aggregates(lambda: [F.count("*"), F.sum("i")], lambda: ["s"]), {}),
    "agg: key added": (base, aggregates(lambda: [F.count("*"), F.sum("i")], lambda: ["k", "s"]), {}),
    "agg: output mode update -> complete": (base, base, {"sink": "memory", "mode": "complete", "first_sink": "noop"}),
    "agg: filter added before": (base, lambda x: x.stream().filter("i > 0").groupBy("k").agg(F.count("*"), F.sum("i")), {}),
    "agg: stateSchemaCheck=false, aggregate added": (base, aggregates(lambda: [F.count("*"), F.sum("i"), F.max("i")]), {
        "conf": {"spark.sql.streaming.stateStore.stateSchemaCheck": "false"}}),
    "agg -> stateless": (base, stateless, {}),
    "stateless -> aggregation": (stateless, base, {"first_mode": "append"}),
    "stateless: projection changed": (stateless, lambda x: x.stream().select("s", "i"), {}),
    "stateless: source added (union)": (stateless, two(0, 1), {}),
    "two sources: one removed": (two(0, 1), stateless, {}),
    "two sources: order swapped": (  # of one folder: each goes on with the other's offset
        lambda x: x.stream().select("k").union(x.stream(per_trigger=2).select("k")),
        lambda x: x.stream(per_trigger=2).select("k").union(x.stream().select("k")), {"first_mode": "append", "mode": "append"}),
    "file source: maxFilesPerTrigger changed": (stateless, lambda x: x.stream(per_trigger=5).select("k"), {}),
    "file source: schema of source changed": (stateless, lambda x: x.stream(schema="k STRING, i INT").select("k"), {}),
    "window size changed": (windows(), windows(size="20 seconds"), {"mode": "append", "first_mode": "append"}),
    "watermark delay changed": (windows(), windows(delay="7 seconds"), {"mode": "append", "first_mode": "append"}),
    "watermark removed, update mode": (windows(), windows(watermark=False), {}),
    "window append -> update": (windows(), windows(), {"first_mode": "append"}),
    "join inner -> left outer": (join(columns=["l.k"]), join("left_outer", columns=["l.k"]), APPEND),
    "join left outer -> inner": (join("left_outer", columns=["l.k"]), join(columns=["l.k"]), APPEND),
    "join: extra value column left": (join(columns=["l.k"]), join(columns=["l.k", "l.i"]), APPEND),
    "join: condition changed, same keys": (join(columns=["l.k"]), join(within="r.ts BETWEEN l.ts AND l.ts + INTERVAL 20 SECONDS", columns=["l.k"]), APPEND),
    "join: key removed": (join(keys="l.k = r.k AND l.ts = r.ts", within="", columns=["l.k"]), join(columns=["l.k"]), APPEND),
    "join format 3 on HDFS provider": (join(columns=["l.k"]), join(columns=["l.k"]), {
        **APPEND, "new": True, "conf": {"spark.sql.streaming.join.stateFormatVersion": "3"}}),
    "shuffle.partitions 3 -> 7": (base, base, {"conf": {"spark.sql.shuffle.partitions": "7"}}),
    "session provider HDFS -> RocksDB": (base, base, {"conf": {
        "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"}}),
    "session codec lz4 -> zstd": (base, base, {"conf": {"spark.sql.streaming.stateStore.compression.codec": "zstd"}}),
    "session checkpointFormatVersion 1 -> 2 (HDFS provider)": (base, base, {"conf": {
        "spark.sql.streaming.stateStore.checkpointFormatVersion": "2"}}),
    "checkpointFormatVersion 2, stateless": (stateless, stateless, {"conf": {
        "spark.sql.streaming.stateStore.checkpointFormatVersion": "2"}}),
    "file source -> other directory": (stateless, lambda x: x.stream(2).select("k"), {"put": (0, 2)}),
    "file source -> rate source": (stateless, lambda x: x.rate().selectExpr("cast(value as string) k"), {}),
    "agg -> dropDuplicates": (base, lambda x: x.stream().dropDuplicates(["k"]), {}),
    "agg: second stateful operator added below": (base, lambda x: base_over(x.stream().dropDuplicates(["k"])), {}),
    "dedup: columns changed, same types": (dedup("k", "ts"), dedup("s", "ts"), APPEND),
    "dedup: column added": (dedup("k", "ts"), dedup("k", "ts", "s"), APPEND),
    "dedup -> dedupWithinWatermark": (dedup("k", "ts"), dedup("k", "ts", within=True), APPEND),
    "limit changed 3 -> 10": (lambda x: x.stream().limit(3), lambda x: x.stream().limit(10), APPEND),
    "sink noop -> parquet": (stateless, stateless, {"sink": "delta"}),  # a sink that is there: offsets do not depend on it
}

# Operators and sinks that are not in the engine: their queries are refused by name when they start.
REFUSED_BY_NAME = {case for case in RECORDED if case.startswith(("session gap", "session ->", "applyInPandas", "tws", "file sink"))}

# Where Spark's text is that of a bare Java exception, ours says what is wrong.
BETTER_SAID = {
    "file source -> rate source": "offset",  # Spark: For input string: ...
}


def test_every_recorded_case_is_here():
    assert set(RECORDED) == set(CASES) | REFUSED_BY_NAME
    assert not set(CASES) & REFUSED_BY_NAME


def said(recorded):
    condition = recorded.get("condition")
    if condition and condition.startswith("STREAMING_STATEFUL_OPERATOR"):
        return recorded["message"]  # its beginning was recorded: with the operators
    return f"[{condition}]" if condition else recorded["message"].split(" SQLSTATE:")[0].split("<base>")[0].strip()


@pytest.mark.parametrize("case", CASES)
def test_restart_with_a_change(spark, tmp_path, case):
    first, changed, options = CASES[case]
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    x = Inputs(spark, tmp_path)

    def run(make, mode, sink):
        writer = make(x).writeStream.format(sink).outputMode(mode).option("checkpointLocation", str(tmp_path / "ck")).trigger(availableNow=True)
        query = writer.queryName("changed").start() if sink == "memory" else writer.start(str(tmp_path / "table")) if sink == "delta" else writer.start()
        assert query.awaitTermination(60), "the run did not end"
        return query

    mode = options.get("mode", "append" if changed is stateless and first is not base else "update")
    x.put()
    if not options.get("new"):
        run(first, options.get("first_mode", "append" if first is stateless else "update"), options.get("first_sink", "noop"))
    x.put(options.get("put", (0, 1)))
    for key, value in options.get("conf", {}).items():
        spark.conf.set(key, value)

    recorded = RECORDED[case]
    if recorded["result"] == "accepted":
        query = run(changed, mode, options.get("sink", "noop"))
        assert [[p["batchId"], p["numInputRows"]] for p in progress_list(query)] == recorded["detail"]["batches"]
    else:
        with pytest.raises(PySparkException) as error:
            run(changed, mode, options.get("sink", "noop"))
        assert BETTER_SAID.get(case, said(recorded)) in str(error.value)
