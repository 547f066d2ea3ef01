#pragma once

// Databases, tables, views and functions that outlive a session: one SQLite file in the warehouse directory. Views that belong to a
// session (temporary ones) are the session's own.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/types/data_type.h"

namespace thalweg::data {
class FileSystem;
}

namespace thalweg::sql {

inline constexpr std::string_view kSessionCatalog = "spark_catalog";
inline constexpr std::string_view kDefaultDatabase = "default";

struct DatabaseInfo {
  std::string name;                       ///< lower case
  std::string location;                   ///< absolute path
  std::string comment;
  std::map<std::string, std::string> properties;
};

enum class TableType : uint8_t { kManaged, kExternal, kView };

struct TableInfo {
  std::string database, name;             ///< lower case
  TableType type = TableType::kManaged;
  std::string format;                     ///< "parquet", "delta"; empty for views
  data::Schema schema;                    ///< partition columns included
  std::vector<std::string> partition_columns;
  std::string location;                   ///< absolute path; empty for views
  std::optional<std::string> comment;
  std::map<std::string, std::string> properties, options;
  int64_t created_ms = 0;                 ///< since 1970 UTC
  std::string owner;

  // Views.
  std::string view_text;
  std::vector<std::string> view_columns;  ///< what the query calls its columns; empty in entries of early versions
  std::string view_database;              ///< the current database when it was created
  std::map<std::string, std::string> view_settings;

  /// {"spark_catalog", database, name}.
  std::vector<std::string> QualifiedName() const;
};

/// A function by the class that makes it: known by name, run by nobody here.
struct FunctionInfo {
  std::string database, name;             ///< lower case
  std::string class_name;
};

/// What DROP DATABASE took out.
struct DroppedDatabase {
  std::optional<DatabaseInfo> database;   ///< none: there was no such database
  std::vector<TableInfo> managed;         ///< its managed tables, whose data the caller removes
};

/// Names compare without case. Thread: synchronised; every call is one transaction, so that processes may share a warehouse: what it finds
/// out of the catalogue still holds when it writes.
/// Blocks: on the disk; at most 10 s on another process's transaction. The file is made with the first entry.
/// Errors: SCHEMA_NOT_FOUND, SCHEMA_ALREADY_EXISTS, SCHEMA_NOT_EMPTY, TABLE_OR_VIEW_NOT_FOUND, TABLE_OR_VIEW_ALREADY_EXISTS,
/// IO_ERROR kind kEnvironment for a file that cannot be read or written.
class Catalog {
 public:
  /// `warehouse`: absolute path; nothing is created yet.
  Catalog(data::FileSystem& file_system, std::string warehouse);
  ~Catalog();

  const std::string& warehouse() const { return warehouse_; }

  Status CreateDatabase(const DatabaseInfo& database, bool if_not_exists);
  /// `cascade` drops its tables, too.
  Result<DroppedDatabase> DropDatabase(std::string_view name, bool if_exists, bool cascade);
  Result<DatabaseInfo> GetDatabase(std::string_view name);
  /// `change` makes the new definition out of the one that is there, the name apart. It must not ask this catalogue.
  /// Errors: SCHEMA_NOT_FOUND.
  Status AlterDatabase(std::string_view name, const std::function<void(DatabaseInfo*)>& change);
  Result<bool> DatabaseExists(std::string_view name);
  /// Sorted by name.
  Result<std::vector<DatabaseInfo>> ListDatabases();

  enum class IfExists : uint8_t { kFail, kKeep, kReplace };
  /// False: it existed and was kept. Errors: EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE for a view in place of a table.
  Result<bool> CreateTable(const TableInfo& table, IfExists if_exists);
  /// `change` makes the new entry, its name too, out of the one that is there; with an error of it nothing changes. It must not ask this
  /// catalogue. Errors: TABLE_OR_VIEW_NOT_FOUND, TABLE_OR_VIEW_ALREADY_EXISTS (of another name), those of `change`.
  Status AlterTable(std::string_view database, std::string_view name, const std::function<Status(TableInfo*)>& change);
  /// Errors: TABLE_OR_VIEW_NOT_FOUND.
  Result<TableInfo> DropTable(std::string_view database, std::string_view name);
  /// Errors: TABLE_OR_VIEW_NOT_FOUND, SCHEMA_NOT_FOUND.
  Result<TableInfo> GetTable(std::string_view database, std::string_view name);
  Result<bool> TableExists(std::string_view database, std::string_view name);
  /// Tables and views, sorted by name. Errors: SCHEMA_NOT_FOUND.
  Result<std::vector<TableInfo>> ListTables(std::string_view database);

  /// False: it existed and was kept. Errors: ROUTINE_ALREADY_EXISTS, SCHEMA_NOT_FOUND.
  Result<bool> CreateFunction(const FunctionInfo& function, IfExists if_exists);
  /// False: there was none.
  Result<bool> DropFunction(std::string_view database, std::string_view name);
  Result<std::optional<FunctionInfo>> FindFunction(std::string_view database, std::string_view name);
  /// Sorted by name. Errors: SCHEMA_NOT_FOUND.
  Result<std::vector<FunctionInfo>> ListFunctions(std::string_view database);

  /// Where a database, or a managed table of it, keeps its data by default.
  std::string DefaultDatabaseLocation(std::string_view name) const;
  static std::string DefaultTableLocation(const DatabaseInfo& database, std::string_view table);

 private:
  struct Store;
  data::FileSystem& file_system_;
  const std::string warehouse_;
  std::unique_ptr<Store> store_;
};

/// Spark's pattern of SHOW ... LIKE: `*` any text, `|` alternatives, case ignored.
bool MatchesPattern(std::string_view name, std::string_view pattern);
/// ASCII lower case.
std::string LowerName(std::string_view name);
/// `a`.`b`.`c`, as conditions show names.
std::string QuoteName(const std::vector<std::string>& parts);
Status TableNotFound(const std::vector<std::string>& name_parts, std::string_view current_database);
Status SchemaNotFound(std::string_view name);

}  // namespace thalweg::sql
