"""Below PySpark: operations, reattach, release, interrupt, sessions, deep plans, rubbish."""
import random
import socket
import threading
import uuid
import zlib

import grpc
import pytest
from harness.connect_client import Client, condition, error_info, sql
from pyspark.sql.connect.proto import base_pb2, relations_pb2


@pytest.fixture
def client(shared_server):
    one = Client(shared_server)
    yield one
    one.close()


def listener_bus(add):
    plan = base_pb2.Plan()
    command = plan.command.streaming_query_listener_bus_command
    if add:
        command.add_listener_bus_listener = True
    else:
        command.remove_listener_bus_listener = True
    return plan


def payloads(responses):
    return [r.WhichOneof("response_type") or ("schema" if r.HasField("schema") else "metrics") for r in responses
            if not r.HasField("execution_progress")]


def test_messages_of_a_query(client):
    operation = str(uuid.uuid4())
    responses = list(client.execute(sql("select 1 as x"), operation))
    assert payloads(responses) == ["schema", "arrow_batch", "metrics", "result_complete"]
    assert {r.session_id for r in responses} == {client.session}
    assert {r.operation_id for r in responses} == {operation}
    assert len({r.response_id for r in responses}) == len(responses)
    assert len({r.server_side_session_id for r in responses}) == 1
    batch = responses[1].arrow_batch
    assert (batch.row_count, batch.start_offset, batch.chunk_index, batch.num_chunks_in_batch) == (1, 0, 0, 1)


def test_without_reattach_nothing_is_complete(client):
    assert payloads(client.execute(sql("select 1"), reattachable=False)) == ["schema", "arrow_batch", "metrics"]


def test_reattach_continues_behind_a_response(client):
    operation = str(uuid.uuid4())
    first = list(client.execute(sql("select 1"), operation))
    again = list(client.reattach(operation))
    assert [r.response_id for r in again] == [r.response_id for r in first]
    rest = list(client.reattach(operation, first[1].response_id))
    assert [r.response_id for r in rest] == [r.response_id for r in first[2:]]
    assert list(client.reattach(operation, first[-1].response_id)) == []
    client.release(operation, first[1].response_id)
    rest = list(client.reattach(operation, first[1].response_id))
    assert [r.response_id for r in rest] == [r.response_id for r in first[2:]]
    with pytest.raises(grpc.RpcError) as error:
        list(client.reattach(operation, "no such response"))
    assert condition(error) == "INVALID_CURSOR.POSITION_NOT_FOUND"


def test_released_operations_are_gone(client):
    operation = str(uuid.uuid4())
    list(client.execute(sql("select 1"), operation))
    assert client.release(operation).operation_id == operation
    assert not client.release(operation).HasField("operation_id")
    with pytest.raises(grpc.RpcError) as error:
        list(client.reattach(operation))
    assert condition(error) == "INVALID_HANDLE.OPERATION_NOT_FOUND"
    assert "INVALID_HANDLE.OPERATION_NOT_FOUND" in error.value.details()
    with pytest.raises(grpc.RpcError) as error:
        list(client.execute(sql("select 1"), operation))
    assert condition(error) == "INVALID_HANDLE.OPERATION_ABANDONED"


def test_the_same_id_with_the_same_plan_attaches(client):
    operation = str(uuid.uuid4())
    first = list(client.execute(sql("select 1"), operation))
    again = list(client.execute(sql("select 1"), operation))
    assert [r.response_id for r in again] == [r.response_id for r in first]
    with pytest.raises(grpc.RpcError) as error:
        list(client.execute(sql("select 2"), operation))
    assert condition(error) == "INVALID_HANDLE.OPERATION_ALREADY_EXISTS"


def test_handles_must_be_uuids(client):
    with pytest.raises(grpc.RpcError) as error:
        list(client.execute(sql("select 1"), "not-a-uuid"))
    assert condition(error) == "INVALID_HANDLE.FORMAT"
    with pytest.raises(grpc.RpcError) as error:
        client.stub.Config(base_pb2.ConfigRequest(session_id="x", operation={"get_all": {}}))
    assert condition(error) == "INVALID_HANDLE.FORMAT"


def test_errors_are_fetched_once(client):
    with pytest.raises(grpc.RpcError) as error:
        list(client.execute(sql("select * from nope")))
    info = error_info(error)
    assert info.reason == "org.apache.spark.sql.catalyst.ExtendedAnalysisException"
    request = base_pb2.FetchErrorDetailsRequest(**client.common, error_id=info.metadata["errorId"])
    answer = client.stub.FetchErrorDetails(request)
    assert answer.errors[answer.root_error_idx].spark_throwable.error_class == "TABLE_OR_VIEW_NOT_FOUND"
    assert not client.stub.FetchErrorDetails(request).HasField("root_error_idx")


