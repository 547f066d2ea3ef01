# ctest: TIMEOUT 900
"""Python UDFs of unmodified PySpark, with and without Arrow, against what real Spark 4.2.0 answered (recorded/python_udf.json)."""
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import threading

import pyspark
import pytest
from harness import python_udf_cases as cases
from harness.python_functions import alive, by_value
from harness.waiting import wait_until
from pyspark.errors import PySparkException, PythonException
from pyspark.sql import functions as F
from pyspark.sql.functions import udf

RECORDED = json.loads((pathlib.Path(__file__).parent / "recorded" / "python_udf.json").read_text(encoding="utf-8"))
# Where Thalweg answers otherwise, and why.
DIFFERENT = {
    # Java's texts for arrays are addresses; for dates and times the inside of a calendar.
    ("pickled", "string"): RECORDED["conversions"]["pickled"]["string"][:10] + ["'ab'", "'1.255'", "'12345.6'", "'[1, 2]'", "'[1, 2]'", "'{k=3}'", "'[]'",
                                                                            "UNSUPPORTED_FEATURE.THALWEG: ", "UNSUPPORTED_FEATURE.THALWEG: "],
}
OF_THE_WORKER = {"types_there_and_back", "types_as_python_sees_them", "struct_too_short", "session_time_zone"}
MODES = [(name, kind) for kind in ("pickled", "arrow") for name in cases.all_cases()]


def is_recorded_client():
    return pyspark.__version__.startswith("4.2.")


@pytest.fixture(autouse=True)
def functions_by_value():
    by_value(__name__)
    by_value(cases.__name__)


@pytest.mark.parametrize("name,kind", MODES, ids=lambda v: v)
def test_case_as_recorded(spark, name, kind):
    expected = DIFFERENT.get((kind, name), RECORDED["cases"][kind][name])
    answer = cases.describe(cases.all_cases()[name], spark, kind == "arrow")
    if not is_recorded_client():  # what functions see, and messages, are matters of the client and its worker
        if name in OF_THE_WORKER:
            assert set(answer) == set(expected) or name == "struct_too_short"
            return
        expected, answer = [{k: v for k, v in one.items() if k == "rows"} for one in (expected, answer)]
    assert answer == expected


@pytest.mark.parametrize("type_name", cases.NARROW)
@pytest.mark.parametrize("kind", ["pickled", "arrow"])
def test_results_of_other_types_as_recorded(spark, kind, type_name):
    answer = cases.conversions(spark, kind == "arrow", type_name)
    if not is_recorded_client() and (kind == "arrow" or type_name == "binary"):
        assert len(answer) == len(cases.VALUES)  # what a worker makes of them is its own matter
        return
    assert answer == DIFFERENT.get((kind, type_name), RECORDED["conversions"][kind][type_name])


@pytest.mark.parametrize("arrow", [False, True])
def test_an_exception_without_a_text_that_can_be_sent(spark, arrow):
    def fail(number):
        raise ValueError("\udcff")

    with pytest.raises(PySparkException, match="could not send its text"):
        spark.range(3).select(udf(fail, "string", useArrow=arrow)("id")).collect()


@pytest.mark.parametrize("arrow", [False, True])
def test_the_traceback_is_the_users(spark, arrow):
    def fails(x):
        raise KeyError("no such thing")

    with pytest.raises(PythonException) as raised:
        spark.range(3).select(udf(fails, "int", useArrow=arrow)("id")).collect()
    text = str(raised.value)
    assert "KeyError: 'no such thing'" in text and "in fails" in text
    assert spark.range(1).select(udf(cases.plus_one, "int", useArrow=arrow)("id")).collect()[0][0] in (1, None)


@pytest.mark.parametrize("arrow", [False, True])
def test_a_worker_that_dies_fails_the_query_alone(spark, arrow):
    def dies(x):
        os._exit(3)

    with pytest.raises(PySparkException) as raised:
        spark.range(3).select(udf(dies, "bigint", useArrow=arrow)("id")).collect()
    assert "Python worker exited unexpectedly (crashed)" in str(raised.value)
    assert spark.range(2).select(udf(cases.plus_one, "bigint", useArrow=arrow)("id")).count() == 2


