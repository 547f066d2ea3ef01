"""The live proof: queries change hands between Thalweg and real Spark, both ways, and everything they leave is compared.

    make handover TW_SPARK_RUN=...      (see README.md)
    python live.py [--lots N] [--quick] [CASE ...]
"""
import argparse
import json
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness import checkpoint_compare as compare  # noqa: E402
from harness import handover_queries as queries  # noqa: E402
from harness import sample_queries  # noqa: E402
from engines import Spark, Thalweg  # noqa: E402
from samples import ORDERS, run_sample  # noqa: E402
from harness.crashes import STEPS  # noqa: E402
from harness.kafka_broker import KafkaBroker  # noqa: E402

SAMPLES = "samples"  # the checkpoints of harness/sample_queries.py, not a case of handover_queries.py
# Where a batch is not over, and where Spark goes on as if it had begun the batch itself: after "sink committed" Delta's sink in Spark skips
# the batch without running it, so that its event times do not move the watermark; after "committed" Spark starts no batch without rows for
# a watermark that moved before it was started.
MID_BATCH = STEPS[:3]
# A leg: who runs over which lot. "S" and "T" run to the end, "s" and "t" are killed in mid-batch and the next leg finishes the lot.
JOURNEYS = {
    "TTTT": "thalweg alone",
    "TSTS": "from thalweg to spark and back",
    "STST": "from spark to thalweg and back",
    "tSTtST": "thalweg killed in mid-batch, spark goes on",
    "sTSsTS": "spark killed in mid-batch, thalweg goes on",
}


class Run:
    """One case on one journey in a place of its own."""

    def __init__(self, root, case, journey, broker, engines):
        self.case, self.journey, self.broker, self.engines = case, journey, broker, engines
        self.place = root / case.name / journey
        self.place.mkdir(parents=True)
        label = f"{case.name}-{journey}"
        self.settings = {"bootstrap": broker.bootstrap, "topic": case.name, "out_topic": f"{label}-out", "table": label.replace("-", "_")}
        if case.sink == "kafka":
            broker.create_topic(self.settings["out_topic"])
        self.progress = []
        self.crashes = 0

    def leg(self, letter):
        engine = self.engines[letter.upper()]
        if letter == "t":
            engine.crash(self.case, self.place, self.settings, MID_BATCH[(self.crashes + list(queries.CASES).index(self.case.name)) % len(MID_BATCH)])
        elif letter == "s":
            committed = len([one for one in (self.place / "checkpoint" / "commits").glob("*") if one.name.isdigit()])
            kind = ("offsets", "state/0/0", "commits")[self.crashes % 3]
            batch = committed + 1
            store = "/left-keyToNumValues" if self.case.name.startswith("join") else ""
            suffix = {"hdfs": "delta", "rocksdb": "zip", "changelog": "changelog"}[self.case.store]
            moment = f"{kind}/{batch}" if kind != "state/0/0" else f"{kind}{store}/{batch + 1}.{suffix}"
            engine.crash(self.case, self.place, self.settings, moment)
        else:
            self.progress += engine.run(self.case, self.place, self.settings)
        self.crashes += letter.islower()

    def answer(self, letter):
        if self.case.sink == "kafka":
            return queries.last_rows(self.broker, self.settings["out_topic"])
        return self.engines[letter.upper()].answer(self.case, self.place, self.settings)


def main(names, lots, quick):
    root = pathlib.Path(tempfile.mkdtemp(prefix="handover-"))
    broker = KafkaBroker(root / "broker").start()
    engines = {"S": Spark(root / "spark"), "T": Thalweg(root / "thalweg")}
    wrong = files = 0

    def check(run, letter, what, problems):
        nonlocal wrong
        if problems:
            wrong += 1
            print(f"{run.case.name:15} {run.journey:8} after {letter}: {what} DIFFERS", flush=True)
            for problem in problems[:12]:
                print("    ", str(problem)[:1500], flush=True)

    try:
        if SAMPLES in names:
            began = time.monotonic()
            for name in sample_queries.SAMPLES:
                problems, compared = run_sample(name, root, engines)
                files += compared
                wrong += bool(problems)
                for problem in problems[:12]:
                    print(f"{name:25} DIFFERS {problem[:1500]}", flush=True)
            engines["S"].stop()
            print(f"{len(sample_queries.SAMPLES)} samples, {len(ORDERS)} orders, {time.monotonic() - began:.0f} s", flush=True)
        for case in (queries.CASES[name] for name in names if name != SAMPLES):
            began = time.monotonic()
            if case.source == "kafka":
                broker.create_topic(case.name, partitions=queries.TOPIC_PARTITIONS, retention_ms=-1)
            reference = Run(root, case, "SSSS", broker, engines)
            runs = [Run(root, case, journey, broker, engines) for journey in JOURNEYS]
            at = {run.journey: 0 for run in runs}
            for lot in range(lots):
                if case.source == "kafka":
                    broker.produce(case.name, queries.records(lot))
                else:
                    for run in [reference, *runs]:
                        queries.put_files(run.place / "in", lot)
                reference.leg("S")
                right = queries.right_answer(case, lot + 1)
                expected = reference.answer("S")
                check(reference, "S", "the answer", [] if expected in (None, right) else [f"{expected} is not {right}"])
                read_state = not quick or lot == lots - 1  # by Spark, which takes most of the time
                state = engines["S"].state(reference.place) if read_state else None
                for run in runs:
                    while at[run.journey] < len(run.journey):
                        letter = run.journey[at[run.journey]]
                        at[run.journey] += 1
                        run.leg(letter)
                        if letter.isupper():
                            break
                    got = run.answer(letter)
                    check(run, letter, f"the answer of lot {lot}", [] if got in (None, right) else [f"{got} is not {right}"])
                    check(run, letter, f"the checkpoint after lot {lot}", compare.differences(run.place / "checkpoint", reference.place / "checkpoint"))
                    files += compare.num_compared(run.place / "checkpoint", reference.place / "checkpoint")
                    read = engines["S"].state(run.place) if read_state else None
                    check(run, letter, f"the state as Spark reads it after lot {lot}",
                          sorted(set(read) ^ set(state)) if read != state else [])
            for run in runs:
                (run.place / "progress.json").write_text(json.dumps(run.progress, indent=1))
            (reference.place / "progress.json").write_text(json.dumps(reference.progress, indent=1))
            mine = next(run for run in runs if run.journey == "TTTT").progress
            for ours, theirs in zip(mine, reference.progress):
                a, b = compare.progress_shape(ours), compare.progress_shape(theirs)
                if a != b or list(ours) != list(theirs):
                    check(runs[0], "T", f"the form of progress {ours['batchId']}", [a, b])
                    break
            engines["S"].stop()  # it keeps every state store it ever loaded
            print(f"{case.name:15} {len(reference.progress)} micro-batches, {len(runs)} journeys, {time.monotonic() - began:.0f} s", flush=True)
    finally:
        for engine in engines.values():
            engine.stop()
        broker.stop()
    print(f"{wrong} differences in {files} files and what comes out; {root if wrong else ''}")
    if not wrong:
        shutil.rmtree(root)
    return 1 if wrong else 0


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--lots", type=int, default=queries.LOTS)
    arguments.add_argument("--quick", action="store_true", help="Spark reads the state after the last lot only")
    arguments.add_argument("cases", nargs="*", choices=[SAMPLES, *queries.CASES, []])
    chosen = arguments.parse_args()
    sys.exit(main(chosen.cases or [SAMPLES, *queries.CASES], chosen.lots, chosen.quick))
