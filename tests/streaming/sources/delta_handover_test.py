# ctest: TIMEOUT 300
"""A checkpoint that real Spark left of a Delta-to-Delta query (tests/delta/streaming_txn) continues here, row by row, with the offsets that Spark
would write; tables that our maintenance commands changed are read by delta-rs."""
import json
import os
import shutil

import deltalake
import pytest

SAMPLE = os.path.join(os.environ["TW_SOURCE_DIR"], "tests", "delta", "streaming_txn")


@pytest.fixture()
def place(tmp_path):
    for part in ("source", "target", "checkpoint"):
        shutil.copytree(os.path.join(SAMPLE, part), tmp_path / part)
    return tmp_path


def expected():
    with open(os.path.join(SAMPLE, "expected.json"), encoding="utf-8") as file:
        return sorted((row["id"], row["s"]) for row in json.load(file)["source_rows"])


def rows(path):
    return sorted((row["id"], row["s"]) for row in deltalake.DeltaTable(str(path)).to_pyarrow_table().to_pylist())


def run(spark, place):
    query = (spark.readStream.format("delta").load(str(place / "source")).writeStream.format("delta")
             .option("checkpointLocation", str(place / "checkpoint")).trigger(availableNow=True).start(str(place / "target")))
    query.awaitTermination()


def offset(place, batch):
    return json.loads((place / "checkpoint" / "offsets" / str(batch)).read_text().splitlines()[2])


def test_continues_behind_what_spark_read(spark, place):
    run(spark, place)
    assert rows(place / "target") == expected()
    spark.createDataFrame([(30, "s30"), (31, "s31")], "id BIGINT, s STRING").write.format("delta").mode("append").save(str(place / "source"))
    run(spark, place)
    assert rows(place / "target") == sorted(expected() + [(30, "s30"), (31, "s31")])
    before, after = offset(place, 2), offset(place, 3)
    assert list(after) == list(before)
    assert after == {**before, "reservoirVersion": before["reservoirVersion"] + 1}
    transactions = [json.loads(line)["txn"] for line in (place / "target" / "_delta_log" / f"{3:020d}.json").read_text().splitlines() if '"txn"' in line]
    assert [(t["appId"], t["version"]) for t in transactions] == [(json.loads((place / "checkpoint" / "metadata").read_text())["id"], 3)]


def test_a_batch_that_spark_did_not_note_as_done_comes_once(spark, place):
    (place / "checkpoint" / "commits" / "2").unlink()
    run(spark, place)
    assert rows(place / "target") == expected()
    assert (place / "checkpoint" / "commits" / "2").exists()


def test_a_batch_that_spark_had_planned_brings_its_rows(spark, place):
    for name in ("commits/2", "../target/_delta_log/00000000000000000002.json", "../target/_delta_log/00000000000000000002.crc"):
        (place / "checkpoint" / name).resolve().unlink()
    run(spark, place)
    assert rows(place / "target") == expected()


def test_another_table_is_noticed(spark, place):
    shutil.rmtree(place / "source")
    spark.createDataFrame([(1, "x")], "id BIGINT, s STRING").write.format("delta").save(str(place / "source"))
    with pytest.raises(Exception, match="DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"):
        run(spark, place)


def test_maintained_tables_are_read_by_others(spark, tmp_path):
    path = str(tmp_path / "t")
    for i in range(5):
        spark.range(i * 10, i * 10 + 10).selectExpr("id", "concat('s', id) AS s").write.format("delta").mode("append").save(path)
    everything = [(i, f"s{i}") for i in range(50)]
    spark.sql(f"OPTIMIZE delta.`{path}`")
    assert rows(path) == everything and len(deltalake.DeltaTable(path).file_uris()) == 1
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    spark.sql(f"VACUUM delta.`{path}` RETAIN 0 HOURS")
    assert rows(path) == everything
    assert len([name for name in os.listdir(path) if name.endswith(".parquet")]) == 1
    spark.createDataFrame([(99, "s99")], "id BIGINT, s STRING").write.format("delta").mode("append").save(path)
    version = deltalake.DeltaTable(path).version()
    spark.sql(f"RESTORE delta.`{path}` TO VERSION AS OF {version - 1}")
    assert rows(path) == everything
    history = deltalake.DeltaTable(path).history()
    assert [h["operation"] for h in history[:2]] == ["RESTORE", "WRITE"]
