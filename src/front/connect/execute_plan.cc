#include "front/connect/execute_plan.h"

#include <spark/connect/base.pb.h>

#include <algorithm>

#include "base/uuid.h"
#include "engine/pyworker/pyworker_settings.h"
#include "front/connect/arrow_batches.h"
#include "front/connect/connect_settings.h"
#include "front/connect/listener_bus.h"
#include "front/connect/session_plan_environment.h"
#include "sql/protocol/command_proto.h"
#include "sql/protocol/delta_proto.h"
#include "sql/protocol/literal_proto.h"
#include "sql/protocol/python_udf_proto.h"
#include "sql/protocol/plan_proto.h"
#include "sql/protocol/protocol_errors.h"
#include "sql/protocol/type_proto.h"

// Clients before 4.0 send the deprecated fields of sql_command.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace thalweg::front {

namespace {

namespace pb = ::spark::connect;

ArrowBatchOptions BatchOptions(const ExecuteContext& context) {
  Session& session = context.holder.session();
  ArrowBatchOptions options;
  const std::shared_ptr<const sql::EvalConfig> config = session.eval_config();
  options.arrow.time_zone = config->time_zone;
  options.arrow.large_var_types = session.GetConfOption("spark.sql.execution.arrow.useLargeVarTypes").value_or("false") == "true";
  options.max_rows = session.SettingsSnapshot().Get(engine::kArrowRows);
  for (const auto& option : context.request.request_options()) {
    if (!option.has_result_chunking_options()) continue;
    options.allow_chunking = option.result_chunking_options().allow_arrow_batch_chunking();
    if (option.result_chunking_options().has_preferred_arrow_chunk_size()) {
      const int64_t preferred = option.result_chunking_options().preferred_arrow_chunk_size();
      options.max_chunk_bytes = std::clamp<int64_t>(preferred, 1024, options.max_chunk_bytes);
    }
  }
  return options;
}

bool HoldsTime(const data::DataType& type) {
  switch (type.kind()) {
    case data::TypeKind::kTime: return true;
    case data::TypeKind::kArray: return HoldsTime(type.element());
    case data::TypeKind::kMap: return HoldsTime(type.key()) || HoldsTime(type.value());
    case data::TypeKind::kStruct:
      for (const data::StructField& field : type.fields()) {
        if (HoldsTime(field.type)) return true;
      }
      return false;
    default: return false;
  }
}

Status CheckResultSchema(Session& session, const data::Schema& schema) {
  if (session.GetConfOption("spark.sql.timeType.enabled").value_or("false") == "true") return Status::OK();
  for (const data::StructField& field : schema) {
    if (HoldsTime(field.type)) return Error("UNSUPPORTED_TIME_TYPE");
  }
  return Status::OK();
}

void SendMetrics(const ExecuteContext& context, const QueryMetrics& metrics) {
  pb::ExecutePlanResponse response;
  auto* list = response.mutable_metrics();
  for (const NodeMetric& node : metrics.nodes) {
    auto* object = list->add_metrics();
    object->set_name(node.name);
    object->set_plan_id(node.plan_id);
    object->set_parent(node.parent);
    for (const auto& [name, value] : node.values) {
      auto& metric = (*object->mutable_execution_metrics())[name];
      metric.set_name(name);
      metric.set_value(value.first);
      metric.set_metric_type(value.second);
    }
  }
  context.operation->Send(&response);
}

Status SendObserved(const ExecuteContext& context, const QueryMetrics& metrics) {
  if (metrics.observed.empty()) return Status::OK();
  pb::ExecutePlanResponse response;
  for (const ObservedMetrics& observed : metrics.observed) {
    auto* message = response.add_observed_metrics();
    message->set_name(observed.name);
    for (size_t i = 0; i < observed.values.size() && i < observed.schema.size(); ++i) {
      message->add_keys(observed.schema[i].name);
      TW_RETURN_NOT_OK(sql::LiteralToProto(observed.values[i], observed.schema[i].type, message->add_values()));
    }
  }
  context.operation->Send(&response);
  return Status::OK();
}

Status RunQuery(const ExecuteContext& context, const sql::PlanPtr& plan) {
  Operation& operation = *context.operation;
  Session& session = context.holder.session();
  std::unique_ptr<ArrowBatches> batches;
  std::optional<QueryMetrics> metrics;
  ResultConsumer consumer;
  consumer.on_schema = [&](const data::Schema& schema) -> Status {
    TW_RETURN_NOT_OK(CheckResultSchema(session, schema));
    pb::ExecutePlanResponse response;
    sql::SchemaToProto(schema, response.mutable_schema());
    operation.Send(&response);
    batches = std::make_unique<ArrowBatches>(schema, BatchOptions(context),
                                             [&operation](pb::ExecutePlanResponse* batch) { operation.Send(batch); });
    return Status::OK();
  };
  consumer.on_chunk = [&](const data::Chunk& chunk) -> Result<bool> {
    TW_RETURN_NOT_OK(batches->Add(chunk));
    return !operation.interrupted();
  };
  consumer.on_metrics = [&](const QueryMetrics& of_query) { metrics = of_query; };
  consumer.throttle = [&] { return operation.Throttle(); };
  consumer.view = &operation.view();
  TW_RETURN_NOT_OK(session.Execute(plan, consumer, operation.stop_token()));
  if (operation.interrupted()) return Cancelled();
  if (batches == nullptr) return InternalError("a query gave no schema");
  TW_RETURN_NOT_OK(batches->Finish());
  SendMetrics(context, metrics.value_or(QueryMetrics()));
  return SendObserved(context, metrics.value_or(QueryMetrics()));
}

// The rows of a command as the relation that the client goes on with.
Status SendCommandRows(const ExecuteContext& context, const sql::PlanPtr& rows) {
  const auto& local = static_cast<const sql::LocalRelation&>(*rows);
  const data::Schema schema = local.schema();
  std::vector<data::DataType> types;
  for (const data::StructField& field : schema) types.push_back(field.type);
  data::ExportOptions options;
  options.time_zone = context.holder.session().eval_config()->time_zone;
  TW_ASSIGN_OR_RETURN(std::string stream, data::WriteIpcStream({data::ConcatChunks(local.chunks, types)}, schema, options));
  pb::ExecutePlanResponse response;
  response.mutable_sql_command_result()->mutable_relation()->mutable_local_relation()->set_data(std::move(stream));
  context.operation->Send(&response);
  SendMetrics(context, {});
  return Status::OK();
}

// The old fields of sql_command as a relation.
pb::Relation SqlRelationOf(const pb::SqlCommand& command) {
  if (command.has_input()) return command.input();
  pb::Relation relation;
  pb::SQL* sql = relation.mutable_sql();
  sql->set_query(command.sql());
  *sql->mutable_args() = command.args();
  *sql->mutable_pos_args() = command.pos_args();
  *sql->mutable_named_arguments() = command.named_arguments();
  *sql->mutable_pos_arguments() = command.pos_arguments();
  return relation;
}

Status RunSqlCommand(const ExecuteContext& context, const pb::SqlCommand& command) {
  pb::Relation relation = SqlRelationOf(command);
  if (!relation.has_sql() && !relation.has_with_relations()) {
    return Error("CONNECT_INVALID_PLAN.SQL_COMMAND_EXPECTS_SQL_OR_WITH_RELATIONS").With("other", "RELTYPE_NOT_SET");
  }
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, ReadRelation(context.holder, relation, context.operation->stop_token()));
  Session& session = context.holder.session();
  if (plan->kind() == sql::PlanKind::kCommand) {
    TW_ASSIGN_OR_RETURN(const sql::PlanPtr rows, session.CommandRows(plan, context.operation->stop_token()));
    return SendCommandRows(context, rows);
  }
  TW_RETURN_NOT_OK(session.Analyze(plan, context.operation->stop_token()).status());
  pb::ExecutePlanResponse response;
  *response.mutable_sql_command_result()->mutable_relation() = std::move(relation);
  context.operation->Send(&response);
  return Status::OK();
}

