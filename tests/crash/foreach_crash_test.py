# ctest: TIMEOUT 600 LABELS crash
"""kill -9 of the server around a foreachBatch call: what comes again has the same id and the same rows, and nothing is left out."""
import json
import os

import pytest
from harness.crashes import STEPS, crash_and_resume
from harness.python_functions import Log
from harness.stream_cases import InputFolder, read_files

FILES = 4


@pytest.mark.parametrize("step", STEPS)
def test_a_batch_comes_again_as_it_was(tmp_path, step):
    folder = InputFolder(tmp_path / "in")
    for n in range(FILES):
        folder.put(f"{n}.json", json.dumps({"v": 10 * n}), json.dumps({"v": 10 * n + 1}))
    log = Log(tmp_path / "log")
    runs = []

    def start(session):
        # The second run could read more at a time: the planned batch must stay what it was.
        runs.append(session)
        stream = read_files(session, folder, "v BIGINT", per_trigger=1 if len(runs) == 1 else 3)

        def save(batch, batch_id):
            log.add(json.dumps([batch_id, sorted(row.v for row in batch.collect())]))
            with open(log.path, "a", encoding="utf-8") as file:
                os.fsync(file.fileno())

        return (stream.writeStream.foreachBatch(save).option("checkpointLocation", str(tmp_path / "ck")).trigger(availableNow=True).start())

    sound, query = crash_and_resume(tmp_path, step, 2, start)
    try:
        assert query.exception() is None
        batches = {}
        calls = [json.loads(line) for line in log.lines()]
        for batch_id, values in calls:
            assert batches.setdefault(batch_id, values) == values, f"batch {batch_id} came with other rows"
        assert sorted(value for values in batches.values() for value in values) == [10 * n + i for n in range(FILES) for i in (0, 1)]
        assert batches[1] == [10, 11]
        # Batch 1 was the one in hand: done again unless its commit stood.
        assert [batch_id for batch_id, _ in calls].count(1) == (2 if step == "sink committed" else 1)
    finally:
        sound.stop()
