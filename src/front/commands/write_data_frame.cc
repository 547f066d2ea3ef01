#include "base/string_case.h"
#include "front/commands/handlers.h"

namespace thalweg::front {

namespace {

using Method = sql::WriteDataFrame::Method;
using sql::SaveMode;

Status WritePath(CommandRun& run, const sql::WriteDataFrame& command, const sql::PlanPtr& analyzed) {
  const std::string format =
      command.format.empty() ? run.session.GetConfOption("spark.sql.sources.default").value_or("parquet") : command.format;
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<const sql::DataSource> source, run.session.FindDataSource(format));
  const std::optional<std::string> option = command.options.Get("path");
  if (command.path && option) {
    return Error("_LEGACY_ERROR_TEMP_1188").With("method", "save").With("config", "spark.sql.legacy.pathOptionBehavior.enabled");
  }
  sql::LoadRequest load;
  if (command.path) load.paths = {*command.path};
  else if (option) load.paths = {*option};
  load.options = command.options;
  load.schema = analyzed->schema();
  load.for_write = true;
  load.config = run.session.eval_config();
  load.settings = std::make_shared<const SettingsMap>(run.session.SettingsSnapshot());
  TW_ASSIGN_OR_RETURN(const sql::TablePtr table, source->Load(load));
  sql::WriteRequest request;
  request.schema = analyzed->schema();
  request.options = WithAutoMerge(run.session, source->short_name(), command.options);
  request.partition_columns = command.partition_columns;
  request.mode = command.mode;
  request.config = load.config;
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<sql::BatchWrite> write, table->NewBatchWrite(request));
  if (write == nullptr) return Status::OK();  // SaveMode.Ignore, and something is there
  return run.session.RunWrite(analyzed, *write, run.stop).status();
}

Result<sql::TableInfo> NewTable(CommandRun& run, const sql::WriteDataFrame& command) {
  sql::TableInfo table;
  TW_ASSIGN_OR_RETURN(const auto name, run.session.TableName(command.table));
  table.database = name.first;
  table.name = name.second;
  table.format = command.format;
  table.partition_columns = command.partition_columns;
  table.properties = command.table_properties;
  table.location = command.path.value_or(command.options.Get("path").value_or(""));
  if (table.format.empty()) table.format = run.session.GetConfOption("spark.sql.sources.default").value_or("parquet");
  if (!KeepsOwnLog(table.format)) {  // readers need them as writers do: separators, headers, patterns
    for (const auto& [key, value] : command.options.entries()) {
      if (!EqualsIgnoreCase(key, "path")) table.options[key] = value;
    }
  }
  return table;
}

// Appending may not say anything else than the table says of itself.
Status CheckMatches(CommandRun& run, const sql::WriteDataFrame& command, const sql::TableInfo& wanted, const sql::TableInfo& table,
                    const data::Schema& query) {
  if (KeepsOwnLog(table.format)) return Status::OK();
  std::string name;
  for (const std::string& part : table.QualifiedName()) name += (name.empty() ? "" : ".") + part;
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<const sql::DataSource> source, run.session.FindDataSource(wanted.format));
  if (source->short_name() != table.format) {
    return Error("_LEGACY_ERROR_TEMP_1159")
        .With("tableName", name)
        .With("existingProvider", table.format)
        .With("specifiedProvider", source->short_name());
  }
  if (query.size() != table.schema.size()) {
    return Error("_LEGACY_ERROR_TEMP_1161")
        .With("tableName", name)
        .With("existingTableSchema", data::DataType::Struct(table.schema).SimpleString())
        .With("querySchema", data::DataType::Struct(query).SimpleString());
  }
  const auto list = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& column : names) text += (text.empty() ? "" : ", ") + column;
    return text;
  };
  if (!command.partition_columns.empty() && ToAsciiLower(list(command.partition_columns)) != ToAsciiLower(list(table.partition_columns))) {
    return Error("_LEGACY_ERROR_TEMP_1163")
        .With("tableName", name)
        .With("specifiedPartCols", list(command.partition_columns))
        .With("existingPartCols", list(table.partition_columns));
  }
  return Status::OK();
}

sql::OptionMap WithoutPath(const sql::OptionMap& options) {
  sql::OptionMap rest;
  for (const auto& [key, value] : options.entries()) {
    if (!EqualsIgnoreCase(key, "path")) rest.Set(key, value);
  }
  return rest;
}

