"""Streaming state: updates with a durable changelog, memory per entry, restore, files of a long-lived checkpoint."""
import os
import pathlib
import shutil
import sys
import time

from pyspark.sql import functions as F

from kit.engine import await_commits, fresh_server, running, scratch, steady_rows
from kit.outside import cpu_seconds, memory_mib
from harness.waiting import wait_until


def keyed_count(lines, quick):
    """Rows of one long column, counted by key: 100,000 keys a batch of a million, every batch's changes durable."""
    batches = 20 if quick else 60
    rows = 500_000
    with scratch() as folder, fresh_server(folder / "server") as server:
        spark = server.session()
        frame = steady_rows(spark, rows, 2).groupBy(F.expr("value * 7919 % 1000003 AS k")).count()
        with running(frame.writeStream.format("noop").outputMode("update"), folder / "cp") as (query, watch):
            await_commits(query, watch, 6)
            first, before, start = len(watch.times("commits")), cpu_seconds(server.process.pid), time.monotonic()
            await_commits(query, watch, first + batches)
            done = len(watch.times("commits")) - first
            used, seconds = cpu_seconds(server.process.pid) - before, time.monotonic() - start
        deltas = sum(file.stat().st_size for file in (folder / "cp" / "state").rglob("*.delta"))
    lines.add("keyed count with durable changelog, 1 M keys", done * rows / used / 1e6, "M rows/CPU s", better="higher", bar=2,
              rows_per_second=round(done * rows / seconds), delta_mib=deltas >> 20)


def deduplicate(lines, quick):
    """All rows are new, each key lives for twenty micro-batches: 10 M live keys, every batch writes and forgets 500,000."""
    rows, live_batches = (100_000, 20) if quick else (500_000, 20)
    batches = 20 if quick else 60
    with scratch() as folder, fresh_server(folder / "server") as server:
        spark = server.session()
        frame = (steady_rows(spark, rows, 2).withWatermark("timestamp", f"{live_batches} seconds")
                 .dropDuplicatesWithinWatermark(["value"]))
        with running(frame.writeStream.format("noop").outputMode("append"), folder / "cp") as (query, watch):
            await_commits(query, watch, live_batches + 6)
            first, before, start = len(watch.times("commits")), cpu_seconds(server.process.pid), time.monotonic()
            await_commits(query, watch, first + batches)
            done = len(watch.times("commits")) - first
            used, seconds = cpu_seconds(server.process.pid) - before, time.monotonic() - start
            live = query.lastProgress["stateOperators"][0]["numRowsTotal"]
    lines.add("deduplicate with durable changelog, 10 M live keys", done * rows / used / 1e6, "M rows/CPU s", better="higher",
              bar=None if quick else 1, rows_per_second=round(done * rows / seconds), live=live)


def settle(server, checkpoint):
    """Small micro-batches until every partition has a snapshot of one of them: what is restored is a snapshot and a few deltas."""
    spark = server.session(spark__sql__streaming__stateStore__maintenanceInterval=1000)
    frame = steady_rows(spark, 1000).groupBy("value").count()

    def newest(partition):
        return max((int(file.stem) for file in partition.glob("*.snapshot")), default=0)

    partitions = [folder for folder in (checkpoint / "state" / "0").iterdir() if folder.name.isdigit()]
    with running(frame.writeStream.format("noop").outputMode("update").trigger(processingTime="50 milliseconds"), checkpoint) as (query, watch):
        await_commits(query, watch, 20)
        wanted = min(watch.times("commits")) + 1
        wait_until(lambda: all(newest(partition) >= wanted for partition in partitions), "snapshots of all partitions", 300, poll_s=0.5)


