"""One figure, one JSON line: name, unit, value, bar, where and on what it was measured."""
import functools
import json
import os
import pathlib
import platform
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


@functools.cache
def machine():
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    return {"cpu": model, "cores": len(os.sched_getaffinity(0)), "memory_gib": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 30,
            "kernel": platform.release()}


@functools.cache
def commit():
    def git(*words):
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False).stdout.strip()
    return git("rev-parse", "--short=12", "HEAD") + ("+" if git("status", "--porcelain", "--", "src") else "")


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class Lines:
    """Prints lines and keeps them. A bar is what issue and design ask for: at least it ("higher") or at most ("lower")."""

    def __init__(self, file=None):
        self._file = file
        self.all = []

    def add(self, name, value, unit, *, better, bar=None, runs=None, engine="thalweg", **details):
        """runs: single measurements; the value is then their median and the line says how far they lie apart."""
        if runs:
            value = statistics.median(runs)
            details["runs"] = [round(run, 4) for run in runs]
        line = {"name": name, "engine": engine, "value": round(value, 4), "unit": unit, "better": better}
        if bar is not None:
            line["bar"] = bar
            line["holds"] = value >= bar if better == "higher" else value <= bar
        line |= {**details, "load": round(os.getloadavg()[0], 2), "machine": machine(), "commit": commit()}
        text = json.dumps(line)
        print(text, flush=True)
        if self._file is not None:
            self._file.write(text + "\n")
            self._file.flush()
        self.all.append(line)

    def table(self):
        rows = [f"{'figure':58} {'value':>14} {'bar':>10}  unit"]
        for line in self.all:
            mark = "" if "bar" not in line else "  holds" if line["holds"] else "  MISSES"
            name = line['name'] if line['engine'] == 'thalweg' else f"{line['name']} ({line['engine']})"
            rows.append(f"{name[:58]:58} {line['value']:>14,.3f} {line.get('bar', ''):>10}  {line['unit']}{mark}")
        return "\n".join(rows)
