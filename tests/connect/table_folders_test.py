"""Folders of tables in the warehouse: links in them, what failed statements left there, and several creators at once.

# ctest: TIMEOUT 180
"""
import fcntl
import os
import threading
import time

import pytest
from harness.at_once import at_once
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


def partitioned_by_two(server, table):
    """A table with the partitions (1, 1), (1, 2), (2, 1), whose directory a=1 is a link to a folder outside the warehouse."""
    spark = server.session()
    spark.sql(f"CREATE TABLE {table} (v INT, a INT, b INT) USING parquet PARTITIONED BY (a, b)")
    spark.sql(f"INSERT INTO {table} VALUES (1, 1, 1), (2, 1, 2), (3, 2, 1)")
    place, outside = server.folder / "spark-warehouse" / table, server.folder / ("outside_" + table)
    os.rename(place / "a=1", outside)
    os.symlink(outside, place / "a=1")
    return spark, outside


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def rows_of(spark, table):
    return sorted(tuple(row) for row in spark.table(table).collect())


OF_ALL_BEHIND = [
    ("TRUNCATE TABLE {} PARTITION (a = 1)", [(3, 2, 1)], 3),
    ("ALTER TABLE {} DROP PARTITION (a = 1)", [(3, 2, 1)], 1),
    ("ALTER TABLE {} DROP PARTITION (a = 1, b = 1), PARTITION (a = 1, b = 2)", [(3, 2, 1)], 1),
    ("INSERT OVERWRITE {} PARTITION (a = 1) VALUES (9, 2)", [(3, 2, 1), (9, 1, 2)], 2),
    ("INSERT OVERWRITE {} VALUES (9, 1, 2)", [(9, 1, 2)], 1),
    ("TRUNCATE TABLE {}", [], 1),
    ("DROP TABLE {}", None, 0),
]


@pytest.mark.parametrize("case", range(len(OF_ALL_BEHIND)))
def test_what_deletes_all_behind_an_outer_link_takes_the_link(server, case):
    statement, left, partitions = OF_ALL_BEHIND[case]
    spark, outside = partitioned_by_two(server, "t")
    files = files_below(outside)
    spark.sql(statement.format("t"))
    assert files_below(outside) == files
    if left is None:
        return
    assert rows_of(spark, "t") == left
    if "TRUNCATE TABLE {}" != statement:
        assert spark.sql("SHOW PARTITIONS t").count() == partitions


@pytest.mark.parametrize("statement, dynamic", [
    ("TRUNCATE TABLE {} PARTITION (a = 1, b = 1)", False),
    ("ALTER TABLE {} DROP PARTITION (a = 1, b = 1)", False),
    ("ALTER TABLE {} DROP PARTITION (a = 2), PARTITION (a = 1, b = 1)", False),
    ("ALTER TABLE {} PARTITION (a = 1, b = 1) RENAME TO PARTITION (a = 3, b = 1)", False),
    ("INSERT OVERWRITE {} PARTITION (a = 1, b = 2) VALUES (9)", False),
    ("INSERT OVERWRITE {} VALUES (9, 1, 2)", True),
    ("INSERT OVERWRITE {} VALUES (8, 2, 1), (9, 1, 2)", True)])
def test_a_part_of_what_lies_behind_an_outer_link_is_not_deleted(server, statement, dynamic):
    spark, outside = partitioned_by_two(server, "t")
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic" if dynamic else "static")
    files = files_below(outside)
    with pytest.raises(PySparkException) as raised:
        spark.sql(statement.format("t"))
    assert raised.value.getCondition() == "UNSUPPORTED_FEATURE.THALWEG"
    assert files_below(outside) == files
    assert rows_of(spark, "t") == [(1, 1, 1), (2, 1, 2), (3, 2, 1)]


