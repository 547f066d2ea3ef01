# ctest: TIMEOUT 600
"""The program of this folder gives what real Spark 4.2.0 with Delta 4.4.0 gave, outcome by outcome; our checkpoints of Delta streams hold
the offsets that Spark's hold."""
import importlib.util
import json
import os

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "delta")

# Where we answer otherwise, and why.
OTHERWISE = {
    # Delta's builder does not replace what only a location names; ours does what its documentation says.
    "create or replace": None,
    "replaced schema": {"type": "struct", "fields": [{"name": "k", "type": "long", "nullable": True, "metadata": {}},
                                                      {"name": "v", "type": "string", "nullable": True, "metadata": {}}]},
    "replaced protocol": [1, 2, ["appendOnly", "invariants"], {"other": "2"}, []],
    "builder history": [[1, "CREATE OR REPLACE TABLE", {"clusterBy": "[]", "description": None, "isManaged": "false", "partitionBy": "[]",
                         "properties": '{"other":"2"}'}, 0, "Serializable", False, []],
                        [0, "CREATE TABLE", {"clusterBy": "[]", "description": None, "isManaged": "false", "partitionBy": '["p"]',
                         "properties": '{"delta.appendOnly":"true","mine":"1"}'}, None, "Serializable", True, []]],
    # The rows of a local frame are one task here and two in Spark.
    "detail by name": {"name": "spark_catalog.default.delta_program_table", "format": "delta", "numFiles": 1},
    # A first micro-batch without rows makes durable where "latest" was: a stream that ended, or crashed, before it saw a row goes on from there.
    'stream plain {"startingVersion": "latest"}': {"offsets": [[1, 10, -1, False]], "rows": []},
    # Over Connect forName and forPath ask nobody; the read that follows names what is missing.
    "no such name": {"error": "TABLE_OR_VIEW_NOT_FOUND"},
    "no such path": {"error": "PATH_NOT_FOUND"},
}


@pytest.fixture(scope="module")
def outcomes(shared_server, tmp_path_factory):
    spec = importlib.util.spec_from_file_location("delta_program", os.path.join(HERE, "program.py"))
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    root = tmp_path_factory.mktemp("delta")
    spark = shared_server.session()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    got = {}

    def heard(label, value):
        assert label not in got
        got[label] = json.loads(json.dumps(value).replace(str(root), "ROOT"))

    program.run(spark, root, SAMPLES, heard)
    return got


def recorded():
    with open(os.path.join(HERE, "recorded.jsonl"), encoding="utf-8") as file:
        assert json.loads(next(file))["spark"] == "4.2.0"
        return [tuple(json.loads(line)) for line in file]


def in_order(value):
    """The properties that a history tells, by name: their order is not promised."""
    if isinstance(value, list):
        return [in_order(item) for item in value]
    if isinstance(value, dict) and isinstance(value.get("properties"), str):
        told = json.loads(value["properties"])
        return {**value, "properties": sorted(told.items()) if isinstance(told, dict) else sorted(told)}
    return value


RECORDED = dict(recorded())


@pytest.mark.parametrize("label", RECORDED)
def test_outcome(outcomes, label):
    assert in_order(outcomes[label]) == in_order(OTHERWISE.get(label, RECORDED[label]))
