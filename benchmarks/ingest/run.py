"""Rows coming in: from Kafka beside a bare consumer, and into a Delta table from Parquet."""
import json
import os
import pathlib
import subprocess
import sys
import time

from kit.engine import fresh_server, scratch
from kit.outside import cpu_seconds
from harness.kafka_broker import KafkaBroker
from harness.thalweg_server import build_dir


def kafka_cpu(lines, quick):
    """CPU per JSON message of an availableNow query (5 columns by from_json), less what a bare consumer in C takes for the same topic."""
    with scratch() as folder:
        broker = KafkaBroker(folder / "broker").start()
        try:
            program = build_dir() / "bin" / "connectors_kafka_benchmark"
            bare = subprocess.run([program, "--benchmark_filter=BareConsumer", "--benchmark_format=json"], capture_output=True, text=True, check=True,
                                  env={**os.environ, "TW_BENCHMARK_BOOTSTRAP": broker.bootstrap})
            bare_us = json.loads(bare.stdout)["benchmarks"][0]["cpu_us_per_record"]
            topic = next(name for name in broker.admin().list_topics(timeout=10).topics if name.startswith("benchmark-"))
            records = 1_000_000
            with fresh_server(folder / "server") as server:
                spark = server.session()

                def once(number):
                    frame = (spark.readStream.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap).option("subscribe", topic)
                             .option("startingOffsets", "earliest").load()
                             .selectExpr("from_json(CAST(value AS STRING), 'user STRING, page STRING, ts STRING, number BIGINT') AS j", "offset")
                             .selectExpr("j.user", "j.page", "j.ts", "j.number", "offset").filter("number >= 0"))
                    before = cpu_seconds(server.process.pid)
                    query = (frame.writeStream.format("noop").option("checkpointLocation", str(folder / f"cp{number}"))
                             .trigger(availableNow=True).start())
                    query.awaitTermination()
                    used = cpu_seconds(server.process.pid) - before
                    seen = sum(source["numInputRows"] for progress in query.recentProgress for source in progress["sources"])
                    assert seen == records, seen
                    return used / records * 1e6

                once(0)
                runs = [once(n) for n in range(1, 4 if quick else 6)]
        finally:
            broker.stop()
    lines.add("Kafka micro-batch: CPU per JSON message beyond a bare consumer", None, "us", better="lower", bar=0.45, runs=[run - bare_us for run in runs],
              bare_consumer_us=round(bare_us, 3))


