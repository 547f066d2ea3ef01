"""Limits of streams and sessions, set so low that they are reached."""
import pathlib
import threading
import time

import grpc
import pyarrow
import pytest
from harness.connect_client import Client, condition, sql
from harness.thalweg_server import ThalwegServer
from harness.waiting import let_pass, wait_until
from pyspark.sql.connect.proto import base_pb2, base_pb2_grpc


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


def compressed(data):
    """A plan whose relation is `data`, packed."""
    plan = base_pb2.Plan()
    operation = plan.compressed_operation
    operation.op_type = operation.OP_TYPE_RELATION
    operation.compression_codec = base_pb2.COMPRESSION_CODEC_ZSTD
    operation.data = data
    return plan


def test_packed_plans_are_bounded_before_they_are_unpacked(tmp_path):
    server = started(tmp_path, spark__connect__maxPlanSize="1000000")
    client = Client(server)
    try:
        relation = sql("select 1 as x").root.SerializeToString()
        assert len(list(client.execute(compressed(pyarrow.compress(relation, "zstd", asbytes=True))))) > 2
        bomb = pyarrow.compress(bytes(500 << 20), "zstd", asbytes=True)
        assert len(bomb) < 100_000
        for data, expected in ((bomb, "PLAN_SIZE_LARGER_THAN_MAX"), (bomb[:-9], "CANNOT_PARSE"), (b"no zstd", "CANNOT_PARSE")):
            with pytest.raises(grpc.RpcError) as error:
                list(client.execute(compressed(data)))
            assert condition(error) in (f"CONNECT_INVALID_PLAN.{expected}", "CONNECT_INVALID_PLAN.PLAN_SIZE_LARGER_THAN_MAX")
        assert len(list(client.execute(sql("select 1")))) > 2
    finally:
        client.close()
        server.stop()


def test_pings_without_calls_keep_a_connection(tmp_path):
    """Clients of 4.3 ping, also while nothing is called; a server that minds closes the connection after a few."""
    server = started(tmp_path)
    options = [("grpc.keepalive_time_ms", 500), ("grpc.keepalive_permit_without_calls", 1), ("grpc.http2.max_pings_without_data", 0)]
    states = []
    channel = grpc.insecure_channel(server.url[len("sc://"):], options)
    try:
        request = base_pb2.AnalyzePlanRequest(session_id="6de367e5-ff10-4366-9400-2776b5d214bb", spark_version={})
        stub = base_pb2_grpc.SparkConnectServiceStub(channel)
        assert stub.AnalyzePlan(request).spark_version.version == "4.2.0"
        channel.subscribe(states.append)
        let_pass(5)
        assert stub.AnalyzePlan(request).spark_version.version == "4.2.0"
        assert set(states) == {grpc.ChannelConnectivity.READY}
    finally:
        channel.close()
        server.stop()


def test_progress_tells_what_a_running_query_does(tmp_path):
    (tmp_path / "rows.json").write_text("".join(f'{{"n": {n}}}\n' for n in range(100)))
    server = started(tmp_path, spark__connect__progress__reportInterval="200ms")
    try:
        spark = server.session()
        seen = []

        def note(stages, inflight_tasks, operation_id, done):
            if stages and not done and not seen:
                seen.append((stages, inflight_tasks))
                spark.interruptAll()

        spark.registerProgressHandler(note)
        files = spark.read.schema("n bigint").json(str(tmp_path / "rows.json"))
        endless = files.crossJoin(spark.range(0, 10**12, 1, 2)).where("(n * 31 + id * 17) % 1000003 = 5").groupBy().count()
        with pytest.raises(Exception, match="OPERATION_CANCELED"):
            endless.collect()
        stages, inflight_tasks = seen[0]
        assert sum(stage.num_tasks for stage in stages) >= 2
        assert 1 <= inflight_tasks <= sum(stage.num_tasks for stage in stages)
        assert not all(stage.done for stage in stages)
        assert sum(stage.num_completed_tasks for stage in stages) < sum(stage.num_tasks for stage in stages)
    finally:
        server.stop()


def endless_pivot(spark):
    """The values of its columns come from a query that is run while the plan is looked at, and that has no end."""
    return spark.range(1 << 50).selectExpr("id % 7 AS k").groupBy().pivot("k").count()


@pytest.mark.parametrize("action", ["collect", "schema"])
def test_an_interrupt_reaches_what_an_analysis_runs(server, action):
    spark = server.session()
    frame = endless_pivot(spark)
    failures = []

    def act():
        try:
            getattr(frame, action)() if action == "collect" else frame.schema
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    wait_until(lambda: spark.interruptAll() is not None and not thread.is_alive(), "the analysis is interrupted", 30)
    assert "OPERATION_CANCELED" in str(failures[0])


@pytest.mark.parametrize("leave", ["hang up", "close the session"])
def test_an_analysis_that_nobody_waits_for_ends(server, leave):
    spark = server.session()
    client = Client(server)
    request = base_pb2.AnalyzePlanRequest(**client.common)
    request.schema.plan.CopyFrom(endless_pivot(spark)._plan.to_proto(spark.client))
    call = client.stub.AnalyzePlan.future(request)
    ticks = processor_time(server.process.pid)
    wait_until(lambda: processor_time(server.process.pid) > ticks + 50, "the query runs")
    if leave == "hang up":
        call.cancel()
    else:
        client.stub.ReleaseSession(base_pb2.ReleaseSessionRequest(**client.common))
    seen = [0] * 10

    def is_idle():
        seen.append(processor_time(server.process.pid))
        return seen[-1] <= seen[-10] + 2

    wait_until(is_idle, "the query ends", 30, poll_s=0.1)
    client.channel.close()


def processor_time(pid):
    """What a process has used so far, in hundredths of a second."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
