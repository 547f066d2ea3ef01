# ctest: TIMEOUT 300
"""ORC files by way of a session: frames, tables, streams from them and to them; pyarrow reads what was written."""
import glob
import json
import os

import pyarrow.orc
import pytest
from pyspark.sql import functions as F


@pytest.fixture(scope="module")
def session(shared_server):
    spark = shared_server.session()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("thalweg.orc.reader.enabled", "true")
    return spark


def files(folder):
    return sorted(glob.glob(f"{folder}/**/part-*.orc", recursive=True))


def test_frames(session, tmp_path):
    frame = session.range(0, 1000, 1, 3).selectExpr("id", "concat('t', id % 10) AS s", "array(id, NULL) AS l", "CAST(id AS DECIMAL(30, 3)) AS d", "id % 2 AS p")
    frame.write.partitionBy("p").option("compression", "snappy").orc(f"{tmp_path}/t")
    assert all(name.endswith(".snappy.orc") for name in files(f"{tmp_path}/t"))
    rows = [row for name in files(f"{tmp_path}/t") for row in pyarrow.orc.read_table(name).to_pylist()]
    assert sorted(row["id"] for row in rows) == list(range(1000))
    assert next(row for row in rows if row["id"] == 7) == {"id": 7, "s": "t7", "l": [7, None], "d": 7}
    back = session.read.orc(f"{tmp_path}/t")
    assert back.schema.simpleString() == "struct<id:bigint,s:string,l:array<bigint>,d:decimal(30,3),p:int>"
    assert back.where("p = 1 AND id > 990").select("id").orderBy("id").collect() == [(991,), (993,), (995,), (997,), (999,)]
    assert back.groupBy("s").agg(F.sum("d")).count() == 10 and back.count() == 1000


def test_tables(session):
    session.sql("DROP TABLE IF EXISTS orc_table")
    session.sql("CREATE TABLE orc_table (a INT, s STRUCT<x: INT, y: STRING>, t TIMESTAMP_NTZ) USING orc")
    try:
        session.sql("INSERT INTO orc_table VALUES (1, named_struct('x', 2, 'y', 'z'), TIMESTAMP_NTZ'2024-01-02 03:04:05.6'), (NULL, NULL, NULL)")
        session.sql("INSERT INTO orc_table SELECT a + 1, s, t FROM orc_table WHERE a = 1")
        assert sorted(row[0] for row in session.sql("SELECT a FROM orc_table WHERE a IS NOT NULL").collect()) == [1, 2]
        assert session.sql("SELECT max(s.y), count(t) FROM orc_table").collect() == [("z", 2)]
        session.sql("INSERT OVERWRITE orc_table SELECT 9, NULL, NULL")
        assert session.table("orc_table").collect() == [(9, None, None)]
    finally:
        session.sql("DROP TABLE IF EXISTS orc_table")


def test_streams(session, tmp_path):
    for part in range(4):
        session.range(part * 10, part * 10 + 10).coalesce(1).write.mode("append").orc(f"{tmp_path}/in")

        def once():
            query = (session.readStream.schema("id BIGINT").orc(f"{tmp_path}/in").writeStream.format("orc").option("path", f"{tmp_path}/out")
                     .option("checkpointLocation", f"{tmp_path}/checkpoint").trigger(availableNow=True).start())
            query.awaitTermination()
        once()
        once()  # nothing new
    assert sorted(row.id for row in session.read.orc(f"{tmp_path}/out").collect()) == list(range(40))
    logged = [json.loads(line)["path"] for name in glob.glob(f"{tmp_path}/out/_spark_metadata/[0-9]*") for line in open(name) if line.startswith("{")]
    assert len(logged) == 4 and all(os.path.exists(path.removeprefix("file://")) for path in logged)


def test_reading_needs_trust(session, shared_server, tmp_path):
    session.range(3).coalesce(1).write.orc(f"{tmp_path}/t")
    other = shared_server.session()
    with pytest.raises(Exception, match="thalweg.orc.reader.enabled"):
        other.read.orc(f"{tmp_path}/t").collect()
    assert session.read.orc(f"{tmp_path}/t").count() == 3
