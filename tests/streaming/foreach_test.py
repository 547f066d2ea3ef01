# ctest: TIMEOUT 600
"""foreach from unmodified PySpark: functions per row, objects with open, process and close."""
import datetime
import decimal
import json
import os
import pathlib
import signal

import pytest
from harness.python_functions import Log, alive, by_value, forked_by, hang, launched_by
from harness.stream_cases import InputFolder, read_files
from harness.waiting import wait_until
from pyspark.errors import StreamingQueryException

END_TIMEOUT_S = 120


@pytest.fixture
def folder(tmp_path):
    return InputFolder(tmp_path / "in")


class Writer:
    """Writes its calls down."""

    def __init__(self, log, opens=True, fails_at=None):
        self.log, self.opens, self.fails_at = log, opens, fails_at

    def open(self, partition_id, epoch_id):
        assert partition_id >= 0
        self.log.add(f"open {epoch_id}")
        return self.opens

    def process(self, row):
        if row.v == self.fails_at:
            raise ValueError(f"boom at {row.v}")
        self.log.add(f"process {row.v}")

    def close(self, error):
        self.log.add(f"close {error}")


def run(frame, writer, checkpoint=None, **triggers):
    by_value(__name__)
    stream = frame.writeStream.foreach(writer).trigger(**(triggers or {"availableNow": True}))
    if checkpoint is not None:
        stream = stream.option("checkpointLocation", str(checkpoint))
    query = stream.start()
    if not triggers:
        assert query.awaitTermination(END_TIMEOUT_S)
    return query


def test_rows_as_python_sees_them(spark, folder, tmp_path):
    folder.put("1.json", '{"v":1}')
    frame = read_files(spark, folder, "v INT").selectExpr(
        "v", "'\u00e4x' AS s", "CAST(1.5 AS DECIMAL(5,2)) AS d", "DATE'2024-02-29' AS day", "TIMESTAMP'2024-02-29 12:30:00.5' AS ts",
        "array(1, null) AS a", "map('k', 2.5D) AS m", "named_struct('x', 1L, 'day', DATE'1969-12-31') AS n", "true AS b",
        "CAST('ab' AS BINARY) AS bin", "CAST(null AS STRING) AS nothing", "5000000000L AS big", "CAST(-7 AS TINYINT) AS tiny")
    log = Log(tmp_path / "log")

    def write(row):
        log.add(repr((row.v, row.s, row.d, row.day, row.ts, row.a, row.m, row.n.x, row.n.day, row.b, bytes(row.bin), row.nothing,
                      row.big, row.tiny, sorted(row.asDict())[:2], type(row).__name__)))

    query = run(frame, write)
    assert [eval(line, {"Decimal": decimal.Decimal, "datetime": datetime}) for line in log.lines()] == [(
        1, "\u00e4x", decimal.Decimal("1.50"), datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 30, 0, 500000), [1, None],
        {"k": 2.5}, 1, datetime.date(1969, 12, 31), True, b"ab", None, 5000000000, -7, ["a", "b"], "Row")]
    assert query.lastProgress["sink"]["description"] == "ForeachSink"


def test_an_object_is_opened_and_closed_per_partition_and_epoch(spark, folder, tmp_path):
    folder.put("1.json", '{"v":1}', '{"v":2}').put("2.json", '{"v":3}')
    log = Log(tmp_path / "log")
    run(read_files(spark, folder, "v INT"), Writer(log))
    assert log.lines() == ["open 0", "process 1", "process 2", "close None", "open 1", "process 3", "close None"]


def test_an_object_that_does_not_open_gets_no_rows(spark, folder, tmp_path):
    folder.put("1.json", '{"v":1}')
    log = Log(tmp_path / "log")
    run(read_files(spark, folder, "v INT"), Writer(log, opens=False))
    assert log.lines() == ["open 0", "close None"]


def test_an_error_ends_the_query_and_closes_with_it(spark, folder, tmp_path):
    folder.put("1.json", '{"v":1}', '{"v":2}', '{"v":3}')
    log = Log(tmp_path / "log")
    with pytest.raises(StreamingQueryException) as error:
        run(read_files(spark, folder, "v INT"), Writer(log, fails_at=2), tmp_path / "ck")
    text = str(error.value)
    assert "[PYTHON_EXCEPTION] An exception was thrown from the Python worker: Traceback (most recent call last)" in text
    assert "boom at 2" in text and ", in process" in text
    assert log.lines() == ["open 0", "process 1", "close boom at 2"]
    run(read_files(spark, folder, "v INT"), Writer(log), tmp_path / "ck")
    assert log.lines()[3:] == ["open 0", "process 1", "process 2", "process 3", "close None"]


def test_many_rows_of_many_partitions(spark, tmp_path):
    for n in range(6):
        pathlib.Path(tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / f"{n}.json").write_text("".join(json.dumps({"v": 10000 * n + i}) + "\n" for i in range(10000)))
    spark.conf.set("spark.sql.shuffle.partitions", "4")
    out = str(tmp_path / "out")
    os.mkdir(out)

    class Sum:
        def open(self, partition_id, epoch_id):
            self.name = f"{out}/{epoch_id}-{partition_id}"
            self.count = self.total = 0
            return True

        def process(self, row):
            self.count += 1
            self.total += row.v

        def close(self, error):
            with open(self.name, "w", encoding="utf-8") as file:
                file.write(f"{self.count} {self.total}")

    run(read_files(spark, tmp_path / "in", "v INT", per_trigger=3).repartition(4), Sum())
    sums = [tuple(map(int, (pathlib.Path(out) / name).read_text().split())) for name in os.listdir(out)]
    assert len(sums) == 8
    assert (sum(n for n, _ in sums), sum(total for _, total in sums)) == (60000, sum(range(60000)))


def test_workers_are_used_again_and_end_with_a_killed_server(server, folder, tmp_path):
    spark, log = server.session(), Log(tmp_path / "log")
    for n in range(4):
        folder.put(f"{n}.json", json.dumps({"v": n}))
    run(read_files(spark, folder, "v INT"), lambda row: log.add(str(os.getpid())))
    assert len(log.lines()) == 4 and len(set(log.lines())) == 1
    daemons = launched_by(server)
    workers = forked_by(daemons)
    assert len(daemons) == 1 and int(log.lines()[0]) in workers
    server.kill()
    wait_until(lambda: not any(map(alive, daemons | workers)), "daemon and workers are gone")


def test_a_worker_that_is_killed_and_one_that_hangs(server, folder, tmp_path):
    spark, log = server.session(), Log(tmp_path / "log")
    folder.put("1.json", '{"v":1}')

    query = run(read_files(spark, folder, "v INT"), hang(log), tmp_path / "ck", processingTime="0 seconds")
    wait_until(log.lines, "the function runs", END_TIMEOUT_S)
    assert spark.range(5).count() == 5
    os.kill(int(log.lines()[0]), signal.SIGKILL)
    with pytest.raises(StreamingQueryException, match=r"Python worker exited unexpectedly \(crashed\): signal 9"):
        query.awaitTermination(END_TIMEOUT_S)
    query = run(read_files(spark, folder, "v INT"), hang(log), tmp_path / "ck", processingTime="0 seconds")
    wait_until(lambda: len(log.lines()) == 2, "the function runs again", END_TIMEOUT_S)
    query.stop()
    assert query.exception() is None
    wait_until(lambda: not alive(int(log.lines()[1])), "its worker is killed")
