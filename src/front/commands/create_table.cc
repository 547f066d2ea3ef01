#include "base/string_case.h"
#include "front/commands/handlers.h"

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

}  // namespace

Status Run(CommandRun& run, const sql::CreateTable& command) {
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
  if (command.query != nullptr) {
    TW_ASSIGN_OR_RETURN(const sql::PlanPtr analyzed, run.session.Analyze(command.query));
    if (command.replace && old.ok()) return ReplaceTableAsSelect(run, *old, std::move(table), analyzed, {});
    return CreateTableAsSelect(run, std::move(table), analyzed, {}, {.if_not_exists = command.if_not_exists});
  }
  TW_RETURN_NOT_OK(CheckPartitionColumns(table));
  if (command.replace && old.ok()) TW_RETURN_NOT_OK(DropTableAndData(run.session, *old));
  OrderColumns(&table);
  return run.session.CreateTable(&table, command.if_not_exists).status();
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
    return Error("EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE")
        .With("tableName", sql::QuoteName(table->QualifiedName()))
        .With("operation", "DROP VIEW");
  }
  return DropTableAndData(run.session, *table);
}

}  // namespace thalweg::front