def test_a_hanging_function_holds_nobody_up_and_interrupt_kills_its_worker(spark, tmp_path):
    started = tmp_path / "started"  # a file per worker, its name the process id
    started.mkdir()

    def hangs(x, path=str(started)):
        open(f"{path}/{os.getpid()}", "w").close()
        signal.pause()

    failure = []

    def run():
        spark.addTag("udf")
        try:
            spark.range(0, 16, 1, 16).select(udf(hangs, "bigint", useArrow=False)("id")).collect()
        except PySparkException as error:
            failure.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    wait_until(lambda: list(started.iterdir()), "the function to start")
    assert spark.range(1000).selectExpr("sum(id) AS s").collect()[0].s == 499500
    spark.interruptTag("udf")
    thread.join(60)
    assert not thread.is_alive()
    assert "OPERATION_CANCELED" in str(failure[0])
    wait_until(lambda: not any(alive(int(file.name)) for file in started.iterdir()), "the workers to end")


def test_a_worker_silent_for_too_long(spark):
    spark.conf.set("spark.python.worker.idleTimeoutSeconds", "1")

    def sleeps(x):
        signal.pause()

    with pytest.raises(PySparkException) as raised:
        spark.range(1).select(udf(sleeps, "bigint", useArrow=False)("id")).collect()
    assert "PYTHON_WORKER_TIMEOUT" in str(raised.value)


@pytest.mark.parametrize("arrow", [False, True])
def test_many_rows_in_order(spark, arrow):
    f = udf(cases.plus_one, "bigint", useArrow=arrow)
    rows = spark.range(0, 60000, 1, 3).select("id", f("id").alias("y"), F.repeat(F.lit("x"), 40).alias("pad")).collect()
    assert [r.y for r in rows] == [r.id + 1 for r in rows]
    assert [r.id for r in rows] == list(range(60000))


def test_a_limit_ends_the_worker_early(spark):
    f = udf(cases.plus_one, "bigint", useArrow=False)
    assert len(spark.range(0, 1000000, 1, 1).filter(f("id") > 5).limit(3).collect()) == 3


def explained(frame):
    return frame._explain_string() if hasattr(frame, "_explain_string") else frame._session.client.explain_string(frame._plan.to_proto(frame._session.client), "simple")


def test_explain_names_the_nodes(spark):
    f = udf(cases.plus_one, "bigint", useArrow=False)
    g = udf(cases.plus_one, "bigint", useArrow=True)
    text = explained(spark.range(3).select(f("id"), f(f("id")), g("id")))
    assert re.search(r"BatchEvalPython \[plus_one\(id#\d+L\)#\d+L, plus_one\(plus_one\(id#\d+L\)#\d+L\)#\d+L\], \[pythonUDF0#\d+L, pythonUDF1#\d+L\]", text)
    assert re.search(r"ArrowEvalPython \[plus_one\(id#\d+L\)#\d+L\], \[pythonUDF0#\d+L\], 101", text)


def test_pandas_and_arrow_functions(spark):
    import pandas
    from pyspark.sql.functions import pandas_udf

    @pandas_udf("bigint")
    def doubled(x: pandas.Series) -> pandas.Series:
        return x * 2

    from typing import Iterator

    @pandas_udf("bigint")
    def iterated(batches: Iterator[pandas.Series]) -> Iterator[pandas.Series]:
        for batch in batches:
            yield batch + 100

    @pandas_udf("double")
    def total(x: pandas.Series) -> float:
        return float(x.sum())

    frame = spark.range(0, 25000, 1, 2)
    rows = frame.select("id", doubled("id").alias("d"), iterated("id").alias("i"), doubled(doubled("id")).alias("q")).collect()
    assert all(r.d == 2 * r.id and r.i == r.id + 100 and r.q == 4 * r.id for r in rows) and len(rows) == 25000
    with pytest.raises(PySparkException) as raised:
        frame.agg(total("id")).collect()
    assert raised.value.getCondition() == "UNSUPPORTED_FEATURE.THALWEG"


