"""Queries with Python UDFs whose answers were recorded from real Spark 4.2.0 (tests/connect/recorded/python_udf.json).

Recorded by `spark-run python_udf_cases.py FILE` of the oracle; python_udf_test.py asks the same of Thalweg. Everything here is sent to
workers by value.
"""
import datetime
import decimal
import json
import re
import sys

from pyspark.sql import functions as F
from pyspark.sql.functions import udf

ROWS = """SELECT * FROM VALUES
  (1, 10L, 'a\u00e4', 1.5D, true, DATE'2024-02-29', TIMESTAMP'2024-02-29 12:30:00.5', CAST(1.25 AS DECIMAL(5,2)), array(1, null), map('k', 2L),
   named_struct('x', 7L, 'day', DATE'1969-12-31'), X'0102', CAST(1 AS TINYINT), CAST(2 AS SMALLINT), CAST(0.5 AS FLOAT), TIMESTAMP_NTZ'2020-01-01 00:00:00'),
  (-2, 5000000000L, '', -0.0D, false, DATE'0001-01-01', TIMESTAMP'1960-01-01 00:00:00', CAST(-99.99 AS DECIMAL(5,2)), array(), map(), null, X'',
   CAST(-128 AS TINYINT), CAST(-300 AS SMALLINT), CAST('NaN' AS FLOAT), TIMESTAMP_NTZ'1969-12-31 23:59:59.999999'),
  (null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null)
  AS t(i, l, s, d, b, day, ts, dec, a, m, n, bin, t8, t16, f, ntz)"""
COLUMNS = ["i", "l", "s", "d", "b", "day", "ts", "dec", "a", "m", "n", "bin", "t8", "t16", "f", "ntz"]
TYPES = ["int", "bigint", "string", "double", "boolean", "date", "timestamp", "decimal(5,2)", "array<int>", "map<string,bigint>",
         "struct<x:bigint,day:date>", "binary", "tinyint", "smallint", "float", "timestamp_ntz"]

VALUES = [None, True, 7, 300, 2**40, 2**70, 1.5, 2.0, "text", "12", b"ab", decimal.Decimal("1.255"), decimal.Decimal("12345.6"), [1, 2], (1, 2),
          {"k": 3}, [], datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 1, 2, 3)]
NARROW = ["boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary", "decimal(5,2)", "date", "timestamp",
          "array<int>", "map<string,int>", "struct<a:int,b:int>"]


def rows(spark):
    return spark.sql(ROWS)


def plus_one(x):
    return None if x is None else x + 1


def same(x):
    return x


def seen(x):
    return f"{type(x).__name__}:{x!r}"


def boom(x):
    if x == 3:
        raise ValueError(f"boom at {x}")
    return x


def one_of(values):
    return lambda i: values[i]


def case_plus_one(spark, arrow):
    return spark.range(1000).select("id", udf(plus_one, "bigint", useArrow=arrow)("id").alias("y"))


def case_types_there_and_back(spark, arrow):
    return rows(spark).select(*[udf(same, t, useArrow=arrow)(c).alias(c) for c, t in zip(COLUMNS, TYPES)])


def case_types_as_python_sees_them(spark, arrow):
    return rows(spark).select(*[udf(seen, "string", useArrow=arrow)(c).alias(c) for c in COLUMNS])


def case_automatic_names(spark, arrow):
    f = udf(plus_one, "int", useArrow=arrow)
    return rows(spark).select(f("i"), f(F.col("i") + 1), f(f("i")), (f("i") + 1), f(F.lit(1)))


def case_chained(spark, arrow):
    f = udf(plus_one, "bigint", useArrow=arrow)
    g = udf(lambda x: x * 2, "bigint", useArrow=arrow)
    return spark.range(5).select(f(g("id")).alias("fg"), g(f(g("id"))).alias("gfg"), (f("id") + g("id")).alias("sum"))


def case_several_arguments(spark, arrow):
    f = udf(lambda a, b, c=5: a * 100 + b * 10 + c, "bigint", useArrow=arrow)
    return spark.range(3).select(f("id", F.col("id") + 1), f("id", F.lit(2), F.lit(3)), f(b=F.col("id"), a=F.lit(1)), f("id", c=F.lit(9), b=F.lit(8)))


def case_no_arguments(spark, arrow):
    return spark.range(3).select(udf(lambda: 7, "int", useArrow=arrow)())


def case_filter(spark, arrow):
    even = udf(lambda x: x % 2 == 0, "boolean", useArrow=arrow)
    return spark.range(20).filter(even("id") & (F.col("id") > 5)).filter(~even(F.col("id") + 1))


def case_filter_null_is_false(spark, arrow):
    maybe = udf(lambda x: None if x % 3 == 0 else x % 2 == 0, "boolean", useArrow=arrow)
    return spark.range(12).where(maybe("id"))


def case_group_by(spark, arrow):
    f = udf(lambda x: x % 3, "bigint", useArrow=arrow)
    return spark.range(30).groupBy(f("id").alias("k")).agg(F.sum("id").alias("s"), F.max(f(F.col("id") + 1)).alias("m")).orderBy("k")


