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


def delta_append(lines, quick):
    """Rows of 7 columns from a Parquet file into a Delta table by the server; delta-rs in the same run."""
    import deltalake
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    rows = 1_000_000 if quick else 5_000_000
    seed = 1
    random = np.random.default_rng(seed)
    ids = np.arange(rows, dtype=np.int64)
    low = pa.array([f"category{n:02}" for n in range(100)])
    table = pa.table({
        "id": ids, "k": pa.array(random.integers(0, 1_000_000, rows), pa.int32()), "x": random.random(rows),
        "low": pa.DictionaryArray.from_arrays(pa.array(random.integers(0, 100, rows), pa.int32()), low).cast(pa.string()),
        "high": np.char.mod("%020d", random.integers(0, 2**63, rows)),
        "ts": pa.array(1_700_000_000_000_000 + ids * 1000 + random.integers(0, 1000, rows)).cast(pa.timestamp("us", "UTC")),
        "d": pa.array((19_675 + ids // 100_000).astype("int32"), pa.int32()).cast(pa.date32())})
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


ROWS = [kafka_cpu, delta_append]
