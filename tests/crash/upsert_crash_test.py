# ctest: TIMEOUT 7200 LABELS broker crash
"""The upsert program (foreachBatch with DeltaTable.merge) over a real broker, killed at its durable steps and at any moment: the table
holds each device once, with what a naive evaluation of all readings says.

TW_UPSERT_KILLS: how many killed runs (10; `make crash`: 300). TW_KILL_SEED: where the seeds begin; a failure names its own.
"""
import json
import os
import pathlib
import random
import sys

import deltalake
from delta.tables import DeltaTable
from harness.kill_matrix import STREAM_POINTS, Query, fault_points, run_rounds
from harness.processes import Process, clean_environment
from harness.python_functions import by_value
from harness.thalweg_server import run_thalweg, thalweg_program
from harness.waiting import NotReached, patience
from pyspark.sql import functions as F

RUNS = int(os.environ.get("TW_UPSERT_KILLS", "10"))
SEED = int(os.environ.get("TW_KILL_SEED", "1"))
DEVICES, ROUNDS = 10, 12  # each device tells something in each round
READING = "device_id STRING, temperature DOUBLE, timestamp TIMESTAMP"
PROGRAM = pathlib.Path(os.environ["TW_SOURCE_DIR"]) / "examples" / "upsert_by_device.py"
by_value(__name__)


class Readings:
    """A topic of readings, made once, and the queries over it (kill_matrix). Each partition holds one reading of each of its devices per
    round, so that a micro-batch of DEVICES messages is one round: MERGE wants a key once."""

    def __init__(self, broker):
        self.broker = broker
        self.topic = broker.create_topic("telemetry-events", 2)
        chance = random.Random(5)
        self.rows = [{"device_id": f"sensor-{device}", "temperature": round(chance.uniform(50, 99), 1),
                      "timestamp": f"2024-03-01T10:{number:02d}:{device:02d}Z"} for number in range(ROUNDS) for device in range(DEVICES)]
        broker.produce(self.topic, [{"value": json.dumps(row), "partition": i % 2} for i, row in enumerate(self.rows)])

    def queries(self, folder, _seed):
        return [Latest(self, folder, "latest"), Summary(self, folder, "summary")]

    def before_the_last_run(self):
        pass

    def done(self, _seed):
        pass

    def latest(self):
        return {row["device_id"]: (row["temperature"],) for row in self.rows}

    def summary(self):
        told = {}
        for row in self.rows:
            told.setdefault(row["device_id"], []).append(row["temperature"])
        return {device: (max(temperatures), len(temperatures)) for device, temperatures in told.items()}


def same_table(folder, wanted):
    """`wanted`: device -> its other columns."""
    rows = [tuple(row.values()) for row in deltalake.DeltaTable(str(folder)).to_pyarrow_table().to_pylist()]
    got = {row[0]: row[1:1 + len(wanted[row[0]])] for row in rows}
    assert len(rows) == len(got), f"{len(rows) - len(got)} devices are there twice"
    assert got == wanted, f"{got}, not {wanted}"


class Upsert(Query):
    """What stream() gives, merged into a table by device."""

    mode, columns = None, None

    def start(self, session):
        path = str(self.folder / "table")
        table = DeltaTable.createIfNotExists(session).location(path)
        for column in self.columns.split(", "):
            table = table.addColumn(*column.split(" "))
        delta_table = table.execute()

        def upsert_to_delta(batch_df, batch_id):
            delta_table.alias("target").merge(
                batch_df.alias("source"),
                "target.device_id = source.device_id"
            ).whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

        return (self.frame(session).writeStream.foreachBatch(upsert_to_delta).outputMode(self.mode)
                .option("checkpointLocation", str(self.folder / "ck")).trigger(availableNow=True).start())

    def readings(self, session):
        return (session.readStream.format("kafka").option("kafka.bootstrap.servers", self.inputs.broker.bootstrap)
                .option("subscribe", self.inputs.topic).option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", DEVICES).load()
                .select(F.from_json(F.col("value").cast("string"), READING).alias("payload")).select("payload.*"))


class Latest(Upsert):
    """The newest reading of each device."""

    mode, columns = "append", READING

    def frame(self, session):
        return self.readings(session)

    def check(self):
        same_table(self.folder / "table", self.inputs.latest())


class Summary(Upsert):
    """State and table must agree: a count that ran twice would show."""

    mode, columns = "update", "device_id STRING, max_temperature DOUBLE, total_events BIGINT"

    def frame(self, session):
        return (self.readings(session).groupBy("device_id")
                .agg(F.max("temperature").alias("max_temperature"), F.count("*").alias("total_events")))

    def check(self):
        same_table(self.folder / "table", self.inputs.summary())


def test_the_program_itself(broker, tmp_path):
    """Killed with all that belongs to it, a few times, then to its end."""
    inputs = Readings(broker)
    command = ["submit", "--conf", f"spark.sql.warehouse.dir={tmp_path}/warehouse", "--conf", "spark.sql.shuffle.partitions=2", PROGRAM,
               broker.bootstrap, tmp_path / "checkpoint", "once"]
    chance = random.Random(SEED)
    for number in range(max(3, RUNS // 10)):
        program = Process([thalweg_program(), *command], tmp_path / "run", f"submit-{number}", clean_environment(PYSPARK_PYTHON=sys.executable))
        try:
            assert program.wait(chance.uniform(1, 5)) == 0  # it was done before
        except NotReached:
            program.kill()
    finished = run_thalweg(command, tmp_path, environment={"PYSPARK_PYTHON": sys.executable}, timeout_s=patience(120))
    assert finished.returncode == 0, finished.stderr
    same_table(tmp_path / "warehouse" / "iot.db" / "devices", inputs.summary())
    broker.delete_topic(inputs.topic)


def test_killed_runs_go_on(broker, tmp_path):
    points = fault_points(*STREAM_POINTS, "delta write: files closed", "delta row level", "delta commit", "delta checkpoint")
    run_rounds(Readings(broker), tmp_path, RUNS, SEED, points, within_s=6)
