"""What tests of the user's Python functions share: what a function has written down, and the processes that run functions."""
import os
import pathlib
import sys


class Log:
    """Lines of a file, written by functions in processes of their own."""

    def __init__(self, path):
        self.path = str(path)

    def add(self, text):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(f"{text}\n")

    def lines(self):
        return pathlib.Path(self.path).read_text(encoding="utf-8").splitlines() if os.path.exists(self.path) else []


def by_value(module_name):
    """Functions of a module are sent as code, as those of a program's main module are: workers cannot import tests."""
    from pyspark import cloudpickle
    cloudpickle.register_pickle_by_value(sys.modules[module_name])


def hang(log):
    """A function that writes its process id down and never returns."""
    def function(*_):
        import os as worker_os
        import threading
        log.add(worker_os.getpid())
        threading.Event().wait()
    return function


def _pyspark_processes():
    """pid -> parent's, of all processes with pyspark on their command line."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if b"pyspark" in (entry / "cmdline").read_bytes():
                found[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, ValueError):  # it has just ended
            pass
    return found


def launched_by(server):
    """Process ids of the workers and daemons that a server has launched."""
    return {pid for pid, parent in _pyspark_processes().items() if parent == server.process.pid}


def forked_by(daemons):
    return {pid for pid, parent in _pyspark_processes().items() if parent in daemons}


def alive(pid):
    """Whether a process of that id is there that is a Python worker."""
    return pid in _pyspark_processes()
