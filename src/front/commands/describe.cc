#include <ctime>

#include "base/redact.h"
#include "base/string_case.h"
#include "data/io/file_system.h"
#include "data/io/path.h"
#include "front/commands/table_partitions.h"

namespace thalweg::front {

namespace {

using data::DataType;
using data::Value;
using Rows = std::vector<data::ValueList>;

data::Schema DescribeSchema() {
  return {{"col_name", DataType::String(), false}, {"data_type", DataType::String(), false}, {"comment", DataType::String(), true}};
}

data::ValueList Row(std::string name, std::string type, Value comment = TextValue("")) {
  return {TextValue(std::move(name)), TextValue(std::move(type)), std::move(comment)};
}

data::ValueList ColumnRow(const data::StructField& field) {
  const std::optional<std::string> comment = field.Comment();
  return Row(field.name, field.type.SimpleString(), comment ? Value(*comment) : Value());
}

std::string TimeText(int64_t unix_epoch_ms) {
  const time_t seconds = static_cast<time_t>(unix_epoch_ms / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  return std::string(text, std::strftime(text, sizeof text, "%a %b %d %H:%M:%S UTC %Y", &parts));
}

std::string Bracketed(const std::map<std::string, std::string>& pairs) {
  std::string text;
  for (const auto& [key, value] : pairs) text += (text.empty() ? "" : ", ") + key + "=" + RedactValue(key, value);
  return "[" + text + "]";
}

void AddDefaults(const data::Schema& schema, Rows* rows) {
  bool first = true;
  for (const data::StructField& field : schema) {
    const std::optional<std::string> value = field.MetadataString("CURRENT_DEFAULT");
    if (!value) continue;
    if (std::exchange(first, false)) {
      rows->push_back(Row("", ""));
      rows->push_back(Row("# Column Default Values", ""));
    }
    rows->push_back(Row(field.name, field.type.SimpleString(), TextValue(*value)));
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> TableDetails(const sql::TableInfo& table) {
  std::vector<std::pair<std::string, std::string>> details{
      {"Catalog", std::string(sql::kSessionCatalog)}, {"Database", table.database}, {"Table", table.name}};
  if (!table.owner.empty()) details.emplace_back("Owner", table.owner);
  details.emplace_back("Created Time", TimeText(table.created_ms));
  details.emplace_back("Last Access", "UNKNOWN");
  details.emplace_back("Created By", "Spark 4.2.0");
  const bool view = table.type == sql::TableType::kView;
  details.emplace_back("Type", view ? "VIEW" : table.type == sql::TableType::kManaged ? "MANAGED" : "EXTERNAL");
  if (!view) details.emplace_back("Provider", table.format);
  if (table.comment) details.emplace_back("Comment", *table.comment);
  if (view) {
    details.emplace_back("View Text", table.view_text);
    details.emplace_back("View Original Text", table.view_text);
    details.emplace_back("View Schema Mode", "COMPENSATION");
    details.emplace_back("View Catalog and Namespace", std::string(sql::kSessionCatalog) + "." + data::QuoteIfNeeded(table.view_database));
    std::string columns;
    const std::vector<std::string>& names = table.view_columns;
    for (size_t i = 0; i < table.schema.size(); ++i) {
      columns += (i == 0 ? "" : ", ") + data::QuoteIdentifier(i < names.size() ? names[i] : table.schema[i].name);
    }
    details.emplace_back("View Query Output Columns", "[" + columns + "]");
  }
  if (!table.properties.empty()) details.emplace_back("Table Properties", Bracketed(table.properties));
  if (view) return details;
  details.emplace_back("Location", data::QualifiedPathText(table.location));
  if (!table.options.empty()) details.emplace_back("Storage Properties", Bracketed(table.options));
  if (!table.partition_columns.empty()) details.emplace_back("Partition Provider", "Catalog");
  return details;
}

Status Run(CommandRun& run, const sql::DescribeTable& command) {
  Rows rows;
  const bool temporary = IsTemporary(run.session, command.table);
  Result<sql::TableInfo> found = temporary ? Result<sql::TableInfo>(sql::TableInfo()) : FindTable(run.session, command.table);
  if (temporary || !found.ok()) {  // also a table that its path names
    const auto relation = std::make_shared<sql::UnresolvedRelation>(command.table, sql::OptionMap(), false);
    TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, run.session.Analyze(relation, run.stop));
    for (const data::StructField& field : plan->schema()) rows.push_back(ColumnRow(field));
    return run.Answer(DescribeSchema(), rows);
  }
  // A view says what it was made with, whether or not its tables are still there.
  TW_ASSIGN_OR_RETURN(const sql::TableInfo table, WithOwnSchema(run.session, std::move(*found)));
  if (!command.partition.empty()) {
    TW_RETURN_NOT_OK(CheckListsPartitions(table, "DESC PARTITION"));
    if (command.extended) return Unsupported("DESCRIBE EXTENDED of a partition");
    TW_ASSIGN_OR_RETURN(const TablePartition partition, PartitionOf(run, table, command.partition));
    TW_ASSIGN_OR_RETURN(const bool exists, run.session.server().connectors.file_system->Exists(data::JoinPath(table.location, partition.Path(table))));
    if (!exists) return PartitionsNotFound(table, command.partition);
  }
  for (const data::StructField& field : table.schema) rows.push_back(ColumnRow(field));
  if (!table.partition_columns.empty()) {
    rows.push_back(Row("# Partition Information", ""));
    rows.push_back(Row("# col_name", "data_type", TextValue("comment")));
    for (const std::string& name : table.partition_columns) {
      for (const data::StructField& field : table.schema) {
        if (field.name == name) rows.push_back(ColumnRow(field));
      }
    }
  }
  if (command.extended) {
    rows.push_back(Row("", ""));
    rows.push_back(Row("# Detailed Table Information", ""));
    for (const auto& [name, value] : TableDetails(table)) rows.push_back(Row(name, value));
  }
  AddDefaults(table.schema, &rows);
  return run.Answer(DescribeSchema(), rows);
}

Status Run(CommandRun& run, const sql::DescribeColumn& command) {
  const auto relation = std::make_shared<sql::UnresolvedRelation>(command.table, sql::OptionMap(), false);
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, run.session.Analyze(relation, run.stop));
  data::Schema schema = plan->schema();
  if (!IsTemporary(run.session, command.table)) {  // a view's columns have comments that its plan does not know
    const Result<sql::TableInfo> found = FindTable(run.session, command.table);
    if (found.ok() && found->type == sql::TableType::kView) schema = found->schema;
  }
  const data::StructField* field = nullptr;
  for (const data::StructField& candidate : schema) {
    if (EqualsIgnoreCase(candidate.name, command.column[0])) field = &candidate;
  }
  std::string name;
  for (const std::string& part : command.column) name += (name.empty() ? "" : ".") + part;
  if (field == nullptr) return Error("COLUMN_NOT_FOUND").With("colName", sql::QuoteName(command.column)).With("caseSensitiveConfig", "\"spark.sql.caseSensitive\"");
  if (command.column.size() > 1) return Error("_LEGACY_ERROR_TEMP_1060").With("command", "DESC TABLE COLUMN").With("column", name);
  const auto pair = [](const char* key, std::string value) { return data::ValueList{TextValue(key), TextValue(std::move(value))}; };
  Rows rows{pair("col_name", field->name), pair("data_type", field->type.SimpleString()), pair("comment", field->Comment().value_or("NULL"))};
  if (command.extended) {
    for (const char* key : {"min", "max", "num_nulls", "distinct_count", "avg_col_len", "max_col_len", "histogram"}) rows.push_back(pair(key, "NULL"));
  }
  return run.Answer({{"info_name", DataType::String(), false}, {"info_value", DataType::String(), false}}, rows);
}

Status Run(CommandRun& run, const sql::DescribeQuery& command) {
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, run.session.Analyze(command.query, run.stop));
  Rows rows;
  for (const data::StructField& field : plan->schema()) rows.push_back(ColumnRow(field));
  return run.Answer(DescribeSchema(), rows);
}

}  // namespace thalweg::front
