"""Python functions in projections: rows a second and a CPU second of one task, and the share of the CPU time that the worker's own part has:
unpickling or Arrow's conversion, the function, and back. What is left is ours. And what foreachBatch costs beyond a micro-batch.

`python run.py sc://HOST:PORT` measures the same queries on another server (real Spark) and prints rows a second.
"""
import sys
import time

from harness.python_functions import forked_by, launched_by
from pyspark.sql import functions as F
from pyspark.sql.functions import udf

from kit.engine import await_commits, fresh_server, running, scratch, steady_rows
from kit.lines import percentile
from kit.outside import cpu_seconds, micro_batches_ms

RUNS = 5


def arrays():
    """The same over whole arrays: next to no work in Python."""
    import pyarrow
    from pyspark.sql.functions import arrow_udf

    def plus_one(x: pyarrow.Array) -> pyarrow.Array:
        import pyarrow.compute
        return pyarrow.compute.add(x, 1)

    return arrow_udf(plus_one, "bigint")


FUNCTIONS = {
    "pickled function": lambda: udf(lambda x: x + 1, "bigint", useArrow=False),
    "Arrow function": lambda: udf(lambda x: x + 1, "bigint", useArrow=True),
    "function of arrays": arrays,
}


def timed(spark, function, rows, cpu=lambda: (0, 0)):
    """One partition, one worker; the first run launches it. Per run: seconds, CPU seconds of the server and of the worker."""
    frame = spark.range(0, rows, 1, 1).select(function("id").alias("y")).agg(F.sum("y"))
    runs = []
    for _ in range(RUNS + 1):
        before, start = cpu(), time.monotonic()
        assert frame.collect()[0][0] == rows * (rows + 1) // 2
        seconds, after = time.monotonic() - start, cpu()
        runs.append((seconds, after[0] - before[0], after[1] - before[1]))
    return runs[1:]


def python_functions(lines, quick):
    rows = 500_000 if quick else 3_000_000
    for name, make in FUNCTIONS.items():
        with scratch() as folder, fresh_server(folder / "server") as server:
            def cpu(server=server):
                return cpu_seconds(server.process.pid), sum(map(cpu_seconds, forked_by(launched_by(server))))

            runs = timed(server.session(), make(), rows, cpu)
        ours, workers = sum(run[1] for run in runs), sum(run[2] for run in runs)
        lines.add(f"{name} x + 1", None, "rows/s", better="higher", runs=[rows / run[0] for run in runs])
        lines.add(f"{name} x + 1, CPU time that is the worker's", 100 * workers / (ours + workers), "%", better="higher",
                  bar=80 if name == "Arrow function" else None, rows_per_cpu_s=round(rows * RUNS / (ours + workers)))


def foreach_batch(lines, quick):
    """Commit to commit, one row a micro-batch: with a Python function against the discarding sink of the same server."""
    batches = 300 if quick else 2000
    with scratch() as folder, fresh_server(folder / "server") as server:
        def times(name, write):
            with running(write(steady_rows(server.session(), 1).writeStream), folder / name) as (query, watch):
                await_commits(query, watch, batches)
            return micro_batches_ms(watch, 50)

        alone = times("noop", lambda writer: writer.format("noop"))
        functions = {"does nothing": lambda frame, number: None, "collects it": lambda frame, number: frame.collect()}
        for what, function in functions.items():
            called = times(what.replace(" ", "-"), lambda writer, function=function: writer.foreachBatch(function))
            lines.add(f"foreachBatch that {what}, p50 beyond the micro-batch", percentile(called, .5) - percentile(alone, .5), "ms",
                      better="lower", bar=8, p99_ms=round(percentile(called, .99), 2), alone_ms=round(percentile(alone, .5), 2))


ROWS = [python_functions, foreach_batch]


def main(url):
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.remote(url).getOrCreate()
    for name, make in FUNCTIONS.items():
        print(name, [round(1_000_000 / run[0]) for run in timed(spark, make(), 1_000_000)])


if __name__ == "__main__":
    main(sys.argv[1])
