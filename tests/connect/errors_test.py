"""Errors as PySpark's classes, with condition, parameters and context."""
import pytest
from pyspark.errors import (AnalysisException, ArithmeticException, NumberFormatException, ParseException,
                            UnsupportedOperationException)
from pyspark.sql import functions as F


def test_missing_table(spark):
    with pytest.raises(AnalysisException) as error:
        spark.sql("select * from nope")
    assert error.value.getCondition() == "TABLE_OR_VIEW_NOT_FOUND"
    assert error.value.getSqlState() == "42P01"
    assert error.value.getMessageParameters()["relationName"] == "`nope`"


def test_missing_column(spark):
    with pytest.raises(AnalysisException) as error:
        spark.range(1).select("idd").collect()
    assert error.value.getCondition() == "UNRESOLVED_COLUMN.WITH_SUGGESTION"


def test_syntax(spark):
    with pytest.raises(ParseException) as error:
        spark.sql("selec 1")
    assert error.value.getCondition() == "PARSE_SYNTAX_ERROR"


def test_running_into_an_error(spark):
    with pytest.raises(ArithmeticException) as error:
        spark.sql("select 1 / 0").collect()
    assert error.value.getCondition() == "DIVIDE_BY_ZERO"
    with pytest.raises(NumberFormatException) as error:
        spark.sql("select cast('x' as int)").collect()
    assert error.value.getCondition() == "CAST_INVALID_INPUT"


def test_the_call_site_of_a_frame(spark):
    with pytest.raises(ArithmeticException) as error:
        spark.range(1).select(F.col("id") / F.lit(0)).collect()
    context = error.value.getQueryContext()[0]
    assert context.fragment() == "__truediv__"
    assert "errors_test.py" in context.callSite()


def test_what_is_missing_is_named(spark):
    with pytest.raises(UnsupportedOperationException) as error:
        spark.range(1).lateralJoin(spark.range(1)).collect()
    assert error.value.getCondition() == "UNSUPPORTED_FEATURE.THALWEG"
    assert "lateralJoin" in str(error.value)


def test_the_session_goes_on_after_errors(spark):
    for _ in range(3):
        with pytest.raises(AnalysisException):
            spark.sql("select nope")
    assert spark.range(2).count() == 2


def test_a_condition_survives_a_long_text(spark):
    names = ", ".join(f"column_number_{i}" for i in range(400))
    with pytest.raises(AnalysisException) as error:
        spark.sql(f"select {names} from nope")
    assert error.value.getCondition() == "TABLE_OR_VIEW_NOT_FOUND"
