"""Waiting for progress: the only place of the tests that lets time pass."""
import time

DEFAULT_TIMEOUT_S = 60.0


class NotReached(AssertionError):
    """What a test waited for did not come in time."""


def wait_until(condition, what, timeout_s=DEFAULT_TIMEOUT_S, poll_s=0.02, alive=None):
    """Polls until condition() is true (its value is returned), at most timeout_s seconds.

    alive: called at every turn; raises when waiting has become pointless, because a process ended, say.
    """
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
