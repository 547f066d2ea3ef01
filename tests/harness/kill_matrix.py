"""kill -9 of the real program, again and again: queries of three kinds die together, go on together, and are compared with a naive count.

A run is one query that was killed at least once and then ran to its end. Several queries share a server, so one kill gives several runs.
What the queries read, and which they are, says an input: queries(folder, seed), before_the_last_run(), and done(seed) when a round was right.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import signal
import threading

import deltalake
from harness.thalweg_server import ThalwegServer
from harness.waiting import NotReached, patience
from pyspark.sql import functions

SOURCE = pathlib.Path(os.environ["TW_SOURCE_DIR"]) / "src"
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    # Snapshots and deletions come often, so that a kill finds them at work.
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "2",
    "spark.sql.streaming.stateStore.maintenanceInterval": "100ms",
    "spark.sql.streaming.minBatchesToRetain": "3",
}
BATCHES, PER_BATCH, FILES, PER_FILE = 12, 10, 12, 20
QUERIES = 3  # of each kind, in one round
END_TIMEOUT_S = patience(300)


# What every query with state passes; the names of fault points begin with these words.
STREAM_POINTS = ("micro-batch", "offset log", "commit log", "state", "atomic write", "durable group")


# Rounds keep their state in one format or another.
ROCKSDB = {"spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"}
STATE_FORMATS = {
    "hdfs": {},
    "rocksdb": ROCKSDB,
    "rocksdb with changelog": ROCKSDB | {"spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true"},
}
# Fault points that queries do not pass in every format.
FORMATS_OF_POINT = {
    "state: delta encoded": ["hdfs"],
    "state: snapshot staged": ["rocksdb"],
    "state: changelog encoded": ["rocksdb with changelog"],
    "state: snapshot written": ["hdfs", "rocksdb with changelog"],
}


def formats_with(point):
    """The state formats whose queries pass a fault point."""
    return FORMATS_OF_POINT.get(point, list(STATE_FORMATS))


def fault_points(*begin):
    """The names of the program's fault points that begin with one of these."""
    found = set()
    for path in SOURCE.rglob("*.cc"):
        if not path.name.endswith("_test.cc"):
            found.update(re.findall(r'TW_FAULT_POINT\("([^"]+)"\)', path.read_text()))
    return sorted(point for point in found if point.startswith(begin))


class Input:
    """What every query reads: a topic of clicks and a folder of files, made once."""

    def __init__(self, broker, folder):
        self.broker = broker
        self.topic = broker.create_topic("matrix-clicks", 2)
        clicks = [{"page": f"p{i % 7}", "event_time": f"2024-03-01T10:{i * 60 // (BATCHES * PER_BATCH):02d}:{i % 60:02d}Z", "n": i}
                  for i in range(BATCHES * PER_BATCH)]
        self.values = [json.dumps(click) for click in clicks]
        self.closing = json.dumps({"page": "last", "event_time": "2024-03-01T12:00:00Z", "n": -1})
        broker.produce(self.topic, [{"value": value, "partition": i % 2} for i, value in enumerate(self.values)] +
                       [{"value": self.closing, "partition": 0}])
        self.values.append(self.closing)
        self.windows = collections.Counter((click["event_time"][:16].replace("T", " ") + ":00", click["page"]) for click in clicks)
        self.closed_again = 0
        self.folder = folder / "files"
        self.folder.mkdir()
        self.file_rows = []
        for number in range(FILES):
            rows = [{"id": number * PER_FILE + i, "kind": "odd" if i % 2 else "even"} for i in range(PER_FILE)]
            self.file_rows += [(row["id"], row["kind"]) for row in rows if row["id"] % 3]
            (self.folder / f"{number:03d}.json").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def queries(self, folder, seed):
        topic = self.broker.create_topic(f"matrix-out-{seed}", 2)
        return [kind(self, folder, f"{name}-{i}", *more) for i in range(QUERIES)
                for kind, name, more in ((ClicksToDelta, "clicks", ()), (FilesToDelta, "files", ()), (ClicksToKafka, "copy", (topic,)))]

    def done(self, seed):
        self.broker.delete_topic(f"matrix-out-{seed}")

    def before_the_last_run(self):
        """One more closing row: a query that was killed between its last batch and the batch without data behind it writes the last
        windows with the next row that comes, in Spark too. The partitions stay of one length: a later query reads them at one pace, and
        no click of one comes a micro-batch after the closing row of the other, which would make it late."""
        self.closed_again += 1
        self.broker.produce(self.topic, [{"value": self.closing, "partition": self.closed_again % 2}])


