"""What every PySpark program does first."""
import datetime
import decimal

import pandas
import pytest
from pyspark.sql import Row, functions as F


def test_select_one(spark, capsys):
    spark.sql("select 1").show()
    assert capsys.readouterr().out == "+---+\n|  1|\n+---+\n|  1|\n+---+\n\n"


def test_version(spark):
    assert spark.version == "4.2.0"


def test_range_keeps_its_order(spark):
    assert [row.id for row in spark.range(10).collect()] == list(range(10))
    assert [row.id for row in spark.range(0, 100_000, 7, numPartitions=4).collect()] == list(range(0, 100_000, 7))


def test_local_rows_filtered_to_pandas(spark):
    df = spark.createDataFrame([(1, "a"), (2, "b"), (3, None)], "id int, name string")
    got = df.filter(df.id > 1).select("name", (df.id + 1).alias("next")).toPandas()
    assert got.name.tolist() == ["b", None]
    assert got.next.tolist() == [3, 4]
    assert isinstance(got, pandas.DataFrame)


def test_schema_without_running(spark):
    df = spark.range(3).withColumn("x", F.lit("a")).withColumnRenamed("id", "key")
    assert df.schema.simpleString() == "struct<key:bigint,x:string>"
    assert df.columns == ["key", "x"]
    assert not df.isStreaming


def test_all_simple_types_come_back(spark):
    row = Row(b=True, i=7, l=1 << 40, d=1.5, s="text", x=b"\x00\xff", n=None,
              day=datetime.date(2026, 1, 31), dec=decimal.Decimal("12.30"), a=[1, 2], st=Row(u=1, v="w"))
    schema = ("b boolean, i int, l bigint, d double, s string, x binary, n string, day date, dec decimal(10,2), "
              "a array<int>, st struct<u:int,v:string>")
    assert spark.createDataFrame([row], schema).collect() == [row]


def test_empty_results(spark):
    df = spark.range(0)
    assert df.collect() == []
    assert list(df.toPandas().columns) == ["id"]
    assert df.isEmpty()
    assert not spark.range(1).isEmpty()


def test_grouping_and_order(spark):
    df = spark.range(10).groupBy((F.col("id") % 3).alias("k")).agg(F.count("*").alias("n"), F.sum("id").alias("s"))
    got = [tuple(row) for row in df.orderBy("k").collect()]
    assert got == [(0, 4, 18), (1, 3, 12), (2, 3, 15)]


def test_join_on_a_column_of_one_frame(spark):
    left = spark.createDataFrame([(1, "a"), (2, "b")], "id int, x string")
    right = spark.createDataFrame([(2, "c"), (3, "d")], "id int, y string")
    got = left.join(right, left.id == right.id).select(left.id, "x", "y").collect()
    assert [tuple(row) for row in got] == [(2, "b", "c")]


def test_temp_view_and_sql_arguments(spark):
    spark.range(5).createOrReplaceTempView("numbers")
    assert spark.sql("select id from numbers where id >= :least", {"least": 3}).collect() == [Row(id=3), Row(id=4)]
    assert spark.sql("select ? + 1 as x", [41]).collect() == [Row(x=42)]
    assert spark.sql("select max(id) as m from {df}", df=spark.range(4)).collect() == [Row(m=3)]


def test_result_in_many_batches(spark):
    assert spark.range(0, 35_000, numPartitions=3).agg(F.max("id")).collect()[0][0] == 34_999
    rows = spark.range(35_000).toPandas()
    assert rows.id.tolist() == list(range(35_000))


SECTIONS = {"simple": ["Physical"], "extended": ["Parsed Logical", "Analyzed Logical", "Optimized Logical", "Physical"], "codegen": ["Physical"],
            "cost": ["Optimized Logical", "Physical"], "formatted": ["Physical"]}


@pytest.mark.parametrize("mode", SECTIONS)
def test_explain_prints_our_plans(spark, capsys, mode):
    frame = spark.range(3).filter("id > 1").groupBy("id").count()
    frame.explain(mode=mode)
    frame.createOrReplaceTempView("explained")
    word = {"simple": ""}.get(mode, mode.upper())
    for text in (capsys.readouterr().out, spark.sql(f"EXPLAIN {word} SELECT id, count(*) FROM range(3) WHERE id > 1 GROUP BY id").collect()[0].plan):
        assert [line[3:-8] for line in text.splitlines() if line.startswith("== ")] == SECTIONS[mode]
        physical = text.split("== Physical Plan ==\n")[1]
        assert "HashAggregate(keys=[" in physical and "Range (0, 3, step=1" in physical
        assert ("'Filter" in text or "'Aggregate" in text) == (mode == "extended")


def test_fill_drop_and_replace_missing_values(spark):
    df = spark.createDataFrame([(1.0, "a"), (None, None), (float("nan"), "b")], "x double, s string")
    assert [tuple(r) for r in df.na.fill(0.0).collect()] == [(1.0, "a"), (0.0, None), (0.0, "b")]
    assert [tuple(r) for r in df.na.drop().collect()] == [(1.0, "a")]
    assert [r.s for r in df.na.drop(thresh=1).collect()] == ["a", "b"]
    assert [r.s for r in df.na.replace("a", "z").collect()] == ["z", None, "b"]


def test_observed_metrics(spark):
    from pyspark.sql import Observation
    observation = Observation("seen")
    df = spark.range(10).observe(observation, F.count(F.lit(1)).alias("rows"), F.max("id").alias("most"))
    assert df.count() == 10
    assert observation.get == {"rows": 10, "most": 9}


def test_names_of_columns_are_not_sql(spark):
    df = spark.createDataFrame([("a", 1), ("b", 2)], ["Col1", "Col2"])
    summed = df.groupBy().agg({"Col2": "sum"})
    assert summed.columns == ["sum(Col2)"] and summed.select("sum(Col2)").collect() == [Row(3)]
    assert df.select(df.colRegex("`(Col1)?+.+`")).columns == ["Col2"]
    assert df.select(df.colRegex("`col.`")).columns == ["Col1", "Col2"]


def test_same_semantics_ignores_names(spark):
    one, two = spark.range(10), spark.range(10)
    assert one.withColumn("a", one.id * 2).sameSemantics(two.withColumn("b", two.id * 2))
    assert not one.withColumn("a", one.id * 2).sameSemantics(two.withColumn("a", two.id + 2))
    assert one.select("id").semanticHash() == two.select("id").semanticHash()


def test_few_rows_fill_all_partitions(spark):
    ids = spark.range(0, 64, 1, 9).repartition(10).select(F.spark_partition_id().alias("p")).distinct()
    assert sorted(r.p for r in ids.collect()) == list(range(10))
