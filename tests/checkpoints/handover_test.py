"""Queries that Spark began go on here: the checkpoints and tables of `handover/` cut off after a micro-batch, between its two log
entries or at its end, and continued. What is then in the checkpoint is what Spark left, file by file and record by record; the
answers are those of a naive count. Live, both ways, with Spark itself: `make handover`.

# ctest: TIMEOUT 300 LABELS broker
"""
import json
import shutil

import pytest
from harness import checkpoint_compare as compare, handover_queries as queries
from harness.spark_checkpoints import GOLDENS, PLACE

FOLDER = GOLDENS / "handover"
RECORDED = [name for name in queries.CASES if (FOLDER / name / "lots.json").exists()]


def lot_ends(case):
    return json.loads((FOLDER / case / "lots.json").read_text())


def cuts():
    """(case, newest micro-batch that is kept, whether it is committed): each end of a lot, and one in the middle of a lot."""
    for case in RECORDED:
        ends = lot_ends(case)
        for end in ends[:-1]:
            yield pytest.param(case, end, True, id=f"{case}-after-{end}")
        yield pytest.param(case, ends[0] + 1, False, id=f"{case}-within-{ends[0] + 1}")


def cut_off(place, case, newest, committed, topic):
    """Takes a golden back to the moment after micro-batch `newest`; not committed: state and offsets are there, the commit is not."""
    shutil.copytree(FOLDER / case.name, place, dirs_exist_ok=True)
    checkpoint = place / "checkpoint"
    for path in sorted(checkpoint.rglob("*")):
        stem = path.name.split(".")[0]
        if not path.is_file() or not stem.isdigit():
            continue
        kind = path.relative_to(checkpoint).parts[0]
        last = {"offsets": newest, "commits": newest if committed else newest - 1, "state": newest + 1, "sources": None}[kind]
        if last is not None and int(stem) > last:
            path.unlink()
    newest_offsets = [json.loads(line) for line in (checkpoint / "offsets" / str(newest)).read_text().split("\n")[2:]]
    for path in (checkpoint / "sources").glob("*/*"):
        if case.source == "file" and int(path.name) > newest_offsets[int(path.parent.name)]["logOffset"]:
            path.unlink()
        else:
            path.write_text(path.read_text().replace(PLACE, str(place)))
    for path in (checkpoint / "offsets").glob("*"):
        path.write_text(path.read_text().replace(f'"{case.name}"', f'"{topic}"'))
    for path in sorted((place / "table" / "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in path.read_text().splitlines()]
        if any(action["txn"]["version"] > (newest if committed else newest - 1) for action in actions if "txn" in action):
            path.unlink()
            path.with_suffix(".crc").unlink(missing_ok=True)
            for checkpoint_file in (path.parent / "_last_checkpoint", path.with_suffix(".checkpoint.parquet")):
                checkpoint_file.unlink(missing_ok=True)


@pytest.mark.parametrize("name, newest, committed", cuts())
def test_a_query_of_spark_goes_on(broker, spark, tmp_path, name, newest, committed):
    case = queries.CASES[name]
    topic = f"{name}-{newest}-{committed}"
    settings = {"bootstrap": broker.bootstrap, "topic": topic, "out_topic": f"{topic}-out", "table": topic.replace("-", "_")}
    if case.source == "kafka":
        broker.create_topic(topic, partitions=queries.TOPIC_PARTITIONS)
    if case.sink == "kafka":
        broker.create_topic(settings["out_topic"])
    cut_off(tmp_path, case, newest, committed, topic)

    progress = []
    for lot, end in enumerate(lot_ends(name)):
        if case.source == "kafka":
            broker.produce(topic, queries.records(lot))
        else:
            queries.put_files(tmp_path / "in", lot)
        if end < newest or (end == newest and committed):
            continue
        progress += queries.run(spark, case, tmp_path, settings)
        answer = queries.answer(spark, case, tmp_path, settings)
        assert answer in (None, queries.right_answer(case, lot + 1))
    if case.sink == "kafka":
        touched = [row for row in queries.last_rows(broker, settings["out_topic"])]
        assert all(row in queries.right_answer(case, queries.GOLDEN_LOTS) for row in touched)
        assert len(touched) >= len(queries.PAGES)

    first = newest + 1 if committed else newest
    assert [p["batchId"] for p in progress] == list(range(first, lot_ends(name)[-1] + 1))
    assert compare.differences(tmp_path / "checkpoint", FOLDER / name / "checkpoint", {f'"{topic}"': f'"{name}"'}) == []


@pytest.mark.parametrize("name", RECORDED)
def test_progress_has_the_form_and_the_figures_of_spark(broker, spark, tmp_path, name):
    case = queries.CASES[name]
    topic = f"{name}-progress"
    settings = {"bootstrap": broker.bootstrap, "topic": topic, "out_topic": f"{topic}-out", "table": topic.replace("-", "_")}
    if case.source == "kafka":
        broker.create_topic(topic, partitions=queries.TOPIC_PARTITIONS)
    if case.sink == "kafka":
        broker.create_topic(settings["out_topic"])
    progress = []
    for lot in range(queries.GOLDEN_LOTS):
        if case.source == "kafka":
            broker.produce(topic, queries.records(lot))
        else:
            queries.put_files(tmp_path / "in", lot)
        progress += queries.run(spark, case, tmp_path, settings)
    recorded = json.loads((FOLDER / name / "progress.json").read_text())
    assert len(progress) == len(recorded)
    progress = json.loads(json.dumps(progress).replace(f'"{topic}"', f'"{name}"'))
    for ours, theirs in zip(progress, recorded):
        assert list(ours) == list(theirs)
        assert compare.progress_shape(ours) == compare.progress_shape(theirs)
        figures, expected = compare.progress_figures(ours), compare.progress_figures(theirs)
        for filtered in (*figures["sources"][1:], *expected["sources"][1:]):
            del filtered["numInputRows"]  # Spark's JSON reader takes the filter of the join's right side and counts what is left
        assert figures == expected


@pytest.mark.parametrize("name", queries.PASSING)
def test_deduplication_and_limits_pass_what_the_naive_count_passes(spark, tmp_path, name):
    case = queries.CASES[name]
    for lot in range(queries.LOTS):
        queries.put_files(tmp_path / "in", lot)
        queries.run(spark, case, tmp_path, {})
        assert queries.answer(spark, case, tmp_path, {}) == queries.right_answer(case, lot + 1)