Status RunPlanCommand(const ExecuteContext& context, const sql::PlanPtr& command) {
  ResultConsumer ignore;
  TW_RETURN_NOT_OK(context.holder.session().Execute(command, ignore, context.operation->stop_token()));
  SendMetrics(context, {});
  return Status::OK();
}

Status RunCheckpoint(const ExecuteContext& context, const pb::CheckpointCommand& command) {
  Session& session = context.holder.session();
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, ReadRelation(context.holder, command.relation(), context.operation->stop_token()));
  TW_ASSIGN_OR_RETURN(sql::PlanPtr analyzed, session.Analyze(plan, context.operation->stop_token()));
  if (command.eager()) {
    TW_ASSIGN_OR_RETURN(std::vector<data::Chunk> chunks, session.Collect(analyzed, context.operation->stop_token()));
    analyzed = std::make_shared<sql::LocalRelation>(analyzed->output(), std::move(chunks));
  }
  const std::string id = Uuid::MakeRandom().ToString();
  context.holder.PutRelation(id, std::move(analyzed));
  pb::ExecutePlanResponse response;
  response.mutable_checkpoint_command_result()->mutable_relation()->set_relation_id(id);
  context.operation->Send(&response);
  return Status::OK();
}

Status RunMl(const pb::MlCommand& command) {
  if (command.has_delete_()) return Status::OK();
  // Clients send clean_cache at interpreter exit and swallow the answer. An error is the better one: it arrives as a single
  // event, while the status behind a message can reach a Python that is already being taken down: its grpcio then waits for ever in
  // a call's __del__ for a lock that a dead thread holds (seen in one of 25 to 40 exits).
  return Unsupported("pyspark.ml");
}

