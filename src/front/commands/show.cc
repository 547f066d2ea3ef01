#include <algorithm>

#include "base/redact.h"
#include "base/string_case.h"
#include "data/io/path.h"
#include "front/commands/handlers.h"

namespace thalweg::front {

namespace {

using data::DataType;
using data::Value;
using Rows = std::vector<data::ValueList>;

Result<std::string> DatabaseOr(const CommandRun& run, const sql::NameParts& parts) {
  if (parts.empty()) return run.session.current_database();
  if (parts.size() == 2 && !EqualsIgnoreCase(parts[0], sql::kSessionCatalog)) {
    return Unsupported("catalogues other than spark_catalog (" + sql::QuoteName(parts) + ")");
  }
  return sql::LowerName(parts.back());
}

Result<Rows> ListNames(const CommandRun& run, const sql::NameParts& database, const std::optional<std::string>& pattern,
                       bool views_only) {
  Rows rows;
  const auto matches = [&](const std::string& name) { return !pattern || sql::MatchesPattern(name, *pattern); };
  const bool global = database.size() == 1 && EqualsIgnoreCase(database[0], "global_temp");
  if (global) {
    for (const std::string& view : run.session.TempViews(true)) {
      if (matches(view)) rows.push_back({TextValue("global_temp"), TextValue(view), Value(true)});
    }
  } else {
    TW_ASSIGN_OR_RETURN(const std::string name, DatabaseOr(run, database));
    TW_ASSIGN_OR_RETURN(const std::vector<sql::TableInfo> tables, run.catalog().ListTables(name));
    for (const sql::TableInfo& table : tables) {
      if (views_only && table.type != sql::TableType::kView) continue;
      if (matches(table.name)) rows.push_back({TextValue(table.database), TextValue(table.name), Value(false)});
    }
  }
  for (const std::string& view : run.session.TempViews()) {
    if (matches(view)) rows.push_back({TextValue(""), TextValue(view), Value(true)});
  }
  return rows;
}

std::string SqlString(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string PairList(const std::map<std::string, std::string>& pairs) {
  std::string text;
  for (const auto& [key, value] : pairs) {
    text += (text.empty() ? "  " : ",\n  ") + SqlString(key) + " = " + SqlString(RedactValue(key, value));
  }
  return "(\n" + text + ")\n";
}

std::string NameList(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + data::QuoteIfNeeded(name);
  return text;
}

}  // namespace

Status Run(CommandRun& run, const sql::ShowTables& command) {
  TW_ASSIGN_OR_RETURN(const Rows rows, ListNames(run, command.database, command.pattern, false));
  return run.Answer({{"namespace", DataType::String(), false},
                     {"tableName", DataType::String(), false},
                     {"isTemporary", DataType::Boolean(), false}},
                    rows);
}

Status Run(CommandRun& run, const sql::ShowViews& command) {
  TW_ASSIGN_OR_RETURN(const Rows rows, ListNames(run, command.database, command.pattern, true));
  return run.Answer({{"namespace", DataType::String(), false},
                     {"viewName", DataType::String(), false},
                     {"isTemporary", DataType::Boolean(), false}},
                    rows);
}

Status Run(CommandRun& run, const sql::ShowColumns& command) {
  const auto relation = std::make_shared<sql::UnresolvedRelation>(command.table, sql::OptionMap(), false);
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, run.session.Analyze(relation));
  Rows rows;
  for (const data::StructField& field : plan->schema()) rows.push_back({TextValue(field.name)});
  return run.Answer({{"col_name", DataType::String(), false}}, rows);
}

Status Run(CommandRun& run, const sql::ShowFunctions& command) {
  Rows rows;
  std::vector<std::string> names;
  if (!EqualsIgnoreCase(command.scope, "USER")) names = run.session.server().functions->Names();
  if (!EqualsIgnoreCase(command.scope, "SYSTEM")) {
    for (std::string& name : run.session.RegisteredFunctions()) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (!command.pattern || sql::MatchesPattern(name, *command.pattern)) rows.push_back({TextValue(name)});
  }
  return run.Answer({{"function", DataType::String(), false}}, rows);
}

Status Run(CommandRun& run, const sql::ShowCreateTable& command) {
  TW_ASSIGN_OR_RETURN(const sql::TableInfo table, FindTable(run.session, command.table));
  std::string text = std::string("CREATE ") + (table.type == sql::TableType::kView ? "VIEW " : "TABLE ") +
                     NameList({std::string(sql::kSessionCatalog)}) + "." + NameList({table.database}) + "." +
                     NameList({table.name}) + " (\n";
  for (size_t i = 0; i < table.schema.size(); ++i) {
    const data::StructField& field = table.schema[i];
    text += "  " + data::QuoteIfNeeded(field.name);
    if (table.type != sql::TableType::kView) text += " " + field.type.Sql();
    if (!field.nullable) text += " NOT NULL";
    if (const std::optional<std::string> comment = field.Comment()) text += " COMMENT " + SqlString(*comment);
    text += i + 1 < table.schema.size() ? ",\n" : ")\n";
  }
  if (table.type == sql::TableType::kView) {
    text += "AS " + table.view_text + "\n";
  } else {
    text += "USING " + table.format + "\n";
    if (!table.options.empty()) text += "OPTIONS " + PairList(table.options);
    if (!table.partition_columns.empty()) text += "PARTITIONED BY (" + NameList(table.partition_columns) + ")\n";
    if (table.comment) text += "COMMENT " + SqlString(*table.comment) + "\n";
    if (table.type == sql::TableType::kExternal) text += "LOCATION " + SqlString(data::QualifiedPathText(table.location)) + "\n";
    if (!table.properties.empty()) text += "TBLPROPERTIES " + PairList(table.properties);
  }
  return run.Answer({{"createtab_stmt", DataType::String(), false}}, {{TextValue(text)}});
}

}  // namespace thalweg::front
