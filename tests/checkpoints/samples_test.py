"""Every checkpoint of a single operator that Spark 4.2.0 left goes on here, run after run, with the right answers: rows counted by hand
from what Spark had seen and the two files that come. The same on Spark itself, and by turns: `make handover CASES=samples`."""
import pytest
from harness import sample_queries as samples
from harness.spark_checkpoints import GOLDENS


@pytest.mark.parametrize("name", [name for name, sample in samples.SAMPLES.items() if sample.steps])
def test_a_checkpoint_of_spark_goes_on(spark, tmp_path, name):
    samples.prepare(GOLDENS, name, tmp_path)
    for step, (files, expected) in enumerate(samples.SAMPLES[name].steps):
        for folder, rows in enumerate(files):
            samples.put(tmp_path, folder, f"new-{step}", rows)
        assert samples.run(spark, name, tmp_path, step) == samples.sort_rows(expected)