def test_closed_sessions_leave_a_tombstone(shared_server):
    client = Client(shared_server)
    list(client.execute(sql("select 1")))
    assert client.stub.ReleaseSession(base_pb2.ReleaseSessionRequest(**client.common)).server_side_session_id
    assert not client.stub.ReleaseSession(base_pb2.ReleaseSessionRequest(**client.common)).server_side_session_id
    for call in (lambda: list(client.execute(sql("select 1"))), lambda: client.release(str(uuid.uuid4()))):
        with pytest.raises(grpc.RpcError) as error:
            call()
        assert condition(error) == "INVALID_HANDLE.SESSION_CLOSED"


def test_unknown_sessions(shared_server):
    client = Client(shared_server)
    with pytest.raises(grpc.RpcError) as error:
        client.release(str(uuid.uuid4()))
    assert condition(error) == "INVALID_HANDLE.SESSION_NOT_FOUND"
    with pytest.raises(grpc.RpcError) as error:
        client.stub.Config(base_pb2.ConfigRequest(**client.common, operation={"get_all": {}},
                                                  client_observed_server_side_session_id=str(uuid.uuid4())))
    assert condition(error) == "INVALID_HANDLE.SESSION_CHANGED"


def test_clone_session(client):
    client.stub.Config(base_pb2.ConfigRequest(**client.common, operation={"set": {"pairs": [{"key": "k", "value": "v"}]}}))
    clone = client.stub.CloneSession(base_pb2.CloneSessionRequest(**client.common))
    assert clone.new_session_id and clone.new_server_side_session_id
    got = client.stub.Config(base_pb2.ConfigRequest(session_id=clone.new_session_id, user_context={"user_id": "tester"},
                                                    operation={"get": {"keys": ["k"]}}))
    assert got.pairs[0].value == "v"
    with pytest.raises(grpc.RpcError) as error:
        client.stub.CloneSession(base_pb2.CloneSessionRequest(**client.common, new_session_id=clone.new_session_id))
    assert condition(error) == "INVALID_CLONE_SESSION_REQUEST.TARGET_SESSION_ID_ALREADY_EXISTS"


def test_states_and_interrupts(client):
    # The stream of listener events has no end of its own: the simplest operation that goes on.
    operation = str(uuid.uuid4())
    stream = client.execute(listener_bus(True), operation, tags=["mine"])
    assert next(stream).streaming_query_listener_events_result.listener_bus_listener_added

    def states(*ids):
        answer = client.stub.GetStatus(base_pb2.GetStatusRequest(**client.common, operation_status={"operation_ids": ids}))
        return [status.state for status in answer.operation_statuses]

    state = base_pb2.GetStatusResponse.OperationStatus
    assert states(operation, str(uuid.uuid4())) == [state.OPERATION_STATE_RUNNING, state.OPERATION_STATE_UNKNOWN]
    tag = base_pb2.InterruptRequest.INTERRUPT_TYPE_TAG
    other = client.stub.Interrupt(base_pb2.InterruptRequest(**client.common, interrupt_type=tag, operation_tag="other"))
    assert list(other.interrupted_ids) == []
    assert payloads(client.execute(listener_bus(False))) == ["result_complete"]
    assert payloads(stream) == ["result_complete"]
    assert states(operation) == [state.OPERATION_STATE_TERMINATING]
    client.release(operation)
    assert states(operation) == [state.OPERATION_STATE_SUCCEEDED]
    with pytest.raises(grpc.RpcError) as error:
        client.stub.Interrupt(base_pb2.InterruptRequest(**client.common, interrupt_type=tag))
    assert condition(error) == "INVALID_PARAMETER_VALUE.INTERRUPT_TYPE_TAG_REQUIRES_TAG"


def test_a_second_attach_ends_the_first(client):
    operation = str(uuid.uuid4())
    stream = client.execute(listener_bus(True), operation)
    next(stream)
    second = client.reattach(operation)
    assert next(second).streaming_query_listener_events_result.listener_bus_listener_added
    with pytest.raises(grpc.RpcError) as error:
        list(stream)
    assert error.value.code() == grpc.StatusCode.INTERNAL
    assert "INVALID_CURSOR.DISCONNECTED" in error.value.details()
    second.cancel()
    client.release(operation)


def test_deep_plans_are_read_or_refused(client):
    def nested(levels):
        # Python's protobuf does not write deep messages: the bytes are put together by hand.
        def varint(n):
            return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)

        inner = relations_pb2.Relation(range=relations_pb2.Range(end=3, step=1)).SerializeToString()
        for _ in range(levels):
            limit = b"\x0a" + varint(len(inner)) + inner + b"\x10\x02"
            inner = b"\x42" + varint(len(limit)) + limit
        plan = b"\x0a" + varint(len(inner)) + inner
        return base_pb2.ExecutePlanRequest(**client.common).SerializeToString() + b"\x1a" + varint(len(plan)) + plan

    raw = client.channel.unary_stream("/spark.connect.SparkConnectService/ExecutePlan")
    assert len(list(raw(nested(400)))) == 3
    with pytest.raises(grpc.RpcError) as error:
        list(raw(nested(20_000)))
    assert condition(error) == "CONNECT_INVALID_PLAN.CANNOT_PARSE"


