"""Start, idle cost and micro-batch times of a server, all seen from outside."""
import json
import pathlib
import sys
import threading
import time

from pyspark.sql import functions as F

from kit.engine import await_commits, fresh_server, running, scratch, steady_rows
from kit.lines import percentile
from kit.outside import cpu_seconds, memory_mib, micro_batches_ms, system_calls, wait


def fresh_start(lines, quick):
    """From the start of the server's process to the answer of a count over 1,000 streamed JSON rows. The client is warm."""
    with scratch() as folder:
        source = folder / "in"
        source.mkdir()
        (source / "rows.json").write_text("".join(json.dumps({"id": i, "name": f"n{i % 7}"}) + "\n" for i in range(1000)))

        def once(number):
            start = time.monotonic()
            with fresh_server(folder / f"server{number}") as server:
                ready = time.monotonic()
                spark = server.session()
                query = (spark.readStream.schema("id BIGINT, name STRING").json(str(source)).writeStream.format("memory").queryName("t")
                         .option("checkpointLocation", str(folder / f"cp{number}")).trigger(availableNow=True).start())
                query.awaitTermination()
                count = spark.sql("SELECT count(*) FROM t").collect()[0][0]
                end = time.monotonic()
                assert count == 1000, count
                return (end - start) * 1e3, (ready - start) * 1e3

        once(0)  # warms the client and the file cache
        runs = [once(n) for n in range(1, 4 if quick else 8)]
    lines.add("fresh server to first streamed count", None, "ms", better="lower", bar=150, runs=[run[0] for run in runs])
    lines.add("fresh server to its address line", None, "ms", better="lower", runs=[run[1] for run in runs])


def idle_memory(lines, quick):
    with scratch() as folder, fresh_server(folder / "server") as server:
        wait(1 if quick else 3)
        private, resident = memory_mib(server.process.pid)
    lines.add("idle server, private memory", private, "MiB", better="lower", bar=40)
    lines.add("idle server, resident memory", resident, "MiB", better="lower", bar=96)


def trivial_micro_batch(lines, quick):
    batches = 500 if quick else 3000
    with scratch() as folder, fresh_server(folder / "server") as server:
        spark = server.session()
        frame = steady_rows(spark).selectExpr("value + 1 AS v")
        with running(frame.writeStream.format("memory").queryName("t"), folder / "cp") as (query, watch):
            await_commits(query, watch, batches)
        times = micro_batches_ms(watch, 50)
        with running(frame.writeStream.format("noop"), folder / "cp2") as (query, watch):
            await_commits(query, watch, 50)
            before = len(watch.times("commits"))
            calls = system_calls(server.process.pid, ("fsync", "fdatasync", "syncfs"), 3)
            traced = max(1, len(watch.times("commits")) - before)
        syncs = sum(calls.values()) / traced
    details = {"batches": len(times), "syncs_per_batch": round(syncs, 2)}
    lines.add("trivial micro-batch p50", percentile(times, .5), "ms", better="lower", bar=5, **details)
    lines.add("trivial micro-batch p99", percentile(times, .99), "ms", better="lower", bar=12, **details)


def windowed_count(lines, quick):
    for partitions, bar in ((2, 6), (16, 8), (200, 30)):
        with scratch() as folder, fresh_server(folder / "server") as server:
            spark = server.session(spark__sql__shuffle__partitions=partitions)
            frame = (steady_rows(spark, 100).withWatermark("timestamp", "10 seconds")
                     .groupBy(F.window("timestamp", "10 seconds"), F.expr("value % 10 AS k")).count())
            with running(frame.writeStream.format("noop").outputMode("update"), folder / "cp") as (query, watch):
                await_commits(query, watch, 150 if quick else 600)
            times = micro_batches_ms(watch, 30)
        lines.add(f"windowed count p50, {partitions} state partitions", percentile(times, .5), "ms", better="lower", bar=bar,
                  p99_ms=round(percentile(times, .99), 2), batches=len(times))


def interference(lines, quick):
    """Batch aggregations and joins beside a paced stream, and `select 1` beside a saturated one."""
    seconds = 6 if quick else 20
    with scratch() as folder, fresh_server(folder / "server") as server:
        spark, other = server.session(), server.session()
        other.sql("CREATE TABLE big USING delta AS SELECT id, id % 1000 AS k, id % 7 AS q, cast(id AS STRING) AS s FROM range(2000000)").collect()
        stop = threading.Event()
        rounds = []

        def batch_load():
            while not stop.is_set():
                other.sql("SELECT k, sum(id), count(*), max(s) FROM big GROUP BY k").collect()
                other.sql("SELECT a.q, count(*) FROM big a JOIN big b ON a.id = b.id WHERE b.k < 500 GROUP BY a.q").collect()
                rounds.append(1)

        load = threading.Thread(target=batch_load)
        writer = steady_rows(spark).selectExpr("value + 1 AS v").writeStream.format("noop").trigger(processingTime="20 milliseconds")
        load.start()
        with running(writer, folder / "cp") as (query, watch):
            await_commits(query, watch, 20)
            wait(seconds)
        stop.set()
        load.join()
        times = micro_batches_ms(watch, 20)
        lines.add("micro-batch p99 beside batch queries", percentile(times, .99), "ms", better="lower", bar=30,
                  p50_ms=round(percentile(times, .5), 2), batches=len(times), batch_rounds=len(rounds))

        def ask():
            start = time.monotonic()
            spark.sql("SELECT 1").collect()
            return (time.monotonic() - start) * 1e3

        alone = [ask() for _ in range(50)]
        saturated = steady_rows(spark, 400000, 2).groupBy(F.expr("value % 1000 AS k")).count()
        with running(saturated.writeStream.format("noop").outputMode("update"), folder / "cp2") as (query, watch):
            await_commits(query, watch, 5)
            asked = [ask() for _ in range(100 if quick else 300)]
    lines.add("select 1 beside a saturated stream p99", percentile(asked, .99), "ms", better="lower", bar=30,
              p50_ms=round(percentile(asked, .5), 2), alone_p50_ms=round(percentile(alone, .5), 2))


def idle_queries(lines, quick):
    """100 file streams over folders without new files."""
    seconds = 5 if quick else 20
    with scratch() as folder, fresh_server(folder / "server") as server:
        spark = server.session()
        queries = []
        for n in range(100):
            source = folder / f"in{n}"
            source.mkdir()
            (source / "one.json").write_text('{"a": 1}\n')
            queries.append(spark.readStream.schema("a INT").json(str(source)).writeStream.format("noop")
                           .option("checkpointLocation", str(folder / f"cp{n}")).start())
        for query in queries:
            query.processAllAvailable()
        wait(2)
        before = cpu_seconds(server.process.pid)
        wait(seconds)
        used = cpu_seconds(server.process.pid) - before
        private, _ = memory_mib(server.process.pid)
        for query in queries:
            query.stop()
    lines.add("100 idle queries, CPU", used / seconds * 100, "% of a core", better="lower", bar=2, private_mib=round(private, 1))


ROWS = [fresh_start, idle_memory, trivial_micro_batch, windowed_count, interference, idle_queries]
