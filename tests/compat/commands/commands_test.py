# ctest: TIMEOUT 300
"""The statements, catalogue calls and DataFrame functions of program.py give what real Spark 4.2.0 gave, outcome by outcome."""
import os

import pytest
from harness.recorded import Listener, Recording, load_beside, utc_session

RECORDING = Recording(__file__)


@pytest.fixture(scope="module")
def outcomes(shared_server, tmp_path_factory):
    heard = Listener()
    warehouse = os.path.join(shared_server.folder, "spark-warehouse")
    load_beside(__file__, "program").run(utc_session(shared_server), tmp_path_factory.mktemp("commands"), warehouse, heard)
    return heard.outcomes()


@pytest.mark.parametrize("index, label", RECORDING.labels())
def test_outcome(outcomes, index, label):
    RECORDING.check(outcomes, index)


def test_nothing_is_said_to_differ_that_does_not():
    RECORDING.check_others()
