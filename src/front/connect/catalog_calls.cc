#include "front/connect/catalog_calls.h"

#include <spark/connect/catalog.pb.h>

#include <algorithm>

#include "base/string_case.h"
#include "data/columnar/builder.h"
#include "data/io/path.h"
#include "sql/catalog/catalog.h"
#include "sql/functions/spark_names.h"
#include "sql/parser/parser.h"
#include "sql/protocol/protocol_errors.h"
#include "sql/protocol/type_proto.h"

namespace thalweg::front {

namespace {

namespace pb = ::spark::connect;
using data::DataType;
using data::Value;
using data::ValueList;
using Rows = std::vector<ValueList>;

Value Text(std::string text) { return Value(std::move(text)); }
Value OptionalText(const std::optional<std::string>& text) { return text ? Value(*text) : Value(); }

sql::PlanPtr RowsPlan(const data::Schema& schema, const Rows& rows) {
  sql::AttributeList attributes;
  std::vector<DataType> types;
  for (const data::StructField& field : schema) {
    attributes.push_back(sql::Attribute::Make(field.name, field.type, field.nullable));
    types.push_back(field.type);
  }
  std::vector<data::Chunk> chunks;
  if (!rows.empty()) chunks.push_back(data::ChunkFromRows(types, rows));
  return std::make_shared<sql::LocalRelation>(std::move(attributes), std::move(chunks));
}

data::StructField Column(const char* name, bool nullable = true) { return {name, DataType::String(), nullable}; }
data::StructField Flag(const char* name) { return {name, DataType::Boolean(), false}; }
data::StructField Namespace() { return {"namespace", DataType::Array(DataType::String()), true}; }

sql::PlanPtr OneText(std::string text) { return RowsPlan({Column("value")}, {{Text(std::move(text))}}); }
sql::PlanPtr OneFlag(bool flag) { return RowsPlan({Flag("value")}, {{Value(flag)}}); }
sql::PlanPtr NoRows() { return RowsPlan({}, {}); }

const data::Schema& DatabaseSchema() {
  static const data::Schema schema{Column("name"), Column("catalog"), Column("description"), Column("locationUri")};
  return schema;
}
const data::Schema& TableSchema() {
  static const data::Schema schema{Column("name"),        Column("catalog"),   Namespace(),
                                   Column("description"), Column("tableType"), Flag("isTemporary")};
  return schema;
}
const data::Schema& FunctionSchema() {
  static const data::Schema schema{Column("name"),        Column("catalog"),   Namespace(),
                                   Column("description"), Column("className"), Flag("isTemporary")};
  return schema;
}
const data::Schema& ColumnSchema() {
  static const data::Schema schema{Column("name"),     Column("description"), Column("dataType"), Flag("nullable"),
                                   Flag("isPartition"), Flag("isBucket"),     Flag("isCluster")};
  return schema;
}

ValueList DatabaseRow(const sql::DatabaseInfo& database) {
  return {Text(database.name), Text(std::string(sql::kSessionCatalog)), Text(database.comment),
          Text(data::QualifiedPathText(database.location))};
}

const char* TypeText(sql::TableType type) {
  switch (type) {
    case sql::TableType::kManaged: return "MANAGED";
    case sql::TableType::kExternal: return "EXTERNAL";
    case sql::TableType::kView: return "VIEW";
  }
  return "MANAGED";
}

ValueList TableRow(const sql::TableInfo& table) {
  return {Text(table.name),           Text(std::string(sql::kSessionCatalog)), Value(ValueList{Text(table.database)}),
          OptionalText(table.comment), Text(TypeText(table.type)),             Value(false)};
}

ValueList TemporaryViewRow(const std::string& name, bool global = false) {
  return {Text(name), Value(), Value(global ? ValueList{Text("global_temp")} : ValueList{}), Value(), Text("TEMPORARY"), Value(true)};
}

ValueList SessionFunctionRow(const std::string& name) {
  return {Text(name), Value(), Value(), Value(), Text("org.apache.spark.sql.UDFRegistration$$Lambda"), Value(true)};
}

ValueList FunctionRow(const std::string& name) {
  return {Text(name), Value(), Value(), Text(""), Text("builtin." + name), Value(true)};
}

ValueList FunctionRow(const sql::FunctionInfo& function) {
  return {Text(function.name), Text(std::string(sql::kSessionCatalog)), Value(ValueList{Text(function.database)}),
          Text("N/A."),        Text(function.class_name),               Value(false)};
}

class Caller {
 public:
  Caller(Session& session, std::stop_token stop) : session_(session), stop_(std::move(stop)), catalog_(*session.server().catalog) {}
  Result<sql::PlanPtr> Run(const pb::Catalog& call);

