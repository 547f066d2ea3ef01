"""The two engines behind one face: run(case, place, settings), answer(...), kill at a chosen moment."""
import json
import os
import pathlib
import shlex
import signal
import subprocess
import threading

from harness import handover_queries as queries
from harness import sample_queries as samples
from harness.processes import clean_environment
from harness.thalweg_server import ThalwegServer

ROOT = pathlib.Path(__file__).parent


class Spark:
    """Real Spark as one child process, started when first asked. Confined to one thread."""

    name = "spark"

    def __init__(self, folder):
        command = os.environ.get("TW_SPARK_RUN")
        if not command:
            raise SystemExit("TW_SPARK_RUN is not set: see tests/handover/README.md")
        self._command = shlex.split(command)
        self._folder = pathlib.Path(folder)
        self._child = None

    def _start(self):
        self._folder.mkdir(parents=True, exist_ok=True)
        with open(self._folder / "spark.err", "ab") as stderr:
            self._child = subprocess.Popen([*self._command, str(ROOT / "spark_worker.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           stderr=stderr, cwd=self._folder, text=True, env=clean_environment(), start_new_session=True)
        hello = self._receive()
        if not hello["version"].startswith("4.2."):
            raise SystemExit(f"this needs Spark 4.2, TW_SPARK_RUN is {hello['version']}")

    def _receive(self):
        for line in self._child.stdout:
            if line.startswith("@@ "):
                return json.loads(line[3:])
        raise ConnectionError("Spark ended")

    def _ask(self, **command):
        if self._child is None:
            self._start()
        self._child.stdin.write(json.dumps(command) + "\n")
        self._child.stdin.flush()
        answer = self._receive()
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["result"]

    def run(self, case, place, settings):
        return self._ask(do="run", case=case.name, place=str(place), settings=settings)

    def answer(self, case, place, settings):
        return self._ask(do="answer", case=case.name, place=str(place), settings=settings)

    def sample(self, name, place, step):
        return self._ask(do="sample", name=name, place=str(place), step=step)

    def state(self, place):
        """Every record of the newest state as Spark's reader gives it."""
        return self._ask(do="state", place=str(place))

    def damage_base(self, place):
        return self._ask(do="damage base", place=str(place))

    def crash(self, case, place, settings, moment):
        """Runs and is killed (-9) as soon as the file `moment` of the checkpoint exists; a batch later the run would be over."""
        if self._child is None:
            self._start()
        stop = threading.Event()

        def watch():
            path = pathlib.Path(place) / "checkpoint" / moment
            while not path.exists():
                if stop.wait(0.001):
                    return
            os.killpg(self._child.pid, signal.SIGKILL)  # the JVM, and what it is just starting and would hold the pipes open

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            self.run(case, place, settings)
            raise AssertionError(f"Spark ended its run before it was killed at {moment}")
        except (ConnectionError, RuntimeError, BrokenPipeError):
            pass
        finally:
            stop.set()
            watcher.join()
        self.stop()

    def stop(self):
        if self._child is not None:
            self._child.stdin.close()
            self._child.terminate()
            self._child.wait(60)
            self._child = None


class Thalweg:
    """`thalweg server`, one for all runs but those that are killed."""

    name = "thalweg"

    def __init__(self, folder):
        self._folder = pathlib.Path(folder)
        self._server = None

    def _session(self):
        if self._server is None:
            self._server = ThalwegServer(self._folder).start()
        return self._server.session()

    def run(self, case, place, settings):
        return queries.run(self._session(), case, place, settings)

    def answer(self, case, place, settings):
        return queries.answer(self._server.sessions[-1], case, place, settings)

    def sample(self, name, place, step):
        return samples.run(self._session(), name, place, step)

    def crash(self, case, place, settings, moment):
        """Killed (-9) at the first passage of a step of a micro-batch."""
        self.stop()
        doomed = ThalwegServer(self._folder, environment={"THALWEG_FAULT": f"micro-batch: {moment}:2:kill"}).start()
        session = doomed.session()
        session.client.set_retry_policies([])
        try:
            queries.start(session, case, place, settings)
        except Exception as error:
            print(f"the doomed server: {error}")
        assert doomed.process.wait(60) == -signal.SIGKILL
        doomed.kill()

    def stop(self):
        if self._server is not None:
            self._server.stop()
            self._server = None
