"""Records what tests/checkpoints/handover_test.py and damage_test.py continue: checkpoints and tables as real Spark leaves them.

    TW_SPARK_RUN=... python record.py DIR [CASE ...]       (DIR: tests/checkpoints/spark-4.2.0/handover; CASE may be damage-base)
"""
import json
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from engines import Spark  # noqa: E402
from harness import handover_queries as queries  # noqa: E402
from harness.kafka_broker import KafkaBroker  # noqa: E402
from harness.spark_checkpoints import PLACE  # noqa: E402


DAMAGE_BASE = "damage-base"


def keep(place, golden, parts, side_cars):
    """Copies parts of a run's folder, its paths replaced."""
    shutil.rmtree(golden, ignore_errors=True)
    for part in parts:
        if (place / part).exists():
            shutil.copytree(place / part, golden / part, ignore=None if side_cars else shutil.ignore_patterns(".*.crc"))
    for path in (golden / "checkpoint" / "sources").rglob("*"):
        if path.is_file() and not path.name.startswith("."):
            path.write_text(path.read_text().replace(str(place), PLACE))


def main(target, names):
    root = pathlib.Path(tempfile.mkdtemp(prefix="handover-record-"))
    spark = Spark(root / "spark")
    broker = KafkaBroker(root / "broker").start()
    try:
        for case in (queries.CASES[name] for name in names if name != DAMAGE_BASE):
            place = root / case.name
            place.mkdir()
            settings = {"bootstrap": broker.bootstrap, "topic": case.name, "out_topic": f"{case.name}-out", "table": case.name.replace("-", "_")}
            if case.source == "kafka":
                broker.create_topic(case.name, partitions=queries.TOPIC_PARTITIONS, retention_ms=-1)
            if case.sink == "kafka":
                broker.create_topic(settings["out_topic"])
            ends, progress = [], []
            for lot in range(queries.GOLDEN_LOTS):
                if case.source == "kafka":
                    broker.produce(case.name, queries.records(lot))
                else:
                    queries.put_files(place / "in", lot)
                progress += spark.run(case, place, settings)
                ends.append(progress[-1]["batchId"])
                got = spark.answer(case, place, settings)
                assert got in (None, queries.right_answer(case, lot + 1)), got
            keep(place, target / case.name, ("checkpoint", "table"), side_cars=False)
            (target / case.name / "lots.json").write_text(json.dumps(ends) + "\n")
            (target / case.name / "progress.json").write_text(json.dumps(progress, indent=1) + "\n")
            (target / case.name / "state.jsonl").write_text("".join(line + "\n" for line in spark.state(place)))
            print(case.name, ends, flush=True)
        if DAMAGE_BASE not in names:
            return
        place = root / DAMAGE_BASE
        (place / "in").mkdir(parents=True)
        (place / "in" / "f000.json").write_text('{"k":"a","v":2}\n{"k":"b","v":2}\n')
        os.utime(place / "in" / "f000.json", (1_700_000_000, 1_700_000_000))
        spark.damage_base(place)
        keep(place, target / DAMAGE_BASE, ("checkpoint", "in"), side_cars=True)
    finally:
        spark.stop()
        broker.stop()
        shutil.rmtree(root)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] or [*queries.GOLDEN_CASES, DAMAGE_BASE])
