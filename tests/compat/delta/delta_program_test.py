# ctest: TIMEOUT 600
"""The program of this folder gives what real Spark 4.2.0 with Delta 4.4.0 gave, outcome by outcome; our checkpoints of Delta streams hold
the offsets that Spark's hold."""
import json
import os

import pytest
from harness.recorded import Listener, Recording, load_beside, utc_session

SAMPLES = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "delta"))

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


RECORDING = Recording(__file__, OTHERWISE)


@pytest.fixture(scope="module")
def outcomes(shared_server, tmp_path_factory):
    root = tmp_path_factory.mktemp("delta")
    heard = Listener(root)
    load_beside(__file__, "program").run(utc_session(shared_server), root, SAMPLES, heard)
    return dict(heard.outcomes())


def in_order(value):
    """The properties that a history tells, by name: their order is not promised."""
    if isinstance(value, list):
        return [in_order(item) for item in value]
    if isinstance(value, dict) and isinstance(value.get("properties"), str):
        told = json.loads(value["properties"])
        return {**value, "properties": sorted(told.items()) if isinstance(told, dict) else sorted(told)}
    return value


@pytest.mark.parametrize("label", [label for _, label in RECORDING.labels()])
def test_outcome(outcomes, label):
    assert in_order(outcomes[label]) == in_order(RECORDING.expected(label))


def test_nothing_is_said_to_differ_that_does_not():
    RECORDING.check_others()
