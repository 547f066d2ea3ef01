"""The batch readers of checkpoints over what Spark 4.2.0 left in spark-4.2.0/: rows as Spark's own reader gave them (state.jsonl beside each),
the rules of options, and what stands in the change feed."""
import json
import shutil

import pytest
from harness.spark_checkpoints import GOLDENS
from pyspark.errors import PySparkException

WITHIN = GOLDENS / "dedup-within-watermark" / "checkpoint"


@pytest.fixture(autouse=True)
def settings(spark):
    spark.conf.set("spark.sql.session.timeZone", "UTC")


def stores():
    """(golden, header, rows) of each store in state.jsonl."""
    for file in sorted(GOLDENS.glob("*/state.jsonl")):
        found = []
        for line in file.read_text().splitlines():
            if line.startswith('{"operator":'):
                found.append((json.loads(line), []))
            else:
                found[-1][1].append(line)
        for header, rows in found:
            yield pytest.param(file.parent.name, header, rows, id=f"{file.parent.name}-{header['operatorId']}-{header['store']}")


def load(spark, folder, source="statestore", **options):
    return spark.read.format(source).options(**options).load(str(folder))


def as_json(frame):
    return sorted(row.j for row in frame.selectExpr("to_json(struct(*)) AS j").collect())


@pytest.mark.parametrize("name, header, rows", stores())
def test_state_is_what_sparks_reader_gave(spark, name, header, rows):
    frame = load(spark, GOLDENS / name / "checkpoint", operatorId=str(header["operatorId"]), storeName=header["store"])
    assert as_json(frame) == sorted(rows)


def test_columns_are_sparks(spark):
    assert load(spark, WITHIN).dtypes == [("key", "struct<k:string>"), ("value", "struct<expiresAtMicros:bigint>"), ("partition_id", "int")]
    feed = load(spark, WITHIN, readChangeFeed="true", changeStartBatchId="0")
    assert [name for name, _ in feed.dtypes] == ["batch_id", "change_type", "key", "value", "partition_id"]
    listed = load(spark, WITHIN, "state-metadata")
    assert listed.dtypes == [("operatorId", "bigint"), ("operatorName", "string"), ("stateStoreName", "string"), ("numPartitions", "int"),
                             ("minBatchId", "bigint"), ("maxBatchId", "bigint"), ("operatorProperties", "string")]


def test_state_after_an_earlier_batch(spark):
    keys = sorted(row.key.k for row in load(spark, WITHIN, batchId="0").select("key").collect())
    assert keys == ["a", "b"]
    assert load(spark, WITHIN, batchId="0").count() == 2


def test_the_change_feed_tells_what_each_batch_did(spark):
    # a, b come in batch 0; a again and c in batch 1; batch 2 has no rows and forgets a and b.
    rows = load(spark, WITHIN, readChangeFeed="true", changeStartBatchId="0").selectExpr("batch_id", "change_type", "key.k", "value IS NULL AS gone").collect()
    assert sorted(tuple(row) for row in rows) == [(0, "update", "a", False), (0, "update", "b", False), (1, "update", "c", False),
                                                  (2, "delete", "a", True), (2, "delete", "b", True)]
    assert load(spark, WITHIN, readChangeFeed="true", changeStartBatchId="1", changeEndBatchId="1").count() == 1


def test_a_side_of_a_join_is_the_rows_that_came(spark):
    checkpoint = GOLDENS / "join-left-outer" / "checkpoint"
    side = load(spark, checkpoint, joinSide="left")
    raw = load(spark, checkpoint, storeName="left-keyWithIndexToValue")
    assert side.selectExpr("key.*").columns == [name for name in raw.selectExpr("key.*").columns if name != "index"]
    assert side.selectExpr("value.*").columns == [name for name in raw.selectExpr("value.*").columns if name != "matched"]
    assert side.count() == raw.count() > 0


def test_operators_and_stores_are_listed(spark):
    joined = load(spark, GOLDENS / "join-inner" / "checkpoint", "state-metadata").orderBy("stateStoreName").collect()
    assert [row.stateStoreName for row in joined] == ["left-keyToNumValues", "left-keyWithIndexToValue", "right-keyToNumValues", "right-keyWithIndexToValue"]
    assert {(row.operatorId, row.operatorName, row.numPartitions) for row in joined} == {(0, "symmetricHashJoin", 2)}
    (session,) = load(spark, GOLDENS / "session" / "checkpoint", "state-metadata").select("operatorName", "minBatchId", "_numColsPrefixKey").collect()
    assert tuple(session) == ("sessionWindowStateStoreSaveExec", 0, 1)


