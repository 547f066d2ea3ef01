"""The rooms' own benchmark programs: rows per second of one core, by CPU time, median of repetitions."""
import importlib.util
import json
import os
import subprocess
import sys
import time

from harness.thalweg_server import build_dir

from kit.engine import fresh_server, scratch
from kit.outside import cpu_seconds

# program, benchmark, figure, bar in M rows/s
FIGURES = (
    ("engine_exec_benchmark", "GroupBy/keys:100/sum:0", "group by 100 keys, count", 150),
    ("engine_exec_benchmark", "GroupBy/keys:100/sum:1", "group by 100 keys, sum and count", 150),
    ("engine_exec_benchmark", "GroupBy/keys:1000000/sum:0", "group by 1 M keys, count", 20),
    ("engine_exec_benchmark", "GroupBy/keys:1000000/sum:1", "group by 1 M keys, sum and count", 20),
    ("engine_exec_benchmark", "JoinProbe/keys:1000000", "hash join probe, 10 M rows x 1 M keys", 20),
    ("data_formats_benchmark", "Decode/five_of_five", "JSON lines into 5 columns", 2.5),
    ("data_formats_benchmark", "Decode/five_of_nine", "JSON lines of 9 members into 5 columns", None),
    ("data_formats_benchmark", "BM_WriteSevenColumns", "Parquet write, 7 columns, snappy", 1.2),
    ("engine_state_benchmark", "UpdatesWithChangelog/1000000", "state updates with changelog, 1 M keys", 2),
    ("engine_stateful_benchmark", "DropDuplicates/10000000/iterations:38", "dropDuplicates with changelog, 10 M keys", 1.5),
    ("engine_stateful_benchmark", "WithinWatermark/10000000/iterations:38", "dropDuplicatesWithinWatermark with changelog, 10 M live keys", 1.5),
)


def run_program(program, names, repetitions):
    pattern = "^(" + "|".join(names) + ")$"
    out = subprocess.run([build_dir() / "bin" / program, f"--benchmark_filter={pattern}", "--benchmark_format=json",
                          f"--benchmark_repetitions={repetitions}", "--benchmark_min_time=0.5"], capture_output=True, text=True, check=True)
    runs = {}
    for one in json.loads(out.stdout)["benchmarks"]:
        if one["run_type"] == "iteration":
            runs.setdefault(one["run_name"], []).append(one["items_per_second"] / 1e6)  # by CPU time
    return runs


def kernels(lines, quick):
    for program in dict.fromkeys(figure[0] for figure in FIGURES):
        figures = [figure for figure in FIGURES if figure[0] == program]
        runs = run_program(program, [figure[1] for figure in figures], 1 if quick else 5)
        for _, benchmark, name, bar in figures:
            lines.add(name, None, "M rows/CPU s", better="higher", bar=bar, runs=runs[benchmark])


def duckdb_group_by(lines, quick):
    """The same grouping by DuckDB on one thread, where it is installed (TW_BENCH_PEERS: a folder of `pip install --target`)."""
    if os.environ.get("TW_BENCH_PEERS"):
        sys.path.append(os.environ["TW_BENCH_PEERS"])
    if importlib.util.find_spec("duckdb") is None:
        return
    import duckdb
    connection = duckdb.connect()
    connection.execute("SET threads TO 1")
    rows = 4_000_000
    for keys in (100, 1_000_000):
        connection.execute(f"CREATE OR REPLACE TABLE t AS SELECT (random() * {keys - 1})::BIGINT AS k, i % 1000 AS v FROM range({rows}) r(i)")
        for what in ("count(*)", "sum(v), count(*)"):
            runs = []
            for _ in range(1 if quick else 5):
                before = time.process_time()
                connection.execute(f"SELECT count(*) FROM (SELECT k, {what} FROM t GROUP BY k)").fetchall()
                runs.append(rows / (time.process_time() - before) / 1e6)
            lines.add(f"group by {'1 M' if keys > 100 else keys} keys, {what}", None, "M rows/CPU s", better="higher", engine=f"duckdb {duckdb.__version__}",
                      runs=runs)


def sliding_window(lines, quick):
    """Rows of a batch query, counted by windows that overlap: 10 M rows become 60 M."""
    from pyspark.sql import functions as F
    rows = 1_000_000 if quick else 10_000_000
    for name, length, copies in (("tumbling", "10 seconds", 1), ("sliding, 6 a row", "60 seconds", 6)):
        with scratch() as folder, fresh_server(folder / "server") as server:
            frame = (server.session().range(0, rows, 1, 2).select(F.timestamp_micros(F.col("id") * 100).alias("at"), (F.col("id") % 10).alias("k"))
                     .groupBy(F.window("at", length, "10 seconds"), "k").count().agg(F.sum("count")))
            runs = []
            for _ in range(1 if quick else 5):
                before = cpu_seconds(server.process.pid)
                assert frame.collect()[0][0] == rows * copies
                runs.append(rows * copies / (cpu_seconds(server.process.pid) - before) / 1e6)
        lines.add(f"count by window and key, {name}", None, "M rows/CPU s", better="higher", runs=runs)


ROWS = [kernels, duckdb_group_by, sliding_window]
