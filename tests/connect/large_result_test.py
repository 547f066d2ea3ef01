"""Promise: a large result comes in the order of its partitions, and the server does not hold all of it while a client reads."""
import os
import re

# A sanitizer surrounds every block and keeps freed ones for a while.
MOST_MIB = 700 if os.environ.get("TW_SANITIZE") else 350


def peak_mib(process):
    with open(f"/proc/{process.pid}/status") as status:
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read())[1]) / 1024


def test_rows_of_later_partitions_wait_their_turn_and_do_not_heap_up(server):
    rows = 4_000_000
    result = server.session().range(0, rows, 1, 8).selectExpr("id", "concat(repeat('x', 90), CAST(id AS STRING)) AS text").toArrow()
    assert result.num_rows == rows
    ids = result.column("id").combine_chunks().to_numpy()
    assert (ids[1:] - ids[:-1] == 1).all() and ids[0] == 0
    assert result.nbytes > 400 << 20
    assert peak_mib(server.process) < MOST_MIB


def test_enough_rows_end_partitions_that_wait_for_their_turn(server):
    spark = server.session()
    spark.range(0, 8_000_000, 1, 8).selectExpr("id", "repeat('x', 100) AS text").createOrReplaceTempView("wide")
    for _ in range(5):
        assert [row.id for row in spark.sql("SELECT id, text FROM wide LIMIT 3").collect()] == [0, 1, 2]
        assert spark.table("wide").head(2)[1].id == 1


def test_an_error_of_a_later_partition_reaches_the_client(server):
    spark = server.session()
    frame = spark.range(0, 4_000_000, 1, 8).selectExpr("id", "1 / (id - 3999999) AS x")
    try:
        frame.toArrow()
    except Exception as error:
        assert "DIVIDE_BY_ZERO" in str(error)
    else:
        raise AssertionError("no error")
