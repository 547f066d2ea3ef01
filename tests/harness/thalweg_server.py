"""The program `thalweg` under test: a server to connect to, and single runs of its commands."""
import os
import pathlib
import subprocess
import sys

from harness.processes import Process, clean_environment
from harness.waiting import patience

START_TIMEOUT_S = 30
# Clients up to 4.1 take a lock when a session is collected that the collecting thread may hold already: sessions are never collected.
_ended_sessions = []


def build_dir():
    return pathlib.Path(os.environ["TW_BUILD_DIR"])


def thalweg_program():
    program = build_dir() / "bin" / "thalweg"
    if not program.exists():
        raise RuntimeError(f"{program} is not built")
    return program


class ThalwegServer:
    """`thalweg server` on a free port, working in `folder` (warehouse, logs). `url` is the sc:// line it prints.

    conf: server settings, given as --conf key=value. restart() keeps the folder, so that tables and checkpoints stay.
    """

    def __init__(self, folder, arguments=(), conf=None, environment=None):
        self.folder = pathlib.Path(folder)
        self._arguments = [*arguments]
        for key, value in (conf or {}).items():
            self._arguments += ["--conf", f"{key}={value}"]
        # Python functions run in the interpreter of the tests.
        self._environment = {"PYSPARK_PYTHON": sys.executable, **(environment or {})}
        self.process = None
        self.url = None
        self.sessions = []  # those that are open

    def start(self):
        self.process = Process([thalweg_program(), "server", "--port", "0", *self._arguments], self.folder, "thalweg",
                               clean_environment(**self._environment))
        line = self.process.next_line(START_TIMEOUT_S)
        if not line.startswith("sc://"):
            self.process.kill()
            raise RuntimeError(f"the server's first line is not an address: {line!r}\n{self.process.stderr_tail()}")
        self.url = line.strip()
        return self

    def session(self, **conf):
        """A new PySpark session of this server, closed by close_sessions() or stop()."""
        from pyspark.sql.connect.client.retries import DefaultPolicy
        from pyspark.sql.connect.session import SparkSession
        builder = SparkSession.builder.remote(self.url)
        for key, value in conf.items():
            builder = builder.config(key.replace("__", "."), str(value))
        session = builder.create()
        # Of its own accord the client asks for ten minutes, and what it has to release from a server that is killed holds up its other sessions.
        session.client.set_retry_policies([DefaultPolicy(max_retries=10, initial_backoff=50, backoff_multiplier=2, max_backoff=1000)])
        self.sessions.append(session)
        return session

    def close_sessions(self):
        sessions, self.sessions = self.sessions, []
        _ended_sessions.extend(sessions)
        for session in sessions:
            try:
                session.stop()
            except Exception as error:  # the server may be gone on purpose
                print(f"closing a session: {error}", file=sys.stderr)

    def stop(self):
        """SIGTERM; returns the exit status."""
        self.close_sessions()
        return self.process.stop()

    def kill(self):
        """kill -9. The sessions are closed on the client's side: one that stays open is what clients of 4.0 take for the active one."""
        for session in self.sessions:
            session.client.set_retry_policies([])
        self.process.kill()
        self.close_sessions()

    def restart(self):
        if self.process.running():
            self.stop()
        return self.start()


def run_thalweg(arguments, folder, timeout_s=120, environment=None, **options):
    """One run of the program to its end: subprocess.CompletedProcess with text output."""
    return subprocess.run([str(thalweg_program()), *map(str, arguments)], cwd=folder, timeout=patience(timeout_s), text=True,
                          capture_output=True, check=False, stdin=subprocess.DEVNULL,
                          env=clean_environment(**(environment or {})), **options)


