"""Promise: times in zones whose clocks are changed, as on Spark 4.2.0 (values were recorded there)."""
import pytest


def value(spark, zone, expression, timestamp):
    spark.conf.set("spark.sql.session.timeZone", zone)
    return spark.sql(f"SELECT CAST({expression} AS STRING) FROM (SELECT CAST('{timestamp}' AS TIMESTAMP) AS t)").collect()[0][0]


@pytest.mark.parametrize("zone, timestamp, unit, expected", [
    ("Australia/Lord_Howe", "2024-10-06 02:15:00", "HOUR", "2024-10-06 02:30:00"),
    ("Australia/Lord_Howe", "2024-04-07 01:45:00", "HOUR", "2024-04-07 01:00:00"),
    ("Asia/Kathmandu", "1986-01-01 00:05:00", "HOUR", "1986-01-01 00:15:00"),
    ("Europe/London", "1847-12-01 00:00:30", "HOUR", "1847-12-01 00:01:15"),
    ("Europe/London", "1847-12-01 00:00:30", "MINUTE", "1847-12-01 00:02:15"),
    ("America/New_York", "2024-03-10 02:30:00", "HOUR", "2024-03-10 03:00:00"),
])
def test_hours_are_cut_on_the_local_clock(spark, zone, timestamp, unit, expected):
    assert value(spark, zone, f"date_trunc('{unit}', t)", timestamp) == expected


@pytest.mark.parametrize("timestamp, expected", [
    ("2024-03-10 02:00:00", "-0.69086022"), ("2024-03-10 02:30:00", "-0.69018817"), ("2024-03-10 03:00:00", "-0.69086022"),
    ("2024-11-03 00:30:00", "7.0813172"), ("2024-11-03 02:00:00", "7.08467742"),
])
def test_months_between_counts_time_that_passed(spark, timestamp, expected):
    assert value(spark, "America/New_York", "months_between(t, timestamp'2024-03-31 12:00:00')", timestamp) == expected


@pytest.mark.parametrize("zone, expression, expected", [
    ("America/Sao_Paulo", "t", "9999-12-31 23:59:59.999999"),
    ("America/Sao_Paulo", "CAST(t AS DATE)", "9999-12-31"),
    ("America/Sao_Paulo", "date_format(t, 'XXX')", "-03:00"),
    ("America/New_York", "date_format(t, 'XXX')", "-05:00"),
    ("America/New_York", "t + make_interval(0, -2)", "9999-10-31 23:59:59.999999"),
    ("America/New_York", "date_format(t + make_interval(0, -2), 'XXX')", "-04:00"),
])
def test_far_years_follow_the_rules_of_today(spark, zone, expression, expected):
    assert value(spark, zone, expression, "9999-12-31 23:59:59.999999") == expected


def test_names_of_columns_show_timestamps_in_the_zone_of_the_session(spark):
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    assert spark.sql("SELECT timestamp'2024-03-10 02:30:00'").columns == ["TIMESTAMP '2024-03-10 03:30:00'"]
    assert spark.sql("SELECT CAST(timestamp'2024-03-10 02:30:00 UTC' AS STRING)").columns == [
        "CAST(TIMESTAMP '2024-03-09 21:30:00' AS STRING)"]


@pytest.mark.parametrize("text, kind", [
    ("2024-01-01 00:00:00", "timestamp"), ("2024-01-01 00:00:00.5", "timestamp"), ("2024-01-01 00:00:00.12", "string"),
    ("1899-12-31 23:59:59.123456", "string"), ("2024-01-01", "date"), ("2024-01-01 00:00:00Z", "string"),
])
def test_partition_values_that_are_timestamps(spark, tmp_path, text, kind):
    folder = tmp_path / f"p={text.replace(':', '%3A')}"
    folder.mkdir()
    (folder / "f.json").write_text('{"a":1}\n')
    assert dict(spark.read.json(str(tmp_path)).dtypes)["p"] == kind
