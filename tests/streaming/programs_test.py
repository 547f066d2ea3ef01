"""Whole programs under `thalweg submit`: lines of a TCP server, counted on the console."""
import pathlib
import socket

import pytest
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
