#include <algorithm>

#include "base/string_case.h"
#include "data/io/file_system.h"
#include "data/io/path.h"
#include "front/commands/commands_settings.h"
#include "front/commands/handlers.h"
#include "sql/expr/table_write_cast.h"
#include "sql/expr/type_coercion.h"
#include "sql/parser/parser.h"

namespace thalweg::front {

namespace {

using data::DataType;
using data::TypeKind;

bool IsDateOrTimestamp(const DataType& type) {
  return type.Is(TypeKind::kDate) || type.Is(TypeKind::kTimestamp) || type.Is(TypeKind::kTimestampNtz);
}

// Spark's ANSI store assignment.
bool CanStore(const DataType& from, const DataType& to) {
  if (from.SameType(to) || from.Is(TypeKind::kNull)) return true;
  if (to.Is(TypeKind::kString)) return !from.IsNested() && !from.Is(TypeKind::kBinary);
  if (from.IsNumeric() && to.IsNumeric()) return true;
  if (IsDateOrTimestamp(from) && IsDateOrTimestamp(to)) return true;
  if (from.Is(TypeKind::kArray) && to.Is(TypeKind::kArray)) return CanStore(from.element(), to.element());
  if (from.Is(TypeKind::kMap) && to.Is(TypeKind::kMap)) {
    return CanStore(from.key(), to.key()) && CanStore(from.value(), to.value());
  }
  if (from.Is(TypeKind::kStruct) && to.Is(TypeKind::kStruct) && from.fields().size() == to.fields().size()) {
    for (size_t i = 0; i < from.fields().size(); ++i) {
      if (!CanStore(from.fields()[i].type, to.fields()[i].type)) return false;
    }
    return true;
  }
  return from.kind() == to.kind();
}

std::string ColumnList(const data::Schema& schema) {
  std::string text;
  for (const data::StructField& field : schema) text += (text.empty() ? "" : ", ") + data::QuoteIdentifier(field.name);
  return text;
}

Status ArityMismatch(const std::string& table_name, const ColumnMatch& match, const data::Schema& table, const data::Schema& query, bool own_log) {
  if (own_log && match.fixed.empty() && match.columns.empty() && query.size() < table.size()) {
    return Error("DELTA_INSERT_COLUMN_ARITY_MISMATCH").With("tableName", table_name).With("columnName", "not enough data columns")
        .With("numColumns", static_cast<long long>(table.size())).With("insertColumns", static_cast<long long>(query.size()));
  }
  if (!match.fixed.empty()) {
    std::string fixed;
    for (const auto& [name, value] : match.fixed) fixed += (fixed.empty() ? "" : ", ") + data::QuoteIdentifier(name);
    return Error("INSERT_PARTITION_COLUMN_ARITY_MISMATCH")
        .With("tableName", table_name)
        .With("reason", query.size() < table.size() ? "not enough data columns" : "too many data columns")
        .With("tableColumns", ColumnList(table))
        .With("staticPartCols", fixed)
        .With("dataColumns", ColumnList(query));
  }
  return Error(query.size() < table.size() ? "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS"
                                           : "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS")
      .With("tableName", table_name)
      .With("tableColumns", ColumnList(table))
      .With("dataColumns", ColumnList(query));
}

// `own_log`: Delta casts whatever can be cast.
Result<sql::ExprPtr> StoreColumn(const sql::AttributePtr& from, const data::StructField& to, const std::string& table_name, bool own_log) {
  const bool castable = own_log && !from->type().IsNested() && sql::CanCast(from->type(), to.type, sql::EvalMode::kAnsi);
  if (!castable && !CanStore(from->type(), to.type)) {
    return Error("INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST")
        .With("tableName", table_name)
        .With("colName", data::QuoteIdentifier(to.name))
        .With("srcType", "\"" + from->type().Sql() + "\"")
        .With("targetType", "\"" + to.type.Sql() + "\"");
  }
  sql::ExprPtr value = from;
  if (!from->type().SameType(to.type)) value = sql::TableWriteCast(value, to.type, data::QuoteIdentifier(to.name), sql::TableWrite::kInsert);
  return sql::Alias::Make(std::move(value), to.name, sql::NewExprId(), to.metadata_json);
}

const sql::AttributePtr* FindByName(const sql::AttributeList& attributes, const std::string& name) {
  for (const sql::AttributePtr& attribute : attributes) {
    if (EqualsIgnoreCase(attribute->name(), name)) return &attribute;
  }
  return nullptr;
}

// INSERT INTO t (a, b).
Result<data::Schema> NamedTargets(const std::vector<std::string>& columns, const data::Schema& table) {
  data::Schema targets;
  for (const std::string& column : columns) {
    const auto same = [&](const data::StructField& field) { return EqualsIgnoreCase(field.name, column); };
    if (std::any_of(targets.begin(), targets.end(), same)) {
      return Error("COLUMN_ALREADY_EXISTS").With("columnName", data::QuoteIdentifier(ToAsciiLower(column)));
    }
    const auto found = std::find_if(table.begin(), table.end(), same);
    if (found == table.end()) {
      return Error("UNRESOLVED_COLUMN.WITH_SUGGESTION").With("objectName", data::QuoteIdentifier(column)).With("proposal", ColumnList(table));
    }
    targets.push_back(*found);
  }
  return targets;
}

// INSERT ... BY NAME: columns may be left out, none may be too much or there twice.
Status CheckNames(const sql::AttributeList& output, const data::Schema& targets, const std::string& table_name, const data::Schema& query) {
  if (output.size() > targets.size()) {
    return Error("INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS")
        .With("tableName", table_name)
        .With("tableColumns", ColumnList(targets))
        .With("dataColumns", ColumnList(query));
  }
  std::string extra;
  for (size_t i = 0; i < output.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (EqualsIgnoreCase(output[i]->name(), output[j]->name())) {
        return Error("INCOMPATIBLE_DATA_FOR_TABLE.AMBIGUOUS_COLUMN_NAME").With("tableName", table_name)
            .With("colName", data::QuoteIdentifier(output[i]->name()));
      }
    }
    const auto same = [&](const data::StructField& field) { return EqualsIgnoreCase(field.name, output[i]->name()); };
    if (std::none_of(targets.begin(), targets.end(), same)) extra += (extra.empty() ? "" : ", ") + data::QuoteIdentifier(output[i]->name());
  }
  if (extra.empty()) return Status::OK();
  return Error("INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_COLUMNS").With("tableName", table_name).With("extraColumns", extra);
}

data::Schema NullableSchema(data::Schema schema) {
  for (data::StructField& field : schema) {
    field.nullable = true;
    field.type = field.type.AsNullable();
    if (field.metadata_json.find("__autoGeneratedAlias") != std::string::npos) field.metadata_json = "{}";
  }
  return schema;
}

// The writer asks for columns of the query that the table lacks, or for the query's columns in place of the table's.
bool MayChangeSchema(Session& session, std::string_view format, const sql::OptionMap& options) {
  if (!KeepsOwnLog(format)) return false;
  const sql::OptionMap wanted = WithAutoMerge(session, format, options);
  const auto says = [&](const char* name) {  // other texts are for the format to refuse
    const Result<bool> value = wanted.GetBool(name, false);
    return value.ok() && *value;
  };
  return says("mergeSchema") || says("overwriteSchema");
}

// CREATE TABLE ... LOCATION ... AS SELECT does not mix its rows with files that somebody else left there.
Status CheckEmptyLocation(CommandRun& run, const sql::TableInfo& table) {
  if (table.location.empty() || KeepsOwnLog(table.format)) return Status::OK();
  TW_ASSIGN_OR_RETURN(const std::string path, data::PathFromText(table.location));
  const Result<std::vector<data::FileInfo>> entries = run.session.server().connectors.file_system->List(data::AbsolutePath(path));
  if (!entries.ok() || entries->empty()) return Status::OK();
  return Error("_LEGACY_ERROR_TEMP_1241")
      .With("tablePath", data::UriFromPath(data::AbsolutePath(path)))
      .With("config", "spark.sql.legacy.allowNonEmptyLocationInCTAS");
}

}  // namespace