Result<bool> RunListenerBus(const ExecuteContext& context, const pb::StreamingQueryListenerBusCommand& command) {
  switch (command.command_case()) {
    case pb::StreamingQueryListenerBusCommand::kAddListenerBusListener:
      return !context.holder.listener_bus().Add(context.operation);
    case pb::StreamingQueryListenerBusCommand::kRemoveListenerBusListener: context.holder.listener_bus().Remove(); return true;
    case pb::StreamingQueryListenerBusCommand::COMMAND_NOT_SET: break;
  }
  return sql::OneOfNotSet(command.GetTypeName(), "COMMAND_NOT_SET");
}

Status RunSimpleCommand(const ExecuteContext& context, const pb::Command& command) {
  SessionPlanEnvironment environment(context.holder, context.operation->stop_token());
  sql::PlanReader reader(environment);
  switch (command.command_type_case()) {
    case pb::Command::kSqlCommand: return RunSqlCommand(context, command.sql_command());
    case pb::Command::kWriteOperation: {
      TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, sql::WriteFromProto(command.write_operation(), reader));
      return RunPlanCommand(context, plan);
    }
    case pb::Command::kWriteOperationV2: {
      TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, sql::WriteV2FromProto(command.write_operation_v2(), reader));
      return RunPlanCommand(context, plan);
    }
    case pb::Command::kCreateDataframeView: {
      TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, sql::ViewFromProto(command.create_dataframe_view(), reader));
      return RunPlanCommand(context, plan);
    }
    case pb::Command::kMergeIntoTableCommand: {
      TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, sql::MergeFromProto(command.merge_into_table_command(), reader));
      return RunPlanCommand(context, plan);
    }
    case pb::Command::kWriteStreamOperationStart: return StartStreamingQuery(context, command.write_stream_operation_start());
    case pb::Command::kStreamingQueryCommand: return RunQueryCommand(context, command.streaming_query_command());
    case pb::Command::kStreamingQueryManagerCommand:
      return RunQueryManagerCommand(context, command.streaming_query_manager_command());
    case pb::Command::kCheckpointCommand: return RunCheckpoint(context, command.checkpoint_command());
    case pb::Command::kRemoveCachedRemoteRelationCommand:
      context.holder.DropRelation(command.remove_cached_remote_relation_command().relation().relation_id());
      return Status::OK();
    case pb::Command::kGetResourcesCommand: {
      pb::ExecutePlanResponse response;
      response.mutable_get_resources_command_result();
      context.operation->Send(&response);
      return Status::OK();
    }
    case pb::Command::kMlCommand: return RunMl(command.ml_command());
    case pb::Command::kRegisterFunction: {
      TW_ASSIGN_OR_RETURN(sql::PythonFunctionPtr function, sql::PythonFunctionFromProto(command.register_function(), reader));
      context.holder.session().RegisterFunction(std::move(function));
      return Status::OK();
    }
    case pb::Command::kRegisterTableFunction: return Unsupported("registering user-defined table functions");
    case pb::Command::kRegisterDataSource: return Unsupported("registering Python data sources");
    case pb::Command::kCreateResourceProfileCommand: return Unsupported("resource profiles");
    case pb::Command::kExecuteExternalCommand: return Unsupported("executeCommand of external data sources");
    case pb::Command::kPipelineCommand: return Unsupported("declarative pipelines (pyspark.pipelines)");
    case pb::Command::kExtension:
      if (sql::IsDeltaCommand(command.extension())) {
        TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, sql::DeltaCommandFromProto(command.extension(), reader));
        return RunPlanCommand(context, plan);
      }
      return Error("CONNECT_INVALID_PLAN.NO_HANDLER_FOR_EXTENSION").With("extensionTypeUrl", command.extension().type_url());
    case pb::Command::kStreamingQueryListenerBusCommand:
    case pb::Command::COMMAND_TYPE_NOT_SET: break;
  }
  return sql::OneOfNotSet(command.GetTypeName(), "COMMANDTYPE_NOT_SET");
}

}  // namespace

