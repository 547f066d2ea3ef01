#include <delta/connect/commands.pb.h>
#include <delta/connect/relations.pb.h>
#include <google/protobuf/any.pb.h>

#include "data/columnar/builder.h"
#include "sql/plan/commands.h"
#include "sql/protocol/delta_proto.h"
#include "sql/protocol/protocol_errors.h"
#include "sql/protocol/relation_readers.h"
#include "sql/protocol/type_proto.h"

namespace thalweg::sql {

namespace {

namespace delta_pb = ::delta::connect;
using ::google::protobuf::Any;

bool IsNamed(const Any& extension, std::string_view name) {
  const std::string& url = extension.type_url();
  return url.substr(url.rfind('/') + 1) == name;
}

template <typename Message>
Status Unpack(const Any& extension, Message* message) {
  if (ParseDeepMessage(extension.value(), message)) return Status::OK();
  return Error("CONNECT_INVALID_PLAN.CANNOT_PARSE").With("errorMsg", "the extension " + extension.type_url());
}

PlanPtr MakeCommand(CommandBody body) { return std::make_shared<Command>(std::move(body)); }

PlanPtr AtPath(const std::string& path) {
  auto source = std::make_shared<UnresolvedDataSource>();
  source->format = "delta";
  source->paths = {path};
  return source;
}

Result<PlanPtr> ReadTable(const delta_pb::DeltaTable& table, PlanReader& reader) {
  switch (table.access_type_case()) {
    case delta_pb::DeltaTable::kPath:
      if (table.path().hadoop_conf_size() > 0) return Unsupported("Hadoop options of DeltaTable.forPath");
      return AtPath(table.path().path());
    case delta_pb::DeltaTable::kTableOrViewName: {
      TW_ASSIGN_OR_RETURN(std::vector<std::string> name, reader.environment().ParseName(table.table_or_view_name()));
      return PlanPtr(std::make_shared<UnresolvedRelation>(std::move(name), OptionMap(), false));
    }
    case delta_pb::DeltaTable::ACCESS_TYPE_NOT_SET: break;
  }
  return OneOfNotSet(table.GetTypeName(), "ACCESSTYPE_NOT_SET");
}

Result<PlanPtr> Maintain(const char* name, const delta_pb::DeltaTable& table, PlanReader& reader, OptionMap arguments = {}) {
  MaintainTable command;
  command.name = name;
  TW_ASSIGN_OR_RETURN(command.target, ReadTable(table, reader));
  command.arguments = std::move(arguments);
  return MakeCommand(std::move(command));
}

OptionMap Argument(const char* key, std::string value) {
  OptionMap arguments;
  arguments.Set(key, std::move(value));
  return arguments;
}

template <typename Message>
Result<ExprPtr> ReadCondition(const Message& message, PlanReader& reader) {
  if (!message.has_condition()) return ExprPtr();
  return reader.ReadExpression(message.condition());
}

template <typename Repeated>
Result<std::vector<Assignment>> ReadAssignments(const Repeated& list, PlanReader& reader) {
  std::vector<Assignment> out;
  for (const delta_pb::Assignment& message : list) {
    Assignment assignment;
    TW_ASSIGN_OR_RETURN(assignment.column, reader.ReadExpression(message.field()));
    TW_ASSIGN_OR_RETURN(assignment.value, reader.ReadExpression(message.value()));
    out.push_back(std::move(assignment));
  }
  return out;
}

template <typename Repeated>
Result<std::vector<MergeAction>> ReadClauses(const Repeated& list, PlanReader& reader) {
  using Action = delta_pb::MergeIntoTable::Action;
  std::vector<MergeAction> out;
  for (const Action& message : list) {
    MergeAction action;
    TW_ASSIGN_OR_RETURN(action.condition, ReadCondition(message, reader));
    switch (message.action_type_case()) {
      case Action::kDeleteAction: action.kind = MergeAction::Kind::kDelete; break;
      case Action::kUpdateStarAction: action.kind = MergeAction::Kind::kUpdateAll; break;
      case Action::kInsertStarAction: action.kind = MergeAction::Kind::kInsertAll; break;
      case Action::kUpdateAction: {
        action.kind = MergeAction::Kind::kUpdate;
        TW_ASSIGN_OR_RETURN(action.assignments, ReadAssignments(message.update_action().assignments(), reader));
        break;
      }
      case Action::kInsertAction: {
        action.kind = MergeAction::Kind::kInsert;
        TW_ASSIGN_OR_RETURN(action.assignments, ReadAssignments(message.insert_action().assignments(), reader));
        break;
      }
      case Action::ACTION_TYPE_NOT_SET: return OneOfNotSet(message.GetTypeName(), "ACTIONTYPE_NOT_SET");
    }
    out.push_back(std::move(action));
  }
  return out;
}

Result<PlanPtr> ReadMerge(const delta_pb::MergeIntoTable& message, PlanReader& reader) {
  MergeIntoTable merge;
  TW_ASSIGN_OR_RETURN(merge.target, reader.ReadRelation(message.target()));
  TW_ASSIGN_OR_RETURN(merge.source, reader.ReadRelation(message.source()));
  TW_ASSIGN_OR_RETURN(merge.condition, reader.ReadExpression(message.condition()));
  TW_ASSIGN_OR_RETURN(merge.matched, ReadClauses(message.matched_actions(), reader));
  TW_ASSIGN_OR_RETURN(merge.not_matched, ReadClauses(message.not_matched_actions(), reader));
  TW_ASSIGN_OR_RETURN(merge.not_matched_by_source, ReadClauses(message.not_matched_by_source_actions(), reader));
  merge.with_schema_evolution = message.with_schema_evolution();
  return MakeCommand(std::move(merge));
}

Result<PlanPtr> ReadUpdate(const delta_pb::UpdateTable& message, PlanReader& reader) {
  UpdateTable update;
  TW_ASSIGN_OR_RETURN(update.target, reader.ReadRelation(message.target()));
  TW_ASSIGN_OR_RETURN(update.assignments, ReadAssignments(message.assignments(), reader));
  TW_ASSIGN_OR_RETURN(update.condition, ReadCondition(message, reader));
  return MakeCommand(std::move(update));
}

Result<PlanPtr> ReadDelete(const delta_pb::DeleteFromTable& message, PlanReader& reader) {
  DeleteFromTable remove;
  TW_ASSIGN_OR_RETURN(remove.target, reader.ReadRelation(message.target()));
  TW_ASSIGN_OR_RETURN(remove.condition, ReadCondition(message, reader));
  return MakeCommand(std::move(remove));
}

Result<PlanPtr> ReadOptimize(const delta_pb::OptimizeTable& message, PlanReader& reader) {
  MaintainTable optimize;
  optimize.name = "OPTIMIZE";
  TW_ASSIGN_OR_RETURN(optimize.target, ReadTable(message.table(), reader));
  std::string text;
  for (const std::string& filter : message.partition_filters()) {
    text += text.empty() ? "(" + filter + ")" : " AND (" + filter + ")";
  }
  if (!text.empty()) {
    TW_ASSIGN_OR_RETURN(optimize.condition, reader.environment().ParseExpression(text));
    optimize.arguments.Set("predicate", message.partition_filters_size() == 1 ? message.partition_filters(0) : text);
  }
  optimize.columns.assign(message.zorder_columns().begin(), message.zorder_columns().end());
  return MakeCommand(std::move(optimize));
}

Result<PlanPtr> ReadRestore(const delta_pb::RestoreTable& message, PlanReader& reader) {
  switch (message.version_or_timestamp_case()) {
    case delta_pb::RestoreTable::kVersion:
      return Maintain("RESTORE", message.table(), reader, Argument("version", std::to_string(message.version())));
    case delta_pb::RestoreTable::kTimestamp: return Maintain("RESTORE", message.table(), reader, Argument("timestamp", message.timestamp()));
    case delta_pb::RestoreTable::VERSION_OR_TIMESTAMP_NOT_SET: break;
  }
  return OneOfNotSet(message.GetTypeName(), "VERSIONORTIMESTAMP_NOT_SET");
}

Result<PlanPtr> ReadIsTable(const std::string& path, PlanReader& reader) {
  const Result<data::Schema> schema = reader.environment().SchemaOf(AtPath(path));
  const std::string condition = schema.ok() ? "" : schema.status().condition();
  const bool missing = condition == "DELTA_TABLE_NOT_FOUND" || condition == "PATH_NOT_FOUND";
  if (!schema.ok() && !missing) return schema.status();
  AttributeList columns = {Attribute::Make("value", DataType::Boolean(), false)};
  std::vector<data::Chunk> rows = {data::ChunkFromRows({DataType::Boolean()}, {{data::Value(schema.ok())}})};
  return PlanPtr(std::make_shared<LocalRelation>(std::move(columns), std::move(rows)));
}

// What has to run to give the relation's rows.
Result<PlanPtr> ReadRunning(const delta_pb::DeltaRelation& message, PlanReader& reader) {
  switch (message.relation_type_case()) {
    case delta_pb::DeltaRelation::kDescribeHistory: return Maintain("DESCRIBE HISTORY", message.describe_history().table(), reader);
    case delta_pb::DeltaRelation::kDescribeDetail: return Maintain("DESCRIBE DETAIL", message.describe_detail().table(), reader);
    case delta_pb::DeltaRelation::kConvertToDelta: return Unsupported("DeltaTable.convertToDelta");
    case delta_pb::DeltaRelation::kRestoreTable: return ReadRestore(message.restore_table(), reader);
    case delta_pb::DeltaRelation::kDeleteFromTable: return ReadDelete(message.delete_from_table(), reader);
    case delta_pb::DeltaRelation::kUpdateTable: return ReadUpdate(message.update_table(), reader);
    case delta_pb::DeltaRelation::kMergeIntoTable: return ReadMerge(message.merge_into_table(), reader);
    case delta_pb::DeltaRelation::kOptimizeTable: return ReadOptimize(message.optimize_table(), reader);
    default: break;
  }
  return OneOfNotSet(message.GetTypeName(), "RELATIONTYPE_NOT_SET");
}

// Field metadata with a comment, by way of the DDL that says the same.
Result<std::string> CommentMetadata(const std::string& comment) {
  std::string ddl = "c INT COMMENT '";
  for (const char c : comment) {
    if (c == '\\' || c == '\'') ddl += '\\';
    ddl += c;
  }
  TW_ASSIGN_OR_RETURN(const data::Schema schema, data::ParseSchemaDdl(ddl + "'"));
  return schema[0].metadata_json;
}

Result<data::StructField> ReadColumn(const delta_pb::CreateDeltaTable::Column& message) {
  if (message.has_generated_always_as()) return Unsupported("generated columns of Delta tables");
  if (message.has_identity_info()) return Unsupported("identity columns of Delta tables");
  data::StructField field;
  field.name = message.name();
  TW_ASSIGN_OR_RETURN(field.type, TypeFromProto(message.data_type()));
  field.nullable = message.nullable();
  if (message.has_comment()) {
    TW_ASSIGN_OR_RETURN(field.metadata_json, CommentMetadata(message.comment()));
  }
  return field;
}

Result<PlanPtr> ReadCreate(const delta_pb::CreateDeltaTable& message, PlanReader& reader) {
  if (message.clustering_columns_size() > 0) return Unsupported("clusterBy of Delta tables");
  CreateTable create;
  create.format = "delta";
  switch (message.mode()) {
    case delta_pb::CreateDeltaTable::MODE_CREATE: break;
    case delta_pb::CreateDeltaTable::MODE_CREATE_IF_NOT_EXISTS: create.if_not_exists = true; break;
    case delta_pb::CreateDeltaTable::MODE_REPLACE: create.replace = create.replace_only = true; break;
    case delta_pb::CreateDeltaTable::MODE_CREATE_OR_REPLACE: create.replace = true; break;
    default: return InvalidEnum("delta.connect.CreateDeltaTable.Mode", message.mode());
  }
  if (message.has_location()) create.location = message.location();
  if (message.has_table_name()) {
    TW_ASSIGN_OR_RETURN(create.table, reader.environment().ParseName(message.table_name()));
  } else if (message.has_location()) {
    create.table = {"delta", message.location()};
    create.location.reset();
  } else {
    return Error("DELTA_CREATE_TABLE_MISSING_TABLE_NAME_OR_LOCATION");
  }
  if (message.has_comment()) create.comment = message.comment();
  for (const delta_pb::CreateDeltaTable::Column& column : message.columns()) {
    TW_ASSIGN_OR_RETURN(data::StructField field, ReadColumn(column));
    create.schema.push_back(std::move(field));
  }
  create.has_schema = !create.schema.empty();
  create.partition_columns.assign(message.partitioning_columns().begin(), message.partitioning_columns().end());
  create.properties.insert(message.properties().begin(), message.properties().end());
  return MakeCommand(std::move(create));
}

}  // namespace

bool IsDeltaRelation(const Any& extension, bool* runs) {
  if (!IsNamed(extension, "delta.connect.DeltaRelation")) return false;
  delta_pb::DeltaRelation message;
  *runs = !ParseDeepMessage(extension.value(), &message) || !message.has_scan();
  return true;
}

Result<PlanPtr> DeltaRelationFromProto(const Any& extension, PlanReader& reader) {
  delta_pb::DeltaRelation message;
  TW_RETURN_NOT_OK(Unpack(extension, &message));
  if (message.has_scan()) return ReadTable(message.scan().table(), reader);
  if (message.has_is_delta_table()) return ReadIsTable(message.is_delta_table().path(), reader);
  TW_ASSIGN_OR_RETURN(const PlanPtr command, ReadRunning(message, reader));
  return reader.environment().CommandRows(command);
}

bool IsDeltaCommand(const Any& extension) { return IsNamed(extension, "delta.connect.DeltaCommand"); }

Result<PlanPtr> DeltaCommandFromProto(const Any& extension, PlanReader& reader) {
  delta_pb::DeltaCommand message;
  TW_RETURN_NOT_OK(Unpack(extension, &message));
  switch (message.command_type_case()) {
    case delta_pb::DeltaCommand::kCloneTable: return Unsupported("DeltaTable.clone");
    case delta_pb::DeltaCommand::kVacuumTable: {
      const delta_pb::VacuumTable& vacuum = message.vacuum_table();
      OptionMap arguments;
      if (vacuum.has_retention_hours()) arguments.Set("retainHours", std::to_string(vacuum.retention_hours()));
      return Maintain("VACUUM", vacuum.table(), reader, std::move(arguments));
    }
    case delta_pb::DeltaCommand::kUpgradeTableProtocol: {
      const delta_pb::UpgradeTableProtocol& upgrade = message.upgrade_table_protocol();
      OptionMap arguments = Argument("readerVersion", std::to_string(upgrade.reader_version()));
      arguments.Set("writerVersion", std::to_string(upgrade.writer_version()));
      return Maintain("UPGRADE PROTOCOL", upgrade.table(), reader, std::move(arguments));
    }
    case delta_pb::DeltaCommand::kGenerate: return Unsupported("DeltaTable.generate");
    case delta_pb::DeltaCommand::kCreateDeltaTable: return ReadCreate(message.create_delta_table(), reader);
    case delta_pb::DeltaCommand::kAddFeatureSupport: {
      const delta_pb::AddFeatureSupport& add = message.add_feature_support();
      return Maintain("ADD FEATURE", add.table(), reader, Argument("feature", add.feature_name()));
    }
    case delta_pb::DeltaCommand::kDropFeatureSupport: return Unsupported("DeltaTable.dropFeatureSupport");
    case delta_pb::DeltaCommand::COMMAND_TYPE_NOT_SET: break;
  }
  return OneOfNotSet(message.GetTypeName(), "COMMANDTYPE_NOT_SET");
}

}  // namespace thalweg::sql
