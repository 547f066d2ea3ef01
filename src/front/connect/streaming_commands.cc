// Starting and commanding streaming queries over the protocol. Source: spark/connect/commands.proto.
#include <spark/connect/base.pb.h>

#include <algorithm>

#include "base/string_case.h"
#include "base/uuid.h"
#include "data/text/interval.h"
#include "front/connect/execute_plan.h"
#include "front/connect/foreach_start.h"
#include "front/connect/listener_bus.h"
#include "sql/parser/parser.h"
#include "sql/protocol/protocol_errors.h"

namespace thalweg::front {

namespace {

namespace pb = ::spark::connect;
using streaming::StreamingQuery;
using QueryPtr = std::shared_ptr<StreamingQuery>;

Status IllegalArgument(std::string_view text) { return Error("ILLEGAL_ARGUMENT").With("message", text); }

Result<std::chrono::milliseconds> TriggerInterval(const std::string& text) {
  TW_ASSIGN_OR_RETURN(const data::CalendarInterval interval, data::MakeCalendarInterval(text));
  if (interval.months != 0) return Error("_LEGACY_ERROR_TEMP_3262").With("interval", text);
  const int64_t ms = interval.days * int64_t{86'400'000} + interval.microseconds / 1000;
  if (ms < 0) return IllegalArgument("requirement failed: the interval of trigger should not be negative");
  return std::chrono::milliseconds(ms);
}

Result<streaming::Trigger> ReadTrigger(const pb::WriteStreamOperationStart& command) {
  switch (command.trigger_case()) {
    case pb::WriteStreamOperationStart::kProcessingTimeInterval: {
      TW_ASSIGN_OR_RETURN(const auto interval, TriggerInterval(command.processing_time_interval()));
      return streaming::Trigger(streaming::ProcessingTime{interval});
    }
    case pb::WriteStreamOperationStart::kAvailableNow: return streaming::Trigger(streaming::AvailableNow{});
    case pb::WriteStreamOperationStart::kOnce: return streaming::Trigger(streaming::Once{});
    case pb::WriteStreamOperationStart::kContinuousCheckpointInterval: {
      TW_ASSIGN_OR_RETURN(const auto interval, TriggerInterval(command.continuous_checkpoint_interval()));
      return streaming::Trigger(streaming::Continuous{interval});
    }
    case pb::WriteStreamOperationStart::kRealTimeBatchDuration: {
      TW_ASSIGN_OR_RETURN(const auto interval, TriggerInterval(command.real_time_batch_duration()));
      return streaming::Trigger(streaming::RealTime{interval});
    }
    case pb::WriteStreamOperationStart::TRIGGER_NOT_SET: break;
  }
  return streaming::Trigger(streaming::ProcessingTime{});
}

Result<sql::OutputMode> ReadMode(const std::string& text) {
  if (text.empty() || EqualsIgnoreCase(text, "append")) return sql::OutputMode::kAppend;
  if (EqualsIgnoreCase(text, "complete")) return sql::OutputMode::kComplete;
  if (EqualsIgnoreCase(text, "update")) return sql::OutputMode::kUpdate;
  return Error("STREAMING_OUTPUT_MODE.INVALID").With("outputMode", text);
}

void SetId(const StreamingQuery& query, pb::StreamingQueryInstanceId* id) {
  id->set_id(query.id().value().ToString());
  id->set_run_id(query.run_id().value().ToString());
}

std::vector<std::string> JobTags(const ExecuteContext& context) {
  const std::string prefix = "_User_" + context.holder.user() + "_Session_" + context.holder.id();
  std::vector<std::string> tags{"SparkConnect_OperationTag" + prefix + "_Operation_" + context.operation->ids().operation_id};
  for (const std::string& tag : context.operation->tags()) tags.push_back("SparkConnect_SessionTag" + prefix + "_Tag_" + tag);
  return tags;
}

// Waits for the end of a query without polling. True when it ended in time.
bool WaitForEnd(StreamingQuery& query, std::optional<std::chrono::milliseconds> timeout, std::stop_token stop) {
  if (!query.is_active()) return true;
  const auto ended = std::make_shared<Signal>();
  const int64_t waiter = query.OnTermination([ended] { ended->Set(); });
  const bool set = timeout ? ended->WaitFor(stop, *timeout) : ended->Wait(stop);
  query.RemoveWaiter(waiter);
  return set;
}

std::string CausedBy(const Status& exception) {
  return "org.apache.spark.sql.streaming.StreamingQueryException: " + exception.message();
}

Result<QueryPtr> FindQuery(const ExecuteContext& context, const pb::StreamingQueryInstanceId& id) {
  streaming::StreamingQueryManager& queries = context.holder.session().queries();
  if (QueryPtr query = queries.Find(id.id(), id.run_id())) return query;
  if (const QueryPtr other = queries.Find(id.id(), std::nullopt)) {
    return Error("CONNECT_INVALID_PLAN.STREAMING_QUERY_RUN_ID_MISMATCH")
        .With("id", id.id())
        .With("runId", id.run_id())
        .With("serverRunId", other->run_id().value().ToString());
  }
  return Error("CONNECT_INVALID_PLAN.STREAMING_QUERY_NOT_FOUND").With("id", id.id());
}

Result<std::optional<std::chrono::milliseconds>> ReadTimeout(bool present, int64_t timeout_ms) {
  if (!present) return std::optional<std::chrono::milliseconds>{};
  if (timeout_ms <= 0) return IllegalArgument("requirement failed: Timeout has to be positive");
  return std::optional(std::chrono::milliseconds(std::min<int64_t>(timeout_ms, int64_t{365} * 86'400'000)));
}

}  // namespace

namespace {

// Whether a call comes out of the foreachBatch function of the very query, which waits for that function.
bool AskedByItsFunction(const ExecuteContext& context, const StreamingQuery& query) {
  const std::string& caller = context.request.client_type();
  if (!caller.starts_with(kForeachAgent)) return false;
  for (const StartedQuery& started : context.holder.StartedQueries()) {
    if (!started.worker_agent.empty() && caller.starts_with(started.worker_agent)) return started.query.lock().get() == &query;
  }
  return true;  // its start is not over yet
}

Status WouldWaitForItself() {
  return InternalError("Cannot wait for a query state from the same thread that is running the query");
}

}  // namespace

Status StartStreamingQuery(const ExecuteContext& context, const pb::WriteStreamOperationStart& command) {
  StreamStart start;
  TW_ASSIGN_OR_RETURN(start.input, ReadRelation(context.holder, command.input(), context.operation->stop_token()));
  start.stop = context.operation->stop_token();
  start.format = command.format();
  const std::map<std::string, std::string> options(command.options().begin(), command.options().end());
  for (const auto& [key, value] : options) start.options.Set(key, value);
  start.partition_columns.assign(command.partitioning_column_names().begin(), command.partitioning_column_names().end());
  start.clustering_columns.assign(command.clustering_column_names().begin(), command.clustering_column_names().end());
  TW_ASSIGN_OR_RETURN(start.trigger, ReadTrigger(command));
  TW_ASSIGN_OR_RETURN(start.output_mode, ReadMode(command.output_mode()));
  start.query_name = command.query_name();
  start.path = command.path();
  if (!command.table_name().empty()) {
    TW_ASSIGN_OR_RETURN(start.table_name, sql::ParseMultipartIdentifier(command.table_name()));
  }
  start.job_tags = JobTags(context);
  TW_ASSIGN_OR_RETURN(const std::string worker_agent, AddForeach(context, command, &start));
  TW_ASSIGN_OR_RETURN(const QueryPtr query, context.holder.session().StartStream(std::move(start)));
  context.holder.NoteStarted(query->run_id().value().ToString(),
                             {context.operation->ids().operation_id, context.operation->tags(), query, worker_agent});
  pb::ExecutePlanResponse response;
  auto* result = response.mutable_write_stream_operation_start_result();
  SetId(*query, result->mutable_query_id());
  result->set_name(query->name());
  if (const auto event = context.holder.listener_bus().StartedEvent(query->run_id().value().ToString())) {
    result->set_query_started_event_json(*event);
  }
  context.operation->Send(&response);
  return Status::OK();
}

Status RunQueryCommand(const ExecuteContext& context, const pb::StreamingQueryCommand& command) {
  TW_ASSIGN_OR_RETURN(const QueryPtr query, FindQuery(context, command.query_id()));
  pb::ExecutePlanResponse response;
  auto* result = response.mutable_streaming_query_command_result();
  *result->mutable_query_id() = command.query_id();
  switch (command.command_case()) {
    case pb::StreamingQueryCommand::kStatus: {
      const streaming::QueryStatus status = query->status();
      result->mutable_status()->set_status_message(status.message);
      result->mutable_status()->set_is_data_available(status.data_available);
      result->mutable_status()->set_is_trigger_active(status.trigger_active);
      result->mutable_status()->set_is_active(query->is_active());
      break;
    }
    case pb::StreamingQueryCommand::kLastProgress:
      result->mutable_recent_progress();
      if (const std::optional<std::string> progress = query->last_progress()) {
        result->mutable_recent_progress()->add_recent_progress_json(*progress);
      }
      break;
    case pb::StreamingQueryCommand::kRecentProgress:
      result->mutable_recent_progress();
      for (const std::string& progress : query->recent_progress()) {
        result->mutable_recent_progress()->add_recent_progress_json(progress);
      }
      break;
    case pb::StreamingQueryCommand::kStop:
      if (AskedByItsFunction(context, *query)) query->StopAfterBatch();
      else TW_RETURN_NOT_OK(query->Stop());
      break;
    case pb::StreamingQueryCommand::kProcessAllAvailable:
      if (AskedByItsFunction(context, *query)) return WouldWaitForItself();
      TW_RETURN_NOT_OK(query->ProcessAllAvailable());
      break;
    case pb::StreamingQueryCommand::kExplain:
      result->mutable_explain()->set_result(query->Explain(command.explain().extended()));
      break;
    case pb::StreamingQueryCommand::kException: {
      const Status exception = query->exception();
      if (exception.ok()) break;  // an answer without payload
      result->mutable_exception()->set_exception_message(CausedBy(exception));
      result->mutable_exception()->set_error_class(exception.condition());
      break;
    }
    case pb::StreamingQueryCommand::kAwaitTermination: {
      TW_ASSIGN_OR_RETURN(const auto timeout, ReadTimeout(command.await_termination().has_timeout_ms(),
                                                          command.await_termination().timeout_ms()));
      if (!timeout && AskedByItsFunction(context, *query)) return WouldWaitForItself();
      const bool ended = WaitForEnd(*query, timeout, context.operation->stop_token());
      if (context.operation->interrupted()) return Cancelled();
      if (ended) TW_RETURN_NOT_OK(query->exception());
      result->mutable_await_termination()->set_terminated(ended);
      break;
    }
    case pb::StreamingQueryCommand::COMMAND_NOT_SET: return sql::OneOfNotSet(command.GetTypeName(), "COMMAND_NOT_SET");
  }
  context.operation->Send(&response);
  return Status::OK();
}

namespace {

// One slice of waiting, so that an interrupted call does not hold its thread for long.
constexpr std::chrono::milliseconds kAwaitSlice{500};

Result<bool> AwaitAny(const ExecuteContext& context, std::optional<std::chrono::milliseconds> timeout) {
  streaming::StreamingQueryManager& queries = context.holder.session().queries();
  const auto begin = SystemClock::Get().NowMonotonic();
  while (true) {
    std::chrono::milliseconds slice = kAwaitSlice;
    if (timeout) {
      const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock::Get().NowMonotonic() - begin);
      if (spent >= *timeout) return false;
      slice = std::min(slice, *timeout - spent);
    }
    TW_ASSIGN_OR_RETURN(const bool ended, queries.AwaitAnyTermination(slice));
    if (ended) return true;
    if (context.operation->interrupted()) return Cancelled();
  }
}

}  // namespace

