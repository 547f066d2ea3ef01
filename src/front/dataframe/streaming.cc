#include "thalweg/streaming.h"

#include <spark/connect/base.pb.h>

#include <functional>

#include "front/dataframe/nodes.h"
#include "front/dataframe/session_state.h"

namespace thalweg {

namespace proto = ::spark::connect;

namespace {

/// How long one call waits at most: a call that never ends looks dead to proxies.
constexpr int64_t kAwaitSliceMs = 10'000;

Result<proto::StreamingQueryCommandResult> Ask(internal::SessionState& session, const std::string& id, const std::string& run_id,
                                               const std::function<void(proto::StreamingQueryCommand*)>& fill) {
  proto::Command command;
  proto::StreamingQueryCommand* query = command.mutable_streaming_query_command();
  query->mutable_query_id()->set_id(id);
  query->mutable_query_id()->set_run_id(run_id);
  fill(query);
  proto::StreamingQueryCommandResult result;
  TW_RETURN_NOT_OK(session.ExecuteCommand(command, [&](const proto::ExecutePlanResponse& response) -> Status {
    if (response.has_streaming_query_command_result()) result = response.streaming_query_command_result();
    return Status::OK();
  }));
  return result;
}

}  // namespace

struct DataStreamWriter::Spec {
  proto::WriteStreamOperationStart start;
};

DataStreamWriter::DataStreamWriter(std::shared_ptr<internal::SessionState> session, std::shared_ptr<const internal::RelationNode> input)
    : session_(std::move(session)), input_(std::move(input)), spec_(std::make_shared<Spec>()) {}

DataStreamWriter& DataStreamWriter::Format(std::string_view format) {
  spec_->start.set_format(std::string(format));
  return *this;
}
DataStreamWriter& DataStreamWriter::OutputMode(std::string_view mode) {
  spec_->start.set_output_mode(std::string(mode));
  return *this;
}
DataStreamWriter& DataStreamWriter::Option(std::string_view key, std::string_view value) {
  (*spec_->start.mutable_options())[std::string(key)] = std::string(value);
  return *this;
}
DataStreamWriter& DataStreamWriter::PartitionBy(std::vector<std::string> columns) {
  for (std::string& column : columns) spec_->start.add_partitioning_column_names(std::move(column));
  return *this;
}
DataStreamWriter& DataStreamWriter::QueryName(std::string_view name) {
  spec_->start.set_query_name(std::string(name));
  return *this;
}
DataStreamWriter& DataStreamWriter::TriggerProcessingTime(std::string_view interval) {
  spec_->start.set_processing_time_interval(std::string(interval));
  return *this;
}
DataStreamWriter& DataStreamWriter::TriggerAvailableNow() {
  spec_->start.set_available_now(true);
  return *this;
}
DataStreamWriter& DataStreamWriter::TriggerOnce() {
  spec_->start.set_once(true);
  return *this;
}

Result<StreamingQuery> DataStreamWriter::Start(std::string_view path) {
  spec_->start.clear_sink_destination();
  if (!path.empty()) spec_->start.set_path(std::string(path));
  return Run();
}

Result<StreamingQuery> DataStreamWriter::ToTable(std::string_view name) {
  spec_->start.set_table_name(std::string(name));
  return Run();
}

Result<StreamingQuery> DataStreamWriter::Run() {
  proto::Command command;
  *command.mutable_write_stream_operation_start() = spec_->start;
  *command.mutable_write_stream_operation_start()->mutable_input() = input_->relation;
  std::optional<proto::WriteStreamOperationStartResult> started;
  TW_RETURN_NOT_OK(session_->ExecuteCommand(command, [&](const proto::ExecutePlanResponse& response) -> Status {
    if (response.has_write_stream_operation_start_result()) started = response.write_stream_operation_start_result();
    return Status::OK();
  }));
  if (!started) return InternalError("the server started no query and gave no reason");
  return StreamingQuery(session_, started->query_id().id(), started->query_id().run_id(), started->name());
}

StreamingQuery::StreamingQuery(std::shared_ptr<internal::SessionState> session, std::string id, std::string run_id, std::string name)
    : session_(std::move(session)), id_(std::move(id)), run_id_(std::move(run_id)), name_(std::move(name)) {}

Status StreamingQuery::AwaitTermination() {
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool ended, AwaitTermination(std::chrono::milliseconds(kAwaitSliceMs)));
    if (ended) return Status::OK();
  }
}

Result<bool> StreamingQuery::AwaitTermination(std::chrono::milliseconds timeout) {
  TW_ASSIGN_OR_RETURN(const auto result, Ask(*session_, id_, run_id_, [&](proto::StreamingQueryCommand* query) {
    query->mutable_await_termination()->set_timeout_ms(timeout.count());
  }));
  return result.await_termination().terminated();
}

Status StreamingQuery::ProcessAllAvailable() {
  return Ask(*session_, id_, run_id_, [](proto::StreamingQueryCommand* query) { query->set_process_all_available(true); }).status();
}

Status StreamingQuery::Stop() {
  return Ask(*session_, id_, run_id_, [](proto::StreamingQueryCommand* query) { query->set_stop(true); }).status();
}

Result<StreamingQueryStatus> StreamingQuery::GetStatus() {
  TW_ASSIGN_OR_RETURN(const auto result, Ask(*session_, id_, run_id_, [](proto::StreamingQueryCommand* query) { query->set_status(true); }));
  const auto& status = result.status();
  return StreamingQueryStatus{status.status_message(), status.is_data_available(), status.is_trigger_active(), status.is_active()};
}

Result<std::optional<std::string>> StreamingQuery::LastProgress() {
  TW_ASSIGN_OR_RETURN(const auto result, Ask(*session_, id_, run_id_, [](proto::StreamingQueryCommand* query) { query->set_last_progress(true); }));
  const auto& progress = result.recent_progress().recent_progress_json();
  return progress.empty() ? std::optional<std::string>() : std::optional<std::string>(*progress.rbegin());
}

Result<std::vector<std::string>> StreamingQuery::RecentProgress() {
  TW_ASSIGN_OR_RETURN(const auto result, Ask(*session_, id_, run_id_, [](proto::StreamingQueryCommand* query) { query->set_recent_progress(true); }));
  const auto& progress = result.recent_progress().recent_progress_json();
  return std::vector<std::string>(progress.begin(), progress.end());
}

}  // namespace thalweg
