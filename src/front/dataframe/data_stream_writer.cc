#include <spark/connect/base.pb.h>

#include <optional>

#include "front/dataframe/nodes.h"
#include "front/dataframe/session_state.h"
#include "front/dataframe/streaming_query_access.h"
#include "sql/protocol/local_callbacks.h"
#include "thalweg/streaming.h"

namespace thalweg {

namespace proto = ::spark::connect;

struct DataStreamWriter::Spec {
  proto::WriteStreamOperationStart start;
  std::function<Status(const DataFrame& rows, int64_t batch_id)> foreach_batch;
};

namespace {

// A function under an id that the engine of this process takes; taken back when it was not.
class OfferedFunction {
 public:
  OfferedFunction(const std::shared_ptr<internal::SessionState>& session,
                  const std::function<Status(const DataFrame& rows, int64_t batch_id)>& function)
      // The query lives in the session: it must not keep it.
      : id_(sql::RegisterBatchCallback([session = std::weak_ptr(session), function](const std::string& relation, int64_t batch_id) {
          const std::shared_ptr<internal::SessionState> there = session.lock();
          if (there == nullptr) return Cancelled();
          proto::Relation rows;
          rows.mutable_cached_remote_relation()->set_relation_id(relation);
          return function(internal::DataFrameAccess::Make(there, std::move(rows)), batch_id);
        })) {}
  ~OfferedFunction() { sql::TakeBatchCallback(id_); }
  OfferedFunction(const OfferedFunction&) = delete;
  const std::string& id() const { return id_; }

 private:
  const std::string id_;
};

}  // namespace

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
DataStreamWriter& DataStreamWriter::Options(const std::map<std::string, std::string>& options) {
  for (const auto& [key, value] : options) Option(key, value);
  return *this;
}
DataStreamWriter& DataStreamWriter::PartitionBy(const std::vector<std::string>& columns) {
  for (const std::string& column : columns) spec_->start.add_partitioning_column_names(column);
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

DataStreamWriter& DataStreamWriter::TriggerContinuous(std::string_view interval) {
  spec_->start.set_continuous_checkpoint_interval(std::string(interval));
  return *this;
}
DataStreamWriter& DataStreamWriter::ForeachBatch(std::function<Status(const DataFrame& rows, int64_t batch_id)> function) {
  spec_->foreach_batch = std::move(function);
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
  std::optional<OfferedFunction> offered;
  if (spec_->foreach_batch) {
    if (!session_->is_embedded()) return Unsupported("foreachBatch with a function of a C++ program on another process's engine");
    offered.emplace(session_, spec_->foreach_batch);
    command.mutable_write_stream_operation_start()->mutable_foreach_batch()->mutable_scala_function()->set_payload(offered->id());
  }
  *command.mutable_write_stream_operation_start()->mutable_input() = input_->relation;
  std::optional<proto::WriteStreamOperationStartResult> started;
  TW_RETURN_NOT_OK(session_->ExecuteCommand(command, [&](const proto::ExecutePlanResponse& response) -> Status {
    if (response.has_write_stream_operation_start_result()) started = response.write_stream_operation_start_result();
    return Status::OK();
  }));
  if (!started) return InternalError("the server started no query and gave no reason");
  if (started->has_query_started_event_json()) session_->TellStarted(started->query_started_event_json());
  return internal::StreamingQueryAccess::Make(session_, started->query_id().id(), started->query_id().run_id(), started->name());
}

}  // namespace thalweg
