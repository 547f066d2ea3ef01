"""Statements and plans that nobody means well with: each gets a named error, and the server lives on."""
import os
import resource

import grpc
import pytest
from harness.connect_client import Client, condition, sql
from harness.thalweg_server import ThalwegServer
from pyspark.errors import PySparkException
from pyspark.sql.connect.proto import base_pb2


@pytest.fixture
def client(shared_server):
    one = Client(shared_server)
    yield one
    one.close()


def fails(client, plan):
    with pytest.raises(grpc.RpcError) as error:
        list(client.execute(sql(plan) if isinstance(plan, str) else plan, reattachable=False))
    return condition(error)


# Plans over literals alone look resolved before anybody has checked them.
@pytest.mark.parametrize("text, expected", [
    ("SELECT CAST(true AS ARRAY<STRING>) AS r", "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION"),
    ("SELECT TRY_CAST(true AS BINARY) AS r", "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION"),
    ("SELECT 1 AS x FROM range(2) LIMIT 'a'", "INVALID_LIMIT_LIKE_EXPRESSION.DATA_TYPE"),
    ("SELECT 1 AS x FROM range(2) WHERE 5", "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN"),
    ("SELECT 1 AS x FROM range(2) ORDER BY 5", "ORDER_BY_POS_OUT_OF_RANGE"),
])
def test_literal_plans_are_analysed(client, text, expected):
    assert fails(client, text) == expected


def test_schema_of_a_number(client):
    assert list(client.execute(sql("SELECT schema_of_json(5)"), reattachable=False))


