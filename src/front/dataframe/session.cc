#include "thalweg/session.h"

#include <spark/connect/base.pb.h>

#include "front/dataframe/nodes.h"
#include "front/dataframe/session_state.h"

namespace thalweg {

using internal::DataFrameAccess;
namespace proto = ::spark::connect;

struct DataReader::Spec {
  bool streaming = false;
  proto::Read::DataSource source;
};

DataReader::DataReader(std::shared_ptr<internal::SessionState> session, bool streaming)
    : session_(std::move(session)), spec_(std::make_shared<Spec>()) {
  spec_->streaming = streaming;
}

DataReader& DataReader::Format(std::string_view format) {
  spec_->source.set_format(std::string(format));
  return *this;
}
DataReader& DataReader::Option(std::string_view key, std::string_view value) {
  (*spec_->source.mutable_options())[std::string(key)] = std::string(value);
  return *this;
}
DataReader& DataReader::Schema(std::string_view schema) {
  spec_->source.set_schema(std::string(schema));
  return *this;
}

DataFrame DataReader::Load(const std::vector<std::string>& paths) const {
  proto::Relation relation;
  relation.mutable_read()->set_is_streaming(spec_->streaming);
  *relation.mutable_read()->mutable_data_source() = spec_->source;
  for (const std::string& path : paths) relation.mutable_read()->mutable_data_source()->add_paths(path);
  return DataFrameAccess::Make(session_, std::move(relation));
}

DataFrame DataReader::Table(std::string_view name) const {
  proto::Relation relation;
  relation.mutable_read()->set_is_streaming(spec_->streaming);
  relation.mutable_read()->mutable_named_table()->set_unparsed_identifier(std::string(name));
  *relation.mutable_read()->mutable_named_table()->mutable_options() = spec_->source.options();
  return DataFrameAccess::Make(session_, std::move(relation));
}

Result<Session> Session::Connect(std::string_view url, const std::map<std::string, std::string>& settings) {
  TW_ASSIGN_OR_RETURN(std::shared_ptr<internal::SessionState> state, internal::SessionState::Connect(url, settings));
  return Session(std::move(state));
}

DataReader Session::Read() const { return DataReader(state_, false); }
DataReader Session::ReadStream() const { return DataReader(state_, true); }
DataFrame Session::Table(std::string_view name) const { return Read().Table(name); }

Result<DataFrame> Session::Sql(std::string_view text) const {
  proto::Command command;
  command.mutable_sql_command()->mutable_input()->mutable_sql()->set_query(std::string(text));
  proto::Relation relation = command.sql_command().input();
  TW_RETURN_NOT_OK(state_->ExecuteCommand(command, [&](const proto::ExecutePlanResponse& response) -> Status {
    if (response.has_sql_command_result()) relation = response.sql_command_result().relation();
    return Status::OK();
  }));
  return DataFrameAccess::Make(state_, std::move(relation));
}

DataFrame Session::Range(int64_t start, int64_t end, int64_t step) const {
  proto::Relation relation;
  relation.mutable_range()->set_start(start);
  relation.mutable_range()->set_end(end);
  relation.mutable_range()->set_step(step);
  return DataFrameAccess::Make(state_, std::move(relation));
}

Status Session::SetConf(std::string_view key, std::string_view value) const {
  return state_->SetConf({{std::string(key), std::string(value)}});
}
Result<std::string> Session::GetConf(std::string_view key) const { return state_->GetConf(std::string(key)); }

Result<std::string> Session::Version() const {
  proto::AnalyzePlanRequest request;
  request.mutable_spark_version();
  TW_ASSIGN_OR_RETURN(const proto::AnalyzePlanResponse response, state_->Analyze(&request));
  return response.spark_version().version();
}

}  // namespace thalweg
