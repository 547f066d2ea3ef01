"""Names of cached tables and views: whose they are, and what becomes of them."""
import uuid

import pytest
from harness.connect_client import Client
from pyspark.sql.connect.proto import base_pb2
from pyspark.sql.connect.session import SparkSession


def session_of(server, user, session_id):
    return SparkSession.builder.remote(f"{server.url.rstrip('/')}/;user_id={user};session_id={session_id}").create()


def test_a_cached_temporary_view_is_forgotten_with_its_session(server):
    session_id = str(uuid.uuid4())
    spark = session_of(server, "alice", session_id)
    spark.sql("CREATE TEMP VIEW v AS SELECT 1 AS a")
    spark.sql("CACHE TABLE v")
    assert spark.catalog.isCached("v")
    client = Client(server)
    client.stub.ReleaseSession(base_pb2.ReleaseSessionRequest(
        session_id=session_id, user_context={"user_id": "alice"}, allow_reconnect=True))
    client.channel.close()
    again = session_of(server, "alice", session_id)
    again.sql("CREATE TEMP VIEW v AS SELECT 2 AS a")
    assert not again.catalog.isCached("v")
    again.stop()


def test_users_with_sessions_of_one_id_do_not_share_cached_views(server):
    session_id = str(uuid.uuid4())
    alice, bob = session_of(server, "alice", session_id), session_of(server, "bob", session_id)
    for spark in (alice, bob):
        spark.sql("CREATE TEMP VIEW v AS SELECT 1 AS a")
    alice.sql("CACHE TABLE v")
    assert alice.catalog.isCached("v") and not bob.catalog.isCached("v")
    alice.stop()
    bob.stop()


@pytest.mark.parametrize("make, kind", [("CREATE TABLE {} (a INT) USING parquet", "TABLE"), ("CREATE VIEW {} AS SELECT 1 AS a", "VIEW"),
                                        ("CREATE TEMP VIEW {} AS SELECT 1 AS a", "VIEW")])
def test_what_is_renamed_stays_cached_under_its_new_name_only(server, make, kind):
    spark = server.session()
    spark.sql(make.format("old"))
    spark.sql("CACHE TABLE old")
    spark.sql(f"ALTER {kind} old RENAME TO new")
    assert spark.catalog.isCached("new")
    spark.sql(make.replace("SELECT 1", "SELECT 2").format("old"))
    assert not spark.catalog.isCached("old")
    spark.sql(f"ALTER {kind} old RENAME TO other")
    assert not spark.catalog.isCached("other")
