#include <spark/connect/commands.pb.h>

#include "sql/plan/commands.h"
#include "sql/protocol/command_proto.h"
#include "sql/protocol/protocol_errors.h"
#include "sql/protocol/relation_readers.h"

namespace thalweg::sql {

namespace {

namespace pb = ::spark::connect;
using Method = WriteDataFrame::Method;

Result<SaveMode> ReadSaveMode(pb::WriteOperation::SaveMode mode, bool insert) {
  switch (mode) {
    case pb::WriteOperation::SAVE_MODE_UNSPECIFIED: return insert ? SaveMode::kAppend : SaveMode::kErrorIfExists;
    case pb::WriteOperation::SAVE_MODE_APPEND: return SaveMode::kAppend;
    case pb::WriteOperation::SAVE_MODE_OVERWRITE: return SaveMode::kOverwrite;
    case pb::WriteOperation::SAVE_MODE_ERROR_IF_EXISTS: return SaveMode::kErrorIfExists;
    case pb::WriteOperation::SAVE_MODE_IGNORE: return SaveMode::kIgnore;
    default: return InvalidEnum("spark.connect.WriteOperation.SaveMode", mode);
  }
}

Result<Method> ReadTableMethod(pb::WriteOperation::SaveTable::TableSaveMethod method) {
  switch (method) {
    case pb::WriteOperation::SaveTable::TABLE_SAVE_METHOD_SAVE_AS_TABLE: return Method::kSaveAsTable;
    case pb::WriteOperation::SaveTable::TABLE_SAVE_METHOD_INSERT_INTO: return Method::kInsertInto;
    default: return InvalidEnum("spark.connect.WriteOperation.SaveTable.TableSaveMethod", method);
  }
}

Result<Method> ReadV2Method(pb::WriteOperationV2::Mode mode) {
  switch (mode) {
    case pb::WriteOperationV2::MODE_CREATE: return Method::kV2Create;
    case pb::WriteOperationV2::MODE_OVERWRITE: return Method::kV2Overwrite;
    case pb::WriteOperationV2::MODE_OVERWRITE_PARTITIONS: return Method::kV2OverwritePartitions;
    case pb::WriteOperationV2::MODE_APPEND: return Method::kV2Append;
    case pb::WriteOperationV2::MODE_REPLACE: return Method::kV2Replace;
    case pb::WriteOperationV2::MODE_CREATE_OR_REPLACE: return Method::kV2CreateOrReplace;
    default: return InvalidEnum("spark.connect.WriteOperationV2.Mode", mode);
  }
}

}  // namespace

Result<PlanPtr> WriteFromProto(const pb::WriteOperation& message, PlanReader& reader) {
  if (message.with_schema_evolution()) return Unsupported("DataFrameWriter.withSchemaEvolution");
  WriteDataFrame write;
  TW_ASSIGN_OR_RETURN(write.input, reader.ReadRelation(message.input()));
  write.format = message.source();
  switch (message.save_type_case()) {
    case pb::WriteOperation::kPath: write.path = message.path(); break;
    case pb::WriteOperation::kTable: {
      TW_ASSIGN_OR_RETURN(write.table, reader.environment().ParseName(message.table().table_name()));
      TW_ASSIGN_OR_RETURN(write.method, ReadTableMethod(message.table().save_method()));
      break;
    }
    case pb::WriteOperation::SAVE_TYPE_NOT_SET: break;
  }
  if (message.has_bucket_by()) {
    if (write.method == Method::kSaveAsTable) return Unsupported("DataFrameWriter.bucketBy");
    return Error("_LEGACY_ERROR_TEMP_1312").With("operation", write.method == Method::kPath ? "save" : "insertInto");
  }
  TW_ASSIGN_OR_RETURN(write.mode, ReadSaveMode(message.mode(), write.method == Method::kInsertInto));
  write.options = OptionsFromProto(message.options());
  write.partition_columns.assign(message.partitioning_columns().begin(), message.partitioning_columns().end());
  write.sort_columns.assign(message.sort_column_names().begin(), message.sort_column_names().end());
  write.clustering_columns.assign(message.clustering_columns().begin(), message.clustering_columns().end());
  return std::make_shared<Command>(CommandBody(std::move(write)));
}

Result<PlanPtr> WriteV2FromProto(const pb::WriteOperationV2& message, PlanReader& reader) {
  if (message.with_schema_evolution()) return Unsupported("DataFrameWriterV2.withSchemaEvolution");
  WriteDataFrame write;
  TW_ASSIGN_OR_RETURN(write.input, reader.ReadRelation(message.input()));
  TW_ASSIGN_OR_RETURN(write.table, reader.environment().ParseName(message.table_name()));
  TW_ASSIGN_OR_RETURN(write.method, ReadV2Method(message.mode()));
  write.format = message.provider();
  for (const pb::Expression& partition : message.partitioning_columns()) {
    TW_ASSIGN_OR_RETURN(ExprPtr column, reader.ReadExpression(partition));
    const auto* attribute = column->As<UnresolvedAttribute>();
    if (attribute == nullptr || attribute->name_parts().size() != 1) {
      return Unsupported("partition transforms of DataFrameWriterV2 (years, months, days, hours, bucket)");
    }
    write.partition_columns.push_back(attribute->name_parts()[0]);
  }
  write.options = OptionsFromProto(message.options());
  write.table_properties.insert(message.table_properties().begin(), message.table_properties().end());
  write.clustering_columns.assign(message.clustering_columns().begin(), message.clustering_columns().end());
  if (message.has_overwrite_condition()) {
    TW_ASSIGN_OR_RETURN(write.overwrite_condition, reader.ReadExpression(message.overwrite_condition()));
  }
  return std::make_shared<Command>(CommandBody(std::move(write)));
}

Result<PlanPtr> ViewFromProto(const pb::CreateDataFrameViewCommand& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr query, reader.ReadRelation(message.input()));
  return std::make_shared<Command>(
      CommandBody(CreateTempViewFromPlan{message.name(), std::move(query), message.is_global(), message.replace()}));
}

}  // namespace thalweg::sql
