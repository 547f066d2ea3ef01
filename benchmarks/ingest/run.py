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


ROWS = [kafka_cpu, delta_append, delta_merge]