Status RunQueryManagerCommand(const ExecuteContext& context, const pb::StreamingQueryManagerCommand& command) {
  streaming::StreamingQueryManager& queries = context.holder.session().queries();
  pb::ExecutePlanResponse response;
  auto* result = response.mutable_streaming_query_manager_command_result();
  const auto describe = [](const StreamingQuery& query, pb::StreamingQueryManagerCommandResult::StreamingQueryInstance* to) {
    SetId(query, to->mutable_id());
    if (!query.name().empty()) to->set_name(query.name());
  };
  switch (command.command_case()) {
    case pb::StreamingQueryManagerCommand::kActive:
      result->mutable_active();
      for (const QueryPtr& query : queries.Active()) describe(*query, result->mutable_active()->add_active_queries());
      break;
    case pb::StreamingQueryManagerCommand::kGetQuery:
      if (!Uuid::Parse(command.get_query()).ok()) {
        return Error("ILLEGAL_ARGUMENT").With("message", "Invalid UUID string: " + command.get_query());
      }
      for (const QueryPtr& query : queries.Active()) {
        if (query->id().value().ToString() == command.get_query()) describe(*query, result->mutable_query());
      }
      break;
    case pb::StreamingQueryManagerCommand::kAwaitAnyTermination: {
      TW_ASSIGN_OR_RETURN(const auto timeout, ReadTimeout(command.await_any_termination().has_timeout_ms(),
                                                          command.await_any_termination().timeout_ms()));
      TW_ASSIGN_OR_RETURN(const bool ended, AwaitAny(context, timeout));
      result->mutable_await_any_termination()->set_terminated(ended);
      break;
    }
    case pb::StreamingQueryManagerCommand::kResetTerminated:
      queries.ResetTerminated();
      result->set_reset_terminated(true);
      break;
    case pb::StreamingQueryManagerCommand::kAddListener:
    case pb::StreamingQueryManagerCommand::kRemoveListener:
    case pb::StreamingQueryManagerCommand::kListListeners: return Unsupported("server-side streaming listeners");
    case pb::StreamingQueryManagerCommand::COMMAND_NOT_SET: return sql::OneOfNotSet(command.GetTypeName(), "COMMAND_NOT_SET");
  }
  context.operation->Send(&response);
  return Status::OK();
}

}  // namespace thalweg::front
