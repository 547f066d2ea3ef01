# ctest: TIMEOUT 600
"""Tables that Spark wrote (tests/delta), changed here by INSERT, DELETE, UPDATE, MERGE, OPTIMIZE and RESTORE: after each statement the rows are those of a
naive evaluation, and delta-rs reads the last ones; a table that we may not change is refused by name and stays as it was.

TW_CHANGED_OUT: a folder to leave the changed tables in, for `samples_changed.py read` with real Spark.
"""
import collections
import json
import os

import deltalake
import pytest
from harness.recorded import load_beside

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "delta")
program = load_beside(__file__, "samples_changed")


def plain(texts):
    return [json.loads(text, parse_float=str) for text in texts]


def counted(rows):
    return collections.Counter(json.dumps(row, sort_keys=True) for row in rows)


def evaluated(label, rows, key, first, columns):
    """What a statement of samples_changed.py makes of rows; `first`: those of the version that RESTORE goes back to."""
    if label == "insert":
        return rows + rows
    if label == "delete":
        return [row for row in rows if row[key] is None or row[key] % 3 != 0]
    if label == "update":
        return [{**row, key: row[key] + 100} if row[key] is not None and row[key] % 3 == 1 else row for row in rows]
    if label == "merge":
        told = {row[key] for row in rows}
        kept = [{**row, key: 1101} if row[key] == 101 else row for row in rows if row[key] != 2]
        return kept + [{**dict.fromkeys(columns), key: k} for k in (2, 101, 999) if k not in told]
    if label == "optimize":
        return rows
    if label == "restore":
        return first
    return [row for row in rows if row[key] is None or row[key] >= 3]


@pytest.fixture(scope="module")
def session(shared_server):
    spark = shared_server.session()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    return spark


# Their first column is no number; the files of the clone lie in another table's folder, which is not there.
OTHERS = {"generated", "types", "shallow_clone"}


@pytest.mark.parametrize("name", [name for name in program.samples_of(SAMPLES) if name not in OTHERS])
def test_changed(session, tmp_path, name):
    path = os.path.join(os.environ.get("TW_CHANGED_OUT") or tmp_path, name)
    got = []
    program.change(session, SAMPLES, name, path, lambda _, label, outcome: got.append((label, outcome)))
    if isinstance(got[0][1], dict):
        assert got[0][1]["error"].startswith(("DELTA_UNSUPPORTED_FEATURES_FOR_READ", "DELTA_INVALID_PROTOCOL_VERSION", "UNSUPPORTED_FEATURE")), got
        return
    first = rows = plain(got[0][1])
    columns = session.read.format("delta").load(path).columns
    key = columns[0]
    refused = [label for label, outcome in got if isinstance(outcome, dict)]
    for label, outcome in got[1:]:
        if label not in refused:
            rows = evaluated(label, rows, key, first, columns)
            assert counted(plain(outcome)) == counted(rows), label
    assert counted(plain(program.rows_of(session, path))) == counted(rows)
    if refused:
        assert all(outcome["error"].startswith(("DELTA_", "UNSUPPORTED_FEATURE")) for _, outcome in got if isinstance(outcome, dict)), got
    keep_for_spark(name, program.rows_of(session, path))
    if name.startswith("colmap"):
        return  # delta-rs reads columns under other names as null
    try:
        keys = deltalake.DeltaTable(path).to_pyarrow_table(columns=[key]).column(key).to_pylist()
    except Exception as error:  # what delta-rs has not is not our fault
        assert any(word in str(error).lower() for word in ("unsupported", "not supported", "feature", "version")), error
        return
    assert collections.Counter(keys) == collections.Counter(row[key] for row in rows)


def keep_for_spark(name, rows):
    out = os.environ.get("TW_CHANGED_OUT")
    if not out:
        return
    place = os.path.join(out, "rows.json")
    told = json.load(open(place, encoding="utf-8")) if os.path.exists(place) else {}
    told[name] = rows
    with open(place, "w", encoding="utf-8") as file:
        json.dump(told, file)
