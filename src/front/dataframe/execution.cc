#include "front/dataframe/execution.h"

#include "base/uuid.h"
#include "front/dataframe/remote_errors.h"

namespace thalweg::internal {

namespace proto = ::spark::connect;

namespace {

// How many responses the server keeps for a stream that may break.
constexpr int kReleaseEvery = 16;

}  // namespace

Execution::Execution(Connection& connection, const proto::Plan& plan, const Take& take, std::stop_token stop)
    : connection_(connection), take_(take), stop_(std::move(stop)) {
  connection_.IdentifyObserved(&request_);
  connection_.AddTags(&request_);
  request_.set_operation_id(Uuid::MakeRandom().ToString());
  *request_.mutable_plan() = plan;
  if (!connection_.is_embedded()) request_.add_request_options()->mutable_reattach_options()->set_reattachable(true);
}

Status Execution::Run() {
  bool attach = false;
  for (int failures = 0;;) {
    const grpc::Status status = ReadStream(attach);
    if (stop_.stop_requested() && !complete_) taken_ = Cancelled();
    if (complete_ || !taken_.ok()) {
      ReleaseAll();
      return taken_;
    }
    if (status.ok() && connection_.is_embedded()) return Status::OK();
    if (progressed_) failures = 0;
    const bool never_arrived = IsUnknownOperation(status) && last_response_id_.empty();
    const bool again = status.ok() || never_arrived || IsTransient(status);
    // A stream that the server closed after some responses is taken up at once, any other after a while.
    if (!again || (!progressed_ && !connection_.WaitToRetry(failures++, stop_))) {
      ReleaseAll();
      return status.ok() ? InternalError("the server ends the stream of a plan again and again without a response")
                         : connection_.Convert(status);
    }
    attach = !never_arrived;
  }
}

std::unique_ptr<Execution::Reader> Execution::Open(grpc::ClientContext* context, bool attach) {
  if (!attach) return connection_.stub().ExecutePlan(context, request_);
  proto::ReattachExecuteRequest request;
  connection_.IdentifyObserved(&request);
  request.set_operation_id(request_.operation_id());
  if (!last_response_id_.empty()) request.set_last_response_id(last_response_id_);
  return connection_.stub().ReattachExecute(context, request);
}

grpc::Status Execution::ReadStream(bool attach) {
  grpc::ClientContext context;
  connection_.Prepare(&context);
  const std::stop_callback cancel(stop_, [&context] { context.TryCancel(); });
  progressed_ = false;
  const std::unique_ptr<Reader> reader = Open(&context, attach);
  proto::ExecutePlanResponse response;
  while (reader->Read(&response)) {
    Accept(response);
    if (!taken_.ok()) context.TryCancel();
  }
  return reader->Finish();
}

void Execution::Accept(const proto::ExecutePlanResponse& response) {
  connection_.Observe(response);
  progressed_ = true;
  last_response_id_ = response.response_id();
  if (response.has_result_complete()) {
    complete_ = true;
    return;
  }
  if (take_ != nullptr && taken_.ok()) taken_ = take_(response);
  if (++unreleased_ == kReleaseEvery) ReleaseSome();
}

void Execution::ReleaseSome() {
  unreleased_ = 0;
  if (connection_.is_embedded()) return;
  proto::ReleaseExecuteRequest request;
  connection_.Identify(&request);
  request.set_operation_id(request_.operation_id());
  request.mutable_release_until()->set_response_id(last_response_id_);
  proto::ReleaseExecuteResponse response;
  grpc::ClientContext context;
  connection_.Prepare(&context);
  connection_.stub().ReleaseExecute(&context, request, &response);  // what is not released now is at the end
}

void Execution::ReleaseAll() {
  if (connection_.is_embedded()) return;
  proto::ReleaseExecuteRequest request;
  connection_.Identify(&request);
  request.set_operation_id(request_.operation_id());
  request.mutable_release_all();
  proto::ReleaseExecuteResponse response;
  grpc::ClientContext context;
  connection_.Prepare(&context);
  connection_.stub().ReleaseExecute(&context, request, &response);  // the server drops what nobody asks for
}

}  // namespace thalweg::internal
