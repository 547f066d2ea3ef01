"""The calls that PySpark made to real Spark, made again to Thalweg: the answers must say the same.

Recordings: tests/connect/recorded. Ids, times, progress messages and metrics differ by nature and are left out.
"""
import json
import pathlib
import re
import uuid

import grpc
import pyarrow
import pytest
from google.protobuf import text_format
from google.rpc import error_details_pb2, status_pb2
from pyspark.sql.connect.proto import base_pb2, base_pb2_grpc

RECORDED = pathlib.Path(__file__).parent / "recorded"
HEADER = re.compile(r"# [\d.]+ rpc (\d+) (\w+) (client->server|server->client|status) ?(.*)")
STREAMS = {"ExecutePlan", "ReattachExecute"}
IDS = ("session_id", "server_side_session_id", "operation_id", "response_id")


class Call:
    def __init__(self, number, name):
        self.number, self.name = number, name
        self.request, self.answers, self.error = None, [], None


def read(file):
    calls = {}
    for block in re.split(r"\n(?=# [\d.]+ rpc )", (RECORDED / file).read_text()):
        head, _, body = block.partition("\n")
        match = HEADER.match(head)
        if not match:
            continue
        number, name, direction, rest = int(match[1]), match[2], match[3], match[4]
        call = calls.setdefault(number, Call(number, name))
        if direction == "status":
            if "grpc-status-details-bin" in rest:
                call.error = body
        else:
            message = getattr(base_pb2, rest.split(".")[-1])()
            text_format.Parse(body, message)
            if direction == "client->server":
                call.request = message
            else:
                call.answers.append(message)
    return sorted(calls.values(), key=lambda call: call.number)


def significant(call_name, answers):
    if call_name not in STREAMS:
        return answers
    return [a for a in answers if not a.HasField("execution_progress")]


def plain(message):
    """A message without what differs by nature, as text."""
    copy = type(message)()
    copy.CopyFrom(message)
    for field in IDS:
        if field in copy.DESCRIPTOR.fields_by_name:
            copy.ClearField(field)
    rows = None
    if isinstance(copy, base_pb2.ExecutePlanResponse):
        if copy.HasField("arrow_batch"):
            rows = pyarrow.ipc.open_stream(copy.arrow_batch.data).read_all()
            rows = (rows.to_pylist(), str(rows.schema))
            copy.arrow_batch.ClearField("data")
        if copy.HasField("metrics"):
            copy.metrics.Clear()
            copy.metrics.SetInParent()
    return text_format.MessageToString(copy), rows


def ask(stub, call):
    method = getattr(stub, call.name)
    if call.name in STREAMS:
        return list(method(call.request))
    return [method(call.request)]


def condition_of(error):
    details = dict(error.trailing_metadata())["grpc-status-details-bin"]
    info = error_details_pb2.ErrorInfo()
    assert status_pb2.Status.FromString(details).details[0].Unpack(info)
    return info


def replay(server, calls, check_answers=True):
    with grpc.insecure_channel(server.url[len("sc://"):]) as channel:
        stub = base_pb2_grpc.SparkConnectServiceStub(channel)
        response_ids, server_side, error_ids = {}, {}, {}
        for call in calls:
            request = call.request
            for field in ("client_observed_server_side_session_id",):
                if field in request.DESCRIPTOR.fields_by_name and request.HasField(field):
                    setattr(request, field, server_side.get(getattr(request, field), ""))
                    if not getattr(request, field):
                        request.ClearField(field)
            if call.name == "ReleaseExecute" and request.HasField("release_until"):
                until = request.release_until
                until.response_id = response_ids.get(until.response_id, until.response_id)
            if call.name == "FetchErrorDetails":
                request.error_id = error_ids.get(request.error_id, request.error_id)
            try:
                answers = ask(stub, call)
            except grpc.RpcError as error:
                assert call.error is not None, f"rpc {call.number} {call.name} failed: {error.details()}"
                info = condition_of(error)
                for key in ("errorClass", "sqlState"):
                    want = re.search(rf'key: "{key}"\s+value: "([^"]+)"', call.error)
                    if want:
                        assert info.metadata[key] == want[1], f"rpc {call.number}: {error.details()}"
                assert info.reason == re.search(r'reason: "([^"]+)"', call.error)[1]
                assert json.loads(info.metadata["classes"])[0] == info.reason
                recorded_id = re.search(r'key: "errorId"\s+value: "([^"]+)"', call.error)
                assert bool(recorded_id) == ("errorId" in info.metadata)
                if recorded_id:
                    error_ids[recorded_id[1]] = info.metadata["errorId"]
                continue
            assert call.error is None, f"rpc {call.number} {call.name} succeeded; Spark answered {call.error}"
            got, want = significant(call.name, answers), significant(call.name, call.answers)
            for ours, theirs in zip(got, want):
                if hasattr(theirs, "response_id"):
                    response_ids[theirs.response_id] = ours.response_id
                if getattr(theirs, "server_side_session_id", ""):
                    server_side[theirs.server_side_session_id] = ours.server_side_session_id
            if call.name == "FetchErrorDetails":
                mine, other = got[0].errors[got[0].root_error_idx], want[0].errors[want[0].root_error_idx]
                assert mine.spark_throwable.error_class == other.spark_throwable.error_class
                assert mine.spark_throwable.sql_state == other.spark_throwable.sql_state
                assert [c.context_type for c in mine.spark_throwable.query_contexts] == \
                       [c.context_type for c in other.spark_throwable.query_contexts]
            elif check_answers:
                assert [plain(m) for m in got] == [plain(m) for m in want], f"rpc {call.number} {call.name}"


