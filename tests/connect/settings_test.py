"""The Config call and SET."""
import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException, SparkNoSuchElementException, UnsupportedOperationException


def test_defaults_and_explicit_values(spark):
    assert spark.conf.get("spark.sql.ansi.enabled") == "true"
    spark.conf.set("spark.sql.ansi.enabled", "false")
    assert spark.conf.get("spark.sql.ansi.enabled") == "false"
    spark.conf.unset("spark.sql.ansi.enabled")
    assert spark.conf.get("spark.sql.ansi.enabled") == "true"


def test_any_key_is_kept(spark):
    spark.conf.set("my.own.key", "v")
    assert spark.conf.get("my.own.key") == "v"
    assert spark.conf.get("no.such.key", "given") == "given"
    assert spark.conf.get("no.such.key", None) is None
    with pytest.raises(SparkNoSuchElementException) as error:
        spark.conf.get("no.such.key")
    assert error.value.getCondition() == "SQL_CONF_NOT_FOUND"


def test_the_builtin_default_is_not_a_given_default(spark):
    assert spark.conf.get("spark.sql.timestampType", None) is None


def test_illegal_and_static_values(spark):
    with pytest.raises(IllegalArgumentException):
        spark.conf.set("spark.sql.ansi.enabled", "maybe")
    with pytest.raises(IllegalArgumentException):
        spark.conf.set("spark.sql.session.timeZone", "Nowhere/Land")
    with pytest.raises(AnalysisException) as error:
        spark.conf.set("spark.sql.warehouse.dir", "/elsewhere")
    assert error.value.getCondition() == "CANNOT_MODIFY_STATIC_CONFIG"
    assert spark.conf.isModifiable("spark.sql.ansi.enabled")
    assert not spark.conf.isModifiable("spark.sql.warehouse.dir")
    assert not spark.conf.isModifiable("no.such.key")


def test_settings_of_the_engine_are_checked(spark):
    for key, text in (("thalweg.python.stopGrace", "abc"), ("spark.sql.shuffle.partitions", "abc"), ("spark.sql.shuffle.partitions", "0"),
                      ("spark.sql.files.maxPartitionBytes", "1.5g"), ("spark.sql.streaming.pollingDelay", ""),
                      ("spark.databricks.delta.vacuum.logging.enabled", "maybe"), ("spark.databricks.delta.optimize.minFileSize", "small"),
                      ("spark.databricks.delta.optimize.maxDeletedRowsRatio", "half"), ("spark.databricks.delta.schema.autoMerge.enabled", "1")):
        with pytest.raises(IllegalArgumentException) as error:
            spark.conf.set(key, text)
        assert error.value.getCondition().startswith("INVALID_CONF_VALUE.") and key in str(error.value), key
    spark.conf.set("thalweg.python.stopGrace", "2s")
    assert spark.conf.isModifiable("thalweg.python.stopGrace")


def test_limits_of_pivot_and_transpose_may_be_none(spark):
    frame = spark.createDataFrame([(1, "x"), (2, "y")], "a int, c string")
    for limit in ("2147483647", "2147483646", "2"):
        spark.conf.set("spark.sql.pivotMaxValues", limit)
        spark.conf.set("spark.sql.transposeMaxValues", limit)
        assert [tuple(row) for row in frame.groupBy().pivot("c").sum("a").collect()] == [(1, 2)], limit
        assert [tuple(row) for row in frame.transpose("c").collect()] == [("a", 1, 2)], limit
    spark.conf.set("spark.sql.pivotMaxValues", "1")
    spark.conf.set("spark.sql.transposeMaxValues", "1")
    for read, condition in ((lambda: frame.groupBy().pivot("c").sum("a").collect(), "_LEGACY_ERROR_TEMP_1324"),
                            (lambda: frame.transpose("c").collect(), "TRANSPOSE_EXCEED_ROW_LIMIT")):
        with pytest.raises(AnalysisException) as error:
            read()
        assert error.value.getCondition() == condition
    for key, read in (("spark.sql.pivotMaxValues", lambda: frame.groupBy().pivot("c").sum("a").collect()),
                      ("spark.sql.transposeMaxValues", lambda: frame.transpose("c").collect())):
        with pytest.raises(IllegalArgumentException) as error:
            spark.conf.set(key, "99999999999")
            read()
        assert error.value.getCondition().startswith("INVALID_CONF_VALUE.") and key in str(error.value)
        spark.conf.unset(key)


def test_settings_of_the_process_are_not_a_sessions(spark):
    for change in (lambda: spark.conf.set("thalweg.memory.limit", "60m"), lambda: spark.sql("SET thalweg.memory.limit=60m").collect(),
                   lambda: spark.conf.unset("thalweg.memory.limit")):
        with pytest.raises(AnalysisException) as error:
            change()
        assert error.value.getCondition() == "CANNOT_MODIFY_STATIC_CONFIG"
    assert not spark.conf.isModifiable("thalweg.memory.limit")


def test_the_legacy_time_parser_is_refused(spark):
    with pytest.raises(UnsupportedOperationException) as error:
        spark.conf.set("spark.sql.legacy.timeParserPolicy", "LEGACY")
    assert error.value.getCondition() == "UNSUPPORTED_FEATURE.THALWEG"
    spark.conf.set("spark.sql.legacy.timeParserPolicy", "CORRECTED")


def test_set_and_reset_in_sql(spark):
    assert [tuple(r) for r in spark.sql("SET a.b=1").collect()] == [("a.b", "1")]
    assert [tuple(r) for r in spark.sql("SET a.b").collect()] == [("a.b", "1")]
    spark.sql("RESET")
    assert [tuple(r) for r in spark.sql("SET a.b").collect()] == [("a.b", "<undefined>")]


def test_sessions_keep_their_own_values(shared_server):
    one, other = shared_server.session(), shared_server.session()
    one.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    other.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    assert one.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    assert other.conf.get("spark.sql.session.timeZone") == "Europe/Berlin"
    shared_server.close_sessions()
