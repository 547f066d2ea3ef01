"""DataFrame.mergeInto, and schemas that grow by writes to a table's name."""
import pytest
from pyspark.sql.functions import col, expr


@pytest.fixture
def table(spark):
    spark.sql("DROP TABLE IF EXISTS merged")
    spark.sql("CREATE TABLE merged (id BIGINT, v STRING, n INT) USING delta")
    spark.sql("INSERT INTO merged VALUES (1, 'a', 10), (2, 'b', 20), (4, NULL, NULL)")
    return spark.createDataFrame([(2, "B", 200), (5, "E", 500)], "id BIGINT, v STRING, n INT").alias("s")


def rows(spark):
    return [tuple(row) for row in spark.sql("SELECT * FROM merged ORDER BY id").collect()]


def test_every_kind_of_clause(spark, table):
    table.mergeInto("merged", expr("merged.id = s.id")).whenMatched().updateAll().whenNotMatched().insertAll().whenNotMatchedBySource(
        expr("merged.id = 1")).delete().merge()
    assert rows(spark) == [(2, "B", 200), (4, None, None), (5, "E", 500)]
    table.mergeInto("merged", col("merged.id") == col("s.id")).whenMatched(expr("s.id = 2")).update({"n": expr("merged.n + 1")}).merge()
    assert rows(spark) == [(2, "B", 201), (4, None, None), (5, "E", 500)]


def test_a_frames_own_columns_are_found(spark, table):
    table.mergeInto("merged", col("merged.id") == table["id"]).whenMatched().update({"v": table["v"]}).merge()
    assert rows(spark) == [(1, "a", 10), (2, "B", 20), (4, None, None)]


def test_the_schema_grows(spark, table):
    spark.createDataFrame([(2, 2.5), (9, 9.5)], "id BIGINT, extra DOUBLE").alias("s").mergeInto("merged", expr("merged.id = s.id")).whenMatched().updateAll(
    ).whenNotMatched().insertAll().withSchemaEvolution().merge()
    assert rows(spark) == [(1, "a", 10, None), (2, "b", 20, 2.5), (4, None, None, None), (9, None, None, 9.5)]
    spark.createDataFrame([(7, True)], "id BIGINT, more BOOLEAN").write.format("delta").mode("append").option("mergeSchema", "true").saveAsTable("merged")
    spark.sql("INSERT INTO merged VALUES (8, 'h', 80, 8.5, false)")
    assert rows(spark)[3:5] == [(7, None, None, None, True), (8, "h", 80, 8.5, False)]