namespace {

// delta.`/path`: a table that its path names, with no entry in the catalogue. Nothing for other names.
Result<std::optional<sql::TableInfo>> TableAtPath(Session& session, const sql::NameParts& name) {
  if (name.size() != 2 || !KeepsOwnLog(name[0])) return std::optional<sql::TableInfo>();
  TW_ASSIGN_OR_RETURN(const bool database, session.server().catalog->DatabaseExists(name[0]));
  if (database) return std::optional<sql::TableInfo>();
  sql::TableInfo info;
  info.database = info.format = name[0];
  info.name = name[1];
  info.type = sql::TableType::kExternal;
  TW_ASSIGN_OR_RETURN(const std::string path, data::PathFromText(name[1]));
  info.location = data::AbsolutePath(path);
  TW_ASSIGN_OR_RETURN(const sql::TablePtr opened, session.OpenTable(info, {}, false, false));
  info.partition_columns = opened->partition_columns();
  return std::optional<sql::TableInfo>(std::move(info));
}

}  // namespace

Result<sql::TableInfo> FindTable(Session& session, const sql::NameParts& name) {
  TW_ASSIGN_OR_RETURN(std::optional<sql::TableInfo> at_path, TableAtPath(session, name));
  if (at_path) return std::move(*at_path);
  TW_ASSIGN_OR_RETURN(const auto qualified, session.TableName(name));
  Result<sql::TableInfo> table = session.server().catalog->GetTable(qualified.first, qualified.second);
  if (table.ok() || table.status().condition() != "TABLE_OR_VIEW_NOT_FOUND") return table;
  return sql::TableNotFound(name, session.current_database());
}