FEED = {"readChangeFeed": "true", "changeStartBatchId": "0"}
REFUSED = [
    ({"batchId": "-1"}, "STDS_INVALID_OPTION_VALUE.IS_NEGATIVE"),
    ({"operatorId": "-1"}, "STDS_INVALID_OPTION_VALUE.IS_NEGATIVE"),
    ({"storeName": " "}, "STDS_INVALID_OPTION_VALUE.IS_EMPTY"),
    ({"joinSide": "middle"}, "STDS_INVALID_OPTION_VALUE.WITH_MESSAGE"),
    ({"joinSide": "left", "storeName": "left-keyToNumValues"}, "STDS_CONFLICT_OPTIONS"),
    ({"batchId": "7"}, "STDS_COMMITTED_BATCH_UNAVAILABLE"),
    ({"snapshotStartBatchId": "0"}, "STDS_REQUIRED_OPTION_UNSPECIFIED"),
    ({"snapshotPartitionId": "0"}, "STDS_REQUIRED_OPTION_UNSPECIFIED"),
    ({"snapshotStartBatchId": "2", "snapshotPartitionId": "0", "batchId": "1"}, "STDS_INVALID_OPTION_VALUE.WITH_MESSAGE"),
    ({"readChangeFeed": "true"}, "STDS_REQUIRED_OPTION_UNSPECIFIED"),
    ({"changeStartBatchId": "0"}, "STDS_INVALID_OPTION_VALUE.WITH_MESSAGE"),
    ({"readChangeFeed": "true", "changeStartBatchId": "-1"}, "STDS_INVALID_OPTION_VALUE.IS_NEGATIVE"),
    ({"readChangeFeed": "true", "changeStartBatchId": "2", "changeEndBatchId": "1"}, "STDS_INVALID_OPTION_VALUE.WITH_MESSAGE"),
    *(({**FEED, other: value}, "STDS_CONFLICT_OPTIONS") for other, value in
      (("batchId", "1"), ("joinSide", "left"), ("snapshotStartBatchId", "0"), ("snapshotPartitionId", "0"))),
    ({"readRegisteredTimers": "true", "stateVarName": "x"}, "STDS_CONFLICT_OPTIONS"),
    ({"storeName": "nothing"}, "STDS_FAILED_TO_READ_STATE_SCHEMA"),
]


@pytest.mark.parametrize("options, condition", REFUSED, ids=lambda one: one if isinstance(one, str) else ",".join(f"{k}={v}" for k, v in one.items()))
def test_options_are_checked(spark, options, condition):
    with pytest.raises(PySparkException) as error:
        load(spark, WITHIN, **options).collect()
    assert error.value.getCondition() == condition


def test_a_join_wants_a_side_or_a_store(spark):
    with pytest.raises(PySparkException) as error:
        load(spark, GOLDENS / "join-inner" / "checkpoint").collect()
    assert error.value.getCondition() == "STDS_FAILED_TO_READ_STATE_SCHEMA"


@pytest.mark.parametrize("removed, condition", [
    ("commits", "STDS_COMMITTED_BATCH_UNAVAILABLE"), ("offsets", "STDS_OFFSET_LOG_UNAVAILABLE"),
    ("state/0/0/_metadata", "STDS_FAILED_TO_READ_STATE_SCHEMA"),
    ("state/0/1/1.delta", "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS"),
])
def test_what_is_missing_is_named(spark, tmp_path, removed, condition):
    shutil.copytree(WITHIN, tmp_path / "checkpoint")
    gone = tmp_path / "checkpoint" / removed
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    with pytest.raises(PySparkException) as error:
        load(spark, tmp_path / "checkpoint").collect()
    assert condition in (error.value.getCondition() or str(error.value))


def test_a_path_is_needed(spark):
    for source in ("statestore", "state-metadata"):
        with pytest.raises(PySparkException) as error:
            spark.read.format(source).load().collect()
        assert error.value.getCondition() == "STDS_REQUIRED_OPTION_UNSPECIFIED"


def test_operators_of_what_is_no_checkpoint(spark, tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    for name in ("absent", "file", "empty"):
        with pytest.raises(PySparkException) as raised:
            load(spark, tmp_path / name, "state-metadata").collect()
        assert raised.value.getCondition() == "CHECKPOINT_NOT_FOUND"
