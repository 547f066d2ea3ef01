"""spark.catalog, and the SQL of databases, tables and views."""
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Row


def test_a_fresh_catalog(spark):
    assert spark.catalog.currentDatabase() == "default"
    assert spark.catalog.currentCatalog() == "spark_catalog"
    assert [d.name for d in spark.catalog.listDatabases()] == ["default"]
    assert [c.name for c in spark.catalog.listCatalogs()] == ["spark_catalog"]
    assert spark.catalog.databaseExists("default")
    assert not spark.catalog.databaseExists("nope")
    assert not spark.catalog.tableExists("nope")
    assert spark.catalog.functionExists("abs")


def test_databases(spark):
    spark.sql("create database sales comment 'orders' location 'sales-place'")
    assert [r.namespace for r in spark.sql("show databases").collect()] == ["default", "sales"]
    with pytest.raises(AnalysisException) as error:
        spark.sql("create database sales")
    assert error.value.getCondition() == "SCHEMA_ALREADY_EXISTS"
    spark.sql("create database if not exists sales")
    spark.sql("use sales")
    assert spark.catalog.currentDatabase() == "sales"
    spark.catalog.setCurrentDatabase("default")
    described = dict(tuple(r) for r in spark.sql("describe database extended sales").collect())
    assert described["Namespace Name"] == "sales" and described["Comment"] == "orders"
    spark.sql("drop database sales")
    with pytest.raises(AnalysisException) as error:
        spark.sql("use sales")
    assert error.value.getCondition() == "SCHEMA_NOT_FOUND"


def test_names_are_no_paths(spark):
    for statement in ("create database `../x`", "create table `..` (a int) using delta", "create table `a/b` (a int) using delta"):
        with pytest.raises(AnalysisException) as error:
            spark.sql(statement)
        assert error.value.getCondition() == "INVALID_SCHEMA_OR_RELATION_NAME"


def test_a_dropped_database_leaves_what_is_not_its_own(spark, tmp_path):
    (tmp_path / "precious").write_text("mine")
    spark.sql(f"create database elsewhere location '{tmp_path}'")
    spark.sql("create table elsewhere.t (a int) using delta")
    spark.sql("drop database elsewhere cascade")
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


def test_temporary_views(spark):
    spark.range(3).createTempView("v")
    with pytest.raises(AnalysisException) as error:
        spark.range(3).createTempView("v")
    assert error.value.getCondition() == "TEMP_TABLE_OR_VIEW_ALREADY_EXISTS"
    assert [(t.name, t.tableType, t.isTemporary) for t in spark.catalog.listTables()] == [("v", "TEMPORARY", True)]
    assert spark.catalog.tableExists("v")
    assert [(c.name, c.dataType, c.nullable) for c in spark.catalog.listColumns("v")] == [("id", "bigint", False)]
    assert [tuple(r) for r in spark.sql("show tables").collect()] == [("", "v", True)]
    assert [tuple(r) for r in spark.sql("describe v").collect()] == [("id", "bigint", None)]
    assert spark.catalog.dropTempView("v")
    assert not spark.catalog.dropTempView("v")
    spark.sql("create temp view w(x) as select 1")
    assert spark.table("w").collect() == [Row(x=1)]
    spark.sql("drop view w")


def test_global_temporary_views(shared_server):
    one, other = shared_server.session(), shared_server.session()
    one.range(2).createGlobalTempView("shared")
    assert other.table("global_temp.shared").count() == 2
    assert other.catalog.dropGlobalTempView("shared")
    with pytest.raises(AnalysisException):
        one.table("global_temp.shared").count()
    shared_server.close_sessions()


def test_persistent_views_remember_their_settings(spark):
    spark.conf.set("spark.sql.ansi.enabled", "false")
    spark.sql("create view wrong as select cast('x' as int) as n")
    spark.conf.set("spark.sql.ansi.enabled", "true")
    assert spark.table("wrong").collect() == [Row(n=None)]
    spark.sql("create or replace view wrong as select 5 as n")
    assert spark.table("wrong").collect() == [Row(n=5)]
    spark.range(1).createTempView("t")
    with pytest.raises(AnalysisException) as error:
        spark.sql("create view persistent as select * from t")
    assert error.value.getCondition() == "INVALID_TEMP_OBJ_REFERENCE"
    spark.sql("drop view wrong")
    with pytest.raises(AnalysisException):
        spark.table("wrong").collect()


def test_missing_tables_have_sparks_words(spark):
    for text in ("drop table nope", "describe nope", "insert into nope values (1)", "select * from nope"):
        with pytest.raises(AnalysisException) as error:
            spark.sql(text)
        assert error.value.getCondition() == "TABLE_OR_VIEW_NOT_FOUND"
    spark.sql("drop table if exists nope")


def test_views_survive_a_restart(server):
    server.session().sql("create view kept as select 7 as n")
    server.restart()
    assert server.session().table("kept").collect() == [Row(n=7)]


def test_functions_are_listed(spark):
    assert "abs" in [f.name for f in spark.catalog.listFunctions(pattern="ab*")]
    assert [r.function for r in spark.sql("show functions like 'abs'").collect()] == ["abs"]
    assert spark.sql("describe function abs").collect()[0][0] == "Function: abs"


def test_explain_in_sql(spark):
    assert "== Physical Plan ==" in spark.sql("explain select 1").collect()[0].plan


def test_tables_by_their_path_are_written_to(spark, tmp_path):
    table = f"delta.`{tmp_path}/t`"
    spark.sql(f"CREATE TABLE {table} (id INT, k STRING) USING delta PARTITIONED BY (k)")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')")
    spark.sql(f"INSERT INTO {table} (k, id) VALUES ('c', 3)")
    spark.createDataFrame([(4, "d")], "id INT, k STRING").write.insertInto(table)
    assert sorted(tuple(row) for row in spark.table(table).collect()) == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]
    spark.sql(f"INSERT OVERWRITE {table} VALUES (9, 'z')")
    assert [tuple(row) for row in spark.table(table).collect()] == [(9, "z")]
    for text in (f"INSERT INTO delta.`{tmp_path}/nowhere` VALUES (1, 'a')", f"INSERT INTO {table} VALUES (1)"):
        with pytest.raises(AnalysisException):
            spark.sql(text)
    assert not (tmp_path / "nowhere").exists()
