"""What can be seen of a process from outside: CPU time, memory, system calls, the files it makes."""
import ctypes
import os
import pathlib
import re
import struct
import subprocess
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """User and system time of all threads so far, in nanosecond steps where the kernel has them."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/schedstat") as file:
                total += int(file.read().split()[0])
        except OSError:
            continue
    with open(f"/proc/{pid}/stat") as file:  # threads that have ended count here alone
        fields = file.read().rsplit(")", 1)[1].split()
    return max(total / 1e9, (int(fields[11]) + int(fields[12])) / TICKS)


def memory_mib(pid):
    """(private, resident)."""
    values = {}
    with open(f"/proc/{pid}/smaps_rollup") as file:
        for line in file:
            match = re.match(r"(\w+): +(\d+) kB", line)
            if match:
                values[match[1]] = int(match[2]) / 1024
    return values["Private_Clean"] + values["Private_Dirty"], values["Rss"]


def system_calls(pid, names, seconds):
    """Calls of these names in `seconds`, counted by strace."""
    out = subprocess.run(["timeout", "-s", "INT", str(seconds), "strace", "-f", "-c", "-e", "trace=" + ",".join(names), "-p", str(pid)],
                         capture_output=True, text=True, check=False).stderr
    counts = dict.fromkeys(names, 0)
    for line in out.splitlines():
        words = line.split()
        if words and words[-1] in counts:
            counts[words[-1]] = int(words[3])
    return counts


def wait(seconds):
    """Lets a measured span pass."""
    time.sleep(seconds)  # tidy: allow(time.sleep) the length of a measurement


class FolderWatch:
    """When files get their final names in folders: [(folder name, file name, monotonic seconds)], by inotify.

    File times would do but for their grain of a clock tick (4 ms here).
    """

    _MOVED_TO, _CLOSE_WRITE, _CREATE = 0x80, 0x8, 0x100
    _EVENT = struct.Struct("iIII")

    def __init__(self, *folders):
        self.seen = []
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.inotify_init1(os.O_CLOEXEC)
        self._names = {}
        for folder in map(pathlib.Path, folders):
            folder.mkdir(parents=True, exist_ok=True)
            watch = self._libc.inotify_add_watch(self._fd, os.fsencode(folder), self._MOVED_TO | self._CREATE)
            self._names[watch] = folder.name
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        os.set_blocking(self._fd, False)
        import select
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        while not self._stop.is_set():
            if not poll.poll(100):
                continue
            now = time.monotonic()
            data = os.read(self._fd, 1 << 20)
            at = 0
            while at < len(data):
                watch, _mask, _cookie, length = self._EVENT.unpack_from(data, at)
                at += self._EVENT.size
                name = data[at:at + length].rstrip(b"\0").decode()
                at += length
                self.seen.append((self._names[watch], name, now))

    def stop(self):
        self._stop.set()
        self._thread.join()
        os.close(self._fd)

    def times(self, folder):
        """Number -> first time that the file of this number appeared."""
        found = {}
        for where, name, when in self.seen:
            if where == folder and name.isdigit():
                found.setdefault(int(name), when)
        return found


def micro_batches_ms(watch, skip):
    """From offsets/n to commits/n, for every n from `skip` on."""
    offsets, commits = watch.times("offsets"), watch.times("commits")
    return [(commits[n] - offsets[n]) * 1e3 for n in sorted(commits) if n >= skip and n in offsets]
