# ctest: TIMEOUT 600
"""MERGE, UPDATE and DELETE answer what real Spark 4.2.0 with Delta 4.4.0 answered: rows, tables, conditions, commits (cases.py, recorded.json)."""
import json
import os
import re

import pytest
from harness.recorded import load_beside

HERE = os.path.dirname(os.path.abspath(__file__))

with open(os.path.join(HERE, "recorded.json"), encoding="utf-8") as file:
    RECORDED = json.load(file)
NAMES = [name for name, _, _ in load_beside(__file__, "cases").CASES if name in RECORDED]

# Metrics that depend on how rows are spread over files (Spark's INSERT made a file of each row), not on the statement.
SPREAD = {"numTargetFilesAdded", "numAddedFiles", "numFiles", "numTargetFilesRemoved", "numRemovedFiles", "numTargetRowsCopied", "numCopiedRows", "numOutputRows"}


# Where we answer otherwise, and why: Spark's optimizer takes rows with a null key away before Delta counts the source's rows.
OTHERWISE = {"null_keys": {"numSourceRows": "1"}}


@pytest.fixture(scope="module")
def answers(shared_server):
    spark = shared_server.session()
    warehouse = os.path.join(shared_server.folder, "spark-warehouse")
    return json.loads(json.dumps(load_beside(__file__, "record").run(spark, lambda table: os.path.join(warehouse, table), {})))


# The client hears what failed, not that a task which wrote did.
CAUSES = {"TASK_WRITE_FAILED": "CAST_INVALID_INPUT"}


def condition(step):
    """Real PySpark fails to look some of Delta's conditions up, or gives the JVM's error as it is: the name is in what it says."""
    error = step.get("error", {})
    lost = re.search(r"Cannot find main error class '(\w+)'", error.get("message", "")) or (
        error.get("class") == "Py4JJavaError" and re.search(r"\[([A-Z_.]+)\]", error["message"]))
    return CAUSES.get(lost.group(1), lost.group(1)) if lost else error.get("condition")


def commits(step):
    out = []
    for commit in step["commits"]:
        kinds = [kind for kind in commit["kinds"] if kind not in ("add", "remove")]
        metrics = {key: value for key, value in commit["metrics"].items() if key not in SPREAD}
        clauses = {key: [clause.get("actionType") for clause in json.loads(value)] for key, value in commit["parameters"].items() if key.endswith("Predicates")}
        out.append({"operation": commit["operation"], "metrics": metrics, "clauses": clauses, "blind": commit["blind"], "kinds": sorted(kinds),
                    "removes": "remove" in commit["kinds"]})
    return out


@pytest.mark.parametrize("name", NAMES)
def test_case(answers, name):
    for got, wanted in zip(answers[name], RECORDED[name], strict=True):
        assert condition(got) == condition(wanted), got
        assert got["table"] == wanted["table"]
        assert got["table_schema"] == wanted["table_schema"]
        if "error" in wanted:
            continue
        if not got["statement"].startswith(("SET ", "RESET ")):
            assert (got["schema"], got["rows"]) == (wanted["schema"], wanted["rows"])
        wanted_commits = commits(wanted)
        for commit in wanted_commits:
            commit["metrics"].update(OTHERWISE.get(name, {}))
        assert commits(got) == wanted_commits
