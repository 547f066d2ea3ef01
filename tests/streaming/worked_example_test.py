"""The worked example on a real broker: 200,000 clicks, some late, against a naive count; read back by delta-rs.

# ctest: TIMEOUT 300 LABELS broker
"""
import collections
import datetime
import json
import os
import pathlib
import random
import sys

import deltalake
from harness import checkpoint_compare as compare
from harness.spark_checkpoints import GOLDENS
from harness.thalweg_server import run_thalweg

ROOT = pathlib.Path(os.environ["TW_SOURCE_DIR"])
START = datetime.datetime(2024, 3, 1, 10, tzinfo=datetime.timezone.utc)
EVENTS = 200_000
MINUTES = 120
PAGES = [f"page-{i}" for i in range(20)]


def clicks(seed):
    """In order of sending; one in ten is late by up to eight minutes, inside of what the watermark allows."""
    chance = random.Random(seed)
    for i in range(EVENTS):
        when = START + datetime.timedelta(seconds=i * MINUTES * 60 / EVENTS)
        if chance.random() < 0.1:
            when -= datetime.timedelta(seconds=chance.randrange(480))
        yield chance.choice(PAGES), f"user-{chance.randrange(1000)}", when


def window_of(when):
    return when - datetime.timedelta(minutes=when.minute % 5, seconds=when.second, microseconds=when.microsecond)


def message(page, user, when):
    return json.dumps({"user_id": user, "page": page, "event_time": when.isoformat()})


def expected_counts(sent, closed_before):
    counts = collections.Counter((window_of(when), page) for page, _, when in sent)
    return {key: n for key, n in counts.items() if key[0] + datetime.timedelta(minutes=5) <= closed_before}


def table_counts(folder):
    rows = deltalake.DeltaTable(str(folder)).to_pyarrow_table().to_pylist()
    counts = {(row["window"]["start"], row["page"]): row["count"] for row in rows}
    assert len(counts) == len(rows), "a window was written twice"
    return counts


def test_two_hours_of_clicks(broker, tmp_path):
    broker.create_topic("clicks", partitions=4)
    sent = list(clicks(seed=7))
    for start in range(0, EVENTS, 20_000):
        broker.produce("clicks", [{"value": message(*click)} for click in sent[start:start + 20_000]])
    broker.produce("clicks", [{"value": text} for text in ("not json", '{"page": 1', "null")])  # malformed rows have no event time and are in no window

    program = ROOT / "examples" / "clicks_by_page.py"
    run = ["submit", "--conf", f"spark.sql.warehouse.dir={tmp_path}/warehouse", "--conf", "spark.sql.session.timeZone=UTC",
           str(program), broker.bootstrap, str(tmp_path / "checkpoint"), "once"]
    finished = run_thalweg(run, tmp_path, environment={"PYSPARK_PYTHON": sys.executable})
    assert finished.returncode == 0, finished.stderr

    table = tmp_path / "warehouse" / "analytics.db" / "clicks_by_page"
    watermark = max(when for _, _, when in sent) - datetime.timedelta(minutes=10)
    assert table_counts(table) == expected_counts(sent, watermark)

    # A second run goes on where the first ended: an event far behind is dropped, one far ahead closes the rest.
    broker.produce("clicks", [{"value": message("page-0", "straggler", START)},
                              {"value": message("page-0", "closer", START + datetime.timedelta(days=1))}])
    finished = run_thalweg(run, tmp_path, environment={"PYSPARK_PYTHON": sys.executable})
    assert finished.returncode == 0, finished.stderr
    assert table_counts(table) == expected_counts(sent, START + datetime.timedelta(hours=23))
    assert {path.name for path in (tmp_path / "checkpoint").iterdir()} >= {"metadata", "offsets", "commits", "sources", "state"}


# What real Spark was given when it left the checkpoints of `worked-example/`: two lots, alternating between two partitions.
LOTS = ([("home", "u1", "10:01:00"), ("home", "u2", "10:02:30"), ("cart", "u1", "10:03:00"), ("home", "u3", "10:06:00"),
         ("cart", "u2", "10:12:00"), ("home", "u1", "10:21:00")],
        [("home", "u4", "10:04:00"), ("home", "u4", "10:19:00"), ("cart", "u5", "10:40:00"), None])


def test_the_checkpoint_is_the_one_that_spark_left(broker, tmp_path):
    broker.create_topic("pages", partitions=2)
    program = ROOT / "tests" / "streaming" / "programs" / "page_views.py"
    for number, lot in enumerate(LOTS, 1):
        texts = [json.dumps({"page": one[0], "user": one[1], "ts": f"2024-03-01T{one[2]}Z"}) if one else "not json" for one in lot]
        broker.produce("pages", [{"value": text, "partition": i % 2} for i, text in enumerate(texts)])
        finished = run_thalweg(["submit", "--conf", f"spark.sql.warehouse.dir={tmp_path}/warehouse", program, broker.bootstrap, tmp_path], tmp_path,
                               environment={"PYSPARK_PYTHON": sys.executable})
        assert finished.returncode == 0, finished.stderr
        assert compare.differences(tmp_path / "checkpoint", GOLDENS / "worked-example" / f"after-run-{number}" / "checkpoint") == []
    rows = deltalake.DeltaTable(str(tmp_path / "table")).to_pyarrow_table().to_pylist()
    assert sorted((row["start"].strftime("%H:%M"), row["page"], row["views"]) for row in rows) == [
        ("10:00", "cart", 1), ("10:00", "home", 2), ("10:05", "home", 1), ("10:10", "cart", 1), ("10:15", "home", 1), ("10:20", "home", 1)]
