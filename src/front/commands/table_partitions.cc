#include "front/commands/table_partitions.h"

#include <algorithm>
#include <map>

#include "base/string_case.h"
#include "data/io/file_system.h"
#include "data/io/path.h"

namespace thalweg::front {

namespace {

const data::StructField* FieldOf(const sql::TableInfo& table, const std::string& column) {
  for (const data::StructField& field : table.schema) {
    if (EqualsIgnoreCase(field.name, column)) return &field;
  }
  return nullptr;
}

// Adds the partitions in `directory`, where the outer columns have the values `found`.
Status Collect(data::FileSystem& files, const sql::TableInfo& table, const PartitionPattern& pattern, const std::string& directory,
               const std::vector<std::string>& found, std::map<std::vector<std::string>, std::vector<std::string>>* out) {
  const size_t column = found.size();
  if (column == table.partition_columns.size()) {
    (*out)[found].push_back(directory);
    return Status::OK();
  }
  const std::string prefix = table.partition_columns[column] + "=";
  TW_ASSIGN_OR_RETURN(const bool exists, files.Exists(directory));
  if (!exists) return Status::OK();
  TW_ASSIGN_OR_RETURN(const std::vector<data::FileInfo> entries, files.List(directory));
  for (const data::FileInfo& entry : entries) {
    const std::string_view name = entry.name();
    const size_t equals = name.find('=');
    if (!entry.is_directory || equals == std::string_view::npos || !EqualsIgnoreCase(name.substr(0, equals + 1), prefix)) continue;
    const std::string_view text = name.substr(equals + 1);
    std::string value = text == data::kDefaultPartitionName ? "" : data::UnescapePartitionValue(text);
    if (column < pattern.size() && pattern[column] && *pattern[column] != value) continue;
    std::vector<std::string> inner = found;
    inner.push_back(std::move(value));
    TW_RETURN_NOT_OK(Collect(files, table, pattern, data::JoinPath(directory, name), inner, out));
  }
  return Status::OK();
}

}  // namespace

std::string TablePartition::Path(const sql::TableInfo& table) const {
  std::string path;
  for (size_t i = 0; i < values.size(); ++i) {
    path += (i == 0 ? "" : "/") + table.partition_columns[i] + "=" + data::EscapePartitionValue(values[i]);
  }
  return path;
}

Status CheckListsPartitions(const sql::TableInfo& table, std::string_view operation) {
  if (table.type == sql::TableType::kView) {
    return Error("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE")
        .With("viewName", sql::QuoteName(table.QualifiedName()))
        .With("operation", std::string(operation));
  }
  if (KeepsOwnLog(table.format)) return Unsupported(std::string(operation) + " of a Delta table");
  if (!table.partition_columns.empty()) return Status::OK();
  return Error("INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY").With("name", sql::QuoteName(table.QualifiedName()));
}

Result<std::vector<TablePartition>> ListPartitions(CommandRun& run, const sql::TableInfo& table, const PartitionPattern& pattern) {
  std::map<std::vector<std::string>, std::vector<std::string>> found;
  TW_RETURN_NOT_OK(Collect(*run.session.server().connectors.file_system, table, pattern, table.location, {}, &found));
  std::vector<TablePartition> partitions;
  for (auto& [values, directories] : found) partitions.push_back({values, std::move(directories)});
  std::sort(partitions.begin(), partitions.end(),
            [&](const TablePartition& a, const TablePartition& b) { return a.Path(table) < b.Path(table); });
  return partitions;
}

Result<std::string> PartitionText(CommandRun& run, const sql::ExprPtr& value, const data::DataType& type) {
  sql::ExprPtr text = sql::Cast::Make(sql::Cast::Make(value, type, sql::EvalMode::kAnsi, true), data::DataType::String(), sql::EvalMode::kAnsi);
  const auto row = std::make_shared<sql::Project>(sql::ExprList{sql::Alias::Make(std::move(text), "value")}, std::make_shared<sql::OneRow>());
  TW_ASSIGN_OR_RETURN(const std::vector<data::Chunk> chunks, run.session.Collect(row, run.stop));
  if (chunks.empty() || chunks[0].num_rows() == 0) return InternalError("a constant without a row");
  const data::Value found = chunks[0].Dense().column(0)->GetValue(0);
  return found.is_null() ? std::string() : found.get<std::string>();
}

Status PartitionsNotFound(const sql::TableInfo& table, const sql::PartitionSpec& spec) {
  std::string list;
  for (const sql::PartitionValue& entry : spec) {
    list += (list.empty() ? "" : ", ") + data::QuoteIdentifier(entry.column) + (entry.value == nullptr ? "" : " = " + entry.value->Sql());
  }
  return Error("PARTITIONS_NOT_FOUND").With("partitionList", "PARTITION (" + list + ")").With("tableName", sql::QuoteName(table.QualifiedName()));
}

Result<PartitionPattern> PatternOf(CommandRun& run, const sql::TableInfo& table, const sql::PartitionSpec& spec) {
  PartitionPattern pattern(table.partition_columns.size());
  for (const sql::PartitionValue& entry : spec) {
    const auto column = std::find_if(table.partition_columns.begin(), table.partition_columns.end(),
                                     [&](const std::string& name) { return EqualsIgnoreCase(name, entry.column); });
    const data::StructField* field = FieldOf(table, entry.column);
    if (column == table.partition_columns.end() || field == nullptr) return PartitionsNotFound(table, spec);
    if (entry.value == nullptr) continue;
    TW_ASSIGN_OR_RETURN(pattern[static_cast<size_t>(column - table.partition_columns.begin())], PartitionText(run, entry.value, field->type));
  }
  return pattern;
}

Result<TablePartition> PartitionOf(CommandRun& run, const sql::TableInfo& table, const sql::PartitionSpec& spec) {
  TW_ASSIGN_OR_RETURN(const PartitionPattern pattern, PatternOf(run, table, spec));
  TablePartition partition;
  for (const std::optional<std::string>& value : pattern) {
    if (value) {
      partition.values.push_back(*value);
      continue;
    }
    std::string given, columns;
    for (const sql::PartitionValue& entry : spec) given += (given.empty() ? "" : ", ") + entry.column;
    for (const std::string& name : table.partition_columns) columns += (columns.empty() ? "" : ", ") + name;
    return Error("_LEGACY_ERROR_TEMP_1232")
        .With("specKeys", given)
        .With("partitionColumnNames", columns)
        .With("tableName", sql::QuoteName(table.QualifiedName()));
  }
  return partition;
}

}  // namespace thalweg::front
