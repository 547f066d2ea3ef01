# ctest: TIMEOUT 300
"""PySpark's own documented examples, run as they stand against our server: of each module at least as many docstrings hold as floor.json
says. A change that makes more of them hold raises its number there."""
import concurrent.futures
import json
import os
import subprocess
import sys

import pytest
from harness.waiting import patience

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "floor.json"), encoding="utf-8") as file:
    FLOOR = json.load(file)
# Modules of many examples run as several programs at once.
SHARDS = {"pyspark.sql.connect.functions.builtin": 4, "pyspark.sql.connect.dataframe": 2}
ALONE = {"pyspark.sql.connect.catalog"}  # lists all tables that there are
AT_ONCE = 3
MODULE_TIMEOUT_S = 120


def run(module, shard, url):
    command = [sys.executable, "-W", "ignore", os.path.join(HERE, "doctest_run.py"), module, url, str(shard), str(SHARDS.get(module, 1))]
    environment = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                          timeout=patience(MODULE_TIMEOUT_S), check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="module")
def counts(shared_server):
    """What held and what broke, by module."""
    jobs = [(module, shard) for module in FLOOR for shard in range(SHARDS.get(module, 1))]
    jobs.sort(key=lambda job: job[0] not in SHARDS)  # the long ones first
    total = {module: {"held": [], "broke": []} for module in FLOOR}
    together = [job for job in jobs if job[0] not in ALONE]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        results = [(job, run(*job, shared_server.url)) for job in jobs if job[0] in ALONE]
        results += zip(together, pool.map(lambda job: run(*job, shared_server.url), together))
    for (module, _), got in results:
        for kind, names in got.items():
            total[module][kind] += names
    return total


@pytest.mark.parametrize("module", FLOOR)
def test_floor(counts, module):
    broke = "\n".join(sorted(counts[module]["broke"]))
    assert len(counts[module]["held"]) >= FLOOR[module], f"fewer docstrings hold than did; these break:\n{broke}"