bool IsTemporary(const Session& session, const sql::NameParts& name) {
  return name.size() == 1 && session.FindTempView(name[0], false) != nullptr;
}

Result<data::Value> ConstantOf(CommandRun& run, const sql::ExprPtr& expression, const data::DataType& type) {
  sql::ExprList list = {sql::Alias::Make(sql::Cast::Make(expression, type, sql::EvalMode::kAnsi, true), "value")};
  const auto row = std::make_shared<sql::Project>(std::move(list), std::make_shared<sql::OneRow>());
  TW_ASSIGN_OR_RETURN(const std::vector<data::Chunk> chunks, run.session.Collect(row, run.stop));
  if (chunks.empty() || chunks[0].num_rows() == 0) return InternalError("a constant without a row");
  return chunks[0].Dense().column(0)->GetValue(0);
}

Status DropTableAndData(Session& session, const sql::TableInfo& table) {
  TW_RETURN_NOT_OK(session.SetCached(table.QualifiedName(), false));
  TW_ASSIGN_OR_RETURN(const sql::TableInfo dropped, session.server().catalog->DropTable(table.database, table.name));
  if (dropped.type != sql::TableType::kManaged || dropped.location.empty()) return Status::OK();
  return session.server().connectors.file_system->RemoveTree(dropped.location);
}

namespace {

// MatchColumns; `own_log` as in StoreColumn.
Result<sql::PlanPtr> Match(const sql::PlanPtr& analyzed, const data::Schema& table, const std::string& table_name, const ColumnMatch& match,
                           bool own_log) {
  const sql::AttributeList output = analyzed->output();
  data::Schema targets;
  for (const data::StructField& field : table) {
    if (match.fixed.count(field.name) == 0) targets.push_back(field);
  }
  if (!match.columns.empty()) {
    TW_ASSIGN_OR_RETURN(targets, NamedTargets(match.columns, targets));
  }
  if (match.by_name && match.strict_names) {
    TW_RETURN_NOT_OK(CheckNames(output, targets, table_name, analyzed->schema()));
  } else if (output.size() != targets.size()) {
    return ArityMismatch(table_name, match, targets, analyzed->schema(), own_log);
  }
  sql::ExprList list;
  for (const data::StructField& field : table) {
    if (const auto fixed = match.fixed.find(field.name); fixed != match.fixed.end()) {
      list.push_back(sql::Alias::Make(sql::Literal::Make(fixed->second, field.type), field.name));
      continue;
    }
    const sql::AttributePtr* from = nullptr;
    if (match.by_name) {
      from = FindByName(output, field.name);
      if (from == nullptr && !match.strict_names) {
        return Error("INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_FIND_DATA")
            .With("tableName", table_name)
            .With("colName", data::QuoteIdentifier(field.name));
      }
    } else {
      for (size_t i = 0; i < targets.size(); ++i) {
        if (targets[i].name == field.name) from = &output[i];
      }
    }
    if (from == nullptr) {  // a column that the INSERT does not name
      const auto value = match.defaults.find(field.name);
      list.push_back(sql::Alias::Make(sql::Literal::Make(value == match.defaults.end() ? data::Value() : value->second, field.type), field.name));
      continue;
    }
    TW_ASSIGN_OR_RETURN(sql::ExprPtr column, StoreColumn(*from, field, table_name, own_log));
    list.push_back(std::move(column));
  }
  return std::make_shared<sql::Project>(std::move(list), analyzed);
}

}  // namespace

Result<sql::PlanPtr> MatchColumns(const sql::PlanPtr& analyzed, const data::Schema& table, const std::string& table_name,
                                  const ColumnMatch& match) {
  return Match(analyzed, table, table_name, match, false);
}

