"""CHAR(n) and VARCHAR(n) in Delta tables: what may be written and what is read, statement by statement as real Spark 4.2.0 with Delta 4.4.0 had it."""
import pytest
from harness.recorded import Recording
from pyspark.errors import PySparkException

STATEMENTS = Recording(__file__).lines


def plain(value):
    return value if value is None or isinstance(value, (int, str)) else str(value)


@pytest.fixture(scope="module")
def outcomes(shared_server):
    spark = shared_server.session()
    told = []
    for statement, _ in STATEMENTS:
        try:
            frame = spark.sql(statement)
            rows = [[plain(value) for value in row] for row in frame.collect()]
            told.append({"rows": rows, "schema": [[field.name, field.dataType.simpleString()] for field in frame.schema.fields]})
        except PySparkException as error:
            told.append({"error": error.getCondition(), "message": str(error).split("\n")[0]})
    return told


@pytest.mark.parametrize("index", range(len(STATEMENTS)))
def test_outcome(outcomes, index):
    statement, wanted = STATEMENTS[index]
    got = outcomes[index]
    if "error" in wanted:
        assert got.get("error") == wanted["error"], (statement, got)
        assert got["message"].startswith(wanted.get("message", "")), statement
    else:
        assert got == wanted, statement
