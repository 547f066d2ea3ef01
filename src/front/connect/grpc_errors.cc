#include "front/connect/grpc_errors.h"

#include <google/protobuf/any.pb.h>
#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/support/status.h>
#include <spark/connect/base.pb.h>

#include <nlohmann/json.hpp>

#include "front/session/exception_classes.h"

namespace thalweg::front {

namespace {

namespace pb = ::spark::connect;
using Json = nlohmann::ordered_json;

constexpr size_t kMaxMessageBytes = 2048;   // as Spark cuts it
constexpr size_t kMaxEncodedBytes = 2600;   // gRPC allows 8 KiB for all metadata; the message stands in it twice
constexpr size_t kMaxParameterBytes = 1024;
constexpr int kMaxCauses = 5;

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// gRPC percent-encodes what is not printable ASCII.
size_t EncodedBytes(const std::string& text) {
  size_t bytes = 0;
  for (const unsigned char c : text) bytes += (c < 0x20 || c > 0x7e || c == '%') ? 3 : 1;
  return bytes;
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Protobuf strings and gRPC messages must be UTF-8.
std::string ValidUtf8(const std::string& text) {
  const std::string quoted = Dump(Json(text));
  return Json::parse(quoted).get<std::string>();
}

Json ParametersOf(const Status& status) {
  Json parameters = Json::object();
  for (const auto& [name, value] : status.parameters()) parameters[name] = value;
  return parameters;
}

void FillContext(const QueryContext& context, pb::FetchErrorDetailsResponse::QueryContext* out) {
  const bool sql = context.kind == QueryContext::Kind::kSql;
  out->set_context_type(sql ? pb::FetchErrorDetailsResponse::QueryContext::SQL
                            : pb::FetchErrorDetailsResponse::QueryContext::DATAFRAME);
  out->set_fragment(ValidUtf8(context.fragment));
  out->set_summary(ValidUtf8(context.summary));
  if (!sql) {
    out->set_call_site(ValidUtf8(context.call_site));
    return;
  }
  out->set_object_type(context.object_type);
  out->set_object_name(ValidUtf8(context.object_name));
  out->set_start_index(context.start_index);
  out->set_stop_index(context.stop_index);
}

}  // namespace

std::string Abbreviate(const std::string& text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  constexpr std::string_view kGap = "...";
  const size_t room = max_bytes > kGap.size() ? max_bytes - kGap.size() : 0;
  size_t head = room * 3 / 4;
  size_t tail = text.size() - (room - head);
  while (head > 0 && IsContinuation(text[head])) --head;
  while (tail < text.size() && IsContinuation(text[tail])) ++tail;
  return text.substr(0, head) + std::string(kGap) + text.substr(tail);
}

grpc::Status ToGrpcStatus(const Status& status, const std::string& error_id) {
  std::string message = Abbreviate(ValidUtf8(status.message()), kMaxMessageBytes);
  for (size_t limit = kMaxMessageBytes / 2; EncodedBytes(message) > kMaxEncodedBytes && limit > 64; limit /= 2) {
    message = Abbreviate(message, limit);
  }
  const std::vector<std::string> classes = ExceptionClasses(status);
  google::rpc::ErrorInfo info;
  info.set_reason(classes.front());
  info.set_domain("org.apache.spark");
  auto& metadata = *info.mutable_metadata();
  metadata["classes"] = Dump(Json(classes));
  if (!status.sql_state().empty()) metadata["sqlState"] = status.sql_state();
  const std::string parameters = Dump(ParametersOf(status));
  if (!status.condition().empty() && parameters.size() + status.condition().size() <= kMaxParameterBytes) {
    metadata["errorClass"] = status.condition();
    metadata["messageParameters"] = parameters;
  }
  if (!error_id.empty()) metadata["errorId"] = error_id;
  google::rpc::Status rich;
  rich.set_code(static_cast<int>(grpc::StatusCode::INTERNAL));
  rich.set_message(message);
  rich.add_details()->PackFrom(info);
  return {grpc::StatusCode::INTERNAL, message, rich.SerializeAsString()};
}

void FillErrorDetails(const Status& status, pb::FetchErrorDetailsResponse* out) {
  out->set_root_error_idx(0);
  Status current = status;
  for (int i = 0; i < kMaxCauses && !current.ok(); ++i) {
    pb::FetchErrorDetailsResponse::Error* error = out->add_errors();
    for (std::string& name : ExceptionClasses(current)) error->add_error_type_hierarchy(std::move(name));
    error->set_message(ValidUtf8(current.message()));
    auto* throwable = error->mutable_spark_throwable();
    if (!current.condition().empty()) throwable->set_error_class(current.condition());
    for (const auto& [name, value] : current.parameters()) (*throwable->mutable_message_parameters())[name] = ValidUtf8(value);
    if (!current.sql_state().empty()) throwable->set_sql_state(current.sql_state());
    // A syntax error shows its place in the message; Spark gives it no context.
    const bool parsing = current.condition().starts_with("PARSE_");
    for (const QueryContext& context : current.query_context()) {
      if (!parsing) FillContext(context, throwable->add_query_contexts());
    }
    current = Status(current.cause());
    if (!current.ok() && i + 1 < kMaxCauses) error->set_cause_idx(i + 1);
  }
}

}  // namespace thalweg::front