def test_registered_functions_are_listed(spark, shared_server):
    spark.udf.register("Listed_One", cases.plus_one, "bigint")
    assert spark.catalog.functionExists("listed_one")
    assert "listed_one" in [f.name for f in spark.catalog.listFunctions()]
    assert [r[0] for r in spark.sql("SHOW USER FUNCTIONS").collect()] == ["listed_one"]
    assert not shared_server.session().catalog.functionExists("listed_one")


def test_views_and_files_of_the_session(spark, tmp_path):
    module = tmp_path / "udf_helper_module.py"
    module.write_text("def triple(x):\n    return 3 * x\n")
    spark.addArtifacts(str(module), pyfile=True)

    def uses(x):
        import udf_helper_module
        return udf_helper_module.triple(x)

    spark.range(3).select(udf(uses, "bigint", useArrow=False)("id").alias("t")).createOrReplaceTempView("tripled")
    assert [r.t for r in spark.sql("SELECT t FROM tripled WHERE t > 1 ORDER BY t").collect()] == [3, 6]


def test_statements_that_evaluate_expressions_themselves_refuse_by_name(spark):
    spark.udf.register("refused", cases.plus_one, "bigint")
    spark.range(3).write.format("delta").mode("overwrite").saveAsTable("udf_statements")
    for statement in ("UPDATE udf_statements SET id = refused(id)", "DELETE FROM udf_statements WHERE refused(id) = 1",
                      "SELECT * FROM VALUES (refused(1))"):
        with pytest.raises(PySparkException) as raised:
            spark.sql(statement).collect()
        assert raised.value.getCondition() == "UNSUPPORTED_FEATURE.THALWEG", statement
    spark.sql("INSERT INTO udf_statements SELECT refused(id) + 10 FROM range(2)")
    assert sorted(r.id for r in spark.table("udf_statements").collect()) == [0, 1, 2, 11, 12]


@pytest.mark.parametrize("use_arrow", [False, True])
def test_a_crash_tells_how_and_what_was_printed(spark, use_arrow):
    def leaves(x):
        os.write(2, b"the reason")
        os._exit(3)

    def crashes(x):
        os.kill(os.getpid(), signal.SIGSEGV)

    for function, told in ((leaves, "(crashed): exit status 3\nthe reason"), (crashes, "(crashed): signal 11 (Segmentation fault)")):
        with pytest.raises(PySparkException) as raised:
            spark.range(1).select(udf(function, "int", useArrow=use_arrow)("id")).collect()
        assert raised.value.getCondition() == "PYTHON_WORKER_CRASHED"
        assert told in str(raised.value)
    assert "the reason" not in str(raised.value)


def test_what_one_session_prints_is_told_to_no_other(server, tmp_path):
    printed = str(tmp_path / "printed")
    os.mkfifo(printed)

    def prints(x):
        os.write(2, b"alice's secret\n")
        with open(printed, "w", encoding="ascii"):  # waits for the one who reads
            return os.getpid()

    def leaves(x):
        with open(printed, encoding="ascii"):  # waits for the one who prints
            os._exit(3)

    def run(session, function):
        return session.range(1).select(udf(function, "bigint", useArrow=False)("id")).collect()[0][0]

    alice, *others = [pyspark.sql.SparkSession.builder.remote(f"{server.url}/;user_id={user}").create() for user in ("alice", "bob", "alice")]
    with concurrent.futures.ThreadPoolExecutor() as threads:
        for other in others:
            failure = threads.submit(run, other, leaves)
            pid = run(alice, prints)
            with pytest.raises(PySparkException) as raised:
                failure.result()
            assert raised.value.getCondition() == "PYTHON_WORKER_CRASHED"
            assert "exit status 3" in str(raised.value)
            assert "secret" not in str(raised.value)
    # What has run alice's functions runs nobody else's.
    pids = [run(session, lambda x: os.getpid()) for session in (*others, alice)]
    assert pid not in pids[:2]
    assert pid == pids[2]
    for session in (alice, *others):
        session.stop()
