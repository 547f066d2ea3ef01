#include <algorithm>

#include "base/string_case.h"
#include "front/commands/handlers.h"
#include "sql/datasource/table_command.h"

namespace thalweg::front {

namespace {

Status CheckPartitionColumns(const sql::TableInfo& table) {
  for (const std::string& column : table.partition_columns) {
    bool found = false;
    for (const data::StructField& field : table.schema) found = found || EqualsIgnoreCase(field.name, column);
    if (!found) {
      std::string columns;
      for (const data::StructField& field : table.schema) columns += (columns.empty() ? "" : ", ") + field.name;
      return Error("COLUMN_NOT_DEFINED_IN_TABLE")
          .With("colType", "partition")
          .With("colName", data::QuoteIdentifier(column))
          .With("tableName", sql::QuoteName(table.QualifiedName()))
          .With("tableCols", columns);
    }
  }
  return Status::OK();
}

// delta.`/path`: a table that its path names, with no entry in the catalogue.
Result<bool> IsPathTable(CommandRun& run, const sql::NameParts& name) {
  if (name.size() != 2 || !KeepsOwnLog(name[0])) return false;
  TW_ASSIGN_OR_RETURN(const bool database, run.catalog().DatabaseExists(name[0]));
  return !database;
}

Result<const sql::SupportsReplaceTable*> Replacing(const sql::DataSource& source) {
  const auto* replaces = dynamic_cast<const sql::SupportsReplaceTable*>(&source);
  if (replaces == nullptr) return Unsupported("REPLACE TABLE of " + source.short_name());
  return replaces;
}

Status CreateAtPath(CommandRun& run, const sql::CreateTable& command) {
  if (command.query != nullptr) return Unsupported("CREATE TABLE AS SELECT at a path");
  TW_ASSIGN_OR_RETURN(const auto source, run.session.FindDataSource(command.table[0]));
  const std::string& path = command.table[1];
  const auto config = run.session.eval_config();
  if (command.replace) {
    TW_ASSIGN_OR_RETURN(const auto* replaces, Replacing(*source));
    return replaces->ReplaceTable(path, command.schema, command.partition_columns, command.properties, !command.replace_only, *config);
  }
  sql::LoadRequest request;
  request.paths = {path};
  request.config = config;
  const Result<sql::TablePtr> old = source->Load(request);
  if (old.ok() && command.if_not_exists) return Status::OK();
  if (old.ok() && command.has_schema) {
    return Error("TABLE_OR_VIEW_ALREADY_EXISTS").With("relationName", sql::QuoteName(command.table));
  }
  Status created = source->CreateTable(path, command.schema, command.partition_columns, command.properties, *config);
  const bool made_by_another = created.condition() == "TABLE_OR_VIEW_ALREADY_EXISTS";
  return made_by_another && command.if_not_exists ? Status::OK() : created;
}

// In place of a table of the same format that keeps its own log: its history goes on.
Status ReplaceInLog(CommandRun& run, const sql::TableInfo& old, sql::TableInfo table, bool or_create) {
  TW_ASSIGN_OR_RETURN(const auto source, run.session.FindDataSource(table.format));
  table.format = source->short_name();
  table.location = old.location;
  table.type = old.type;
  table.created_ms = old.created_ms;
  table.owner = old.owner;
  TW_ASSIGN_OR_RETURN(const auto* replaces, Replacing(*source));
  TW_RETURN_NOT_OK(replaces->ReplaceTable(table.location, table.schema, table.partition_columns, table.properties, or_create,
                                        *run.session.eval_config()));
  return run.catalog().CreateTable(table, sql::Catalog::IfExists::kReplace).status();
}

}  // namespace

Status Run(CommandRun& run, const sql::CreateTable& command) {
  TW_ASSIGN_OR_RETURN(const bool by_path, IsPathTable(run, command.table));
  if (by_path) return CreateAtPath(run, command);
  sql::TableInfo table;
  TW_ASSIGN_OR_RETURN(const auto name, run.session.TableName(command.table));
  table.database = name.first;
  table.name = name.second;
  table.format = command.format.value_or(run.session.GetConfOption("spark.sql.sources.default").value_or("parquet"));
  table.schema = command.schema;
  table.partition_columns = command.partition_columns;
  table.location = command.location.value_or("");
  table.comment = command.comment;
  table.properties = command.properties;
  for (const auto& [key, value] : command.options) {
    if (EqualsIgnoreCase(key, "path") && table.location.empty()) table.location = value;
    else table.options[key] = value;
  }
  const Result<sql::TableInfo> old = run.catalog().GetTable(table.database, table.name);
  if (command.replace_only && !old.ok() && KeepsOwnLog(table.format)) {
    return Error("DELTA_CANNOT_REPLACE_MISSING_TABLE").With("tableName", sql::QuoteName(table.QualifiedName()));
  }
  const bool has_default = std::any_of(table.schema.begin(), table.schema.end(),
                                       [](const data::StructField& field) { return field.MetadataString("CURRENT_DEFAULT").has_value(); });
  if (has_default && KeepsOwnLog(table.format)) {
    return Error("WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED").With("commandType", "CREATE TABLE");
  }
  if (command.query != nullptr) {
    TW_ASSIGN_OR_RETURN(const sql::PlanPtr analyzed, run.session.Analyze(command.query, run.stop));
    if (command.replace && old.ok()) return ReplaceTableAsSelect(run, *old, std::move(table), analyzed, {});
    return CreateTableAsSelect(run, std::move(table), analyzed, {}, {.if_not_exists = command.if_not_exists});
  }
  TW_RETURN_NOT_OK(CheckPartitionColumns(table));
  if (command.replace && old.ok() && KeepsOwnLog(table.format) && old->format == "delta" &&
      (table.location.empty() || table.location == old->location)) {
    return ReplaceInLog(run, *old, std::move(table), !command.replace_only);
  }
  if (command.replace && old.ok()) TW_RETURN_NOT_OK(DropTableAndData(run.session, *old));
  OrderColumns(&table);
  return run.session.CreateTable(&table, command.if_not_exists, run.stop).status();
}

Status Run(CommandRun& run, const sql::DropTable& command) {
  if (command.table.size() == 1 && run.session.DropTempView(command.table[0], false)) return Status::OK();
  if (command.table.size() == 2 && EqualsIgnoreCase(command.table[0], "global_temp")) {
    if (run.session.DropTempView(command.table[1], true) || command.if_exists) return Status::OK();
  }
  const Result<sql::TableInfo> table = FindTable(run.session, command.table);
  if (!table.ok()) {
    const bool missing = table.status().condition() == "TABLE_OR_VIEW_NOT_FOUND" || table.status().condition() == "SCHEMA_NOT_FOUND";
    if (command.if_exists && missing) return Status::OK();
    if (!missing) return table.status();
    TW_ASSIGN_OR_RETURN(const auto name, run.session.TableName(command.table));
    return sql::TableNotFound({std::string(sql::kSessionCatalog), name.first, name.second}, run.session.current_database());
  }
  if (command.view && table->type != sql::TableType::kView) {
    return Error("WRONG_COMMAND_FOR_OBJECT_TYPE")
        .With("operation", "DROP VIEW")
        .With("requiredType", "VIEW")
        .With("objectName", std::string(sql::kSessionCatalog) + "." + table->database + "." + table->name)
        .With("foundType", table->type == sql::TableType::kManaged ? "MANAGED" : "EXTERNAL")
        .With("alternative", "DROP TABLE");
  }
  return DropTableAndData(run.session, *table);
}

}  // namespace thalweg::front
