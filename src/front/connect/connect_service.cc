#include "front/connect/connect_service.h"

#include <grpcpp/support/slice.h>

#include "base/log.h"
#include "base/no_throw.h"
#include "base/uuid.h"
#include "front/connect/connect_settings.h"
#include "front/connect/execute_plan.h"
#include "front/connect/grpc_errors.h"
#include "front/connect/unary_calls.h"
#include "sql/protocol/plan_proto.h"
#include "sql/protocol/protocol_errors.h"

namespace thalweg::front {

namespace {

namespace pb = ::spark::connect;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

// The bytes of a message in one piece.
bool ParseBuffer(const grpc::ByteBuffer& buffer, google::protobuf::MessageLite* message) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return false;
  if (slices.size() == 1) {
    return sql::ParseDeepMessage({reinterpret_cast<const char*>(slices[0].begin()), slices[0].size()}, message);
  }
  std::string bytes;
  bytes.reserve(buffer.Length());
  for (const grpc::Slice& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return sql::ParseDeepMessage(bytes, message);
}

void SerializeInto(const google::protobuf::MessageLite& message, grpc::ByteBuffer* out) {
  const grpc::Slice slice(message.SerializeAsString());
  *out = grpc::ByteBuffer(&slice, 1);
}

Status Unreadable() {
  return Error("CONNECT_INVALID_PLAN.CANNOT_PARSE").With("errorMsg", "the request is no message of the protocol, or nested too deeply");
}

bool SameBytes(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ (b.empty() ? 0 : b[i % b.size()]));
  return difference == 0;
}

template <typename Request>
SessionKey KeyOf(const Request& request) {
  return {request.user_context().user_id(), request.session_id()};
}

template <typename Request>
std::string ObservedBy(const Request& request) {
  if constexpr (requires { request.client_observed_server_side_session_id(); }) {
    return request.client_observed_server_side_session_id();
  } else {
    return {};
  }
}

template <typename Response>
void FillIds(const SessionHolder& holder, Response* response) {
  response->set_session_id(holder.id());
  response->set_server_side_session_id(holder.server_side_id());
}

/// An analysis, which may have to run a query: stopped when the client hangs up or the session stops its analyses.
class Analysis final : public ServerUnaryReactor {
 public:
  explicit Analysis(std::stop_token session) : on_session_(std::move(session), Stop{stop_}) {}
  std::stop_token stop() const { return stop_.get_token(); }
  void OnCancel() override { stop_.request_stop(); }
  void OnDone() override { delete this; }

