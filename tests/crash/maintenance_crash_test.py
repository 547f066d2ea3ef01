# ctest: TIMEOUT 7200 LABELS crash
"""OPTIMIZE, VACUUM and RESTORE of a Delta table in a program that is killed at each passage of each of its fault points, and at any moment:
the table holds what it held, every file that its log names is there, and the same statement once more does the work.

TW_MAINTENANCE_KILLS: how many kills at a moment, beside those at fault points (6; `make crash`: 300); with more than a few every passage of every
point is struck, else the first two. TW_KILL_SEED: where the seeds begin; a failure names its own.
"""
import glob
import os
import random
import shutil
import signal
import threading

import deltalake
import pytest
from harness.kill_matrix import fault_points
from harness.thalweg_server import ThalwegServer
from harness.waiting import NotReached

KILLS = int(os.environ.get("TW_MAINTENANCE_KILLS", "6"))
SEED = int(os.environ.get("TW_KILL_SEED", "1"))
PASSAGES = 2 if KILLS < 50 else 1000
POINTS = fault_points("delta write: files closed", "delta optimize", "delta vacuum", "delta commit", "delta checkpoint", "atomic write")
CONF = {"spark.databricks.delta.retentionDurationCheck.enabled": "false"}
STATEMENTS = {"optimize": "OPTIMIZE delta.`{}`", "vacuum": "VACUUM delta.`{}` RETAIN 0 HOURS", "restore": "RESTORE delta.`{}` TO VERSION AS OF 4"}
# What each of them must pass, so that a point that moved away is missed.
MUST_STRIKE = {
    "optimize": {"delta write: files closed", "delta optimize: files durable", "delta commit: before the log entry", "atomic write: renamed",
                 "atomic write: temporary file written", "delta commit: log entry written", "delta checkpoint: written", "delta checkpoint: visible"},
    "vacuum": {"delta vacuum: before a file goes", "delta commit: before the log entry", "delta commit: log entry written", "delta checkpoint: visible"},
    "restore": {"delta commit: before the log entry", "atomic write: renamed", "delta commit: log entry written", "delta checkpoint: written"},
}


def content(path):
    return sorted((row["id"], row["p"]) for row in deltalake.DeltaTable(path).to_pyarrow_table().to_pylist())


def data_files(path):
    return {os.path.relpath(file, path) for file in glob.glob(f"{path}/**/*.parquet", recursive=True) if "_delta_log" not in file}


class Tables:
    """A table that is copied for each kill, and a server that is not killed."""

    def __init__(self, folder):
        self.folder = folder
        self.server = ThalwegServer(folder / "judge", conf=CONF).start()
        self.spark = self.server.session()
        self.template = str(folder / "template")
        for i in range(9):
            self.spark.range(i * 20, i * 20 + 20).selectExpr("id", "id % 3 AS p").coalesce(1).write.format("delta").mode("append").partitionBy("p").save(self.template)
        self.spark.sql(f"DELETE FROM delta.`{self.template}` WHERE id % 7 = 0").collect()  # version 9: the next one writes a checkpoint
        for name in ("p=0/part-00000-nobody-knows.parquet", "part-00001-nor-this.parquet", "gone/part-00002.parquet"):
            os.makedirs(os.path.dirname(f"{self.template}/{name}"), exist_ok=True)
            shutil.copy(glob.glob(f"{self.template}/p=0/*.parquet")[0], f"{self.template}/{name}")
        self.rows = content(self.template)
        self.old_rows = sorted((i, i % 3) for i in range(100))
        self.count = 0

    def copy(self):
        self.count += 1
        path = str(self.folder / f"t{self.count}")
        shutil.copytree(self.template, path)
        return path

    def judge(self, kind, path):
        """After a kill; raises AssertionError."""
        allowed = [self.rows, self.old_rows] if kind == "restore" else [self.rows]
        assert content(path) in allowed, "rows changed by the kill"
        self.whole(path)
        answer = self.spark.sql(STATEMENTS[kind].format(path)).collect()
        assert len(answer) == 1
        assert content(path) == (self.old_rows if kind == "restore" else self.rows), "rows changed by doing it once more"
        held = sorted(map(tuple, self.spark.read.format("delta").load(path).select("id", "p").collect()))
        assert held == content(path), "we read other rows than delta-rs"
        self.whole(path)
        live = {os.path.relpath(uri.removeprefix("file://"), path) for uri in deltalake.DeltaTable(path).file_uris()}
        if kind == "optimize":
            assert len(live) == 3, f"one file a partition, not {len(live)}"
            for version in (0, 4, 8):  # what went out of the table is still there for those who look back
                rows = self.spark.read.format("delta").option("versionAsOf", version).load(path).count()
                assert rows == 20 * (version + 1)
        if kind == "vacuum":
            assert data_files(path) == live, "VACUUM left or took too much"
        shutil.rmtree(path)

    @staticmethod
    def whole(path):
        for uri in deltalake.DeltaTable(path).file_uris():
            assert os.path.exists(uri.removeprefix("file://")), f"{uri} is in the table and not on the disk"


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    made = Tables(tmp_path_factory.mktemp("maintenance"))
    yield made
    made.server.stop()


def strike(tables, kind, point=None, nth=1, after_s=None):
    """Runs the statement in a server of its own; whether that one died."""
    path = tables.copy()
    environment = {"THALWEG_FAULT": f"{point}:{nth}:kill"} if point else {}
    server = ThalwegServer(tables.folder / "victim", conf=CONF, environment=environment).start()
    timer = threading.Timer(after_s, lambda: server.process.signal(signal.SIGKILL)) if after_s is not None else None
    died = False
    try:
        session = server.session()
        session.range(1).collect()  # the client may remember that nobody was behind this port
        session.client.set_retry_policies([])  # a dead server is not waited for
        if timer:
            timer.start()
        try:
            session.sql(STATEMENTS[kind].format(path)).collect()
        except Exception as error:  # noqa: BLE001
            try:
                server.process.wait(5)
                died = True
            except NotReached:
                raise AssertionError(f"{kind} failed in a server that lives: {error}") from error
    finally:
        if timer:
            timer.cancel()
        server.kill()
    try:
        tables.judge(kind, path)
    except Exception as error:
        raise AssertionError(f"{kind} killed at {point or after_s}, passage {nth}, {path}: {type(error).__name__}: {error}") from error
    return died


@pytest.mark.parametrize("kind", sorted(STATEMENTS))
def test_killed_at_every_point(tables, kind):
    struck = {}
    for point in POINTS:
        for nth in range(1, PASSAGES + 1):
            if not strike(tables, kind, point, nth):
                break
            struck[point] = nth
    print(kind, struck)
    assert MUST_STRIKE[kind] <= set(struck)


@pytest.mark.parametrize("kind", sorted(STATEMENTS))
def test_killed_at_any_moment(tables, kind):
    died = 0
    for number in range(max(1, KILLS // len(STATEMENTS))):
        after_s = random.Random(SEED + number).uniform(0.0, 0.3)
        died += strike(tables, kind, after_s=after_s)
    print(f"{kind}: {died} died before the answer")
