"""A Spark Connect client below PySpark: messages by hand, errors as they come."""
import uuid

import grpc
from google.rpc import error_details_pb2, status_pb2
from pyspark.sql.connect.proto import base_pb2, base_pb2_grpc, relations_pb2


class Client:
    def __init__(self, server):
        self.channel = grpc.insecure_channel(server.url[len("sc://"):])
        self.stub = base_pb2_grpc.SparkConnectServiceStub(self.channel)
        self.session = str(uuid.uuid4())
        self.common = {"session_id": self.session, "user_context": {"user_id": "tester"}}

    def execute(self, plan, operation=None, reattachable=True, tags=()):
        options = [{"reattach_options": {"reattachable": True}}] if reattachable else []
        return self.stub.ExecutePlan(base_pb2.ExecutePlanRequest(
            **self.common, plan=plan, operation_id=operation or str(uuid.uuid4()), request_options=options, tags=list(tags)))

    def reattach(self, operation, last=None):
        return self.stub.ReattachExecute(base_pb2.ReattachExecuteRequest(
            **self.common, operation_id=operation, last_response_id=last))

    def release(self, operation, until=None):
        what = {"release_until": {"response_id": until}} if until else {"release_all": {}}
        return self.stub.ReleaseExecute(base_pb2.ReleaseExecuteRequest(**self.common, operation_id=operation, **what))

    def close(self):
        self.stub.ReleaseSession(base_pb2.ReleaseSessionRequest(**self.common))
        self.channel.close()


def sql(text):
    return base_pb2.Plan(root=relations_pb2.Relation(sql=relations_pb2.SQL(query=text)))


def error_info(error):
    details = dict(error.value.trailing_metadata())["grpc-status-details-bin"]
    rich = status_pb2.Status.FromString(details)
    assert rich.code == error.value.code().value[0]
    assert rich.message == error.value.details()
    info = error_details_pb2.ErrorInfo()
    assert rich.details[0].Unpack(info)
    return info


def condition(error):
    return error_info(error).metadata["errorClass"]
