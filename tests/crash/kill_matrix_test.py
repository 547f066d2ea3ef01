# ctest: TIMEOUT 7200 LABELS broker crash
"""The real program is killed at its durable steps and at any moment; nothing is lost, and nothing is in a Delta table twice.

TW_KILL_RUNS: how many killed runs (40; `make crash`: 1,000). TW_KILL_SEED: where the seeds begin; a failure names its own.
"""
import os

from harness.kill_matrix import STREAM_POINTS, Input, fault_points, run_rounds

RUNS = int(os.environ.get("TW_KILL_RUNS", "40"))
SEED = int(os.environ.get("TW_KILL_SEED", "1"))


def test_killed_runs_go_on(broker, tmp_path):
    points = fault_points(*STREAM_POINTS, "delta write: files closed", "delta commit", "delta checkpoint", "delta sink", "kafka sink")
    assert len(points) >= 15
    run_rounds(Input(broker, tmp_path), tmp_path, RUNS, SEED, points)