 private:
  using Name = std::pair<std::string, std::string>;

  template <typename Message>
  Result<std::vector<std::string>> Parts(const Message& message) {
    TW_ASSIGN_OR_RETURN(std::vector<std::string> parts, sql::ParseMultipartIdentifier(message.table_name()));
    if (message.has_db_name()) {
      TW_ASSIGN_OR_RETURN(std::vector<std::string> all, sql::ParseMultipartIdentifier(message.db_name()));
      all.push_back(parts.back());
      return all;
    }
    return parts;
  }

  bool IsTempView(const std::vector<std::string>& parts) const {
    if (parts.size() == 1) return session_.FindTempView(parts[0], false) != nullptr;
    return parts.size() == 2 && EqualsIgnoreCase(parts[0], "global_temp") && session_.FindTempView(parts[1], true) != nullptr;
  }

  // A database name, with or without its catalogue.
  Result<std::string> Database(const std::string& text) {
    TW_ASSIGN_OR_RETURN(const std::vector<std::string> parts, sql::ParseMultipartIdentifier(text));
    if (parts.size() > 1 && !EqualsIgnoreCase(parts[0], sql::kSessionCatalog)) {
      return Unsupported("catalogues other than spark_catalog");
    }
    return sql::LowerName(parts.back());
  }

  Result<sql::PlanPtr> ListDatabases(const pb::ListDatabases& call);
  Result<sql::PlanPtr> ListTables(const std::optional<std::string>& database, const std::string& pattern, bool views_only);
  Result<sql::PlanPtr> ListColumns(const std::vector<std::string>& parts);
  Result<sql::PlanPtr> GetTable(const std::vector<std::string>& parts);
  Status NotFound(const std::vector<std::string>& parts, const Status& status) const;
  Result<sql::PlanPtr> PropertiesOf(const std::string& table);
  Result<sql::PlanPtr> CreateString(const pb::GetCreateTableString& call);
  Result<sql::PlanPtr> RowsOf(sql::CommandBody body);
  Result<sql::PlanPtr> TableExists(const std::vector<std::string>& parts);
  Result<sql::PlanPtr> ListFunctions(const pb::ListFunctions& call);
  Result<std::optional<ValueList>> FindFunction(const std::string& name, const std::optional<std::string>& database);
  Result<sql::PlanPtr> GetFunction(const pb::GetFunction& call);
  std::vector<std::string> BuiltinNames();
  Result<sql::PlanPtr> CreateTable(const pb::CreateTable& call);
  Result<sql::PlanPtr> RunCommand(sql::CommandBody body);