Status SaveAsTable(CommandRun& run, const sql::WriteDataFrame& command, const sql::PlanPtr& analyzed, SaveMode mode) {
  TW_ASSIGN_OR_RETURN(sql::TableInfo table, NewTable(run, command));
  TW_ASSIGN_OR_RETURN(const bool exists, run.catalog().TableExists(table.database, table.name));
  const sql::OptionMap options = WithoutPath(command.options);
  if (!exists) return CreateTableAsSelect(run, std::move(table), analyzed, options, {.mode = mode});
  if (mode == SaveMode::kIgnore) return Status::OK();
  if (mode == SaveMode::kErrorIfExists) {
    return Error("TABLE_OR_VIEW_ALREADY_EXISTS").With("relationName", sql::QuoteName(table.QualifiedName()));
  }
  TW_ASSIGN_OR_RETURN(const sql::TableInfo old, run.catalog().GetTable(table.database, table.name));
  if (mode == SaveMode::kAppend) {
    TW_RETURN_NOT_OK(CheckMatches(run, command, table, old, analyzed->schema()));
    return WriteIntoTable(run, old, analyzed, options, mode, {.by_name = true, .columns = {}}, nullptr);
  }
  // A table with a log of its own is overwritten in place, so that readers and its history stay.
  if (KeepsOwnLog(old.format) && (command.format.empty() || EqualsIgnoreCase(command.format, old.format))) {
    return WriteIntoTable(run, old, analyzed, options, mode, {.by_name = true, .columns = {}}, nullptr);
  }
  return ReplaceTableAsSelect(run, old, std::move(table), analyzed, options);
}

Status WriteV2(CommandRun& run, const sql::WriteDataFrame& command, const sql::PlanPtr& analyzed) {
  const ColumnMatch by_name{.by_name = true, .columns = {}};
  switch (command.method) {
    case Method::kV2Create: return SaveAsTable(run, command, analyzed, SaveMode::kErrorIfExists);
    case Method::kV2CreateOrReplace: return SaveAsTable(run, command, analyzed, SaveMode::kOverwrite);
    case Method::kV2Replace: {
      TW_RETURN_NOT_OK(FindTable(run.session, command.table).status());
      return SaveAsTable(run, command, analyzed, SaveMode::kOverwrite);
    }
    case Method::kV2Append: {
      TW_ASSIGN_OR_RETURN(const sql::TableInfo table, FindTable(run.session, command.table));
      return WriteIntoTable(run, table, analyzed, command.options, SaveMode::kAppend, by_name, nullptr);
    }
    case Method::kV2Overwrite: {
      TW_ASSIGN_OR_RETURN(const sql::TableInfo table, FindTable(run.session, command.table));
      const auto* all = command.overwrite_condition == nullptr ? nullptr : command.overwrite_condition->As<sql::Literal>();
      if (all == nullptr || all->value() != data::Value(true)) return Unsupported("writeTo(...).overwrite(condition)");
      return WriteIntoTable(run, table, analyzed, command.options, SaveMode::kOverwrite, by_name, nullptr);
    }
    default: return Unsupported("writeTo(...).overwritePartitions()");
  }
}

}  // namespace

Status Run(CommandRun& run, const sql::WriteDataFrame& command) {
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr analyzed, run.session.Analyze(command.input, run.stop));
  if (analyzed->is_streaming()) {
    return Error("CALL_ON_STREAMING_DATASET_UNSUPPORTED").With("methodName", "`write`");
  }
  if (!command.sort_columns.empty()) return Error("SORT_BY_WITHOUT_BUCKETING");
  if (!command.clustering_columns.empty()) return Unsupported("DataFrameWriter.clusterBy");
  switch (command.method) {
    case Method::kPath: return WritePath(run, command, analyzed);
    case Method::kSaveAsTable: return SaveAsTable(run, command, analyzed, command.mode);
    case Method::kInsertInto: {
      if (!command.partition_columns.empty()) {
        return Error("PARTITION_BY_NOT_ALLOWED_WITH_INSERT_INTO").With("tableName", sql::QuoteName(command.table));
      }
      TW_ASSIGN_OR_RETURN(const sql::TableInfo table, FindTable(run.session, command.table));
      const SaveMode mode = command.mode == SaveMode::kOverwrite ? SaveMode::kOverwrite : SaveMode::kAppend;
      return WriteIntoTable(run, table, analyzed, command.options, mode, {}, nullptr);
    }
    default: return WriteV2(run, command, analyzed);
  }
}

}  // namespace thalweg::front
