"""The single checkpoints that Spark left (harness/sample_queries.py) go on for two more runs: on Spark, on Thalweg, and by turns. What comes
out must be equal, and right where it was counted by hand; so must every file of the checkpoint, and the state as Spark reads it."""
import struct

from harness import checkpoint_compare as compare
from harness import sample_queries as samples
from harness import state_files
from harness.spark_checkpoints import GOLDENS

ORDERS = ("SS", "TT", "ST", "TS")


def vector_steps(place):
    """The join of the vectors: its left rows are in its state only. Two lots: a pair, then a watermark that gives everything up."""
    held = {}
    for partition in sorted((place / "checkpoint" / "state" / "0").glob("[0-9]*")):
        for version in (1, 2, 3):
            for key, value in state_files.records(partition / "left-keyWithIndexToValue" / f"{version}.delta"):
                held[partition.name, key] = value
    rows = [value for value in held.values() if value is not None]

    def text(row):
        size, offset = struct.unpack_from("<II", row, 16)
        return row[offset:offset + size].decode()
    alone = [[None if row[0] & 1 else struct.unpack_from("<q", row, 8)[0], text(row), None] for row in rows if row[32] == 0]
    return (([[{"k": 77, "v": "here", "ts": "2023-11-14T22:14:00Z"}], [{"rk": 77, "w": "there", "rts": "2023-11-14T22:14:05Z"}]], alone + [[77, "here", "there"]]),
            ([[{"k": 78, "v": "far", "ts": "2023-11-15T00:00:00Z"}], [{"rk": 79, "w": "away", "rts": "2023-11-15T00:00:00Z"}]], []))


def run_sample(name, root, engines):
    """A list of sentences, empty when all is equal; and how many files were compared."""
    found, places, answers, states = [], {}, {}, {}
    for order in ORDERS:
        place = places[order] = root / name / order
        place.mkdir(parents=True)
        samples.prepare(GOLDENS, name, place)
        steps = samples.SAMPLES[name].steps or vector_steps(place)
        for step, (files, expected) in enumerate(steps):
            for folder, rows in enumerate(files):
                samples.put(place, folder, f"new-{step}", rows)
            got = engines[order[step]].sample(name, place, step)
            if got != samples.sort_rows(expected):
                found.append(f"{order} step {step}: {got} is not {samples.sort_rows(expected)}")
            answers[order, step] = got
        states[order] = engines["S"].state(place)
    for order in ORDERS[1:]:
        found += [f"{order} step {step}: {answers[order, step]} is not Spark's {answers['SS', step]}" for step in range(2)
                  if answers[order, step] != answers["SS", step]]
        found += [f"{order}: {one}" for one in compare.differences(places[order] / "checkpoint", places["SS"] / "checkpoint", {str(places[order]): str(places["SS"])})]
        found += [f"{order}: state {one}" for one in sorted(set(states[order]) ^ set(states["SS"]))]
    return found, sum(compare.num_compared(places[order] / "checkpoint", places["SS"] / "checkpoint") for order in ORDERS[1:])
