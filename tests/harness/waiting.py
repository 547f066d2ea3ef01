"""Waiting for progress: the only place of the tests that lets time pass."""
import os
import time

DEFAULT_TIMEOUT_S = 60.0


class NotReached(AssertionError):
    """What a test waited for did not come in time."""


def patience(seconds):
    """How long a test waits for what takes at most `seconds`: longer where the program is slow by its build, under a sanitizer say."""
    return seconds * float(os.environ.get("TW_TIMEOUT_FACTOR") or 1)


def wait_until(condition, what, timeout_s=DEFAULT_TIMEOUT_S, poll_s=0.02, alive=None):
    """Polls until condition() is true (its value is returned), at most patience(timeout_s) seconds.

    alive: called at every turn; raises when waiting has become pointless, because a process ended, say.
    """
    timeout_s = patience(timeout_s)
    end = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if alive is not None:
            alive()
        if time.monotonic() >= end:
            raise NotReached(f"{what}: not after {timeout_s} s")
        time.sleep(poll_s)


def let_pass(seconds, alive=None):
    """An outage has a length: waits for it to pass, not for something to happen."""
    end = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() >= end, "the end of an outage", seconds + 5, alive=alive)
