#include <spark/connect/base.pb.h>

#include "front/connect/unary_calls.h"
#include "front/session/spark_settings.h"
#include "sql/protocol/protocol_errors.h"

namespace thalweg::front {

namespace {

namespace pb = ::spark::connect;

void AddPair(const std::string& key, const std::optional<std::string>& value, pb::ConfigResponse* response) {
  pb::KeyValue* pair = response->add_pairs();
  pair->set_key(key);
  if (value) pair->set_value(*value);
}

void WarnAbout(const std::string& key, pb::ConfigResponse* response) {
  if (key == "spark.sql.execution.arrow.enabled" || key == "spark.sql.execution.arrow.pyspark.fallback.enabled") {
    response->add_warnings("The SQL config '" + key + "' is NOT supported in Spark Connect");
  }
}

Status Set(Session& session, const pb::ConfigRequest::Set& set, pb::ConfigResponse* response) {
  for (const pb::KeyValue& pair : set.pairs()) {
    if (!pair.has_value()) return Error("ILLEGAL_ARGUMENT").With("message", "value cannot be null for key: " + pair.key());
    const Status status = session.SetConf(pair.key(), pair.value());
    if (status.ok()) {
      WarnAbout(pair.key(), response);
    } else if (set.silent()) {
      response->add_warnings("Failed to set " + pair.key() + " to Some(" + pair.value() + ") due to " + status.message());
    } else {
      return status;
    }
  }
  return Status::OK();
}

Status GetWithDefault(Session& session, const pb::ConfigRequest::GetWithDefault& get, pb::ConfigResponse* response) {
  for (const pb::KeyValue& pair : get.pairs()) {
    const SparkSetting* setting = FindSparkSetting(pair.key());
    if (pair.has_value() && setting != nullptr) TW_RETURN_NOT_OK(CheckSettingValue(*setting, pair.value()));
    std::optional<std::string> value = session.GetExplicitConf(pair.key());
    if (!value && pair.has_value()) value = pair.value();
    AddPair(pair.key(), value, response);
    WarnAbout(pair.key(), response);
  }
  return Status::OK();
}

}  // namespace

Status AnswerConfig(SessionHolder& holder, const pb::ConfigRequest& request, pb::ConfigResponse* response) {
  Session& session = holder.session();
  const pb::ConfigRequest::Operation& operation = request.operation();
  switch (operation.op_type_case()) {
    case pb::ConfigRequest::Operation::kSet: return Set(session, operation.set(), response);
    case pb::ConfigRequest::Operation::kGet:
      for (const std::string& key : operation.get().keys()) {
        TW_ASSIGN_OR_RETURN(std::string value, session.GetConf(key));
        AddPair(key, std::move(value), response);
        WarnAbout(key, response);
      }
      return Status::OK();
    case pb::ConfigRequest::Operation::kGetWithDefault: return GetWithDefault(session, operation.get_with_default(), response);
    case pb::ConfigRequest::Operation::kGetOption:
      for (const std::string& key : operation.get_option().keys()) AddPair(key, session.GetConfOption(key), response);
      return Status::OK();
    case pb::ConfigRequest::Operation::kGetAll: {
      const std::string& prefix = operation.get_all().prefix();
      for (const auto& [key, value] : session.AllConf()) {
        if (key.starts_with(prefix)) AddPair(key.substr(prefix.size()), value, response);
      }
      return Status::OK();
    }
    case pb::ConfigRequest::Operation::kUnset:
      for (const std::string& key : operation.unset().keys()) TW_RETURN_NOT_OK(session.UnsetConf(key));
      return Status::OK();
    case pb::ConfigRequest::Operation::kIsModifiable:
      for (const std::string& key : operation.is_modifiable().keys()) {
        AddPair(key, session.IsModifiable(key) ? "true" : "false", response);
      }
      return Status::OK();
    case pb::ConfigRequest::Operation::OP_TYPE_NOT_SET: break;
  }
  return sql::OneOfNotSet(operation.GetTypeName(), "OPTYPE_NOT_SET");
}

}  // namespace thalweg::front