def seven_columns(ids, seed):
    """Numbers, texts of few and of many values, times, dates."""
    import numpy as np
    import pyarrow as pa
    random = np.random.default_rng(seed)
    rows = len(ids)
    low = pa.array([f"category{n:02}" for n in range(100)])
    return pa.table({
        "id": ids, "k": pa.array(random.integers(0, 1_000_000, rows), pa.int32()), "x": random.random(rows),
        "low": pa.DictionaryArray.from_arrays(pa.array(random.integers(0, 100, rows), pa.int32()), low).cast(pa.string()),
        "high": np.char.mod("%020d", random.integers(0, 2**63, rows)),
        "ts": pa.array(1_700_000_000_000_000 + ids * 1000 + random.integers(0, 1000, rows)).cast(pa.timestamp("us", "UTC")),
        "d": pa.array((19_675 + ids // 100_000).astype("int32"), pa.int32()).cast(pa.date32())})


def delta_append(lines, quick):
    """Rows of 7 columns from a Parquet file into a Delta table by the server; delta-rs in the same run."""
    import deltalake
    import numpy as np
    import pyarrow.parquet as pq
    rows = 1_000_000 if quick else 5_000_000
    seed = 1
    table = seven_columns(np.arange(rows, dtype=np.int64), seed)
    with scratch() as folder:
        pq.write_table(table, folder / "in.parquet", row_group_size=250_000)
        with fresh_server(folder / "server") as server:
            spark = server.session()
            frame = spark.read.parquet(str(folder / "in.parquet"))

            def once(number):
                before, start = cpu_seconds(server.process.pid), time.monotonic()
                frame.write.format("delta").mode("append").save(str(folder / f"t{number}"))
                return cpu_seconds(server.process.pid) - before, time.monotonic() - start

            once(0)
            runs = [once(n) for n in range(1, 4)]
            found = deltalake.DeltaTable(str(folder / "t1")).to_pyarrow_table(columns=["id"]).num_rows
            assert found == rows, found
        lines.add(f"Delta append {rows // 1_000_000} M x 7 from Parquet, reading included", None, "CPU s", better="lower",
                  bar=2.5 * rows / 5_000_000, runs=[run[0] for run in runs], wall_s=round(min(run[1] for run in runs), 2), seed=seed)
        deltalake.write_deltalake(str(folder / "rs"), table.slice(0, 0))
        before = time.process_time()
        deltalake.write_deltalake(str(folder / "rs"), table, mode="append")
        appended = time.process_time() - before
        before = time.process_time()
        pq.read_table(folder / "in.parquet")
        lines.add(f"Delta append {rows // 1_000_000} M x 7 from memory", appended, "CPU s", better="lower", engine=f"delta-rs {deltalake.__version__}",
                  reading_the_parquet_cpu_s=round(time.process_time() - before, 2))


def delta_merge(lines, quick):
    """MERGE of 1 % of the rows, half of them new, into a Delta table of 7 columns, copy on write; delta-rs in the same run."""
    import deltalake
    import numpy as np
    import pyarrow.parquet as pq
    rows = 1_000_000 if quick else 5_000_000
    half = rows // 200
    ids = np.concatenate([np.random.default_rng(2).choice(rows, half, replace=False), rows + np.arange(half)])
    with scratch() as folder:
        pq.write_table(seven_columns(ids, 3), folder / "up.parquet")
        deltalake.write_deltalake(str(folder / "in"), seven_columns(np.arange(rows, dtype=np.int64), 1))
        runs = []
        with fresh_server(folder / "server") as server:
            spark = server.session()
            spark.read.parquet(str(folder / "up.parquet")).createOrReplaceTempView("s")
            for number in range(3 if quick else 5):
                path = folder / f"t{number}"
                subprocess.run(["cp", "-rl", folder / "in", path], check=True)
                before, start = cpu_seconds(server.process.pid), time.monotonic()
                answer = spark.sql(f"MERGE INTO delta.`{path}` t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *").collect()
                runs.append((cpu_seconds(server.process.pid) - before, time.monotonic() - start))
                assert answer[0]["num_updated_rows"] == answer[0]["num_inserted_rows"] == half, answer
                assert deltalake.DeltaTable(str(path)).to_pyarrow_table(columns=["id"]).num_rows == rows + half
        lines.add(f"Delta MERGE of 1 % into {rows // 1_000_000} M x 7, copy on write", None, "CPU s", better="lower", bar=3.0 * rows / 5_000_000,
                  runs=[run[0] for run in runs], wall_s=round(min(run[1] for run in runs), 2))
        before = time.process_time()
        (deltalake.DeltaTable(str(folder / "in")).merge(pq.read_table(folder / "up.parquet"), "t.id = s.id", source_alias="s", target_alias="t")
         .when_matched_update_all().when_not_matched_insert_all().execute())
        lines.add(f"Delta MERGE of 1 % into {rows // 1_000_000} M x 7", time.process_time() - before, "CPU s", better="lower", engine=f"delta-rs {deltalake.__version__}")


def log_of_adds(root, commits, adds_per_commit):
    """A Delta log of many adds with statistics of seven columns; the data files do not exist."""
    names = ("id", "k", "x", "low", "high", "ts", "d")
    types = ("long", "integer", "double", "string", "string", "timestamp", "date")
    schema = {"type": "struct", "fields": [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in zip(names, types)]}
    (root / "_delta_log").mkdir(parents=True)
    for version in range(commits):
        actions = [{"commitInfo": {"timestamp": 1_700_000_000_000 + version, "operation": "WRITE", "operationParameters": {"mode": "Append", "partitionBy": "[]"}}}]
        if version == 0:
            actions += [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
                        {"metaData": {"id": "5a3c1e1c-0000-4000-8000-000000000000", "format": {"provider": "parquet", "options": {}},
                                      "schemaString": json.dumps(schema), "partitionColumns": [], "configuration": {}, "createdTime": 1_700_000_000_000}}]
        for i in range(version * adds_per_commit, (version + 1) * adds_per_commit):
            low = {"id": i * 1000, "k": 0, "x": 0.001, "low": "category00", "high": "0" * 20, "ts": "2024-01-01T00:00:00.000Z", "d": "2024-01-01"}
            high = {"id": i * 1000 + 999, "k": 999999, "x": 0.999, "low": "category99", "high": "9" * 20, "ts": "2024-01-02T00:00:00.000Z", "d": "2024-01-02"}
            stats = {"numRecords": 1000, "minValues": low, "maxValues": high, "nullCount": dict.fromkeys(names, 0)}
            actions.append({"add": {"path": f"part-{i:05d}-{i:032x}-c000.snappy.parquet", "partitionValues": {}, "size": 1_000_000 + i,
                                    "modificationTime": 1_700_000_000_000, "dataChange": True, "stats": json.dumps(stats, separators=(",", ":"))}})
        with open(root / "_delta_log" / f"{version:020d}.json", "w") as file:
            file.writelines(json.dumps(action, separators=(",", ":")) + "\n" for action in actions)


def delta_snapshot(lines, quick):
    """A Delta table of 20,000 files, opened from 20 JSON commits and from a checkpoint: DESCRIBE DETAIL of a table that the server has not seen,
    less the same for a table of one file; delta-rs in the same run."""
    import deltalake
    commits, per_commit = 20, 1000
    turns = 3 if quick else 9
    with scratch() as folder:
        log_of_adds(folder / "json", commits, per_commit)
        log_of_adds(folder / "small", 1, 1)
        subprocess.run(["cp", "-r", folder / "json", folder / "checkpoint"], check=True)
        deltalake.DeltaTable(str(folder / "checkpoint")).create_checkpoint()
        with fresh_server(folder / "server") as server:
            spark = server.session()

            def opened(kind, number, files):
                path = folder / f"{kind}{number}"
                subprocess.run(["cp", "-rl", folder / kind, path], check=True)
                before = cpu_seconds(server.process.pid)
                answer = spark.sql(f"DESCRIBE DETAIL delta.`{path}`").collect()
                used = cpu_seconds(server.process.pid) - before
                assert answer[0]["numFiles"] == files, answer
                return used

            for number in range(3):
                opened("small", number, 1)
                opened("json", number, commits * per_commit)
                opened("checkpoint", number, commits * per_commit)
            statement = min(opened("small", 3 + number, 1) for number in range(turns))
            for kind, bar in (("json", 0.15), ("checkpoint", 0.08)):
                runs = [opened(kind, 3 + number, commits * per_commit) - statement for number in range(turns)]
                lines.add(f"Delta snapshot of 20,000 files from {kind}", None, "CPU s", better="lower", bar=bar, runs=runs,
                          statement_s=round(statement, 4))
        for kind in ("json", "checkpoint"):
            runs = []
            for _ in range(turns):
                before = time.process_time()
                assert len(deltalake.DeltaTable(str(folder / kind)).file_uris()) == commits * per_commit
                runs.append(time.process_time() - before)
            lines.add(f"Delta snapshot of 20,000 files from {kind}", None, "CPU s", better="lower", runs=runs, engine=f"delta-rs {deltalake.__version__}")


ROWS = [kafka_cpu, delta_append, delta_merge, delta_snapshot]
