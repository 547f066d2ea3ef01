"""Folders of tables in the warehouse: links in them, what failed statements left there, and several creators at once.

# ctest: TIMEOUT 180
"""
import fcntl
import os
import threading
import time

import pytest
from harness.thalweg_server import run_thalweg
from pyspark.errors import PySparkException


def linked(server, table, name):
    """A folder outside the warehouse with one file of the table's format, and a link to it in the table."""
    outside = server.folder / ("outside_" + table)
    os.rename(server.folder / "spark-warehouse" / (table + "_source"), outside)
    os.symlink(outside, server.folder / "spark-warehouse" / table / name)
    return outside


def parquet_files(folder):
    return sorted(path.name for path in folder.glob("*.parquet"))


@pytest.mark.parametrize("statement, left", [("TRUNCATE TABLE {}", []), ("INSERT OVERWRITE {} SELECT 2", [2])])
def test_what_a_link_in_a_table_leads_to_is_never_deleted(server, statement, left):
    spark = server.session()
    spark.sql("CREATE TABLE t_source USING parquet AS SELECT 70 AS a")
    spark.sql("CREATE TABLE t USING parquet AS SELECT 1 AS a")
    outside = linked(server, "t", "link")
    files = parquet_files(outside)
    assert files
    spark.sql(statement.format("t"))
    assert [row.a for row in spark.table("t").collect()] == left
    assert parquet_files(outside) == files


def test_truncating_a_partition_that_is_a_link_removes_the_link(server):
    spark = server.session()
    spark.sql("CREATE TABLE t_source USING parquet AS SELECT 70 AS a")
    spark.sql("CREATE TABLE t USING parquet PARTITIONED BY (p) AS SELECT 1 AS a, 1 AS p")
    outside = linked(server, "t", "p=2")
    files = parquet_files(outside)
    spark.sql("TRUNCATE TABLE t PARTITION (p = 2)")
    assert [(row.a, row.p) for row in spark.table("t").collect()] == [(1, 1)]
    assert parquet_files(outside) == files


def at_once(calls):
    """The conditions of calls that run at the same time, "" for success."""
    barrier, answers = threading.Barrier(len(calls)), [None] * len(calls)

    def run(i):
        barrier.wait()
        try:
            calls[i]()
            answers[i] = ""
        except PySparkException as error:
            answers[i] = error.getCondition()
    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_a_delta_table_that_several_make_at_once_is_made_once(server):
    sessions = [server.session() for _ in range(5)]
    for turn in range(4):
        for statement, others in [
            (f"CREATE TABLE IF NOT EXISTS managed_{turn} (a INT) USING delta", ""),
            (f"CREATE TABLE plain_{turn} (a INT) USING delta", "TABLE_OR_VIEW_ALREADY_EXISTS"),
            (f"CREATE TABLE IF NOT EXISTS outside_{turn} (a INT) USING delta LOCATION '{server.folder}/outside_{turn}'", ""),
            (f"CREATE TABLE IF NOT EXISTS delta.`{server.folder}/path_{turn}` (a INT) USING delta", ""),
            (f"CREATE TABLE delta.`{server.folder}/alone_{turn}` (a INT) USING delta", "TABLE_OR_VIEW_ALREADY_EXISTS"),
        ]:
            answers = at_once([lambda spark=spark: spark.sql(statement) for spark in sessions])
            assert sorted(answers) == sorted(["", *[others] * 4]), statement
    assert sessions[0].sql("DESCRIBE HISTORY managed_0").count() == 1


def test_programs_that_begin_with_the_same_table_start_together(tmp_path):
    runs = []
    text = "CREATE TABLE IF NOT EXISTS s (a INT) USING delta; INSERT INTO s VALUES (1)"
    at_once([lambda: runs.append(run_thalweg(["sql", "-e", text], tmp_path)) for _ in range(4)])
    assert [run.returncode for run in runs] == [0] * 4, [run.stderr for run in runs]
    count = run_thalweg(["sql", "-e", "SELECT count(*) AS n FROM s"], tmp_path)
    assert "4" in count.stdout


def test_a_log_without_a_commit_is_no_table(server):
    spark = server.session()
    os.makedirs(server.folder / "spark-warehouse" / "e" / "_delta_log")
    spark.sql("CREATE TABLE e (a INT) USING delta")
    spark.sql("INSERT INTO e VALUES (1)")
    assert spark.table("e").count() == 1
    spark.sql("CREATE TABLE f (a INT) USING delta")
    os.rename(server.folder / "spark-warehouse" / "f", server.folder / "spark-warehouse" / "g")
    with pytest.raises(PySparkException) as raised:
        spark.sql("CREATE TABLE IF NOT EXISTS g (a INT) USING delta")
    assert raised.value.getCondition() == "LOCATION_ALREADY_EXISTS"


@pytest.mark.parametrize("files", [None, {}, {"part-0.parquet": b"no Parquet at all"}])
def test_a_table_without_a_schema_that_cannot_be_read_leaves_what_was_there(server, files):
    """None: no folder. In one that was there nobody touches anything."""
    spark = server.session()
    spark.sql("CREATE TABLE other (a INT) USING parquet")
    folder = server.folder / "spark-warehouse" / "t"
    if files is not None:
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
    for statement in ["CREATE TABLE t USING parquet", "CREATE TABLE IF NOT EXISTS t USING json", "CREATE TABLE t USING delta",
                      f"CREATE TABLE t USING parquet LOCATION '{folder}'"]:
        with pytest.raises(PySparkException):
            spark.sql(statement)
        assert folder.exists() == (files is not None), statement
        assert files is None or {path.name: path.read_bytes() for path in folder.iterdir()} == files, statement
    assert not spark.catalog.tableExists("t")
    if not files:
        spark.sql("CREATE TABLE t (a INT) USING parquet")
        assert spark.table("t").count() == 0


def test_waiting_for_another_process_that_makes_the_table_can_be_interrupted(server):
    spark = server.session()
    folder = server.folder / "spark-warehouse" / "t"
    folder.mkdir(parents=True)
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(held, fcntl.LOCK_EX)
    answers, begin = [], time.monotonic()

    def create():
        try:
            spark.sql("CREATE TABLE t (a INT) USING parquet")
        except PySparkException as error:
            answers.append(error.getCondition())
    waiting = threading.Thread(target=create)
    waiting.start()
    while waiting.is_alive():
        spark.interruptAll()
        waiting.join(0.05)
    assert answers == ["OPERATION_CANCELED"]
    assert time.monotonic() - begin < 25  # by itself it gives up after 30 s
    os.close(held)
    spark.sql("CREATE TABLE t (a INT) USING parquet")
    assert spark.table("t").count() == 0
