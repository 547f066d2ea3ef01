"""INSERT, UPDATE and DELETE of a Delta table answer as real Spark 4.2.0 with Delta 4.4.0 did, statement by statement."""
import pytest
from pyspark.errors import PySparkException

# Statement, condition of the error or None, rows that the table has then where they changed.
RECORDED = [
    ("INSERT INTO delta.`{t}` VALUES (1, 'a', 10), (2, 'b', NULL)", None, [(1, "a", 10), (2, "b", None)]),
    ("INSERT INTO delta.`{t}` (k) VALUES (3)", None, [(1, "a", 10), (2, "b", None), (3, None, None)]),
    ("INSERT INTO delta.`{t}` VALUES (NULL, 'n', 1)", "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", None),
    ("INSERT INTO delta.`{t}` VALUES (5, 'a')", "DELTA_INSERT_COLUMN_ARITY_MISMATCH", None),
    ("INSERT INTO delta.`{t}` VALUES ('6', 7, '8')", None, [(1, "a", 10), (2, "b", None), (3, None, None), (6, "7", 8)]),
    ("INSERT INTO delta.`{t}` VALUES ('x', 7, '8')", "CAST_INVALID_INPUT", None),
    ("INSERT INTO delta.`{t}` SELECT 3000000000, 'big', 1", "CAST_OVERFLOW_IN_TABLE_INSERT", None),
    ("DELETE FROM delta.`{t}` WHERE rand() > 2", "INVALID_NON_DETERMINISTIC_EXPRESSIONS", None),
    ("INSERT INTO delta.`{t}` (zz) VALUES (1)", "UNRESOLVED_COLUMN.WITH_SUGGESTION", None),
    ("INSERT INTO delta.`{t}` (k, k) VALUES (1, 2)", "COLUMN_ALREADY_EXISTS", None),
]


def test_statements(shared_server, tmp_path):
    spark, table = shared_server.session(), str(tmp_path / "t")
    spark.sql(f"CREATE TABLE delta.`{table}` (k INT NOT NULL, v STRING, w BIGINT) USING delta")
    rows = []
    for statement, condition, then in RECORDED:
        if condition is None:
            spark.sql(statement.format(t=table))
        else:
            with pytest.raises(PySparkException) as error:
                spark.sql(statement.format(t=table)).collect()
            assert error.value.getCondition() == condition, statement
        rows = then or rows
        assert sorted(map(tuple, spark.read.format("delta").load(table).collect())) == rows, statement
