"""Limits of streams and sessions, set so low that they are reached."""
import time

import pytest
from harness.thalweg_server import ThalwegServer
from harness.waiting import wait_until


def started(folder, **conf):
    return ThalwegServer(folder, conf={key.replace("__", "."): value for key, value in conf.items()}).start()


def test_clients_attach_again_when_a_stream_is_full(tmp_path):
    server = started(tmp_path, spark__connect__execute__reattachable__senderMaxStreamSize=123)
    try:
        spark = server.session()
        assert [row.id for row in spark.range(30_000).collect()] == list(range(30_000))
        assert spark.sql("select 1 as x").collect()[0].x == 1
    finally:
        server.stop()


def test_clients_attach_again_when_a_stream_is_old(tmp_path):
    server = started(tmp_path, spark__connect__execute__reattachable__senderMaxStreamDuration="1s",
                     spark__connect__progress__reportInterval="1s")
    try:
        spark = server.session()
        query = spark.readStream.format("rate").load().writeStream.format("noop").start()
        before = time.monotonic()
        assert query.awaitTermination(4) is False
        assert time.monotonic() - before >= 4
        assert query.isActive
        query.stop()
    finally:
        server.stop()


def test_idle_sessions_expire(tmp_path):
    server = started(tmp_path, spark__connect__session__manager__defaultSessionTimeout="1s")
    try:
        spark = server.session()
        assert spark.range(2).count() == 2
        wait_until(lambda: "session closed" in server.process.stderr_tail(), "the session expires")
        with pytest.raises(Exception, match="SESSION_CLOSED"):
            spark.range(2).count()
        assert server.session().range(3).count() == 3
    finally:
        server.stop()
