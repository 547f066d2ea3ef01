#include "thalweg/catalog.h"

#include <spark/connect/catalog.pb.h>

#include "data/types/data_type.h"
#include "front/dataframe/nodes.h"
#include "sql/protocol/type_proto.h"

namespace thalweg {

using internal::DataFrameAccess;
namespace proto = ::spark::connect;

namespace {

// A call of the catalog and the rows it answers; fill(call) names it.
template <typename Fill>
Result<std::vector<Row>> Call(const std::shared_ptr<internal::SessionState>& session, Fill&& fill) {
  proto::Relation relation;
  fill(relation.mutable_catalog());
  return DataFrameAccess::Make(session, std::move(relation)).Collect();
}

// Columns are read by position; a server of another version may have fewer.
const Cell& At(const Row& row, size_t column) {
  static const Cell null;
  return column < row.size() ? row[column] : null;
}

std::string TextAt(const Row& row, size_t column) {
  const std::string* text = At(row, column).Get<std::string>();
  return text == nullptr ? std::string() : *text;
}

bool FlagAt(const Row& row, size_t column) {
  const bool* flag = At(row, column).Get<bool>();
  return flag != nullptr && *flag;
}

Result<bool> Flag(const Result<std::vector<Row>>& rows) {
  if (!rows.ok()) return rows.status();
  if (rows->size() != 1) return InternalError("the catalog answered without a value");
  return FlagAt((*rows)[0], 0);
}

TableInfo TableOf(const Row& row) {
  TableInfo table{TextAt(row, 0), TextAt(row, 1), {}, TextAt(row, 3), TextAt(row, 4), FlagAt(row, 5)};
  if (const CellList* names = At(row, 2).Get<CellList>()) {
    for (const Cell& name : *names) {
      if (const std::string* text = name.Get<std::string>()) table.database.push_back(*text);
    }
  }
  return table;
}

}  // namespace

Result<std::string> Catalog::CurrentDatabase() const {
  TW_ASSIGN_OR_RETURN(const std::vector<Row> rows, Call(session_, [](proto::Catalog* call) { call->mutable_current_database(); }));
  if (rows.size() != 1) return InternalError("the catalog answered without a value");
  return TextAt(rows[0], 0);
}

Status Catalog::SetCurrentDatabase(std::string_view name) const {
  return Call(session_, [&](proto::Catalog* call) { call->mutable_set_current_database()->set_db_name(std::string(name)); }).status();
}

Result<std::vector<DatabaseInfo>> Catalog::ListDatabases(std::string_view pattern) const {
  TW_ASSIGN_OR_RETURN(const std::vector<Row> rows, Call(session_, [&](proto::Catalog* call) {
                        call->mutable_list_databases();
                        if (!pattern.empty()) call->mutable_list_databases()->set_pattern(std::string(pattern));
                      }));
  std::vector<DatabaseInfo> databases;
  for (const Row& row : rows) databases.push_back({TextAt(row, 0), TextAt(row, 1), TextAt(row, 2), TextAt(row, 3)});
  return databases;
}

Result<std::vector<TableInfo>> Catalog::ListTables(std::string_view database, std::string_view pattern) const {
  TW_ASSIGN_OR_RETURN(const std::vector<Row> rows, Call(session_, [&](proto::Catalog* call) {
                        call->mutable_list_tables();
                        if (!database.empty()) call->mutable_list_tables()->set_db_name(std::string(database));
                        if (!pattern.empty()) call->mutable_list_tables()->set_pattern(std::string(pattern));
                      }));
  std::vector<TableInfo> tables;
  for (const Row& row : rows) tables.push_back(TableOf(row));
  return tables;
}

Result<std::vector<ColumnInfo>> Catalog::ListColumns(std::string_view table) const {
  TW_ASSIGN_OR_RETURN(const std::vector<Row> rows,
                      Call(session_, [&](proto::Catalog* call) { call->mutable_list_columns()->set_table_name(std::string(table)); }));
  std::vector<ColumnInfo> columns;
  for (const Row& row : rows) columns.push_back({TextAt(row, 0), TextAt(row, 1), TextAt(row, 2), FlagAt(row, 3), FlagAt(row, 4)});
  return columns;
}

Result<std::vector<std::string>> Catalog::ListFunctions(std::string_view pattern) const {
  TW_ASSIGN_OR_RETURN(const std::vector<Row> rows, Call(session_, [&](proto::Catalog* call) {
                        call->mutable_list_functions();
                        if (!pattern.empty()) call->mutable_list_functions()->set_pattern(std::string(pattern));
                      }));
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(TextAt(row, 0));
  return names;
}

Result<TableInfo> Catalog::GetTable(std::string_view name) const {
  TW_ASSIGN_OR_RETURN(const std::vector<Row> rows,
                      Call(session_, [&](proto::Catalog* call) { call->mutable_get_table()->set_table_name(std::string(name)); }));
  if (rows.size() != 1) return InternalError("the catalog answered without a table");
  return TableOf(rows[0]);
}

Result<bool> Catalog::DatabaseExists(std::string_view name) const {
  return Flag(Call(session_, [&](proto::Catalog* call) { call->mutable_database_exists()->set_db_name(std::string(name)); }));
}
Result<bool> Catalog::TableExists(std::string_view name) const {
  return Flag(Call(session_, [&](proto::Catalog* call) { call->mutable_table_exists()->set_table_name(std::string(name)); }));
}
Result<bool> Catalog::FunctionExists(std::string_view name) const {
  return Flag(Call(session_, [&](proto::Catalog* call) { call->mutable_function_exists()->set_function_name(std::string(name)); }));
}

Status Catalog::CreateTable(std::string_view name, std::string_view format, std::string_view schema, std::string_view path,
                            const std::map<std::string, std::string>& options) const {
  proto::DataType type;
  TW_ASSIGN_OR_RETURN(const data::Schema columns, data::ParseSchema(schema));
  sql::SchemaToProto(columns, &type);
  return Call(session_,
              [&](proto::Catalog* call) {
                proto::CreateTable* table = call->mutable_create_table();
                table->set_table_name(std::string(name));
                if (!format.empty()) table->set_source(std::string(format));
                if (!path.empty()) table->set_path(std::string(path));
                if (!columns.empty()) *table->mutable_schema() = type;
                for (const auto& [key, value] : options) (*table->mutable_options())[key] = value;
              })
      .status();
}

Result<bool> Catalog::DropTempView(std::string_view name) const {
  return Flag(Call(session_, [&](proto::Catalog* call) { call->mutable_drop_temp_view()->set_view_name(std::string(name)); }));
}
Result<bool> Catalog::DropGlobalTempView(std::string_view name) const {
  return Flag(Call(session_, [&](proto::Catalog* call) { call->mutable_drop_global_temp_view()->set_view_name(std::string(name)); }));
}
Status Catalog::CacheTable(std::string_view name) const {
  return Call(session_, [&](proto::Catalog* call) { call->mutable_cache_table()->set_table_name(std::string(name)); }).status();
}
Status Catalog::UncacheTable(std::string_view name) const {
  return Call(session_, [&](proto::Catalog* call) { call->mutable_uncache_table()->set_table_name(std::string(name)); }).status();
}
Result<bool> Catalog::IsCached(std::string_view name) const {
  return Flag(Call(session_, [&](proto::Catalog* call) { call->mutable_is_cached()->set_table_name(std::string(name)); }));
}
Status Catalog::ClearCache() const {
  return Call(session_, [](proto::Catalog* call) { call->mutable_clear_cache(); }).status();
}
Status Catalog::RefreshTable(std::string_view name) const {
  return Call(session_, [&](proto::Catalog* call) { call->mutable_refresh_table()->set_table_name(std::string(name)); }).status();
}

}  // namespace thalweg
