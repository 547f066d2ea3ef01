"""Fixtures that every Python test may ask for."""
import os
import sys

import pytest
from harness.kafka_broker import KafkaBroker
from harness.thalweg_server import ThalwegServer
from harness.waiting import patience


def pytest_configure(config):
    """In a build that needs patience every test's awaitTermination(60) has it."""
    if patience(1) != 1:
        from pyspark.sql.connect.streaming.query import StreamingQuery
        wait = StreamingQuery.awaitTermination
        StreamingQuery.awaitTermination = lambda query, timeout=None: wait(query, timeout if timeout is None else patience(timeout))


@pytest.fixture(scope="session")
def broker(tmp_path_factory):
    """A real Kafka broker, one for all tests of a file: use topic names of your own."""
    one = KafkaBroker(tmp_path_factory.mktemp("broker")).start()
    yield one
    one.stop()


@pytest.fixture(scope="session")
def secure_broker(tmp_path_factory):
    """The same with TLS and SASL listeners beside the plain one."""
    one = KafkaBroker(tmp_path_factory.mktemp("secure_broker"), secure=True).start()
    yield one
    one.stop()


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory):
    """A Thalweg server, one for all tests of a file; `spark` opens a session of it for one test."""
    one = ThalwegServer(tmp_path_factory.mktemp("server")).start()
    yield one
    one.stop()


@pytest.fixture
def spark(shared_server):
    yield shared_server.session()
    shared_server.close_sessions()


@pytest.fixture
def server(tmp_path):
    """A Thalweg server of one test alone, to be killed and restarted at will."""
    one = ThalwegServer(tmp_path / "server").start()
    yield one
    if one.process.running():
        one.stop()


_exit_status = 4  # until a session says otherwise


def pytest_sessionfinish(session, exitstatus):
    global _exit_status
    _exit_status = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """Ends without the interpreter's clean-up: there PySpark's client calls servers that are gone, again and again for minutes."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(_exit_status)