Status WriteIntoTable(CommandRun& run, const sql::TableInfo& table, const sql::PlanPtr& analyzed, const sql::OptionMap& options,
                      sql::SaveMode mode, ColumnMatch match, sql::ExprPtr overwrite_condition) {
  if (table.type == sql::TableType::kView) {
    return Error("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE").With("viewName", sql::QuoteName(table.QualifiedName())).With("operation", "INSERT");
  }
  TW_ASSIGN_OR_RETURN(const sql::TablePtr opened, run.session.OpenTable(table, options, false, true));
  const data::Schema schema = table.schema.empty() || KeepsOwnLog(table.format) ? opened->schema() : table.schema;
  for (const data::StructField& field : schema) {
    const std::optional<std::string> text = field.MetadataString("CURRENT_DEFAULT");
    if (!text || match.fixed.count(field.name) != 0) continue;
    TW_ASSIGN_OR_RETURN(const sql::ExprPtr expression, sql::ParseExpression(*text, {}));
    TW_ASSIGN_OR_RETURN(match.defaults[field.name], ConstantOf(run, expression, field.type));
  }
  sql::PlanPtr plan = analyzed;
  if (!match.by_name || !MayChangeSchema(run.session, table.format, options)) {
    const std::string name = sql::QuoteName(table.QualifiedName());
    const bool inserts = KeepsOwnLog(table.format) && (!match.by_name || match.strict_names);
    TW_ASSIGN_OR_RETURN(plan, inserts ? Match(analyzed, schema, name, match, true) : MatchColumns(analyzed, schema, name, match));
  }
  sql::WriteRequest request;
  request.schema = plan->schema();
  request.options = WithAutoMerge(run.session, table.format, options);
  request.partition_columns = table.partition_columns;
  request.mode = mode;
  request.by_name = match.by_name;
  request.overwrite_condition = std::move(overwrite_condition);
  request.overwrite_partition = match.replaced;
  request.config = run.session.eval_config();
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<sql::BatchWrite> write, opened->NewBatchWrite(request));
  if (write == nullptr) return Status::OK();
  return run.session.RunWrite(plan, *write, run.stop).status();
}

Status CreateTableAsSelect(CommandRun& run, sql::TableInfo table, const sql::PlanPtr& analyzed, const sql::OptionMap& options,
                           const TableCreation& creation) {
  table.schema = NullableSchema(analyzed->schema());
  OrderColumns(&table);
  TW_ASSIGN_OR_RETURN(const bool exists, run.catalog().TableExists(table.database, table.name));
  if (!exists && creation.mode == sql::SaveMode::kErrorIfExists) TW_RETURN_NOT_OK(CheckEmptyLocation(run, table));
  TW_ASSIGN_OR_RETURN(const bool created, run.session.CreateTable(&table, creation.if_not_exists, run.stop));
  if (!created) return Status::OK();
  const bool appends = KeepsOwnLog(table.format) && creation.mode != sql::SaveMode::kOverwrite;
  const auto mode = appends ? sql::SaveMode::kAppend : sql::SaveMode::kOverwrite;
  const Status written = WriteIntoTable(run, table, analyzed, options, mode, {.by_name = true, .columns = {}}, nullptr);
  if (!written.ok()) Ignore(DropTableAndData(run.session, table), "the error of the write counts");
  return written;
}

Status ReplaceTableAsSelect(CommandRun& run, const sql::TableInfo& old, sql::TableInfo table, const sql::PlanPtr& analyzed,
                            const sql::OptionMap& options) {
  TW_ASSIGN_OR_RETURN(std::vector<data::Chunk> rows, run.session.Collect(analyzed, run.stop));
  const auto local = std::make_shared<sql::LocalRelation>(analyzed->output(), std::move(rows));
  TW_RETURN_NOT_OK(DropTableAndData(run.session, old));
  return CreateTableAsSelect(run, std::move(table), local, options, {.mode = sql::SaveMode::kOverwrite});
}

bool AutoMerges(Session& session) {
  const std::optional<std::string> setting = session.GetConfOption(std::string(kSchemaAutoMerge.key));
  return setting ? EqualsIgnoreCase(*setting, "true") : kSchemaAutoMerge.default_value;
}

sql::OptionMap WithAutoMerge(Session& session, std::string_view format, sql::OptionMap options) {
  if (KeepsOwnLog(format) && AutoMerges(session) && !options.Has("mergeSchema")) options.Set("mergeSchema", "true");
  return options;
}

Result<sql::TableInfo> WithOwnSchema(Session& session, sql::TableInfo table) {
  if (table.type == sql::TableType::kView || !KeepsOwnLog(table.format)) return table;
  TW_ASSIGN_OR_RETURN(const sql::TablePtr opened, session.OpenTable(table, {}, false, false));
  table.schema = opened->schema();
  table.partition_columns = opened->partition_columns();
  return table;
}

bool KeepsOwnLog(std::string_view format) { return EqualsIgnoreCase(format, "delta"); }

void OrderColumns(sql::TableInfo* table) {
  if (KeepsOwnLog(table->format)) return;
  const auto is_partition = [&](const data::StructField& field) {
    return std::any_of(table->partition_columns.begin(), table->partition_columns.end(),
                       [&](const std::string& name) { return EqualsIgnoreCase(name, field.name); });
  };
  std::stable_partition(table->schema.begin(), table->schema.end(),
                        [&](const data::StructField& field) { return !is_partition(field); });
}

}  // namespace thalweg::front