def restore(lines, quick):
    """Entries of 8-byte key and value in 16 partitions: memory per entry, and a restart's way to its first batch."""
    entries = 2_500_000 if quick else 25_000_000
    a_batch = 500_000
    with scratch() as folder:
        with fresh_server(folder / "server") as server:
            empty, _ = memory_mib(server.process.pid)
            spark = server.session()
            frame = steady_rows(spark, a_batch).groupBy("value").count()
            with running(frame.writeStream.format("noop").outputMode("update"), folder / "cp") as (query, watch):
                await_commits(query, watch, entries // a_batch)
                held, _ = memory_mib(server.process.pid)
                counted = len(watch.times("commits")) * a_batch
            entries = (max(watch.times("commits")) + 1) * a_batch
            settle(server, folder / "cp")
        lines.add("memory per state entry", (held - empty) * (1 << 20) / counted, "bytes", better="lower", bar=64, entries=counted)
        times = []
        for run in range(3):
            copy = folder / f"cp{run}"
            shutil.copytree(folder / "cp", copy)
            os.sync()  # a checkpoint is on disk when its process ends; the copy must be, too
            with fresh_server(folder / "server") as server:
                spark = server.session()
                spark.range(1).collect()
                frame = steady_rows(spark, 1000).groupBy("value").count()
                start = time.monotonic()
                with running(frame.writeStream.format("noop").outputMode("update"), copy) as (query, watch):
                    await_commits(query, watch, 1)
                    times.append(min(watch.times("commits").values()) - start)
            shutil.rmtree(copy)
        lines.add("restore to the first committed batch", None, "s", better="lower", bar=2 if entries >= 25_000_000 else None, runs=times, entries=entries)


def long_lived_checkpoint(lines, quick):
    """As many micro-batches as ten minutes have at 5 ms each; files that are left, and a restart from them."""
    batches = 3000 if quick else 120_000
    partitions = 4
    with scratch() as folder:
        with fresh_server(folder / "server") as server:
            spark = server.session(spark__sql__shuffle__partitions=partitions)
            frame = steady_rows(spark, 100).groupBy(F.expr("value % 1000 AS k")).count()
            with running(frame.writeStream.format("noop").outputMode("update"), folder / "cp") as (query, watch):
                start = time.monotonic()
                await_commits(query, watch, batches, 3600)
                seconds = time.monotonic() - start
        files = sum(1 for file in (folder / "cp").rglob("*") if file.is_file())
        of_state = sum(1 for file in (folder / "cp" / "state").rglob("*") if file.is_file())
        done = len(watch.times("commits"))
        kept = 100
        lines.add("state files of a checkpoint after many batches", of_state, "files", better="lower", bar=partitions * (kept + 1000),
                  files_in_all=files, batches=done, partitions=partitions, seconds=round(seconds, 1))
        with fresh_server(folder / "server") as server:
            spark = server.session(spark__sql__shuffle__partitions=partitions)
            spark.range(1).collect()
            frame = steady_rows(spark, 100).groupBy(F.expr("value % 1000 AS k")).count()
            start = time.monotonic()
            with running(frame.writeStream.format("noop").outputMode("update"), folder / "cp") as (query, watch):
                await_commits(query, watch, 1)
                first = min(watch.times("commits").values()) - start
        lines.add("restart from that checkpoint to its first batch", first, "s", better="lower", bar=2)


def stream_join(lines, quick):
    """Inner join of two streams with a range of ten minutes either way, 5 M rows a side: every row meets one, is kept and given up."""
    held, a_batch = (500_000 if quick else 5_000_000), 100_000
    batches = 20 if quick else 40
    with scratch() as folder, fresh_server(folder / "server") as server:
        spark = server.session(spark__sql__shuffle__partitions=4)
        advance_ms = 600_000 * a_batch // held
        left, right = (steady_rows(spark, a_batch, 2, advance_ms).selectExpr("value * 7919 % 1000000007 AS id", "timestamp AS ts", "value AS v")
                       .withWatermark("ts", "0 seconds").alias(name) for name in ("l", "r"))
        frame = left.join(right, F.expr("l.id = r.id AND r.ts BETWEEN l.ts - INTERVAL 10 MINUTES AND l.ts + INTERVAL 10 MINUTES")).select("l.id", "l.v", "r.v")
        with running(frame.writeStream.format("noop"), folder / "cp") as (query, watch):
            await_commits(query, watch, held // a_batch + 5, 1200)
            first, before, start = len(watch.times("commits")), cpu_seconds(server.process.pid), time.monotonic()
            await_commits(query, watch, first + batches, 1200)
            done = len(watch.times("commits")) - first
            used, seconds = cpu_seconds(server.process.pid) - before, time.monotonic() - start
            memory, _ = memory_mib(server.process.pid)
            state = query.lastProgress["stateOperators"][0]
    lines.add(f"inner stream join, 10-minute range, {held / 1e6:g} M rows of state a side", done * 2 * a_batch / used / 1e6, "M rows/CPU s", better="higher",
              bar=None if quick else 0.3, rows_per_second=round(done * 2 * a_batch / seconds), state_rows=state["numRowsTotal"], memory_mib=memory)


ROWS = [keyed_count, deduplicate, restore, stream_join, long_lived_checkpoint]
