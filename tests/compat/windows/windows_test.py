# ctest: TIMEOUT 300
"""Window functions in SQL and in PySpark give what real Spark 4.2.0 gave: names, types, rows and refusals of program.py, outcome by outcome."""
import pytest
from harness.recorded import Listener, Recording, load_beside, utc_session

RECORDING = Recording(__file__)


@pytest.fixture(scope="module")
def outcomes(shared_server):
    heard = Listener()
    load_beside(__file__, "program").run(utc_session(shared_server), heard)
    return heard.outcomes()


@pytest.mark.parametrize("index, label", RECORDING.labels())
def test_outcome(outcomes, index, label):
    RECORDING.check(outcomes, index)


def test_nothing_is_said_to_differ_that_does_not():
    RECORDING.check_others()