def case_over_aggregate(spark, arrow):
    f = udf(plus_one, "bigint", useArrow=arrow)
    return spark.range(30).groupBy((F.col("id") % 3).alias("k")).agg(f(F.sum("id")).alias("s"), (f(F.count("*")) + F.max("id")).alias("c")).orderBy("k")


def case_having(spark, arrow):
    spark.udf.register("over_130", udf(lambda x: x > 130, "boolean", useArrow=arrow))
    return spark.sql("SELECT id % 3 AS k, sum(id) AS s FROM range(30) GROUP BY k HAVING over_130(sum(id)) ORDER BY k")


def case_order_by(spark, arrow):
    return spark.range(6).orderBy(udf(lambda x: -x, "bigint", useArrow=arrow)("id"))


def case_join_condition(spark, arrow):
    f = udf(lambda x: x * 2, "bigint", useArrow=arrow)
    less = udf(lambda a, b: a < b, "boolean", useArrow=arrow)
    left, right = spark.range(6).toDF("a"), spark.range(6).toDF("b")
    return left.join(right, (f("a") == F.col("b")) & less("a", "b")).orderBy("a", "b")


def case_outer_join_condition(spark, arrow):
    f = udf(lambda x: x * 2, "bigint", useArrow=arrow)
    left, right = spark.range(4).toDF("a"), spark.range(6).toDF("b")
    return left.join(right, f("a") == F.col("b"), "left").orderBy("a")


def case_outer_join_over_both_sides(spark, arrow):
    less = udf(lambda a, b: a < b, "boolean", useArrow=arrow)
    return spark.range(3).toDF("a").join(spark.range(3).toDF("b"), less("a", "b"), "left")


def case_cross_product(spark, arrow):
    less = udf(lambda a, b: a < b, "boolean", useArrow=arrow)
    return spark.range(3).toDF("a").join(spark.range(3).toDF("b"), less("a", "b")).orderBy("a", "b")


def case_case_when(spark, arrow):
    f = udf(plus_one, "bigint", useArrow=arrow)
    return spark.range(6).select(F.when(F.col("id") > 2, f("id")).otherwise(F.lit(-1)).alias("w"), F.coalesce(f("id"), F.lit(0)).alias("c"))


def case_case_evaluates_all_rows(spark, arrow):
    return spark.range(6).select(F.when(F.col("id") != 3, udf(boom, "bigint", useArrow=arrow)("id")))


def case_raises(spark, arrow):
    return spark.range(6).select(udf(boom, "bigint", useArrow=arrow)("id"))


def case_used_twice(spark, arrow):
    once = spark.range(5).withColumn("y", udf(plus_one, "bigint", useArrow=arrow)("id"))
    return once.select("id", F.col("y").alias("a"), (F.col("y") * 2).alias("b")).where("a > 2")


def case_nondeterministic_once(spark, arrow):
    import random
    r = udf(lambda x: random.randint(0, 10**9), "int", useArrow=arrow).asNondeterministic()
    frame = spark.range(50).withColumn("r", r("id"))
    return frame.select((F.col("r") == F.col("r") + 0).alias("same")).distinct()


def case_registered_in_sql(spark, arrow):
    spark.udf.register("twice", udf(lambda x: x * 2, "bigint", useArrow=arrow))
    return spark.sql("SELECT twice(id) AS a, twice(twice(id)) + 1 AS b, twice(id) FROM range(4) WHERE twice(id) > 1")


def case_registered_call_function(spark, arrow):
    spark.udf.register("joined", udf(lambda a, b: f"{a}-{b}", "string", useArrow=arrow))
    return spark.range(2).select(F.call_function("joined", "id", F.lit("x")), F.expr("joined(id, 'y')"), F.call_udf("joined", "id", "id"))


def case_registered_named_arguments(spark, arrow):
    spark.udf.register("named", udf(lambda a, b: f"{a}-{b}", "string", useArrow=arrow))
    return spark.sql("SELECT named(b => 'x', a => id) AS c, named(id, b => 'y') AS d FROM range(2)")


def case_registered_plain_function(spark, arrow):
    spark.udf.register("plain", lambda x: f"<{x}>")
    return spark.sql("SELECT plain(id), plain(null) FROM range(2)")


def case_registered_over_builtin(spark, arrow):
    spark.udf.register("upper", udf(lambda x: "mine", "string", useArrow=arrow))
    try:
        return [str(r) for r in spark.sql("SELECT upper('x'), builtin.upper('x')").collect()]
    finally:
        spark.sql("DROP TEMPORARY FUNCTION upper") if "connect" not in type(spark).__module__ else None


def case_unknown_function(spark, arrow):
    return spark.sql("SELECT no_such_udf(1)")


def case_empty_input(spark, arrow):
    return spark.range(0).select(udf(plus_one, "bigint", useArrow=arrow)("id"))