  Session& session_;
  const std::stop_token stop_;
  sql::Catalog& catalog_;
};

Result<sql::PlanPtr> Caller::ListDatabases(const pb::ListDatabases& call) {
  TW_ASSIGN_OR_RETURN(const std::vector<sql::DatabaseInfo> databases, catalog_.ListDatabases());
  Rows rows;
  for (const sql::DatabaseInfo& database : databases) {
    if (!call.has_pattern() || sql::MatchesPattern(database.name, call.pattern())) rows.push_back(DatabaseRow(database));
  }
  return RowsPlan(DatabaseSchema(), rows);
}

Result<sql::PlanPtr> Caller::ListTables(const std::optional<std::string>& database, const std::string& pattern, bool views_only) {
  std::string name = session_.current_database();
  if (database) {
    TW_ASSIGN_OR_RETURN(name, Database(*database));
  }
  Rows rows;
  std::vector<sql::TableInfo> tables;
  if (name == "global_temp") {
    for (const std::string& view : session_.TempViews(true)) {
      if (pattern.empty() || sql::MatchesPattern(view, pattern)) rows.push_back(TemporaryViewRow(view, true));
    }
  } else {
    TW_ASSIGN_OR_RETURN(tables, catalog_.ListTables(name));
  }
  for (const sql::TableInfo& table : tables) {
    if (views_only && table.type != sql::TableType::kView) continue;
    if (pattern.empty() || sql::MatchesPattern(table.name, pattern)) rows.push_back(TableRow(table));
  }
  for (const std::string& view : session_.TempViews()) {
    if (pattern.empty() || sql::MatchesPattern(view, pattern)) rows.push_back(TemporaryViewRow(view));
  }
  return RowsPlan(TableSchema(), rows);
}

Result<sql::PlanPtr> Caller::ListColumns(const std::vector<std::string>& parts) {
  data::Schema schema;
  std::vector<std::string> partitions;
  if (IsTempView(parts)) {
    schema = session_.FindTempView(parts.back(), parts.size() == 2)->schema();
  } else {
    TW_ASSIGN_OR_RETURN(const Name name, session_.TableName(parts));
    const Result<sql::TableInfo> table = catalog_.GetTable(name.first, name.second);
    if (!table.ok()) return NotFound(parts, table.status());
    schema = table->schema;
    partitions = table->partition_columns;
    if (table->format == "delta") {  // its log knows better
      TW_ASSIGN_OR_RETURN(const sql::TablePtr opened, session_.OpenTable(*table, {}, false, false));
      schema = opened->schema();
      partitions = opened->partition_columns();
    }
  }
  Rows rows;
  for (const data::StructField& field : schema) {
    const bool partition = std::find(partitions.begin(), partitions.end(), field.name) != partitions.end();
    rows.push_back({Text(field.name), OptionalText(field.Comment()), Text(field.type.SimpleString()), Value(field.nullable),
                    Value(partition), Value(false), Value(false)});
  }
  return RowsPlan(ColumnSchema(), rows);
}

Result<sql::PlanPtr> Caller::GetTable(const std::vector<std::string>& parts) {
  if (IsTempView(parts)) return RowsPlan(TableSchema(), {TemporaryViewRow(sql::LowerName(parts.back()), parts.size() > 1)});
  TW_ASSIGN_OR_RETURN(const Name name, session_.TableName(parts));
  Result<sql::TableInfo> table = catalog_.GetTable(name.first, name.second);
  if (table.ok()) return RowsPlan(TableSchema(), {TableRow(*table)});
  return NotFound(parts, table.status());
}

// A table that is not there, or whose database is not, by the name that was asked for.
Status Caller::NotFound(const std::vector<std::string>& parts, const Status& status) const {
  const bool missing = status.condition() == "TABLE_OR_VIEW_NOT_FOUND" || status.condition() == "SCHEMA_NOT_FOUND";
  return missing ? sql::TableNotFound(parts, session_.current_database()) : status;
}

Result<sql::PlanPtr> Caller::TableExists(const std::vector<std::string>& parts) {
  if (IsTempView(parts)) return OneFlag(true);
  TW_ASSIGN_OR_RETURN(const Name name, session_.TableName(parts));
  TW_ASSIGN_OR_RETURN(const bool exists, catalog_.TableExists(name.first, name.second));
  return OneFlag(exists);
}

Result<sql::PlanPtr> Caller::ListFunctions(const pb::ListFunctions& call) {
  std::string database = session_.current_database();
  if (call.has_db_name()) {
    TW_ASSIGN_OR_RETURN(database, Database(call.db_name()));
  }
  const auto matches = [&](const std::string& name) { return !call.has_pattern() || sql::MatchesPattern(name, call.pattern()); };
  TW_ASSIGN_OR_RETURN(const std::vector<sql::FunctionInfo> functions, catalog_.ListFunctions(database));
  Rows rows;
  for (const sql::FunctionInfo& function : functions) {
    if (matches(function.name)) rows.push_back(FunctionRow(function));
  }
  for (const std::string& name : BuiltinNames()) {
    if (matches(name)) rows.push_back(FunctionRow(name));
  }
  for (const std::string& name : session_.RegisteredFunctions()) {
    if (matches(name)) rows.push_back(SessionFunctionRow(name));
  }
  return RowsPlan(FunctionSchema(), rows);
}

std::vector<std::string> Caller::BuiltinNames() {
  std::vector<std::string> names = session_.server().functions->Names();
  std::erase_if(names, [](const std::string& name) { return !sql::IsSparkFunction(name); });
  std::sort(names.begin(), names.end());
  return names;
}

// A name without a database is one of the built-in functions first.
Result<std::optional<ValueList>> Caller::FindFunction(const std::string& text, const std::optional<std::string>& database) {
  TW_ASSIGN_OR_RETURN(std::vector<std::string> parts, sql::ParseMultipartIdentifier(text));
  if (database) {
    TW_ASSIGN_OR_RETURN(std::vector<std::string> qualified, sql::ParseMultipartIdentifier(*database));
    qualified.push_back(parts.back());
    parts = std::move(qualified);
  }
  const std::string name = sql::LowerName(parts.back());
  const sql::FunctionRegistry& functions = *session_.server().functions;
  if (parts.size() == 1 && session_.FindFunction(name) != nullptr) return std::optional<ValueList>(SessionFunctionRow(name));
  if (parts.size() == 1 && (functions.FindScalar(name) != nullptr || functions.FindAggregate(name) != nullptr)) {
    return std::optional<ValueList>(FunctionRow(name));
  }
  TW_ASSIGN_OR_RETURN(const Name qualified, session_.TableName(parts));
  TW_ASSIGN_OR_RETURN(const std::optional<sql::FunctionInfo> found, catalog_.FindFunction(qualified.first, qualified.second));
  if (!found) return std::optional<ValueList>{};
  return std::optional<ValueList>(FunctionRow(*found));
}

Result<sql::PlanPtr> Caller::GetFunction(const pb::GetFunction& call) {
  TW_ASSIGN_OR_RETURN(std::optional<ValueList> row,
                      FindFunction(call.function_name(), call.has_db_name() ? std::optional(call.db_name()) : std::nullopt));
  if (row) return RowsPlan(FunctionSchema(), {std::move(*row)});
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> parts, sql::ParseMultipartIdentifier(call.function_name()));
  return Error("UNRESOLVED_ROUTINE")
      .With("routineName", sql::QuoteName(parts))
      .With("searchPath", "[`system`.`builtin`, `system`.`session`, " +
                              sql::QuoteName({std::string(sql::kSessionCatalog), session_.current_database()}) + "]");
}

Result<sql::PlanPtr> Caller::CreateTable(const pb::CreateTable& call) {
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> parts, sql::ParseMultipartIdentifier(call.table_name()));
  TW_ASSIGN_OR_RETURN(const Name name, session_.TableName(parts));
  sql::TableInfo table;
  table.database = name.first;
  table.name = name.second;
  table.format = call.source();
  for (const auto& [key, value] : call.options()) {
    if (!EqualsIgnoreCase(key, "path")) table.options[key] = value;
    else table.location = value;
  }
  if (call.has_path() && !call.path().empty()) table.location = call.path();
  if (call.has_description()) table.comment = call.description();
  if (call.has_schema()) {
    TW_ASSIGN_OR_RETURN(const DataType type, sql::TypeFromProto(call.schema()));
    if (!type.Is(data::TypeKind::kStruct)) return sql::InvalidPlan("The schema of a table must be a struct.");
    table.schema = type.fields();
  }
  TW_RETURN_NOT_OK(session_.CreateTable(&table, false, stop_).status());
  auto relation = std::make_shared<sql::UnresolvedRelation>(table.QualifiedName(), sql::OptionMap(), false);
  return session_.Analyze(relation, stop_);
}

