"""A fresh server, a session of it, and queries that run until they have been measured."""
import contextlib
import pathlib
import shutil
import tempfile

from harness.thalweg_server import ThalwegServer
from harness.waiting import wait_until
from kit.outside import FolderWatch


@contextlib.contextmanager
def scratch():
    """A folder on a disk, gone afterwards."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="thalweg-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def fresh_server(folder, **conf):
    one = ThalwegServer(folder, arguments=["--log-level", "warn"], conf={key.replace("__", "."): value for key, value in conf.items()}).start()
    try:
        yield one
    finally:
        one.stop()


def steady_rows(spark, rows_per_batch=10, partitions=1, advance_ms=1000):
    """A stream that always has more: micro-batches follow each other without a pause."""
    return (spark.readStream.format("rate-micro-batch").option("rowsPerBatch", rows_per_batch)
            .option("numPartitions", partitions).option("advanceMillisPerBatch", advance_ms).load())


@contextlib.contextmanager
def running(writer, checkpoint):
    """The query and a watch of its offsets and commits."""
    watch = FolderWatch(checkpoint / "offsets", checkpoint / "commits")
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    try:
        yield query, watch
    finally:
        query.stop()
        watch.stop()
    if query.exception():
        raise RuntimeError(str(query.exception()))


def await_commits(query, watch, count, timeout_s=600):
    def there():
        if not query.isActive:
            raise RuntimeError(f"the query ended: {query.exception()}")
        return len(watch.times("commits")) >= count
    wait_until(there, f"{count} micro-batches", timeout_s, poll_s=0.1)
