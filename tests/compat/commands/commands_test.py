# ctest: TIMEOUT 300
"""The statements, catalogue calls and DataFrame functions of program.py give what real Spark 4.2.0 gave, outcome by outcome."""
import json
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import program  # noqa: E402

# Where we answer otherwise, and why: other.json maps a label, or label and turn ("show views #2"), to a reason and our answer.
with open(os.path.join(HERE, "other.json"), encoding="utf-8") as file:
    OTHER = json.load(file)


def numbered(pairs):
    """Labels come again: the second time as "label #2"."""
    times = {}
    for label, outcome in pairs:
        times[label] = times.get(label, 0) + 1
        yield (label if times[label] == 1 else f"{label} #{times[label]}"), outcome


def recorded():
    with open(os.path.join(HERE, "recorded.jsonl"), encoding="utf-8") as file:
        assert json.loads(next(file))["spark"] == "4.2.0"
        return list(numbered(json.loads(line) for line in file))


@pytest.fixture(scope="module")
def outcomes(shared_server, tmp_path_factory):
    told = []
    spark = shared_server.session()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    program.run(spark, tmp_path_factory.mktemp("commands"), os.path.join(shared_server.folder, "spark-warehouse"),
                lambda label, outcome: told.append((label, json.loads(json.dumps(outcome)))))
    return list(numbered(told))


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