 private:
  struct Stop {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };
  std::stop_source stop_;
  const std::stop_callback<Stop> on_session_;
};

ServerUnaryReactor* Done(CallbackServerContext* context, const grpc::Status& status) {
  ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

Status CheckTags(const pb::ExecutePlanRequest& request) {
  for (const std::string& tag : request.tags()) {
    if (tag.empty()) return Error("ILLEGAL_ARGUMENT").With("message", "Spark Connect tag cannot be an empty string.");
    if (tag.find(',') != std::string::npos) {
      return Error("ILLEGAL_ARGUMENT").With("message", "Spark Connect tag cannot contain ','.");
    }
  }
  return Status::OK();
}

void RunOperation(const std::shared_ptr<SessionHolder>& holder, const std::shared_ptr<Operation>& operation,
                  const std::shared_ptr<pb::ExecutePlanRequest>& request) {
  bool finish = true;
  Status status = NoThrow([&]() -> Status {
    if (operation->interrupted()) return Cancelled();
    Result<bool> done = RunExecutePlan({*holder, operation, *request});
    if (done.ok()) finish = *done;
    return done.status();
  });
  if (!finish) return;
  if (!status.ok() && operation->interrupted()) status = Cancelled();
  if (!status.ok()) {
    TW_LOG(kDebug, "operation failed", {"operation", operation->ids().operation_id}, {"error", status});
  }
  operation->Finish(status, status.ok() ? grpc::Status::OK : holder->ToWire(status));
}

class ArtifactReader final : public grpc::ServerReadReactor<pb::AddArtifactsRequest> {
 public:
  ArtifactReader(SessionRegistry& sessions, const grpc::Status& refusal, pb::AddArtifactsResponse* response)
      : sessions_(sessions), response_(response) {
    if (refusal.ok()) StartRead(&request_);
    else Finish(refusal);
  }

  void OnReadDone(bool ok) override {
    const Status status = NoThrow([&] { return ok ? Take() : End(); });
    if (!status.ok()) return Finish(holder_ == nullptr ? ToGrpcStatus(status, "") : holder_->ToWire(status));
    if (!ok) return Finish(grpc::Status::OK);
    StartRead(&request_);
  }
  void OnDone() override { delete this; }

 private:
  Status Take() {
    if (holder_ == nullptr) {
      TW_ASSIGN_OR_RETURN(holder_, sessions_.GetOrCreate(KeyOf(request_), ObservedBy(request_)));
    }
    return receiver_.Take(*holder_, request_);
  }
  Status End() {
    if (holder_ == nullptr) return sql::InvalidPlan("AddArtifacts without a message.");
    TW_RETURN_NOT_OK(receiver_.Finish());
    FillIds(*holder_, response_);
    receiver_.FillSummaries(response_);
    return Status::OK();
  }

  SessionRegistry& sessions_;
  pb::AddArtifactsResponse* response_;
  pb::AddArtifactsRequest request_;
  std::shared_ptr<SessionHolder> holder_;
  ArtifactReceiver receiver_;
};

// What PySpark's progress bar shows.
void FillProgress(const std::vector<engine::StageMetrics>& stages, pb::ExecutePlanResponse::ExecutionProgress* progress) {
  int64_t running = 0;
  for (size_t i = 0; i < stages.size(); ++i) {
    auto* stage = progress->add_stages();
    stage->set_stage_id(static_cast<int64_t>(i));
    stage->set_num_tasks(stages[i].tasks);
    stage->set_num_completed_tasks(stages[i].finished);
    int64_t bytes = 0;
    for (const engine::NodeMetrics& node : stages[i].nodes) bytes += node.total.read_bytes;
    stage->set_input_bytes_read(bytes);
    stage->set_done(stages[i].finished == stages[i].tasks);
    running += stages[i].running;
  }
  progress->set_num_inflight_tasks(running);
}

}  // namespace

ServiceLimits LimitsFrom(const SettingsMap& settings) {
  ServiceLimits limits;
  limits.stream.max_duration_ms = settings.Get(kMaxStreamDurationMs);
  limits.stream.max_bytes = settings.Get(kMaxStreamBytes);
  limits.retry_buffer_bytes = settings.Get(kRetryBufferBytes);
  limits.detached_timeout_ms = settings.Get(kDetachedTimeoutMs);
  limits.session_timeout_ms = settings.Get(kSessionTimeoutMs);
  limits.progress_interval_ms = settings.Get(kProgressIntervalMs);
  return limits;
}

ConnectService::ConnectService(SessionRegistry& sessions, TaskPool& pool, std::string token, ServiceLimits limits)
    : sessions_(sessions), pool_(pool), token_(std::move(token)), limits_(limits) {}

grpc::Status ConnectService::CheckToken(const CallbackServerContext& context) const {
  if (token_.empty()) return grpc::Status::OK;
  const auto& metadata = context.client_metadata();
  const auto header = metadata.find("authorization");
  if (header == metadata.end()) return {grpc::StatusCode::UNAUTHENTICATED, "No authentication token provided"};
  const std::string_view given(header->second.data(), header->second.size());
  if (!SameBytes(given, "Bearer " + token_)) return {grpc::StatusCode::UNAUTHENTICATED, "Invalid authentication token"};
  return grpc::Status::OK;
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* ConnectService::ExecutePlan(CallbackServerContext* context,
                                                                        const grpc::ByteBuffer* bytes) {
  if (const grpc::Status refusal = CheckToken(*context); !refusal.ok()) return ExecuteStream::Refuse(refusal);
  auto request = std::make_shared<pb::ExecutePlanRequest>();
  if (!ParseBuffer(*bytes, request.get())) return ExecuteStream::Refuse(ToGrpcStatus(Unreadable(), ""));
  const Result<std::shared_ptr<SessionHolder>> found = sessions_.GetOrCreate(KeyOf(*request), ObservedBy(*request));
  if (!found.ok()) return ExecuteStream::Refuse(ToGrpcStatus(found.status(), ""));
  const std::shared_ptr<SessionHolder>& holder = *found;
  std::string id = request->operation_id();
  if (id.empty()) id = Uuid::MakeRandom().ToString();
  if (!IsUuid(id)) return ExecuteStream::Refuse(ToGrpcStatus(Error("INVALID_HANDLE.FORMAT").With("handle", id), ""));
  if (const Status tags = CheckTags(*request); !tags.ok()) return ExecuteStream::Refuse(holder->ToWire(tags));
  bool reattachable = false;
  for (const auto& option : request->request_options()) reattachable = reattachable || option.reattach_options().reattachable();
  const std::string plan = request->plan().SerializeAsString();
  std::string fingerprint = std::to_string(plan.size()) + ":" + std::to_string(std::hash<std::string>{}(plan));
  const Result<SessionHolder::Begun> begun = holder->Begin(
      id, reattachable, std::move(fingerprint), {request->tags().begin(), request->tags().end()}, limits_.retry_buffer_bytes);
  if (!begun.ok()) return ExecuteStream::Refuse(ToGrpcStatus(begun.status(), ""));
  const std::shared_ptr<Operation> operation = begun->operation;
  if (!begun->existed) {
    const bool runs = pool_.Run([holder, operation, request] { RunOperation(holder, operation, request); });
    if (!runs) {
      const Status status = InternalError("the server is stopping or has no thread left");
      operation->Finish(status, holder->ToWire(status));
    }
  }
  return ExecuteStream::Start(operation, 0, limits_.stream);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* ConnectService::ReattachExecute(CallbackServerContext* context,
                                                                            const grpc::ByteBuffer* bytes) {
  if (const grpc::Status refusal = CheckToken(*context); !refusal.ok()) return ExecuteStream::Refuse(refusal);
  pb::ReattachExecuteRequest request;
  if (!ParseBuffer(*bytes, &request)) return ExecuteStream::Refuse(ToGrpcStatus(Unreadable(), ""));
  const Result<std::shared_ptr<SessionHolder>> holder = sessions_.Get(KeyOf(request), ObservedBy(request));
  if (!holder.ok()) return ExecuteStream::Refuse(ToGrpcStatus(holder.status(), ""));
  const std::shared_ptr<Operation> operation = (*holder)->Find(request.operation_id());
  if (operation == nullptr) {
    return ExecuteStream::Refuse(ToGrpcStatus(Error("INVALID_HANDLE.OPERATION_NOT_FOUND").With("handle", request.operation_id()), ""));
  }
  if (!operation->reattachable()) return ExecuteStream::Refuse(ToGrpcStatus(Error("INVALID_CURSOR.NOT_REATTACHABLE"), ""));
  int64_t cursor = 0;
  if (request.has_last_response_id()) {
    const Result<int64_t> index = operation->IndexOf(request.last_response_id());
    if (!index.ok()) return ExecuteStream::Refuse(ToGrpcStatus(index.status(), ""));
    cursor = *index;
  }
  return ExecuteStream::Start(operation, cursor, limits_.stream);
}

ServerUnaryReactor* ConnectService::AnalyzePlan(CallbackServerContext* context, const grpc::ByteBuffer* bytes,
                                                grpc::ByteBuffer* out) {
  if (const grpc::Status refusal = CheckToken(*context); !refusal.ok()) return Done(context, refusal);
  auto request = std::make_shared<pb::AnalyzePlanRequest>();
  if (!ParseBuffer(*bytes, request.get())) return Done(context, ToGrpcStatus(Unreadable(), ""));
  const Result<std::shared_ptr<SessionHolder>> found = sessions_.GetOrCreate(KeyOf(*request), ObservedBy(*request));
  if (!found.ok()) return Done(context, ToGrpcStatus(found.status(), ""));
  auto* reactor = new Analysis((*found)->analyses());  // OnDone deletes it
  const bool runs = pool_.Run([holder = *found, request, reactor, stop = reactor->stop(), out] {
    pb::AnalyzePlanResponse response;
    FillIds(*holder, &response);
    const Status status = NoThrow([&] { return AnswerAnalyze(*holder, *request, &response, stop); });
    if (status.ok()) SerializeInto(response, out);
    reactor->Finish(status.ok() ? grpc::Status::OK : holder->ToWire(status));
  });
  if (!runs) reactor->Finish(ToGrpcStatus(InternalError("the server is stopping or has no thread left"), ""));
  return reactor;
}

ServerUnaryReactor* ConnectService::Config(CallbackServerContext* context, const pb::ConfigRequest* request,
                                           pb::ConfigResponse* response) {
  if (const grpc::Status refusal = CheckToken(*context); !refusal.ok()) return Done(context, refusal);
  const Result<std::shared_ptr<SessionHolder>> holder = sessions_.GetOrCreate(KeyOf(*request), ObservedBy(*request));
  if (!holder.ok()) return Done(context, ToGrpcStatus(holder.status(), ""));
  FillIds(**holder, response);
  const Status status = NoThrow([&] { return AnswerConfig(**holder, *request, response); });
  return Done(context, status.ok() ? grpc::Status::OK : (*holder)->ToWire(status));
}

grpc::ServerReadReactor<pb::AddArtifactsRequest>* ConnectService::AddArtifacts(CallbackServerContext* context,
                                                                               pb::AddArtifactsResponse* response) {
  return new ArtifactReader(sessions_, CheckToken(*context), response);
}

ServerUnaryReactor* ConnectService::ArtifactStatus(CallbackServerContext* context, const pb::ArtifactStatusesRequest* request,
                                                   pb::ArtifactStatusesResponse* response) {
  if (const grpc::Status refusal = CheckToken(*context); !refusal.ok()) return Done(context, refusal);
  const Result<std::shared_ptr<SessionHolder>> holder = sessions_.GetOrCreate(KeyOf(*request), ObservedBy(*request));
  if (!holder.ok()) return Done(context, ToGrpcStatus(holder.status(), ""));
  FillIds(**holder, response);
  AnswerArtifactStatus(**holder, *request, response);
  return Done(context, grpc::Status::OK);
}

ServerUnaryReactor* ConnectService::Interrupt(CallbackServerContext* context, const pb::InterruptRequest* request,
                                              pb::InterruptResponse* response) {
  if (const grpc::Status refusal = CheckToken(*context); !refusal.ok()) return Done(context, refusal);
  const Result<std::shared_ptr<SessionHolder>> holder = sessions_.GetOrCreate(KeyOf(*request), ObservedBy(*request));
  if (!holder.ok()) return Done(context, ToGrpcStatus(holder.status(), ""));
  FillIds(**holder, response);
  std::vector<std::shared_ptr<streaming::StreamingQuery>> stop;
  const Status status = AnswerInterrupt(**holder, *request, response, &stop);
  if (!stop.empty()) {
    pool_.Run([stop = std::move(stop)] {
      for (const auto& query : stop) Ignore(query->Stop(), "asked for asynchronously; the query keeps its own error");
    });
  }
  return Done(context, status.ok() ? grpc::Status::OK : (*holder)->ToWire(status));
}

ServerUnaryReactor* ConnectService::ReleaseExecute(CallbackServerContext* context, const pb::ReleaseExecuteRequest* request,
                                                   pb::ReleaseExecuteResponse* response) {
  if (const grpc::Status refusal = CheckToken(*context); !refusal.ok()) return Done(context, refusal);
  const Result<std::shared_ptr<SessionHolder>> holder = sessions_.Get(KeyOf(*request), ObservedBy(*request));
  if (!holder.ok()) return Done(context, ToGrpcStatus(holder.status(), ""));
  FillIds(**holder, response);
  if (request->release_case() == pb::ReleaseExecuteRequest::RELEASE_NOT_SET) {
    return Done(context, (*holder)->ToWire(sql::OneOfNotSet(request->GetTypeName(), "RELEASE_NOT_SET")));
  }
  const std::shared_ptr<Operation> operation = (*holder)->Find(request->operation_id());
  if (operation == nullptr) return Done(context, grpc::Status::OK);
  response->set_operation_id(request->operation_id());
  if (request->has_release_all()) {
    (*holder)->Release(request->operation_id());
  } else {
    operation->ReleaseUntil(request->release_until().response_id());
  }
  return Done(context, grpc::Status::OK);
}

ServerUnaryReactor* ConnectService::ReleaseSession(CallbackServerContext* context, const pb::ReleaseSessionRequest* request,
                                                   pb::ReleaseSessionResponse* response) {
  if (const grpc::Status refusal = CheckToken(*context); !refusal.ok()) return Done(context, refusal);
  response->set_session_id(request->session_id());
  const std::shared_ptr<SessionHolder> holder = sessions_.Remove(KeyOf(*request), !request->allow_reconnect());
  if (holder == nullptr) return Done(context, grpc::Status::OK);
  response->set_server_side_session_id(holder->server_side_id());
  ServerUnaryReactor* reactor = context->DefaultReactor();
  const bool runs = pool_.Run([holder, reactor] {
    holder->Close();
    reactor->Finish(grpc::Status::OK);
  });
  if (!runs) reactor->Finish(grpc::Status::OK);  // the server itself closes it
  return reactor;
}

ServerUnaryReactor* ConnectService::FetchErrorDetails(CallbackServerContext* context,
                                                      const pb::FetchErrorDetailsRequest* request,
                                                      pb::FetchErrorDetailsResponse* response) {
  if (const grpc::Status refusal = CheckToken(*context); !refusal.ok()) return Done(context, refusal);
  const Result<std::shared_ptr<SessionHolder>> holder = sessions_.Get(KeyOf(*request), "");
  if (!holder.ok()) return Done(context, grpc::Status::OK);
  const Status error = (*holder)->TakeError(request->error_id());
  if (!error.ok()) FillErrorDetails(error, response);
  return Done(context, grpc::Status::OK);
}

ServerUnaryReactor* ConnectService::CloneSession(CallbackServerContext* context, const pb::CloneSessionRequest* request,
                                                 pb::CloneSessionResponse* response) {
  if (const grpc::Status refusal = CheckToken(*context); !refusal.ok()) return Done(context, refusal);
  const Result<std::shared_ptr<SessionHolder>> holder = sessions_.Get(KeyOf(*request), ObservedBy(*request));
  if (!holder.ok()) return Done(context, ToGrpcStatus(holder.status(), ""));
  const Result<std::shared_ptr<SessionHolder>> clone = sessions_.Clone(*holder, request->new_session_id());
  if (!clone.ok()) return Done(context, (*holder)->ToWire(clone.status()));
  FillIds(**holder, response);
  response->set_new_session_id((*clone)->id());
  response->set_new_server_side_session_id((*clone)->server_side_id());
  return Done(context, grpc::Status::OK);
}

ServerUnaryReactor* ConnectService::GetStatus(CallbackServerContext* context, const pb::GetStatusRequest* request,
                                              pb::GetStatusResponse* response) {
  if (const grpc::Status refusal = CheckToken(*context); !refusal.ok()) return Done(context, refusal);
  const Result<std::shared_ptr<SessionHolder>> holder = sessions_.Get(KeyOf(*request), ObservedBy(*request));
  if (!holder.ok()) return Done(context, ToGrpcStatus(holder.status(), ""));
  FillIds(**holder, response);
  AnswerStatus(**holder, *request, response);
  return Done(context, grpc::Status::OK);
}

void ConnectService::TendOperations(SessionHolder& holder, int64_t now_ms) {
  for (const std::shared_ptr<Operation>& operation : holder.Operations()) {
    const bool finished = operation->finished();
    if (operation->ProgressDue(now_ms, limits_.progress_interval_ms)) {
      pb::ExecutePlanResponse progress;
      FillProgress(operation->view().Stages(), progress.mutable_execution_progress());
      operation->Send(&progress);
    }
    operation->Wake();  // lets a stream see its time limit
    const std::optional<int64_t> detached = operation->detached_ms(now_ms);
    if (!detached) continue;
    if ((finished && !operation->reattachable()) || *detached >= limits_.detached_timeout_ms) {
      holder.Release(operation->ids().operation_id);
    }
  }
}

std::vector<std::shared_ptr<SessionHolder>> ConnectService::Tend() {
  const int64_t now_ms = SteadyMillis();
  std::vector<std::shared_ptr<SessionHolder>> expired;
  for (const std::shared_ptr<SessionHolder>& holder : sessions_.All()) {
    TendOperations(*holder, now_ms);
    if (holder->idle_ms(now_ms) < limits_.session_timeout_ms) continue;
    if (std::shared_ptr<SessionHolder> removed = sessions_.Remove({holder->user(), holder->id()}, true)) {
      expired.push_back(std::move(removed));
    }
  }
  return expired;
}

}  // namespace thalweg::front
