#include "thalweg/session.h"

#include <spark/connect/base.pb.h>

#include <cstdlib>

#include "base/mutex.h"
#include "front/dataframe/local_rows.h"
#include "front/dataframe/nodes.h"
#include "front/dataframe/session_state.h"

namespace thalweg {

using internal::ColumnAccess;
using internal::DataFrameAccess;
namespace proto = ::spark::connect;

namespace {

// Larger data would not pass as one message.
constexpr size_t kMaxLocalBytes = 100 << 20;

Result<DataFrame> RunSql(const std::shared_ptr<internal::SessionState>& state, const proto::SQL& sql) {
  proto::Command command;
  *command.mutable_sql_command()->mutable_input()->mutable_sql() = sql;
  proto::Relation relation = command.sql_command().input();
  TW_RETURN_NOT_OK(state->ExecuteCommand(command, [&](const proto::ExecutePlanResponse& response) -> Status {
    if (response.has_sql_command_result()) relation = response.sql_command_result().relation();
    return Status::OK();
  }));
  return DataFrameAccess::Make(state, std::move(relation));
}

Result<DataFrame> FrameOf(const std::shared_ptr<internal::SessionState>& state, internal::LocalRows rows) {
  if (rows.ipc.size() > kMaxLocalBytes) return Unsupported("rows of a program of more than 100 MB: write them to a file");
  proto::Relation relation;
  relation.mutable_local_relation()->set_data(std::move(rows.ipc));
  if (!rows.schema_json.empty()) relation.mutable_local_relation()->set_schema(std::move(rows.schema_json));
  return DataFrameAccess::Make(state, std::move(relation));
}

Result<std::vector<std::string>> Interrupt(internal::SessionState& state, proto::InterruptRequest::InterruptType type, std::string_view tag) {
  proto::InterruptRequest request;
  request.set_interrupt_type(type);
  if (!tag.empty()) request.set_operation_tag(std::string(tag));
  return state.Interrupt(&request);
}

// The newest session of each place, for GetOrCreate.
struct Newest {
  Mutex mutex;
  std::map<std::string, std::weak_ptr<internal::SessionState>> by_url TW_GUARDED_BY(mutex);
};

Newest& NewestSessions() {
  static auto* newest = new Newest;  // sessions may end after static objects have gone
  return *newest;
}

}  // namespace

SessionBuilder Session::Builder() { return {}; }

Result<Session> Session::Connect(std::string_view url, const std::map<std::string, std::string>& settings) {
  TW_ASSIGN_OR_RETURN(std::shared_ptr<internal::SessionState> state, internal::SessionState::Connect(url, settings));
  const MutexLock lock(NewestSessions().mutex);
  NewestSessions().by_url[std::string(url)] = state;
  return Session(std::move(state));
}

DataFrameReader Session::Read() const { return DataFrameReader(state_, false); }
DataStreamReader Session::ReadStream() const { return DataFrameReader(state_, true); }
DataFrame Session::Table(std::string_view name) const { return Read().Table(name); }
thalweg::Catalog Session::Catalog() const { return thalweg::Catalog(state_); }
StreamingQueryManager Session::Streams() const { return StreamingQueryManager(state_); }

Result<DataFrame> Session::Sql(std::string_view text, const std::map<std::string, Column>& parameters) const {
  proto::SQL sql;
  sql.set_query(std::string(text));
  for (const auto& [name, value] : parameters) (*sql.mutable_named_arguments())[name] = ColumnAccess::Message(value);
  return RunSql(state_, sql);
}

Result<DataFrame> Session::Sql(std::string_view text, const std::vector<Column>& parameters) const {
  proto::SQL sql;
  sql.set_query(std::string(text));
  for (const Column& value : parameters) *sql.add_pos_arguments() = ColumnAccess::Message(value);
  return RunSql(state_, sql);
}

DataFrame Session::Range(int64_t start, int64_t end, int64_t step) const {
  proto::Relation relation;
  relation.mutable_range()->set_start(start);
  relation.mutable_range()->set_end(end);
  relation.mutable_range()->set_step(step);
  return DataFrameAccess::Make(state_, std::move(relation));
}

Result<DataFrame> Session::CreateDataFrame(std::string_view schema, const std::vector<Row>& rows) const {
  TW_ASSIGN_OR_RETURN(internal::LocalRows local, internal::LocalRowsFrom(schema, rows));
  return FrameOf(state_, std::move(local));
}

Result<DataFrame> Session::CreateDataFrame(ArrowArrayStream* batches) const {
  TW_ASSIGN_OR_RETURN(internal::LocalRows local, internal::LocalRowsFrom(batches));
  return FrameOf(state_, std::move(local));
}

Status Session::SetConf(std::string_view key, std::string_view value) const {
  return state_->SetConf({{std::string(key), std::string(value)}});
}

Result<std::string> Session::GetConf(std::string_view key) const {
  proto::ConfigRequest::Operation operation;
  operation.mutable_get()->add_keys(std::string(key));
  TW_ASSIGN_OR_RETURN(const proto::ConfigResponse response, state_->Config(operation));
  if (response.pairs_size() != 1) return InternalError("the server answered without a value");
  return response.pairs(0).value();
}

Result<std::optional<std::string>> Session::GetConfOption(std::string_view key) const {
  proto::ConfigRequest::Operation operation;
  operation.mutable_get_option()->add_keys(std::string(key));
  TW_ASSIGN_OR_RETURN(const proto::ConfigResponse response, state_->Config(operation));
  if (response.pairs_size() != 1 || !response.pairs(0).has_value()) return std::optional<std::string>();
  return std::optional<std::string>(response.pairs(0).value());
}

Status Session::UnsetConf(std::string_view key) const {
  proto::ConfigRequest::Operation operation;
  operation.mutable_unset()->add_keys(std::string(key));
  return state_->Config(operation).status();
}

Result<std::string> Session::Version() const {
  proto::AnalyzePlanRequest request;
  request.mutable_spark_version();
  TW_ASSIGN_OR_RETURN(const proto::AnalyzePlanResponse response, state_->Analyze(&request));
  return response.spark_version().version();
}

void Session::AddTag(std::string_view tag) const { state_->ChangeTag(std::string(tag), true); }
void Session::RemoveTag(std::string_view tag) const { state_->ChangeTag(std::string(tag), false); }

Result<std::vector<std::string>> Session::InterruptAll() const {
  return Interrupt(*state_, proto::InterruptRequest::INTERRUPT_TYPE_ALL, "");
}

Result<std::vector<std::string>> Session::InterruptTag(std::string_view tag) const {
  return Interrupt(*state_, proto::InterruptRequest::INTERRUPT_TYPE_TAG, tag);
}

Status Session::Stop() const { return state_->Stop(); }

SessionBuilder& SessionBuilder::AppName(std::string_view name) { return Config("spark.app.name", name); }

SessionBuilder& SessionBuilder::Remote(std::string_view url) {
  remote_ = url;
  return *this;
}

SessionBuilder& SessionBuilder::Config(std::string_view key, std::string_view value) {
  settings_[std::string(key)] = value;
  return *this;
}

std::string SessionBuilder::Url() const {
  if (remote_) return *remote_;
  const char* remote = std::getenv("SPARK_REMOTE");
  return remote == nullptr ? "" : remote;
}

Result<Session> SessionBuilder::GetOrCreate() const {
  std::shared_ptr<internal::SessionState> there;
  {
    const MutexLock lock(NewestSessions().mutex);
    const auto found = NewestSessions().by_url.find(Url());
    if (found != NewestSessions().by_url.end()) there = found->second.lock();
  }
  if (there == nullptr || there->is_stopped()) return Create();
  TW_RETURN_NOT_OK(there->SetConf(settings_));
  return Session(std::move(there));
}

Result<Session> SessionBuilder::Create() const { return Session::Connect(Url(), settings_); }

}  // namespace thalweg
