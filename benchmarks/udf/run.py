"""Python functions in projections: rows a second and rows a CPU second of one task, beside what conversion costs alone.

`python run.py sc://HOST:PORT` measures the same queries on another server (real Spark) and prints the figures.
"""
import sys
import time

from harness.python_functions import forked_by, launched_by
from pyspark.sql import functions as F
from pyspark.sql.functions import udf

from kit.engine import fresh_server, scratch
from kit.outside import cpu_seconds

RUNS = 5


def plus_one(x):
    return x + 1


def measure(spark, arrow, rows, processes):
    """One partition, one worker; the first run launches it. Rows a second, and rows a CPU second of the given processes."""
    f = udf(lambda x: x + 1, "bigint", useArrow=arrow)
    frame = spark.range(0, rows, 1, 1).select(f("id").alias("y")).agg(F.sum("y"))
    wall, cpu = [], []
    for _ in range(RUNS + 1):
        before, start = sum(map(cpu_seconds, processes())), time.monotonic()
        assert frame.collect()[0][0] == rows * (rows + 1) // 2
        wall.append(rows / (time.monotonic() - start))
        cpu.append(rows / max(sum(map(cpu_seconds, processes())) - before, 1e-9))
    return wall[1:], cpu[1:]


def worker_alone(arrow, rows):
    """What a worker does with its rows, without the worker: from bytes to bytes."""
    import io
    import pickle

    import pyarrow
    table = pyarrow.table({"_0": pyarrow.array(range(rows), pyarrow.int64())})
    stream = io.BytesIO()
    with pyarrow.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table, max_chunksize=10000)
    pickles = [pickle.dumps([(x,) for x in range(at, min(at + 100, rows))], 3) for at in range(0, rows, 100)]
    runs = []
    for _ in range(RUNS):
        start = time.process_time()
        if arrow:
            out, writer = io.BytesIO(), None
            for batch in pyarrow.ipc.open_stream(stream.getvalue()):
                results = pyarrow.array([plus_one(x) for x in batch.column(0).to_pylist()], pyarrow.int64())
                answer = pyarrow.record_batch([results], names=["_0"])
                writer = writer or pyarrow.ipc.new_stream(out, answer.schema)
                writer.write_batch(answer)
        else:
            for frame in pickles:
                pickle.dumps([plus_one(*row) for row in pickle.loads(frame)], 5)
        runs.append(rows / (time.process_time() - start))
    return runs


def median(runs):
    return sorted(runs)[len(runs) // 2]


def python_functions(lines, quick):
    rows = 300_000 if quick else 2_000_000
    for arrow, name in ((False, "pickled"), (True, "Arrow")):
        with scratch() as folder, fresh_server(folder / "server") as server:
            def processes(server=server):
                return [server.process.pid, *forked_by(launched_by(server))]

            wall, cpu = measure(server.session(), arrow, rows, processes)
        alone = median(worker_alone(arrow, rows))
        lines.add(f"{name} function x + 1", None, "rows/s", better="higher", runs=wall)
        lines.add(f"{name} function x + 1, server and worker", None, "rows/CPU s", better="higher", runs=cpu)
        lines.add(f"{name} function x + 1, of conversion alone", 100 * median(cpu) / alone, "%", better="higher", bar=80 if arrow else None,
                  alone_rows_per_cpu_s=round(alone))


ROWS = [python_functions]


def main(url):
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.remote(url).getOrCreate()
    for arrow in (False, True):
        print("Arrow" if arrow else "pickled", [round(run) for run in measure(spark, arrow, 2_000_000, list)[0]])


if __name__ == "__main__":
    main(sys.argv[1])
