"""Whole programs under `thalweg submit`: lines and words of a TCP server, counted on the console."""
import datetime
import pathlib
import socket

import pytest
from harness.spark_examples import with_spark_example
from harness.submitted import printed, submit  # pylint: disable=unused-import

PROGRAMS = pathlib.Path(__file__).parent / "programs"


@pytest.fixture
def listener():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        one.settimeout(60)
        yield one


def test_lines_of_a_socket(submit, listener):
    program = submit(PROGRAMS / "socket_line_counts.py", "127.0.0.1", listener.getsockname()[1])
    connection, _ = listener.accept()
    with connection:
        connection.sendall(b"apache\nspark\nspa")
        printed(program, ("apache", "1"), ("spark", "1"))
        connection.sendall(b"rk\napache hadoop\n")
        printed(program, ("apache", "1"), ("spark", "2"), ("apache hadoop", "1"))
        program.stop()


def test_windows_over_the_lines_of_a_socket(submit, listener):
    program = submit(PROGRAMS / "socket_windows.py", "127.0.0.1", listener.getsockname()[1], 86400)
    connection, _ = listener.accept()
    with connection:
        connection.sendall(b"one\ntwo\none\n")
        printed(program, ("one", "2", "86400"), ("two", "1", "86400"))
        program.stop()


@pytest.mark.parametrize("path", with_spark_example(PROGRAMS / "socket_words.py", "structured_network_wordcount.py"), ids=lambda p: p.stem)
def test_words_of_a_socket(submit, listener, path):
    program = submit(path, "127.0.0.1", listener.getsockname()[1])
    connection, _ = listener.accept()
    with connection:
        connection.sendall(b"apache spark\n")
        printed(program, ("apache", "1"), ("spark", "1"))
        connection.sendall(b"apache hadoop spark\napache\n")
        printed(program, ("apache", "3"), ("spark", "2"), ("hadoop", "1"))
        program.stop()


@pytest.mark.parametrize("path", with_spark_example(PROGRAMS / "socket_word_windows.py", "structured_network_wordcount_windowed.py"),
                         ids=lambda p: p.stem)
def test_windows_over_the_words_of_a_socket(submit, listener, path):
    # One window that now lies well inside of, so that no word falls into the next.
    day = datetime.datetime.now(datetime.timezone.utc).date()
    years = 36500 * 86400
    program = submit(path, "127.0.0.1", listener.getsockname()[1], years)
    connection, _ = listener.accept()
    with connection:
        connection.sendall(b"one two one\ntwo one\n")
        start, end = (datetime.datetime.fromtimestamp(at, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S") for at in (0, years))
        assert day.year < 2069
        window = f"{{{start}, {end}}}"
        printed(program, (window, "one", "3"), (window, "two", "2"))
        program.stop()
