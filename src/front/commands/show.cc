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

std::string NameText(const sql::TableInfo& table) {
  return std::string(sql::kSessionCatalog) + "." + NameList({table.database}) + "." + NameList({table.name});
}

}  // namespace

std::string SqlString(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

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
  sql::NameParts name = command.table;
  if (!command.database.empty()) {
    if (name.size() > 1 && !EqualsIgnoreCase(name[name.size() - 2], command.database.back())) {
      return Error("SHOW_COLUMNS_WITH_CONFLICT_NAMESPACE")
          .With("namespaceA", sql::QuoteName(command.database))
          .With("namespaceB", sql::QuoteName({name.begin(), name.end() - 1}));
    }
    if (name.size() == 1) name.insert(name.begin(), command.database.begin(), command.database.end());
  }
  const auto relation = std::make_shared<sql::UnresolvedRelation>(name, sql::OptionMap(), false);
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, run.session.Analyze(relation, run.stop));
  Rows rows;
  for (const data::StructField& field : plan->schema()) rows.push_back({TextValue(field.name)});
  return run.Answer({{"col_name", DataType::String(), false}}, rows);
}

Status Run(CommandRun& run, const sql::ShowCreateTable& command) {
  if (command.table.size() == 1 && run.session.FindTempView(command.table[0], false) != nullptr) {
    return Error("EXPECT_PERMANENT_VIEW_NOT_TEMP").With("operation", "SHOW CREATE TABLE").With("viewName", sql::QuoteName(command.table));
  }
  TW_ASSIGN_OR_RETURN(sql::TableInfo found, FindTable(run.session, command.table));
  TW_ASSIGN_OR_RETURN(const sql::TableInfo table, WithOwnSchema(run.session, std::move(found)));
  const bool view = table.type == sql::TableType::kView;
  std::string text = view ? "CREATE VIEW " + NameList({table.database}) + "." + NameList({table.name}) + " (\n"
                          : "CREATE TABLE " + std::string(sql::kSessionCatalog) + "." + NameList({table.database}) + "." +
                                NameList({table.name}) + " (\n";
  for (size_t i = 0; i < table.schema.size(); ++i) {
    const data::StructField& field = table.schema[i];
    text += "  " + data::QuoteIfNeeded(field.name);
    if (!view) text += " " + field.type.Sql() + (field.type.Is(data::TypeKind::kString) && field.type.Sql() == "STRING" ? " COLLATE UTF8_BINARY" : "");
    if (!view && !field.nullable) text += " NOT NULL";
    if (const std::optional<std::string> value = field.MetadataString("CURRENT_DEFAULT")) text += " DEFAULT " + *value;
    if (const std::optional<std::string> comment = field.Comment()) text += " COMMENT " + SqlString(*comment);
    text += i + 1 < table.schema.size() ? ",\n" : ")\n";
  }
  if (!view) text += "USING " + table.format + "\n";
  if (!view && !table.options.empty()) text += "OPTIONS " + PairList(table.options);
  if (!view && !table.partition_columns.empty()) text += "PARTITIONED BY (" + NameList(table.partition_columns) + ")\n";
  if (table.comment) text += "COMMENT " + SqlString(*table.comment) + "\n";
  if (table.type == sql::TableType::kExternal) text += "LOCATION " + SqlString(data::QualifiedPathText(table.location)) + "\n";
  if (!table.properties.empty()) text += "TBLPROPERTIES " + PairList(table.properties);
  if (view) text += "WITH SCHEMA COMPENSATION\nAS " + table.view_text + "\n";
  return run.Answer({{"createtab_stmt", DataType::String(), false}}, {{TextValue(text)}});
}

Status Run(CommandRun& run, const sql::ShowTableExtended& command) {
  if (!command.partition.empty()) return Unsupported("SHOW TABLE EXTENDED ... PARTITION");
  TW_ASSIGN_OR_RETURN(const std::string database, DatabaseOr(run, command.database));
  TW_ASSIGN_OR_RETURN(const std::vector<sql::TableInfo> tables, run.catalog().ListTables(database));
  Rows rows;
  for (const sql::TableInfo& entry : tables) {
    if (!sql::MatchesPattern(entry.name, command.pattern)) continue;
    TW_ASSIGN_OR_RETURN(const sql::TableInfo table, WithOwnSchema(run.session, entry));
    std::string text;
    for (const auto& [name, value] : TableDetails(table)) text += name + ": " + value + "\n";
    if (!table.partition_columns.empty()) {
      std::string columns;
      for (const std::string& name : table.partition_columns) columns += (columns.empty() ? "" : ", ") + data::QuoteIdentifier(name);
      text += "Partition Columns: [" + columns + "]\n";
    }
    text += "Schema: " + data::SchemaTree(table.schema) + "\n";
    rows.push_back({TextValue(table.database), TextValue(table.name), Value(false), TextValue(std::move(text))});
  }
  for (const std::string& view : run.session.TempViews()) {
    if (!sql::MatchesPattern(view, command.pattern)) continue;
    const sql::PlanPtr plan = run.session.FindTempView(view, false);
    if (plan == nullptr) continue;
    std::string text = "Table: " + view + "\nType: VIEW\nSchema: " + data::SchemaTree(plan->schema()) + "\n";
    rows.push_back({TextValue(""), TextValue(view), Value(true), TextValue(std::move(text))});
  }
  return run.Answer({{"namespace", DataType::String(), false},
                     {"tableName", DataType::String(), false},
                     {"isTemporary", DataType::Boolean(), false},
                     {"information", DataType::String(), false}},
                    rows);
}

Status Run(CommandRun& run, const sql::ShowTableProperties& command) {
  const data::Schema schema{{"key", DataType::String(), false}, {"value", DataType::String(), false}};
  if (command.table.size() == 1 && run.session.FindTempView(command.table[0], false) != nullptr) return run.Answer(schema, {});
  TW_ASSIGN_OR_RETURN(sql::TableInfo found, FindTable(run.session, command.table));
  TW_ASSIGN_OR_RETURN(const sql::TableInfo table, WithOwnSchema(run.session, std::move(found)));
  std::map<std::string, std::string> properties = table.properties;
  for (const auto& [key, value] : table.options) properties.emplace("option." + key, value);
  Rows rows;
  if (command.key) {
    const auto property = properties.find(*command.key);
    rows.push_back({TextValue(*command.key), TextValue(property != properties.end() ? RedactValue(property->first, property->second)
                                                           : "Table " + NameText(table) + " does not have property: " + *command.key)});
  } else {
    for (const auto& [key, value] : properties) rows.push_back({TextValue(key), TextValue(RedactValue(key, value))});
  }
  return run.Answer(schema, rows);
}

}  // namespace thalweg::front