Result<sql::PlanPtr> Caller::RunCommand(sql::CommandBody body) {
  TW_RETURN_NOT_OK(session_.CommandRows(std::make_shared<sql::Command>(std::move(body)), stop_).status());
  return NoRows();
}

Result<sql::PlanPtr> Caller::RowsOf(sql::CommandBody body) {
  return session_.CommandRows(std::make_shared<sql::Command>(std::move(body)), stop_);
}

Result<sql::PlanPtr> Caller::PropertiesOf(const std::string& name) {
  TW_ASSIGN_OR_RETURN(std::vector<std::string> parts, sql::ParseMultipartIdentifier(name));
  return RowsOf(sql::ShowTableProperties{std::move(parts), std::nullopt});
}

Result<sql::PlanPtr> Caller::CreateString(const pb::GetCreateTableString& call) {
  TW_ASSIGN_OR_RETURN(std::vector<std::string> parts, sql::ParseMultipartIdentifier(call.table_name()));
  if (call.as_serde()) {
    TW_RETURN_NOT_OK(GetTable(parts).status());
    return Error("UNSUPPORTED_SHOW_CREATE_TABLE.ON_DATA_SOURCE_TABLE_WITH_AS_SERDE").With("tableName", sql::QuoteName(parts));
  }
  return RowsOf(sql::ShowCreateTable{std::move(parts)});
}

