"""Tables that Spark with Delta wrote (deletion vectors, odd partition values, old checkpoints): changed here, read by delta-rs."""
import os
import shutil

import pyarrow
import pytest
from deltalake import DeltaTable, QueryBuilder

SAMPLES = ["dv", "dv_inline", "partitioned", "checkpoint_classic", "checkpoint_multipart", "checkpoint_v2", "log_compaction", "timestamp_ntz", "converted"]


def read_ids(path):
    answer = QueryBuilder().register("t", DeltaTable(path)).execute("SELECT id FROM t")
    return sorted(row["id"] for row in pyarrow.table(answer.read_all()).to_pylist())


@pytest.mark.parametrize("sample", SAMPLES)
def test_rows_change_and_others_stay(spark, tmp_path, sample):
    path = str(tmp_path / sample)
    shutil.copytree(os.path.join(os.environ["TW_SOURCE_DIR"], "tests", "delta", sample), path)
    name = f"delta.`{path}`"
    before = {row["id"]: row for row in spark.sql(f"SELECT * FROM {name}").collect()}
    even = [i for i in before if i % 2 == 0]
    assert spark.sql(f"UPDATE {name} SET id = id + 1000 WHERE id % 2 = 0").collect()[0][0] == len(even)
    odd = sorted(i for i in before if i % 2 == 1)
    answer = spark.sql(f"MERGE INTO {name} t USING (SELECT id FROM {name} WHERE id < 1000 LIMIT 1) s ON t.id = s.id WHEN MATCHED THEN DELETE").collect()[0]
    assert answer["num_deleted_rows"] == min(1, len(odd))
    rows = {row["id"]: row for row in spark.sql(f"SELECT * FROM {name}").collect()}
    assert sum(1 for i in rows if i >= 1000) == len(even)
    for i, row in rows.items():
        was = before[i - 1000 if i >= 1000 else i].asDict()
        assert row.asDict() == {**was, "id": i}
    assert read_ids(path) == sorted(rows)
    assert spark.sql(f"DELETE FROM {name}").collect()[0][0] == len(rows)
    assert read_ids(path) == []