def case_struct_result(spark, arrow):
    f = udf(lambda x: {"a": x, "b": str(x)}, "struct<a:bigint,b:string>", useArrow=arrow)
    g = udf(lambda x: [(x, str(x)), None], "array<struct<a:bigint,b:string>>", useArrow=arrow)
    return spark.range(3).select(f("id").alias("s"), f("id").b.alias("b"), g("id").alias("l"))


def case_struct_too_short(spark, arrow):
    return spark.range(2).select(udf(lambda x: (x,), "struct<a:bigint,b:string>", useArrow=arrow)("id"))


def case_dates_and_times_results(spark, arrow):
    f = udf(lambda x: datetime.date(2024, 1, 1) + datetime.timedelta(days=x), "date", useArrow=arrow)
    g = udf(lambda x: datetime.datetime(2024, 1, 1, 10, 0, 0, x), "timestamp", useArrow=arrow)
    h = udf(lambda x: datetime.timedelta(days=x, microseconds=1), "interval day to second", useArrow=arrow)
    return spark.range(3).selectExpr("cast(id as int) as i").select(f("i"), g("i"), h("i"), udf(lambda x: [datetime.date(1, 1, 1), None], "array<date>", useArrow=arrow)("i"))


def case_session_time_zone(spark, arrow):
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        frame = spark.sql("SELECT TIMESTAMP'2024-07-01 12:00:00' AS t")
        return [str(r) for r in frame.select(udf(seen, "string", useArrow=arrow)("t"), udf(same, "timestamp", useArrow=arrow)("t").cast("string")).collect()]
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def case_wide_rows_and_long_text(spark, arrow):
    f = udf(lambda s: s[::-1] + "!", "string", useArrow=arrow)
    return spark.range(300).select(F.concat(F.lit("x" * 3000), F.col("id").cast("string")).alias("s")).select(f("s").alias("r")).agg(F.sum(F.length("r")), F.max("r"))


def case_null_type_argument(spark, arrow):
    return spark.range(1).select(udf(seen, "string", useArrow=arrow)(F.lit(None)))


def case_explode_of_result(spark, arrow):
    return spark.range(3).select("id", F.explode(udf(lambda x: list(range(x)), "array<int>", useArrow=arrow)("id")))


def case_window_of_types_mixed(spark, arrow):
    f = udf(plus_one, "bigint", useArrow=arrow)
    g = udf(lambda x: x * 10, "bigint", useArrow=not arrow)
    return spark.range(4).select(f("id"), g("id"), g(f("id")), f(g("id")))


def case_union_and_distinct(spark, arrow):
    f = udf(lambda x: x % 2, "bigint", useArrow=arrow)
    return spark.range(4).select(f("id").alias("p")).union(spark.range(4).select((f("id") + 1).alias("p"))).distinct().orderBy("p")


def case_limit(spark, arrow):
    return spark.range(100).select(udf(plus_one, "bigint", useArrow=arrow)("id").alias("y")).limit(3)


def case_wrong_argument_count(spark, arrow):
    return spark.range(1).select(udf(plus_one, "bigint", useArrow=arrow)("id", "id"))


def case_aggregate_argument(spark, arrow):
    f = udf(plus_one, "bigint", useArrow=arrow)
    return spark.range(10).agg(F.sum(f("id")), F.count_distinct(f(F.col("id") % 3)))


def describe(make, spark, arrow):
    from pyspark.errors import PySparkException
    try:
        frame = make(spark, arrow)
        if isinstance(frame, list):
            return {"rows": frame}
        return {"schema": frame.schema.simpleString(), "rows": [repr(tuple(r)) for r in frame.collect()]}
    except PySparkException as error:
        text = str(error)
        last = [line for line in text.splitlines() if re.match(r"^\w*(Error|Exception|Warning)\b.*:", line)]
        return {"error": error.getCondition() or re.sub(r"\W.*", "", type(error).__name__), "cause": last[-1] if last and "Traceback" in text else ""}


def conversions(spark, arrow, type_name):
    """What a function gives that answers VALUES and says `type_name`: all at once, or one by one where that fails."""
    def run(values):
        frame = spark.range(len(values), numPartitions=1).select(udf(one_of(values), type_name, useArrow=arrow)("id"))
        return [repr(r[0]) for r in frame.collect()]
    answers = []
    try:
        return run(VALUES)
    except Exception:
        pass
    for value in VALUES:
        answer = describe(lambda s, a, v=value: [run([v])[0]], spark, arrow)
        answers.append(answer["rows"][0] if "rows" in answer else f"{answer['error']}: {answer['cause']}"[:160])
    return answers


def all_cases():
    return {name[5:]: make for name, make in globals().items() if name.startswith("case_")}


def main(out):
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    recorded = {"spark": spark.version, "cases": {}, "conversions": {}}
    for arrow in (False, True):
        kind = "arrow" if arrow else "pickled"
        recorded["cases"][kind] = {name: describe(make, spark, arrow) for name, make in all_cases().items()}
        recorded["conversions"][kind] = {type_name: conversions(spark, arrow, type_name) for type_name in NARROW}
        with open(out, "w", encoding="utf-8") as file:
            json.dump(recorded, file, indent=1, ensure_ascii=True)
            file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