Result<sql::PlanPtr> Caller::Run(const pb::Catalog& call) {
  const auto parse = [](const std::string& text) { return sql::ParseMultipartIdentifier(text); };
  switch (call.cat_type_case()) {
    case pb::Catalog::kCurrentDatabase: return OneText(session_.current_database());
    case pb::Catalog::kSetCurrentDatabase: {
      TW_ASSIGN_OR_RETURN(std::vector<std::string> name, parse(call.set_current_database().db_name()));
      return RunCommand(sql::UseDatabase{std::move(name)});
    }
    case pb::Catalog::kListDatabases: return ListDatabases(call.list_databases());
    case pb::Catalog::kListTables:
      return ListTables(call.list_tables().has_db_name() ? std::optional(call.list_tables().db_name()) : std::nullopt,
                        call.list_tables().pattern(), false);
    case pb::Catalog::kListViews:
      return ListTables(call.list_views().has_db_name() ? std::optional(call.list_views().db_name()) : std::nullopt,
                        call.list_views().pattern(), true);
    case pb::Catalog::kListFunctions: return ListFunctions(call.list_functions());
    case pb::Catalog::kListColumns: {
      TW_ASSIGN_OR_RETURN(const auto parts, Parts(call.list_columns()));
      return ListColumns(parts);
    }
    case pb::Catalog::kGetDatabase: {
      TW_ASSIGN_OR_RETURN(const std::string name, Database(call.get_database().db_name()));
      TW_ASSIGN_OR_RETURN(const sql::DatabaseInfo database, catalog_.GetDatabase(name));
      return RowsPlan(DatabaseSchema(), {DatabaseRow(database)});
    }
    case pb::Catalog::kGetTable: {
      TW_ASSIGN_OR_RETURN(const auto parts, Parts(call.get_table()));
      return GetTable(parts);
    }
    case pb::Catalog::kGetFunction: return GetFunction(call.get_function());
    case pb::Catalog::kDatabaseExists: {
      TW_ASSIGN_OR_RETURN(const std::string name, Database(call.database_exists().db_name()));
      TW_ASSIGN_OR_RETURN(const bool exists, catalog_.DatabaseExists(name));
      return OneFlag(exists);
    }
    case pb::Catalog::kTableExists: {
      TW_ASSIGN_OR_RETURN(const auto parts, Parts(call.table_exists()));
      return TableExists(parts);
    }
    case pb::Catalog::kFunctionExists: {
      const pb::FunctionExists& exists = call.function_exists();
      TW_ASSIGN_OR_RETURN(const std::optional<ValueList> row,
                          FindFunction(exists.function_name(), exists.has_db_name() ? std::optional(exists.db_name()) : std::nullopt));
      return OneFlag(row.has_value());
    }
    case pb::Catalog::kCreateTable: return CreateTable(call.create_table());
    case pb::Catalog::kCreateExternalTable: {
      const pb::CreateExternalTable& external = call.create_external_table();
      pb::CreateTable table;
      table.set_table_name(external.table_name());
      if (external.has_path()) table.set_path(external.path());
      if (external.has_source()) table.set_source(external.source());
      if (external.has_schema()) *table.mutable_schema() = external.schema();
      *table.mutable_options() = external.options();
      return CreateTable(table);
    }
    case pb::Catalog::kDropTempView: return OneFlag(session_.DropTempView(call.drop_temp_view().view_name(), false));
    case pb::Catalog::kDropGlobalTempView:
      return OneFlag(session_.DropTempView(call.drop_global_temp_view().view_name(), true));
    // Every read sees the data as it is; what is cached is only remembered.
    case pb::Catalog::kIsCached: {
      TW_ASSIGN_OR_RETURN(const auto parts, parse(call.is_cached().table_name()));
      TW_RETURN_NOT_OK(GetTable(parts).status());
      TW_ASSIGN_OR_RETURN(const bool cached, session_.IsCached(parts));
      return OneFlag(cached);
    }
    case pb::Catalog::kCacheTable: {
      TW_ASSIGN_OR_RETURN(auto parts, parse(call.cache_table().table_name()));
      return RunCommand(sql::CacheTable{std::move(parts), nullptr, false, {}});
    }
    case pb::Catalog::kUncacheTable: {
      TW_ASSIGN_OR_RETURN(auto parts, parse(call.uncache_table().table_name()));
      return RunCommand(sql::UncacheTable{std::move(parts), false});
    }
    case pb::Catalog::kRefreshTable: {
      TW_ASSIGN_OR_RETURN(const auto parts, parse(call.refresh_table().table_name()));
      TW_RETURN_NOT_OK(GetTable(parts).status());
      return NoRows();
    }
    case pb::Catalog::kClearCache: return RunCommand(sql::ClearCache{});
    case pb::Catalog::kRefreshByPath: return NoRows();
    case pb::Catalog::kCurrentCatalog: return OneText(std::string(sql::kSessionCatalog));
    case pb::Catalog::kSetCurrentCatalog:
      if (EqualsIgnoreCase(call.set_current_catalog().catalog_name(), sql::kSessionCatalog)) return NoRows();
      return Error("CATALOG_NOT_FOUND").With("catalogName", data::QuoteIdentifier(call.set_current_catalog().catalog_name()))
          .With("config", "spark.sql.catalog." + call.set_current_catalog().catalog_name());
    case pb::Catalog::kListCatalogs: {
      const std::string name(sql::kSessionCatalog);
      const bool shown = !call.list_catalogs().has_pattern() || sql::MatchesPattern(name, call.list_catalogs().pattern());
      return RowsPlan({Column("name"), Column("description")}, shown ? Rows{{Text(name), Value()}} : Rows{});
    }
    case pb::Catalog::kDropTable: {
      TW_ASSIGN_OR_RETURN(auto parts, parse(call.drop_table().table_name()));
      return RunCommand(sql::DropTable{std::move(parts), call.drop_table().if_exists(), call.drop_table().purge(), false});
    }
    case pb::Catalog::kDropView: {
      TW_ASSIGN_OR_RETURN(auto parts, parse(call.drop_view().view_name()));
      return RunCommand(sql::DropTable{std::move(parts), call.drop_view().if_exists(), false, true});
    }
    case pb::Catalog::kCreateDatabase: {
      TW_ASSIGN_OR_RETURN(auto parts, parse(call.create_database().db_name()));
      sql::CreateDatabase create{std::move(parts), call.create_database().if_not_exists(), {}, {}, {}};
      for (const auto& [key, value] : call.create_database().properties()) {
        if (key == "comment") create.comment = value;
        else if (key == "location") create.location = value;
        else create.properties[key] = value;
      }
      return RunCommand(std::move(create));
    }
    case pb::Catalog::kDropDatabase: {
      TW_ASSIGN_OR_RETURN(auto parts, parse(call.drop_database().db_name()));
      return RunCommand(sql::DropDatabase{std::move(parts), call.drop_database().if_exists(), call.drop_database().cascade()});
    }
    case pb::Catalog::kRecoverPartitions: {
      TW_ASSIGN_OR_RETURN(auto parts, parse(call.recover_partitions().table_name()));
      return RunCommand(sql::AlterTable{std::move(parts), false, "MSCK REPAIR TABLE", sql::AlterTable::RecoverPartitions{}});
    }
    case pb::Catalog::kListPartitions: {
      TW_ASSIGN_OR_RETURN(auto parts, parse(call.list_partitions().table_name()));
      return RowsOf(sql::ShowPartitions{std::move(parts), {}});
    }
    case pb::Catalog::kGetTableProperties: return PropertiesOf(call.get_table_properties().table_name());
    case pb::Catalog::kGetCreateTableString: return CreateString(call.get_create_table_string());
    case pb::Catalog::kTruncateTable: {
      TW_ASSIGN_OR_RETURN(auto parts, parse(call.truncate_table().table_name()));
      return RunCommand(sql::TruncateTable{std::move(parts), {}});
    }
    case pb::Catalog::kAnalyzeTable: {
      TW_ASSIGN_OR_RETURN(auto parts, parse(call.analyze_table().table_name()));
      sql::AnalyzeTable analyze;
      analyze.table = std::move(parts);
      analyze.noscan = call.analyze_table().no_scan();
      return RunCommand(std::move(analyze));
    }
    case pb::Catalog::CAT_TYPE_NOT_SET: break;
  }
  return sql::OneOfNotSet(call.GetTypeName(), "CATTYPE_NOT_SET");
}

}  // namespace

Result<sql::PlanPtr> RunCatalogCall(Session& session, const pb::Catalog& call, std::stop_token stop) {
  return Caller(session, std::move(stop)).Run(call);
}

}  // namespace thalweg::front