int64_t MaxPlanBytes(SessionHolder& holder) {
  return holder.session().server().server_settings.Get(kMaxPlanBytes);
}

Result<sql::PlanPtr> ReadRelation(SessionHolder& holder, const pb::Relation& relation, const std::stop_token& stop) {
  SessionPlanEnvironment environment(holder, stop);
  sql::PlanReader reader(environment);
  bool runs = relation.has_catalog();
  if (relation.has_extension()) sql::IsDeltaRelation(relation.extension(), &runs);
  if (!runs) return reader.ReadRelation(relation);
  const std::string key = relation.SerializeAsString();
  if (sql::PlanPtr rows = holder.CachedRows(key)) return sql::WithFreshIds(rows);
  TW_ASSIGN_OR_RETURN(sql::PlanPtr rows, reader.ReadRelation(relation));
  holder.CacheRows(key, rows);
  return rows;
}

Result<bool> RunExecutePlan(const ExecuteContext& context) {
  pb::Plan plan = context.request.plan();
  TW_RETURN_NOT_OK(sql::DecompressPlan(MaxPlanBytes(context.holder), &plan));
  switch (plan.op_type_case()) {
    case pb::Plan::kRoot: {
      TW_ASSIGN_OR_RETURN(const sql::PlanPtr read, ReadRelation(context.holder, plan.root(), context.operation->stop_token()));
      TW_RETURN_NOT_OK(RunQuery(context, read));
      return true;
    }
    case pb::Plan::kCommand:
      if (plan.command().has_streaming_query_listener_bus_command()) {
        return RunListenerBus(context, plan.command().streaming_query_listener_bus_command());
      }
      TW_RETURN_NOT_OK(RunSimpleCommand(context, plan.command()));
      return true;
    default: break;
  }
  return sql::OneOfNotSet(plan.GetTypeName(), "OPTYPE_NOT_SET");
}

}  // namespace thalweg::front
