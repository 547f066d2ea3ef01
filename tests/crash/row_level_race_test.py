# ctest: TIMEOUT 7200 LABELS crash
"""Eight writers on two servers append, merge, update and delete in one Delta table at once, while one server is killed again and again:
what the table holds is what its commits give one after the other, and no answered statement is lost or there twice.

TW_RACES: how many races with kills (1; `make crash`: 20)."""
import glob
import json
import os
import random
import threading

import pytest
from deltalake import DeltaTable
from harness.thalweg_server import ThalwegServer

KEYS = 40
STATEMENTS = 8  # of each writer
RACES = int(os.environ.get("TW_RACES", "1"))
WRITERS = 8


def random_statement(rng, name):
    kind = rng.choice(["append", "merge", "merge", "update", "delete"])
    if kind == "append":
        return kind, [(1000 + int(name) * 10 + i, 0) for i in range(3)]
    if kind == "merge":
        return kind, [(key, rng.randrange(1, 5)) for key in sorted(rng.sample(range(KEYS), 4))]
    if kind == "update":
        return kind, (rng.randrange(2, 7), rng.randrange(1, 4))
    return kind, sorted(rng.sample(range(KEYS), 3))


def apply(rows, kind, argument):
    """A statement on {id: n}."""
    if kind == "append":
        rows.update(argument)
    elif kind == "merge":
        for key, n in argument:
            rows[key] = rows.get(key, 0) + n
    elif kind == "update":
        for key in rows:
            if key % argument[0] == 0:
                rows[key] += argument[1]
    else:
        for key in argument:
            rows.pop(key, None)


def run(spark, path, name, kind, argument):
    spark.conf.set("spark.databricks.delta.commitInfo.userMetadata", name)
    if kind == "append":
        spark.createDataFrame(argument, "id BIGINT, n BIGINT").write.format("delta").mode("append").option("userMetadata", name).save(path)
    elif kind == "merge":
        values = ", ".join(f"({key}L, {n}L)" for key, n in argument)
        spark.sql(f"MERGE INTO delta.`{path}` t USING (SELECT * FROM VALUES {values} AS s(id, n)) s ON t.id = s.id "
                  "WHEN MATCHED THEN UPDATE SET n = t.n + s.n WHEN NOT MATCHED THEN INSERT *").collect()
    elif kind == "update":
        spark.sql(f"UPDATE delta.`{path}` SET n = n + {argument[1]} WHERE id % {argument[0]} = 0").collect()
    else:
        spark.sql(f"DELETE FROM delta.`{path}` WHERE id IN ({', '.join(map(str, argument))})").collect()


class Writer(threading.Thread):
    def __init__(self, server, path, number, seed):
        super().__init__()
        self.server, self.path, self.number, self.seed = server, path, number, seed
        self.answered, self.statements, self.conflicts, self.trouble = [], {}, 0, None

    def attempt(self, spark, name, kind, argument):
        """True: answered. None: who knows (the server went)."""
        try:
            run(spark, self.path, name, kind, argument)
            return True
        except Exception as error:  # noqa: BLE001
            text = str(error)
            if "DELTA_CONCURRENT" in text:
                self.conflicts += 1
                return False
            if not any(word in text for word in ("UNAVAILABLE", "Socket closed", "Connection refused", "INVALID_HANDLE", "recvmsg", "Stream removed", "CANCELLED",
                                                 "failed to connect", "OPERATION_NOT_FOUND", "SESSION", "reset by peer")):
                raise
            return None

    def run(self):
        rng = random.Random(self.seed * 1000 + self.number)
        try:
            spark, session_of = None, None
            for turn in range(STATEMENTS):
                name = str(self.number * 100 + turn)
                kind, argument = random_statement(rng, name)
                self.statements[name] = (kind, argument)
                for _ in range(200):
                    if spark is None or session_of != self.server.url:
                        session_of = self.server.url
                        spark = self.server.session()
                    done = self.attempt(spark, name, kind, argument)
                    if done is None:  # it may have happened: never again under this name
                        spark = None
                        self.server.wait_up()
                        break
                    if done:
                        self.answered.append(name)
                        break
                else:
                    raise AssertionError(f"{name} never got through")
        except Exception as error:  # noqa: BLE001
            self.trouble = error


class KillableServer:
    """A server that comes back: url changes."""

    def __init__(self, folder):
        self.server = ThalwegServer(folder).start()
        self.up = threading.Event()
        self.up.set()

    @property
    def url(self):
        self.wait_up()
        return self.server.url

    def session(self):
        from pyspark.sql.connect.session import SparkSession
        for _ in range(50):
            self.wait_up()
            try:
                session = SparkSession.builder.remote(self.server.url).create()
                session.client.set_retry_policies([])  # a dead server is not waited for
                return session
            except Exception:  # noqa: BLE001: it was killed just now
                continue
        raise AssertionError("no session")

    def wait_up(self):
        assert self.up.wait(60)

    def kill(self):
        self.up.clear()
        self.server.process.kill()
        self.server = ThalwegServer(self.server.folder).start()
        self.up.set()


def replay(path):
    """The commits in their order: names of statements."""
    names = []
    for file in sorted(glob.glob(os.path.join(path, "_delta_log", "*.json"))):
        with open(file, encoding="utf-8") as lines:
            info = next(action["commitInfo"] for action in map(json.loads, lines) if "commitInfo" in action)
        if "userMetadata" in info:
            names.append(info["userMetadata"])
    return names


@pytest.mark.parametrize("kills, seed", [(0, 0)] + [(5, seed) for seed in range(RACES)])
def test_commits_are_serialisable(tmp_path, kills, seed):
    path = str(tmp_path / "table")
    servers = [KillableServer(tmp_path / "a"), KillableServer(tmp_path / "b")]
    try:
        setup = servers[0].session()
        setup.createDataFrame([], "id BIGINT, n BIGINT").write.format("delta").save(path)
        writers = [Writer(servers[number % 2], path, number + 1, seed) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        for turn in range(kills):
            target = 6 * (turn + 1)  # commits that are there before the next one
            while len(replay(path)) < target and any(writer.is_alive() for writer in writers):
                writers[turn % WRITERS].join(0.02)
            servers[turn % 2].kill()
        for writer in writers:
            writer.join(240)
        assert [writer.trouble for writer in writers] == [None] * WRITERS
        names = replay(path)
        assert len(set(names)) == len(names)
        statements = {name: statement for writer in writers for name, statement in writer.statements.items()}
        rows = {}
        for name in names:
            apply(rows, *statements[name])
        changed_nothing = {"update", "delete"}  # of no row: no commit
        for writer in writers:
            lost = [name for name in writer.answered if name not in names and statements[name][0] not in changed_nothing]
            assert not lost
        held = DeltaTable(path).to_pyarrow_table().to_pylist()
        assert sorted((row["id"], row["n"]) for row in held) == sorted(rows.items())
        assert kills or sum(writer.conflicts for writer in writers) > 0
    finally:
        for one in servers:
            if one.server.process.running():
                one.server.stop()
