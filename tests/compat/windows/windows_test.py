# ctest: TIMEOUT 300
"""Window functions in SQL and in PySpark give what real Spark 4.2.0 gave: names, types, rows and refusals of program.py, outcome by outcome."""
import json
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import program  # noqa: E402

# Where we answer otherwise, and why: other.json maps a label to a reason and our answer.
with open(os.path.join(HERE, "other.json"), encoding="utf-8") as file:
    OTHER = json.load(file)


def recorded():
    with open(os.path.join(HERE, "recorded.jsonl"), encoding="utf-8") as file:
        assert json.loads(next(file))["spark"] == "4.2.0"
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def outcomes(shared_server):
    told = []
    spark = shared_server.session()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    program.run(spark, lambda label, outcome: told.append((label, json.loads(json.dumps(outcome)))))
    return told


@pytest.mark.parametrize("index, label", [(i, label) for i, (label, _) in enumerate(recorded())])
def test_outcome(outcomes, index, label):
    got_label, got = outcomes[index]
    assert got_label == label
    expected = OTHER[label]["ours"] if label in OTHER else recorded()[index][1]
    assert got == expected


def test_nothing_is_said_to_differ_that_does_not():
    told = dict(recorded())
    for label, entry in OTHER.items():
        assert entry["why"] and told[label] != entry["ours"], label
