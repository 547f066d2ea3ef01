"""Child processes of a test: their output, their end."""
import os
import pathlib
import queue
import shutil
import signal
import socket
import subprocess
import threading

from harness.waiting import NotReached, patience

ON_END_TIMEOUT_S = 15
# Replaces itself by the program, so that the process id is the program's.
DIE_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL", "--") if shutil.which("setpriv") else ()
# A test run that was started in the background ignores SIGINT, and its children would inherit that.
TAKE_INTERRUPTS = ("env", "--default-signal=INT")


def free_ports(count):
    """Loopback ports that nothing listens on. They differ from each other; nobody keeps them for the caller."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def port_answers(port):
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Process:
    """A program of ours or a broker: standard output by lines, standard error into a file, ended by its id.

    Its owner calls stop() or kill(), in a fixture as a rule; a child also dies with the test process, however that ends.
    """

    def __init__(self, arguments, folder, name, environment=None, cwd=None):
        self.name = name
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.stderr_path = self.folder / f"{name}.err"
        self.lines = []
        self._queue = queue.Queue()
        command = [*TAKE_INTERRUPTS, *DIE_WITH_PARENT, *map(str, arguments)]
        with open(self.stderr_path, "ab") as stderr:
            self._child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr,
                cwd=cwd or self.folder, env=environment, text=True, errors="replace")
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._child.stdout:
            self.lines.append(line.rstrip("\n"))
            self._queue.put(line.rstrip("\n"))
        self._queue.put(None)

    @property
    def pid(self):
        return self._child.pid

    def next_line(self, timeout_s):
        """The next line of standard output; NotReached when none comes in patience(timeout_s) or the program ended."""
        timeout_s = patience(timeout_s)
        try:
            line = self._queue.get(timeout=timeout_s)
        except queue.Empty:
            raise NotReached(f"{self.name} printed nothing for {timeout_s} s\n{self.stderr_tail()}") from None
        if line is None:
            raise NotReached(f"{self.name} ended with {self._child.wait()}\n{self.stderr_tail()}")
        return line

    def running(self):
        return self._child.poll() is None

    def check_alive(self):
        if not self.running():
            raise NotReached(f"{self.name} ended with {self._child.returncode}\n{self.stderr_tail()}")

    def stderr_tail(self, lines=40):
        return "\n".join(self.stderr_path.read_text(errors="replace").splitlines()[-lines:])

    def signal(self, number):
        if self.running():
            self._child.send_signal(number)

    def wait(self, timeout_s=ON_END_TIMEOUT_S):
        """Exit status, negative for a signal. NotReached after patience(timeout_s)."""
        timeout_s = patience(timeout_s)
        try:
            status = self._child.wait(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            raise NotReached(f"{self.name} still runs after {timeout_s} s\n{self.stderr_tail()}") from None
        self._reader.join(timeout=5)
        return status

    def stop(self, timeout_s=ON_END_TIMEOUT_S):
        """SIGTERM, then the exit status; kills the program when it does not end in time and says so."""
        self.signal(signal.SIGTERM)
        try:
            return self.wait(timeout_s)
        except NotReached:
            self.kill()
            raise

    def kill(self):
        """kill -9, and waits for the end."""
        self.signal(signal.SIGKILL)
        self._child.wait()
        self._reader.join(timeout=5)


def clean_environment(**changes):
    """This process's environment without what would steer Spark, Python or Java behind a test's back."""
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith(("SPARK_", "PYSPARK_", "THALWEG_", "KAFKA_")) and k not in ("JAVA_TOOL_OPTIONS",)}
    kept.update(PYTHONUNBUFFERED="1", TZ="UTC")
    kept.update({k: str(v) for k, v in changes.items()})
    return kept