def test_rubbish_is_refused(client):
    for method in ("ExecutePlan", "ReattachExecute"):
        with pytest.raises(grpc.RpcError):
            list(client.channel.unary_stream(f"/spark.connect.SparkConnectService/{method}")(b"\xff\xff\xff\xff rubbish"))
    with pytest.raises(grpc.RpcError):
        client.channel.unary_unary("/spark.connect.SparkConnectService/AnalyzePlan")(b"\xff\xff rubbish")
    for request in (base_pb2.ExecutePlanRequest(**client.common), base_pb2.ExecutePlanRequest(**client.common, plan={"root": {}}),
                    base_pb2.ExecutePlanRequest(**client.common, plan={"command": {}})):
        with pytest.raises(grpc.RpcError) as error:
            list(client.stub.ExecutePlan(request))
        assert condition(error) == "CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET"
    with pytest.raises(grpc.RpcError) as error:
        client.stub.AnalyzePlan(base_pb2.AnalyzePlanRequest(**client.common))
    assert condition(error) == "CONNECT_INVALID_PLAN.UNKNOWN_ANALYZE_METHOD"
    assert payloads(client.execute(sql("select 1")))[-1] == "result_complete"


def test_a_client_that_vanishes_leaves_the_server_well(shared_server):
    client = Client(shared_server)
    stream = client.execute(sql("select id from range(0, 5000000)"))
    next(stream)
    client.channel.close()
    other = Client(shared_server)
    assert payloads(other.execute(sql("select 1")))[-1] == "result_complete"


def chunk(data, crc=None):
    return {"data": data, "crc": zlib.crc32(data) if crc is None else crc}


def test_artifacts(client):
    def add(*messages):
        requests = [base_pb2.AddArtifactsRequest(**client.common, **message) for message in messages]
        return [(a.name, a.is_crc_successful) for a in client.stub.AddArtifacts(iter(requests)).artifacts]

    def one(name, data, crc=None):
        return {"batch": {"artifacts": [{"name": name, "data": chunk(data, crc)}]}}

    def exists(*names):
        answer = client.stub.ArtifactStatus(base_pb2.ArtifactStatusesRequest(**client.common, names=names))
        return [answer.statuses[name].exists for name in names]

    assert add(one("cache/a", b"one")) == [("cache/a", True)]
    assert add(one("cache/b", b"two", 1)) == [("cache/b", False)]
    assert exists("cache/a", "cache/b", "files/x") == [True, False, False]
    big = b"x" * 70_000
    parts = [big[i:i + 32_768] for i in range(0, len(big), 32_768)]
    begin = {"begin_chunk": {"name": "cache/big", "total_bytes": len(big), "num_chunks": len(parts), "initial_chunk": chunk(parts[0])}}
    assert add(begin, *({"chunk": chunk(part)} for part in parts[1:])) == [("cache/big", True)]
    assert exists("cache/big") == [True]
    for name in ("/etc/passwd", "../x", "files/../../x"):
        with pytest.raises(grpc.RpcError) as error:
            add(one(name, b"x"))
        assert condition(error) == "INVALID_ARTIFACT_PATH"
    for bad in ([{"chunk": chunk(b"x")}], [begin], [{}]):
        with pytest.raises(grpc.RpcError):
            add(*bad)
    assert add(one("files/f", b"1")) == [("files/f", True)]
    assert add(one("files/f", b"1")) == [("files/f", True)]
    with pytest.raises(grpc.RpcError) as error:
        add(one("files/f", b"2"))
    assert condition(error) == "ARTIFACT_ALREADY_EXISTS"


def test_many_operations_at_once(shared_server):
    clients = [Client(shared_server) for _ in range(4)]
    failures = []

    def work(client):
        try:
            for i in range(20):
                operation = str(uuid.uuid4())
                assert payloads(client.execute(sql(f"select {i}"), operation))[-1] == "result_complete"
                client.release(operation)
        except Exception as error:  # shown by the assertion below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_bytes_that_are_no_calls(shared_server):
    random_bytes = random.Random(1).randbytes
    host, port = shared_server.url[len("sc://"):].split(":")
    for i, size in enumerate([1, 24, 500, 70_000] * 25):
        with socket.create_connection((host, int(port))) as connection:
            try:
                connection.sendall((b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" if i % 2 else b"") + random_bytes(size))
            except OSError:
                pass  # hung up on us
    assert payloads(Client(shared_server).execute(sql("select 1")))[-1] == "result_complete"


def test_a_message_that_is_too_large(shared_server):
    with pytest.raises(grpc.RpcError) as error:
        list(Client(shared_server).execute(sql("select 1 --" + "x" * (130 << 20))))
    assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


def test_five_hundred_sessions_at_once(shared_server):
    clients = [Client(shared_server) for _ in range(500)]
    streams = [client.execute(sql(f"select count(*) from range(0, 10000) where id % {i + 1} = 0")) for i, client in enumerate(clients)]
    assert all(payloads(stream)[-1] == "result_complete" for stream in streams)
    for client in clients:
        client.stub.ReleaseSession(base_pb2.ReleaseSessionRequest(**client.common))
        client.channel.close()
