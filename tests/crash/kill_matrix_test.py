# ctest: TIMEOUT 7200 LABELS broker crash
"""The real program is killed at its durable steps and at any moment; nothing is lost, and nothing is in a Delta table twice.

TW_KILL_RUNS: how many killed runs (40; `make crash`: 1,000). TW_KILL_SEED: where the seeds begin; a failure names its own.
"""
import collections
import concurrent.futures
import os

from harness.kill_matrix import Input, Round, fault_points

RUNS = int(os.environ.get("TW_KILL_RUNS", "40"))
SEED = int(os.environ.get("TW_KILL_SEED", "1"))
PARALLEL = 2


def test_killed_runs_go_on(broker, tmp_path):
    inputs = Input(broker, tmp_path)
    points = fault_points()
    assert len(points) >= 15
    runs, rounds, failures, struck = 0, 0, [], collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
        while runs < RUNS:
            batch = [Round(inputs, tmp_path, SEED + rounds + i, points) for i in range(PARALLEL)]
            rounds += PARALLEL
            for one, result in [(one, pool.submit(one.run)) for one in batch]:
                killed, failed = result.result()
                runs += killed
                failures += failed
                struck.update(one.struck)
                for text in failed:
                    print(text[:1500])
            print(f"{runs} killed runs in {rounds} rounds, {len(failures)} failures", flush=True)
            assert rounds < RUNS * 4, "hardly any round kills a query"
    print(f"servers killed by fault point: {dict(struck)}; never reached: {sorted(set(points) - set(struck))}")
    assert not failures, f"{len(failures)} of {runs} runs:\n" + "\n".join(failures)