@pytest.mark.parametrize("spelled", ["A=1/B=x%20y", "a=1/b=x y", "A=1/b=x y"])
def test_a_partition_is_found_whoever_spelled_its_directory(server, spelled):
    spark = server.session()
    spark.sql("CREATE TABLE t (v INT, a INT, b STRING) USING parquet PARTITIONED BY (a, b)")
    spark.sql("INSERT INTO t VALUES (1, 1, 'x y'), (2, 2, 'z')")
    place = server.folder / "spark-warehouse" / "t"
    ours = place / next(path for path in place.glob("a=1/*")).relative_to(place)

    def respell():
        (place / spelled).parent.mkdir(exist_ok=True)
        os.rename(ours, place / spelled)
        if (place / spelled).parent != ours.parent:
            os.rmdir(ours.parent)
        assert [row.partition for row in spark.sql("SHOW PARTITIONS t").collect()] == ["a=1/b=x y", "a=2/b=z"]

    respell()
    with pytest.raises(PySparkException) as raised:
        spark.sql("ALTER TABLE t ADD PARTITION (a = 1, b = 'x y')")
    assert raised.value.getCondition() == "PARTITIONS_ALREADY_EXIST"
    with pytest.raises(PySparkException) as raised:
        spark.sql("ALTER TABLE t PARTITION (a = 2, b = 'z') RENAME TO PARTITION (a = 1, b = 'x y')")
    assert raised.value.getCondition() == "PARTITIONS_ALREADY_EXIST"
    spark.sql("ALTER TABLE t PARTITION (a = 1, b = 'x y') RENAME TO PARTITION (a = 3, b = 'x y')")
    assert rows_of(spark, "t") == [(1, 3, "x y"), (2, 2, "z")]
    spark.sql("ALTER TABLE t PARTITION (a = 3, b = 'x y') RENAME TO PARTITION (a = 1, b = 'x y')")
    respell()
    spark.sql("TRUNCATE TABLE t PARTITION (a = 1)")
    assert rows_of(spark, "t") == [(2, 2, "z")]
    assert (place / spelled).is_dir()
    spark.sql("ALTER TABLE t DROP PARTITION (a = 1, b = 'x y')")
    assert [row.partition for row in spark.sql("SHOW PARTITIONS t").collect()] == ["a=2/b=z"]


def test_a_partition_in_two_directories_is_one_and_goes_as_one(server):
    spark = server.session()
    spark.sql("CREATE TABLE t (v INT, a INT) USING parquet PARTITIONED BY (a)")
    spark.sql("INSERT INTO t VALUES (1, 1), (2, 2)")
    place = server.folder / "spark-warehouse" / "t"
    os.rename(place / "a=1", place / "A=1")
    spark.sql("INSERT INTO t VALUES (3, 1)")
    assert [row.partition for row in spark.sql("SHOW PARTITIONS t").collect()] == ["a=1", "a=2"]
    spark.sql("ALTER TABLE t DROP PARTITION (a = 1)")
    assert rows_of(spark, "t") == [(2, 2)]
    with pytest.raises(PySparkException) as raised:
        spark.sql("TRUNCATE TABLE t PARTITION (a = 1)")
    assert raised.value.getCondition() == "PARTITIONS_NOT_FOUND"


def test_only_the_log_in_the_table_itself_outlives_a_truncate(server):
    spark = server.session()
    spark.sql(f"CREATE DATABASE d LOCATION '{server.folder}/_spark_metadata/d'")
    spark.sql("CREATE TABLE d.t (v INT, a INT) USING parquet PARTITIONED BY (a)")
    spark.sql("INSERT INTO d.t VALUES (1, 1), (2, 2)")
    log = server.folder / "_spark_metadata" / "d" / "t" / "_spark_metadata"
    log.mkdir()
    (log / "note").write_text("of a stream")
    spark.sql("TRUNCATE TABLE d.t PARTITION (a = 1)")
    assert files_below(log.parent / "a=1") == []
    assert files_below(log.parent / "a=2") != []
    spark.sql("TRUNCATE TABLE d.t")
    assert files_below(log.parent / "a=2") == []
    assert files_below(log) == ["note"]


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
