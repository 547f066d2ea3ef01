"""kill -9 of the server at a chosen step of a micro-batch, and the run after it."""
import signal

from harness.thalweg_server import ThalwegServer

# Every durable step of a micro-batch, in order (streaming/query, RunOne).
STEPS = ["offsets written", "computed", "state committed", "sink committed", "committed"]


def crash_and_resume(tmp_path, step, nth, start):
    """start(session) on a server that dies at the nth passage of `step` (one of STEPS, or any fault point by its whole name), then
    to its end on a sound one, which is returned."""
    point = step if ": " in step else f"micro-batch: {step}"
    doomed = ThalwegServer(tmp_path / "server", environment={"THALWEG_FAULT": f"{point}:{nth}:kill"}).start()
    session = doomed.session()
    session.client.set_retry_policies([])  # a dead server is not waited for
    try:
        start(session)
    except Exception as error:  # it may die before it answers
        print(f"the doomed server: {error}")
    assert doomed.process.wait(30) == -signal.SIGKILL
    doomed.kill()
    sound = ThalwegServer(tmp_path / "server").start()
    query = start(sound.session())
    assert query.awaitTermination(60), "the second run did not end"
    return sound, query
