#include "front/connect/catalog_calls.h"

#include <spark/connect/catalog.pb.h>

#include <algorithm>

#include "base/string_case.h"
#include "data/columnar/builder.h"
#include "data/io/path.h"
#include "sql/catalog/catalog.h"
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

ValueList TemporaryViewRow(const std::string& name) {
  return {Text(name), Value(), Value(ValueList{}), Value(), Text("TEMPORARY"), Value(true)};
}

ValueList SessionFunctionRow(const std::string& name) {
  return {Text(name), Value(), Value(), Value(), Text("org.apache.spark.sql.UDFRegistration$$Lambda"), Value(true)};
}

ValueList FunctionRow(const std::string& name) {
  return {Text(name), Value(), Value(), Text(""), Text("builtin." + name), Value(true)};
}

class Caller {
 public:
  explicit Caller(Session& session) : session_(session), catalog_(*session.server().catalog) {}
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
  Result<sql::PlanPtr> TableExists(const std::vector<std::string>& parts);
  Result<sql::PlanPtr> ListFunctions(const std::string& pattern);
  Result<sql::PlanPtr> CreateTable(const pb::CreateTable& call);
  Result<sql::PlanPtr> RunCommand(sql::CommandBody body);

  Session& session_;
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
  TW_ASSIGN_OR_RETURN(const std::vector<sql::TableInfo> tables, catalog_.ListTables(name));
  Rows rows;
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
    TW_ASSIGN_OR_RETURN(const sql::TableInfo table, catalog_.GetTable(name.first, name.second));
    schema = table.schema;
    partitions = table.partition_columns;
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
  if (IsTempView(parts)) return RowsPlan(TableSchema(), {TemporaryViewRow(sql::LowerName(parts.back()))});
  TW_ASSIGN_OR_RETURN(const Name name, session_.TableName(parts));
  Result<sql::TableInfo> table = catalog_.GetTable(name.first, name.second);
  if (table.ok()) return RowsPlan(TableSchema(), {TableRow(*table)});
  if (table.status().condition() == "TABLE_OR_VIEW_NOT_FOUND") return sql::TableNotFound(parts, session_.current_database());
  return table.status();
}

Result<sql::PlanPtr> Caller::TableExists(const std::vector<std::string>& parts) {
  if (IsTempView(parts)) return OneFlag(true);
  TW_ASSIGN_OR_RETURN(const Name name, session_.TableName(parts));
  TW_ASSIGN_OR_RETURN(const bool exists, catalog_.TableExists(name.first, name.second));
  return OneFlag(exists);
}

Result<sql::PlanPtr> Caller::ListFunctions(const std::string& pattern) {
  std::vector<std::string> names = session_.server().functions->Names();
  std::sort(names.begin(), names.end());
  Rows rows;
  for (const std::string& name : names) {
    if (pattern.empty() || sql::MatchesPattern(name, pattern)) rows.push_back(FunctionRow(name));
  }
  for (const std::string& name : session_.RegisteredFunctions()) {
    if (pattern.empty() || sql::MatchesPattern(name, pattern)) rows.push_back(SessionFunctionRow(name));
  }
  return RowsPlan(FunctionSchema(), rows);
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
  TW_RETURN_NOT_OK(session_.CreateTable(&table, false).status());
  auto relation = std::make_shared<sql::UnresolvedRelation>(table.QualifiedName(), sql::OptionMap(), false);
  return session_.Analyze(relation);
}

Result<sql::PlanPtr> Caller::RunCommand(sql::CommandBody body) {
  TW_RETURN_NOT_OK(session_.CommandRows(std::make_shared<sql::Command>(std::move(body)), {}).status());
  return NoRows();
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
    case pb::Catalog::kListFunctions: return ListFunctions(call.list_functions().pattern());
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
    case pb::Catalog::kGetFunction: {
      TW_ASSIGN_OR_RETURN(const auto parts, parse(call.get_function().function_name()));
      const std::string name = sql::LowerName(parts.back());
      const sql::FunctionRegistry& functions = *session_.server().functions;
      if (parts.size() == 1 && session_.FindFunction(name) != nullptr) return RowsPlan(FunctionSchema(), {SessionFunctionRow(name)});
      if (functions.FindScalar(name) == nullptr && functions.FindAggregate(name) == nullptr) {
        return Error("UNRESOLVED_ROUTINE")
            .With("routineName", sql::QuoteName(parts))
            .With("searchPath", "[`system`.`builtin`, `system`.`session`, `spark_catalog`.`default`]");
      }
      return RowsPlan(FunctionSchema(), {FunctionRow(name)});
    }
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
      TW_ASSIGN_OR_RETURN(const auto parts, parse(call.function_exists().function_name()));
      const sql::FunctionRegistry& functions = *session_.server().functions;
      const bool registered = parts.size() == 1 && session_.FindFunction(parts[0]) != nullptr;
      return OneFlag(registered || functions.FindScalar(parts.back()) != nullptr || functions.FindAggregate(parts.back()) != nullptr);
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
    // There is no cache of tables: every read sees the data as it is.
    case pb::Catalog::kIsCached: {
      TW_ASSIGN_OR_RETURN(const auto parts, parse(call.is_cached().table_name()));
      TW_RETURN_NOT_OK(GetTable(parts).status());
      return OneFlag(false);
    }
    case pb::Catalog::kCacheTable: {
      TW_ASSIGN_OR_RETURN(const auto parts, parse(call.cache_table().table_name()));
      TW_RETURN_NOT_OK(GetTable(parts).status());
      return NoRows();
    }
    case pb::Catalog::kUncacheTable: {
      TW_ASSIGN_OR_RETURN(const auto parts, parse(call.uncache_table().table_name()));
      TW_RETURN_NOT_OK(GetTable(parts).status());
      return NoRows();
    }
    case pb::Catalog::kRefreshTable: {
      TW_ASSIGN_OR_RETURN(const auto parts, parse(call.refresh_table().table_name()));
      TW_RETURN_NOT_OK(GetTable(parts).status());
      return NoRows();
    }
    case pb::Catalog::kClearCache:
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
      create.properties.insert(call.create_database().properties().begin(), call.create_database().properties().end());
      return RunCommand(std::move(create));
    }
    case pb::Catalog::kDropDatabase: {
      TW_ASSIGN_OR_RETURN(auto parts, parse(call.drop_database().db_name()));
      return RunCommand(sql::DropDatabase{std::move(parts), call.drop_database().if_exists(), call.drop_database().cascade()});
    }
    case pb::Catalog::kRecoverPartitions: return Unsupported("Catalog.recoverPartitions");
    case pb::Catalog::kListPartitions: return Unsupported("Catalog.listPartitions");
    case pb::Catalog::kGetTableProperties: return Unsupported("Catalog.getTableProperties");
    case pb::Catalog::kGetCreateTableString: return Unsupported("Catalog.getCreateTableString");
    case pb::Catalog::kTruncateTable: return Unsupported("Catalog.truncateTable");
    case pb::Catalog::kAnalyzeTable: return Unsupported("Catalog.analyzeTable");
    case pb::Catalog::CAT_TYPE_NOT_SET: break;
  }
  return sql::OneOfNotSet(call.GetTypeName(), "CATTYPE_NOT_SET");
}

}  // namespace

Result<sql::PlanPtr> RunCatalogCall(Session& session, const pb::Catalog& call) { return Caller(session).Run(call); }

}  // namespace thalweg::front
