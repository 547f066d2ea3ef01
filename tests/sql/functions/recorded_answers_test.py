"""Aggregates and extract answer as real Spark 4.2.0 did: name of the column and the rows, or the condition."""
import math

import pytest
from pyspark.errors import PySparkException

RECORDED = [
    ("percentile(x, 0.25) FROM VALUES (-1D), (-2D) t(x)", "percentile(x, 0.25, 1)", -1.75),
    ("percentile(x, 0.5) FROM VALUES (double('inf')), (1D) t(x)", "percentile(x, 0.5, 1)", math.inf),
    ("percentile(x, array(0.0, 0.5, 1.0)) FROM VALUES (0.0D), (1D) t(x)", "percentile(x, array(0.0, 0.5, 1.0), 1)", [0.0, 0.5, 1.0]),
    ("collect_set(x) FROM VALUES (0.0D), (-0.0D) t(x)", "collect_set(x)", [0.0]),
    ("median(x) FROM VALUES (1D), (2D) t(x)", "median(x)", 1.5),
]


@pytest.mark.parametrize("query, name, value", RECORDED)
def test_answer(shared_server, query, name, value):
    answer = shared_server.session().sql(f"SELECT {query}")
    assert answer.columns == [name]
    assert answer.collect()[0][0] == value


@pytest.mark.parametrize("what", ["DAY FROM INTERVAL '3' HOUR", "MINUTE FROM INTERVAL '3 4' DAY TO HOUR", "MONTH FROM INTERVAL '3' YEAR",
                                  "SECOND FROM INTERVAL '3' DAY", "YEAR FROM INTERVAL '3' MONTH"])
def test_an_interval_has_the_fields_of_its_type(shared_server, what):
    with pytest.raises(PySparkException) as error:
        shared_server.session().sql(f"SELECT extract({what})").collect()
    assert error.value.getCondition() == "INVALID_EXTRACT_FIELD"