@pytest.mark.parametrize("text, expected", [
    ("SELECT schema_of_json(array(1))", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"),
    ("SELECT timestampdiff(array(1), 1, 2)", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"),
    ("SELECT timestampadd(array(1), 1, now())", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"),
    ("SELECT extract(array(1), now())", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"),
    ("SELECT to_binary('a', array(1))", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"),
    ("SELECT schema_of_json('1', map('a', array(1)))", "INVALID_OPTIONS.NON_STRING_TYPE"),
    ("SELECT percentile(id, make_interval(1)) FROM range(2)", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"),
    ("SELECT uuid(array(1))", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"),
])
def test_constant_arguments_of_the_wrong_type(client, text, expected):
    assert fails(client, text) == expected


@pytest.mark.parametrize("text", ["SELECT ceil(1, -2147483648)", "SELECT floor(1.5BD, -2147483648), round(5, -2147483647)"])
def test_places_far_away(client, text):
    assert list(client.execute(sql(text), reattachable=False))


@pytest.mark.parametrize("text", [
    "SELECT id FROM range(4) ORDER BY max(3)",
    "SELECT id FROM range(4) ORDER BY avg(id)",
])
def test_aggregates_where_no_node_computes_them(client, text):
    assert fails(client, text) in ("UNSUPPORTED_EXPR_FOR_OPERATOR", "MISSING_GROUP_BY")


def ordered_column(name):
    plan = base_pb2.Plan()
    project = plan.root.project
    project.input.range.end = 3
    project.input.range.step = 1
    project.expressions.add().sort_order.child.unresolved_attribute.unparsed_identifier = name
    return plan


def test_an_order_is_no_column(client):
    assert fails(client, ordered_column("id")) == "UNSUPPORTED_EXPR_FOR_OPERATOR"


def test_metrics_are_aggregates(client):
    plan = base_pb2.Plan()
    metrics = plan.root.collect_metrics
    metrics.name = "m"
    metrics.input.range.end = 3
    metrics.input.range.step = 1
    metrics.metrics.add().unresolved_attribute.unparsed_identifier = "id"
    assert fails(client, plan) == "INVALID_OBSERVED_METRICS.NON_AGGREGATE_FUNC_ARG_IS_ATTRIBUTE"


def test_local_data_that_is_no_arrow_stream(client):
    for data in (b"\xff\xff\xff\xff\xd8\x00\x00\x00abc", b"abcdefgh" * 10):
        plan = base_pb2.Plan()
        plan.root.local_relation.data = data
        assert fails(client, plan) == "CONNECT_INVALID_PLAN.ASSERTION_FAILURE"


def test_matches_that_take_too_long_or_too_deep(spark):
    deep = spark.sql("select repeat('a', 100000) rlike '^(a|b)*c?$' as r, regexp_replace(repeat('ab', 100000), '(a|b)*', 'x') as s")
    assert deep.collect()[0] == (True, "xx")
    with pytest.raises(PySparkException) as error:
        spark.sql("select concat(repeat('a', 60), '!') rlike '^(a|aa)*$'").collect()
    assert error.value.getCondition() == "REGEX_TOO_COMPLEX"


TOO_MUCH_MEMORY = ("select length(repeat('abcdefgh', 2147483647))", "select length(space(2147483647))",
                   "select length(lpad('a', 2147483647, 'b'))", "select length(rpad('a', 2147483646, 'bc'))",
                   "select size(array_repeat(repeat('x', 1000), 100000000))", "select length(hex(repeat('a', 300000000)))",
                   "select length(replace(repeat('a', 50000), 'a', repeat('b', 50000)))")
# What the program's own operator new refuses; a sanitizer's build has the sanitizer's.
TOO_MUCH_BY_NEW = ("select size(sequence(1, 2000000000))", "select size(collect_list(id)) from range(200000000)")


def test_too_much_memory_fails_the_query_alone(tmp_path):
    server = ThalwegServer(tmp_path, conf={"thalweg.memory.limit": "400m"}).start()
    try:
        spark = server.session()
        for text in TOO_MUCH_MEMORY + (() if os.environ.get("TW_SANITIZE") else TOO_MUCH_BY_NEW):
            with pytest.raises(PySparkException) as error:
                spark.sql(text).collect()
            assert error.value.getCondition() == "OUT_OF_MEMORY", text
            assert spark.range(3).count() == 3
    finally:
        assert server.stop() == 0


def test_long_lists_of_constants(spark):
    values = ",".join(map(str, range(50_000)))
    assert spark.sql(f"select count(*) from range(100000) where id in ({values})").collect()[0][0] == 50_000


def test_pipes_are_not_read(spark, tmp_path):
    (tmp_path / "in").mkdir()
    os.mkfifo(tmp_path / "in" / "pipe.txt")
    with pytest.raises(PySparkException, match="pipe.txt"):
        spark.read.text(str(tmp_path / "in")).collect()


def test_thousands_of_csv_columns(spark, tmp_path):
    (tmp_path / "wide.csv").write_text(",".join(f"c{i}" for i in range(5000)) + "\n" + ",".join("1" for _ in range(5000)) + "\n")
    frame = spark.read.option("header", "true").csv(str(tmp_path / "wide.csv"))
    assert len(frame.columns) == 5000
    (tmp_path / "twice.csv").write_text("a,b,A\n1,2,3\n")
    assert spark.read.option("header", "true").csv(str(tmp_path / "twice.csv")).columns == ["a0", "b", "A2"]


def test_names_that_use_names_twice(client):
    steps = ", ".join(f"c{i} as (select a.x from c{i - 1} a join c{i - 1} b on true)" for i in range(1, 40))
    assert fails(client, f"with c0 as (select 1 x), {steps} select count(*) from c39") == "UNSUPPORTED_FEATURE.THALWEG"


def test_windows_that_overlap_without_end(spark):
    with pytest.raises(PySparkException) as error:
        spark.sql("select window(timestamp_seconds(id), '1 hour', '1 microsecond') as w from range(1)").collect()
    assert error.value.getCondition() == "UNSUPPORTED_FEATURE.THALWEG"


@pytest.mark.parametrize("damage", ['{"add":', '{"add":{"path":"x","size":-5}}', '{"protocol":{"minReaderVersion":99,"minWriterVersion":-1}}'])
def test_a_damaged_delta_log_is_named(spark, tmp_path, damage):
    table = str(tmp_path / "t")
    spark.range(3).write.format("delta").save(table)
    log = tmp_path / "t" / "_delta_log" / "00000000000000000001.json"
    log.write_text(damage + "\n")
    for act in (lambda: spark.read.format("delta").load(table).count(),
                lambda: spark.range(1).write.format("delta").mode("append").save(table)):
        with pytest.raises(PySparkException, match="00000000000000000001.json") as error:
            act()
        assert error.value.getCondition() == "DELTA_LOG_DAMAGED"


@pytest.mark.parametrize("path", ["", "\x00", "a\x00b"])
def test_paths_that_name_no_file(spark, path):
    with pytest.raises(PySparkException):
        spark.read.text(path).collect()
    with pytest.raises(PySparkException):
        spark.range(1).selectExpr("'x' as v").write.text(path)


def test_a_file_size_limit_fails_the_write_alone(server, tmp_path):
    spark = server.session()
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (100_000, 100_000))
    with pytest.raises(PySparkException, match="File too large"):
        spark.range(1_000_000).selectExpr("id", "uuid() as u").write.format("delta").save(str(tmp_path / "t"))
    assert spark.range(3).count() == 3
