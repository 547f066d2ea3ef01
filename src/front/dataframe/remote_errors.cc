#include "front/dataframe/remote_errors.h"

#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/support/status.h>
#include <spark/connect/base.pb.h>

#include "base/foreign_error.h"

namespace thalweg::internal {
namespace {

namespace proto = ::spark::connect;
using Details = proto::FetchErrorDetailsResponse;

constexpr int kMaxCauses = 8;

QueryContext ContextOf(const Details::QueryContext& message) {
  QueryContext context;
  context.kind = message.context_type() == Details::QueryContext::DATAFRAME ? QueryContext::Kind::kDataFrame : QueryContext::Kind::kSql;
  context.object_type = message.object_type();
  context.object_name = message.object_name();
  context.fragment = message.fragment();
  context.call_site = message.call_site();
  context.summary = message.summary();
  context.start_index = message.start_index();
  context.stop_index = message.stop_index();
  return context;
}

// The error at `index` of the chain and, as far as they go, its causes.
Status FromDetails(const Details& details, int index, int depth) {
  if (index < 0 || index >= details.errors_size() || depth > kMaxCauses) return Status::OK();
  const Details::Error& error = details.errors(index);
  ForeignError foreign;
  foreign.message = error.message();
  if (error.has_spark_throwable()) {
    const Details::SparkThrowable& throwable = error.spark_throwable();
    foreign.condition = throwable.error_class();
    foreign.sql_state = throwable.sql_state();
    for (const auto& [name, value] : throwable.message_parameters()) foreign.parameters.emplace_back(name, value);
    for (const Details::QueryContext& context : throwable.query_contexts()) foreign.query_context.push_back(ContextOf(context));
  }
  if (foreign.condition.empty() && error.error_type_hierarchy_size() > 0) {
    foreign.parameters.emplace_back("class", error.error_type_hierarchy(0));
  }
  if (error.has_cause_idx() && error.cause_idx() != index) foreign.cause = FromDetails(details, error.cause_idx(), depth + 1);
  return MakeForeignError(std::move(foreign));
}

std::string ValueOf(const google::protobuf::Map<std::string, std::string>& metadata, const char* key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? std::string() : found->second;
}

}  // namespace

Status FromGrpc(const grpc::Status& status, const FetchErrorDetails& fetch) {
  if (status.ok()) return Status::OK();
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    return Error("SPARK_CONNECT_UNREACHABLE").With("reason", status.error_message()).Kind(ErrorKind::kEnvironment);
  }
  ForeignError foreign;
  foreign.message = status.error_message();
  google::rpc::Status rich;
  if (rich.ParseFromString(status.error_details())) {
    for (const google::protobuf::Any& detail : rich.details()) {
      google::rpc::ErrorInfo info;
      if (!detail.UnpackTo(&info)) continue;
      Details details;
      const std::string error_id = ValueOf(info.metadata(), "errorId");
      if (!error_id.empty() && fetch(error_id, &details) && details.has_root_error_idx()) {
        return FromDetails(details, details.root_error_idx(), 0);
      }
      foreign.condition = ValueOf(info.metadata(), "errorClass");
      foreign.sql_state = ValueOf(info.metadata(), "sqlState");
      if (foreign.condition.empty()) foreign.parameters.emplace_back("class", info.reason());
    }
  }
  return MakeForeignError(std::move(foreign));
}

bool IsTransient(const grpc::Status& status) {
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) return true;
  return status.error_code() == grpc::StatusCode::INTERNAL &&
         status.error_message().find("INVALID_CURSOR.DISCONNECTED") != std::string::npos;
}

bool IsUnknownOperation(const grpc::Status& status) {
  return status.error_message().find("INVALID_HANDLE.OPERATION_NOT_FOUND") != std::string::npos ||
         status.error_message().find("INVALID_HANDLE.SESSION_NOT_FOUND") != std::string::npos;
}

}  // namespace thalweg::internal
