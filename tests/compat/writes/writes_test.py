# ctest: TIMEOUT 300
"""The program of this folder gives what real Spark 4.2.0 gave: file names, bytes, rows and conditions, outcome by outcome."""
import os

import pytest
from harness.recorded import Listener, Recording, load_beside, utc_session

# Where we answer otherwise, and why.
OTHERWISE = {
    # Hadoop's own framing of these two codecs is not there.
    **{f"{name} {codec}": {"error": "UNSUPPORTED_FEATURE.THALWEG"} for name in ("csv", "json", "text") for codec in ("snappy", "lz4")},
    # Parquet columns of the UNKNOWN type are not written.
    "parquet void": {"error": "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE"},
}
RECORDING = Recording(__file__, OTHERWISE)


@pytest.fixture(scope="module")
def outcomes(shared_server, tmp_path_factory):
    root = tmp_path_factory.mktemp("writes")
    heard = Listener(root)
    warehouse = os.path.join(shared_server.folder, "spark-warehouse")
    for label, outcome in load_beside(__file__, "program").run(utc_session(shared_server), root, warehouse):
        heard(label, outcome)
    return heard.outcomes()


@pytest.mark.parametrize("index, label", RECORDING.labels())
def test_outcome(outcomes, index, label):
    RECORDING.check(outcomes, index)


def test_nothing_is_said_to_differ_that_does_not():
    RECORDING.check_others()
