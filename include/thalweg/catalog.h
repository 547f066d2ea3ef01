#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/data_frame.h"
#include "thalweg/export.h"
#include "thalweg/status.h"

namespace thalweg {

struct DatabaseInfo {
  std::string name, catalog, description, location_uri;
};
struct TableInfo {
  std::string name, catalog;
  std::vector<std::string> database;  ///< empty for temporary views
  std::string description;
  std::string kind;                   ///< "MANAGED", "EXTERNAL", "VIEW", "TEMPORARY"
  bool is_temporary = false;
};
struct ColumnInfo {
  std::string name, description, type;
  bool is_nullable = false, is_partition = false;
};

/// Session::Catalog: databases, tables and views of a session. Thread: every call from any; each blocks until it is done.
class THALWEG_API Catalog {
 public:
  Result<std::string> CurrentDatabase() const;
  Status SetCurrentDatabase(std::string_view name) const;
  /// `pattern`: "*" and "|" as in SHOW; empty for all.
  Result<std::vector<DatabaseInfo>> ListDatabases(std::string_view pattern = "") const;
  /// Of the current database unless one is named; with temporary views.
  Result<std::vector<TableInfo>> ListTables(std::string_view database = "", std::string_view pattern = "") const;
  Result<std::vector<ColumnInfo>> ListColumns(std::string_view table) const;
  Result<std::vector<std::string>> ListFunctions(std::string_view pattern = "") const;
  Result<TableInfo> GetTable(std::string_view name) const;
  Result<bool> DatabaseExists(std::string_view name) const;
  Result<bool> TableExists(std::string_view name) const;
  Result<bool> FunctionExists(std::string_view name) const;
  /// `schema` in DDL, empty where the format knows it; with a path the table is external.
  Status CreateTable(std::string_view name, std::string_view format, std::string_view schema = "", std::string_view path = "",
                     const std::map<std::string, std::string>& options = {}) const;
  /// False when there was none.
  Result<bool> DropTempView(std::string_view name) const;
  Result<bool> DropGlobalTempView(std::string_view name) const;
  Status CacheTable(std::string_view name) const;
  Status UncacheTable(std::string_view name) const;
  Result<bool> IsCached(std::string_view name) const;
  Status ClearCache() const;
  Status RefreshTable(std::string_view name) const;

 private:
  friend class Session;
  explicit Catalog(std::shared_ptr<internal::SessionState> session) : session_(std::move(session)) {}
  std::shared_ptr<internal::SessionState> session_;
};

}  // namespace thalweg