def test_session_and_select_one(shared_server):
    replay(shared_server, read("session-select1.txtpb"))


def carries_python(call):
    return b"python_udf" in str(call.request).encode()


def test_errors(shared_server):
    calls = [call for call in read("errors.txtpb")]
    python_operations = {c.request.operation_id for c in calls if c.name == "ExecutePlan" and carries_python(c)}
    # What belongs to the Python function (its command is not in the recording) is left out, with what follows from it.
    kept, skip = [], False
    for call in calls:
        if call.name == "ExecutePlan":
            skip = call.request.operation_id in python_operations
        if not skip and call.name in ("Config", "ExecutePlan", "AnalyzePlan", "FetchErrorDetails"):
            kept.append(call)
    # Spark answers that it shows JVM stacks; there are none here.
    stack = "spark.sql.connect.serverStacktrace.enabled"
    kept = [c for c in kept if not (c.name == "Config" and stack in str(c.request))]
    assert len(kept) > 8
    replay(shared_server, kept)


def kinds(answers):
    """What a command's answers are, without their values."""
    found = []
    for answer in answers:
        if answer.HasField("execution_progress"):
            continue
        payload = answer.WhichOneof("response_type")
        inner = getattr(answer, payload) if payload else None
        result = inner.WhichOneof("result_type") if inner is not None and "result_type" in inner.DESCRIPTOR.oneofs_by_name else None
        found.append((payload, result))
    return found


def test_streaming_query(shared_server, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "rows.json").write_text('{"a": 1}\n{"a": 2}\n')
    run = {}
    with grpc.insecure_channel(shared_server.url[len("sc://"):]) as channel:
        stub = base_pb2_grpc.SparkConnectServiceStub(channel)
        for call in read("streaming-query.txtpb"):
            if call.name not in ("ExecutePlan", "AnalyzePlan"):
                continue
            text = text_format.MessageToString(call.request).replace("/data/", f"{tmp_path}/")
            for theirs, ours in run.items():
                text = text.replace(theirs, ours)
            text = re.sub(r'client_observed_server_side_session_id: "[^"]*"', "", text)
            call.request = text_format.Parse(text, type(call.request)())
            if "recent_progress_json" in str(call.answers) or "last_progress" in text:
                settle(stub, call, run)
            answers = ask(stub, call)
            if call.name == "AnalyzePlan":
                assert answers[0].is_streaming.is_streaming
                continue
            assert kinds(answers) == kinds(call.answers), f"rpc {call.number}: {text}"
            for ours, theirs in zip(significant(call.name, answers), significant(call.name, call.answers)):
                if theirs.HasField("write_stream_operation_start_result"):
                    mine = ours.write_stream_operation_start_result
                    recorded = theirs.write_stream_operation_start_result
                    assert mine.name == recorded.name
                    run = {recorded.query_id.id: mine.query_id.id, recorded.query_id.run_id: mine.query_id.run_id}
                if theirs.HasField("streaming_query_command_result"):
                    assert ours.streaming_query_command_result.query_id.id in run.values()
                if theirs.HasField("arrow_batch"):
                    assert ours.arrow_batch.row_count == theirs.arrow_batch.row_count
    assert run


def settle(stub, call, run):
    """A progress is asked for: batch 0 must be through, which Spark took its time for."""
    request = type(call.request)()
    request.CopyFrom(call.request)
    request.operation_id = str(uuid.uuid4())
    command = request.plan.command.streaming_query_command
    for oneof in ("last_progress", "recent_progress"):
        command.ClearField(oneof)
    command.process_all_available = True
    list(stub.ExecutePlan(request))
    assert run


@pytest.mark.parametrize("file", sorted(path.name for path in RECORDED.glob("*.txtpb")))
def test_every_recorded_request_gets_an_answer(server, file):
    """No order, no files, no functions: an answer or a condition, and the server lives."""
    with grpc.insecure_channel(server.url[len("sc://"):]) as channel:
        stub = base_pb2_grpc.SparkConnectServiceStub(channel)
        for call in read(file):
            if call.request is None or call.name == "ReleaseSession" or "listener_bus" in str(call.request):
                continue
            request = call.request
            if "client_observed_server_side_session_id" in request.DESCRIPTOR.fields_by_name:
                request.ClearField("client_observed_server_side_session_id")
            try:
                ask(stub, call)
            except grpc.RpcError as error:
                assert error.code() == grpc.StatusCode.INTERNAL, error.details()
                # Long parameters leave no room for the condition's name beside the text, as in Spark.
                assert condition_of(error).metadata["errorClass"] or error.details().startswith("[PYTHON_EXCEPTION]"), error.details()
    assert server.process.running()
