"""Views that would be made of themselves: refused, as Spark 4.2.0 refuses them, and the view stays what it was."""
import pytest
from pyspark.errors import PySparkException

CATALOGUE = "`spark_catalog`.`default`."


def refused(spark, statement):
    with pytest.raises(PySparkException) as raised:
        spark.sql(statement)
    assert raised.value.getCondition() == "RECURSIVE_VIEW", statement
    return raised.value.getMessageParameters()


def cycle(*names, prefix=CATALOGUE):
    quoted = [f"{prefix}`{name}`" for name in names]
    return {"viewIdent": quoted[0], "newPath": " -> ".join(quoted)}


@pytest.mark.parametrize("statement", [
    "ALTER VIEW v AS SELECT * FROM v",
    "CREATE OR REPLACE VIEW v AS SELECT * FROM v",
    "CREATE OR REPLACE VIEW V AS SELECT a FROM default.V",
    "CREATE OR REPLACE VIEW v(b) AS SELECT a + 1 AS c FROM (SELECT * FROM v) AS x",
    "CREATE OR REPLACE VIEW v AS WITH c AS (SELECT * FROM v) SELECT * FROM c",
    "CREATE OR REPLACE VIEW v AS WITH b AS (SELECT 1 AS a), c AS (SELECT * FROM v) SELECT * FROM b",
    "ALTER VIEW v AS SELECT 2 AS a UNION ALL SELECT a FROM spark_catalog.default.v"])
def test_a_view_of_the_catalogue_is_not_made_of_itself(server, statement):
    spark = server.session()
    spark.sql("CREATE VIEW v AS SELECT 1 AS a")
    assert refused(spark, statement) == cycle("v", "v")
    assert [row.a for row in spark.table("v").collect()] == [1]


def test_a_view_of_the_catalogue_is_not_made_of_itself_through_others(server):
    spark = server.session()
    for name, query in [("x1", "SELECT 1 AS a"), ("x2", "SELECT * FROM x1"), ("x3", "SELECT x2.a FROM (SELECT 1 AS a) y JOIN x2 ON y.a = x2.a")]:
        spark.sql(f"CREATE VIEW {name} AS {query}")
    assert refused(spark, "ALTER VIEW x1 AS SELECT * FROM x2") == cycle("x1", "x2", "x1")
    assert refused(spark, "CREATE OR REPLACE VIEW x1 AS SELECT * FROM x3") == cycle("x1", "x3", "x2", "x1")
    assert [row.a for row in spark.table("x3").collect()] == [1]
    spark.sql("CREATE OR REPLACE VIEW x2 AS SELECT 5 AS a")
    spark.sql("CREATE OR REPLACE VIEW x1 AS SELECT * FROM x3")
    assert [row.a for row in spark.table("x1").collect()] == []


def test_a_named_subquery_of_the_views_name_is_not_the_view(server):
    spark = server.session()
    spark.sql("CREATE VIEW v AS SELECT 1 AS a")
    spark.sql("CREATE OR REPLACE VIEW v AS WITH v AS (SELECT 2 AS a) SELECT * FROM v")
    assert [row.a for row in spark.table("v").collect()] == [2]
    spark.sql("CREATE TEMP VIEW v AS SELECT * FROM default.v")
    spark.sql("CREATE OR REPLACE TEMP VIEW v AS SELECT a + 2 AS a FROM default.v")
    assert [row.a for row in spark.table("v").collect()] == [4]


def test_a_temporary_view_is_not_made_of_itself(server):
    spark = server.session()
    spark.sql("CREATE TEMP VIEW v AS SELECT 1 AS a")
    spark.sql("CREATE TEMP VIEW w AS SELECT * FROM v")
    for query, path in [("SELECT a + 1 AS a FROM v", ["v", "v"]), ("SELECT a + 1 AS a FROM w", ["v", "w", "v"])]:
        assert refused(spark, f"CREATE OR REPLACE TEMP VIEW v AS {query}") == cycle(*path, prefix="")
        assert refused(spark, f"ALTER VIEW v AS {query}") == cycle(*path, prefix="")
    assert [row.a for row in spark.table("w").collect()] == [1]


def test_a_global_view_is_not_made_of_itself(server):
    spark = server.session()
    spark.sql("CREATE GLOBAL TEMP VIEW g AS SELECT 1 AS a")
    expected = {"viewIdent": "`global_temp`.`g`", "newPath": "`global_temp`.`g` -> `global_temp`.`g`"}
    assert refused(spark, "CREATE OR REPLACE GLOBAL TEMP VIEW g AS SELECT a + 1 AS a FROM global_temp.g") == expected
    assert refused(spark, "ALTER VIEW global_temp.g AS SELECT a + 1 AS a FROM global_temp.g") == expected
    spark.sql("ALTER VIEW global_temp.g AS SELECT 7 AS a")
    assert [row.a for row in spark.table("global_temp.g").collect()] == [7]
    spark.sql("DROP VIEW global_temp.g")


def test_a_dataframe_may_replace_the_view_it_came_from(server):
    spark = server.session()
    spark.range(2).createOrReplaceTempView("d")
    spark.table("d").selectExpr("id + 10 AS id").createOrReplaceTempView("d")
    assert sorted(row.id for row in spark.table("d").collect()) == [10, 11]