class Query:
    """One query with a checkpoint and a target of its own."""

    def __init__(self, inputs, folder, name):
        self.inputs, self.name, self.folder = inputs, name, folder / name
        self.folder.mkdir(parents=True)

    def start(self, session):
        writer = self.frame(session).writeStream.option("checkpointLocation", str(self.folder / "ck")).trigger(availableNow=True)
        return self.write(writer)

    def clicks(self, session):
        return (session.readStream.format("kafka").option("kafka.bootstrap.servers", self.inputs.broker.bootstrap)
                .option("subscribe", self.inputs.topic).option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", PER_BATCH).load())

    def write(self, writer):
        return writer.format("delta").start(str(self.folder / "table"))

    def table(self):
        return deltalake.DeltaTable(str(self.folder / "table")).to_pyarrow_table().to_pylist()

    def frame(self, session):
        raise NotImplementedError

    def check(self):
        """Raises AssertionError when the target is not what it must be."""
        raise NotImplementedError


class ClicksToDelta(Query):
    """The worked example: JSON from Kafka, counted in windows behind a watermark, every window once in a Delta table."""

    def frame(self, session):
        from pyspark.sql import functions as F
        events = self.clicks(session).select(F.from_json(F.col("value").cast("string"), "page STRING, event_time TIMESTAMP").alias("e")).select("e.*")
        counts = events.withWatermark("event_time", "10 minutes").groupBy(F.window("event_time", "1 minute"), "page").count()
        return counts.select(F.col("window.start").cast("string").alias("start"), "page", "count")

    def check(self):
        got = collections.Counter()
        rows = self.table()
        for row in rows:
            got[row["start"], row["page"]] += row["count"]
        assert len(rows) == len(got), f"{len(rows) - len(got)} windows were written twice"
        assert got == self.inputs.windows, f"missing {self.inputs.windows - got}, too many {got - self.inputs.windows}"


class FilesToDelta(Query):
    """Files, filtered, into a partitioned Delta table: every row once."""

    def frame(self, session):
        return (session.readStream.format("json").schema("id INT, kind STRING").option("maxFilesPerTrigger", 1)
                .load(str(self.inputs.folder)).where("id % 3 <> 0"))

    def write(self, writer):
        return writer.format("delta").partitionBy("kind").start(str(self.folder / "table"))

    def check(self):
        got = sorted((row["id"], row["kind"]) for row in self.table())
        assert got == sorted(self.inputs.file_rows), f"{len(got)} rows, not {len(self.inputs.file_rows)}"


class ClicksToKafka(Query):
    """Kafka to Kafka: every value at least once, and nothing else."""

    def __init__(self, inputs, folder, name, topic):
        super().__init__(inputs, folder, name)
        self.topic = topic

    def frame(self, session):
        from pyspark.sql import functions as F
        return self.clicks(session).select(F.lit(self.name).alias("key"), "value")

    def write(self, writer):
        return (writer.format("kafka").option("kafka.bootstrap.servers", self.inputs.broker.bootstrap).option("topic", self.topic).start())

    def check(self):
        got = {message.value().decode() for message in self.inputs.broker.consume_all(self.topic) if (message.key() or b"").decode() == self.name}
        wanted = set(self.inputs.values)
        assert got == wanted, f"{len(wanted - got)} values are missing, {len(got - wanted)} are nobody's"


class Death:
    """How a server dies: at the nth passage of a fault point, or by a kill at a moment."""

    def __init__(self, chance, points, within_s, point=None):
        self.point = point or (chance.choice(points) if chance.random() < 0.6 else None)
        self.nth = 1 if point else chance.choice((1, 1, 2, 3, 5, 8, 13, 21))
        self.after_s = chance.uniform(0.05, within_s)

    def environment(self):
        return {"THALWEG_FAULT": f"{self.point}:{self.nth}:kill"} if self.point else {}

    def __str__(self):
        return f"{self.point}, passage {self.nth}" if self.point else f"kill after {self.after_s:.3f} s"


class Round:
    """Queries that die together, once or several times, and then run to their ends."""

    def __init__(self, inputs, folder, seed, points, within_s, first_point=None):
        self.inputs, self.seed = inputs, seed
        self.folder = folder / f"round-{seed}"
        chance = random.Random(seed)
        self.deaths = [Death(chance, points, within_s, None if i else first_point) for i in range(chance.choice((1, 1, 2, 3)))]
        self.state_format = chance.choice(formats_with(first_point) if first_point else list(STATE_FORMATS))
        self.failures = []
        self.struck = []  # fault points that killed a server
        self.queries = inputs.queries(self.folder, seed)

    def run(self):
        """(runs that were killed, failures as texts)"""
        killed = {query.name: [] for query in self.queries}
        for death in self.deaths:
            for name in self._live(death):
                killed[name].append(str(death))
        failures = self.failures + self._finish(killed)
        for query in self.queries:
            try:
                query.check()
            except Exception as error:  # a table that cannot be read is a failure of this run, not of the matrix
                failures.append(f"seed {self.seed}, {query.name} ({self.state_format}) after {killed[query.name]}: {type(error).__name__}: {error}")
        if not failures:
            shutil.rmtree(self.folder)
            self.inputs.done(self.seed)
        return sum(1 for deaths in killed.values() if deaths), failures

    def _server(self, death=None):
        return ThalwegServer(self.folder / "server", conf=SETTINGS | STATE_FORMATS[self.state_format], environment=death.environment() if death else {}).start()

    def _live(self, death):
        """Starts the queries on a server that dies; the names of those that were not done by then."""
        server = self._server(death)
        timer = None if death.point else threading.Timer(death.after_s, lambda: server.process.signal(signal.SIGKILL))
        unfinished = [query.name for query in self.queries]
        try:
            session = server.session()  # before the timer: a session that never was spoils the client's next ones
            functions.col("x")  # what the client asks the first session of a process, once, and never again
            if timer:
                timer.start()
            session.client.set_retry_policies([])  # a dead server is not waited for
            running = {}
            for query in self.queries:
                running[query.name] = query.start(session)
            for name, query in running.items():
                assert query.awaitTermination(END_TIMEOUT_S), "a query did not end"
                unfinished.remove(name)
        except Exception as error:
            try:
                server.process.wait(5)
            except NotReached:  # it lives: a client that lost patience is no failure, an error of a query is
                if "UNAVAILABLE" not in str(error) and "DEADLINE" not in str(error):
                    self.failures.append(f"seed {self.seed}, before {death}: {type(error).__name__}: {str(error)[:2000]}")
        finally:
            if timer:
                timer.cancel()
            elif not server.process.running():
                self.struck.append(death.point)
            server.kill()  # dead already, or killed now
        return unfinished

    def _finish(self, killed):
        self.inputs.before_the_last_run()
        server = self._server()
        failures = []
        try:
            session = server.session()
            running = [(query, query.start(session)) for query in self.queries]
            for query, one in running:
                try:
                    assert one.awaitTermination(END_TIMEOUT_S), "it did not end"
                except Exception as error:
                    failures.append(f"seed {self.seed}, {query.name} ({self.state_format}) after {killed[query.name]}: {str(error)[:2000]}")
        except Exception as error:
            failures.append(f"seed {self.seed}, restart after {killed}: {str(error)[:2000]}")
        finally:
            server.stop()
        return failures


def run_rounds(inputs, folder, runs, seed, points, within_s=1.5, parallel=2):
    """Rounds from `seed` on until `runs` runs were killed; a failure is told with its seed. within_s: when kills at a moment come. Many
    runs begin with a round for each fault point, and each must have killed a server in the end."""
    killed, rounds, failures, struck = 0, 0, [], collections.Counter()
    first = points if runs >= 10 * len(points) else []
    with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
        while killed < runs:
            batch = [Round(inputs, folder, seed + i, points, within_s, first[i] if i < len(first) else None)
                     for i in range(rounds, rounds + parallel)]
            rounds += parallel
            for one, result in [(one, pool.submit(one.run)) for one in batch]:
                runs_of_it, failed = result.result()
                killed += runs_of_it
                failures += failed
                struck.update(one.struck)
                for text in failed:
                    print(text[:1500])
            print(f"{killed} killed runs in {rounds} rounds, {len(failures)} failures", flush=True)
            assert rounds < 4 + runs * 4, "hardly any round kills a query"
    print(f"servers killed by fault point: {dict(struck)}; by none: {sorted(set(points) - set(struck))}")
    assert set(first) <= set(struck), f"no server was killed at {sorted(set(first) - set(struck))}"
    assert not failures, f"{len(failures)} of {killed} runs:\n" + "\n".join(failures)
