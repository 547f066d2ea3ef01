#include "sql/catalog/catalog.h"

#include <sqlite3.h>

#include "base/mutex.h"
#include "data/io/file_system.h"
#include "data/io/path.h"
#include "sql/catalog/catalog_names.h"
#include "sql/catalog/table_json.h"

namespace thalweg::sql {

namespace {

constexpr const char* kFileName = ".thalweg_catalog.sqlite";
constexpr int kBusyTimeoutMs = 10'000;
constexpr const char* kTables =
    "CREATE TABLE IF NOT EXISTS databases (name TEXT PRIMARY KEY, definition TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS tables (database TEXT NOT NULL, name TEXT NOT NULL, definition TEXT NOT NULL,"
    " PRIMARY KEY (database, name));"
    "CREATE TABLE IF NOT EXISTS functions (database TEXT NOT NULL, name TEXT NOT NULL, class TEXT NOT NULL,"
    " PRIMARY KEY (database, name))";

Status SqliteError(sqlite3* handle, std::string_view attempted) {
  return Error("IO_ERROR")
      .With("attempted", "run in the catalogue: " + std::string(attempted))
      .With("error", handle == nullptr ? "no memory" : sqlite3_errmsg(handle))
      .Kind(ErrorKind::kEnvironment);
}

Status SchemaExists(std::string_view name) {
  return Error("SCHEMA_ALREADY_EXISTS").With("schemaName", QuoteName({std::string(name)}));
}

Status NoSuchTable(std::string_view database, std::string_view name) {
  return TableNotFound({std::string(kSessionCatalog), LowerName(database), LowerName(name)}, database);
}

Status TableExistsAlready(const TableInfo& table) {
  return Error("TABLE_OR_VIEW_ALREADY_EXISTS").With("relationName", QuoteName(table.QualifiedName()));
}

DatabaseInfo BuiltInDefault(const std::string& warehouse) {
  return {std::string(kDefaultDatabase), warehouse, "default database", {}};
}

}  // namespace

// One connection, opened when the file is there or has to be made.
struct Catalog::Store {
  Mutex mutex;
  sqlite3* handle = nullptr;

  ~Store() {
    if (handle != nullptr) sqlite3_close(handle);
  }

  Status Open(const std::string& path) {
    if (sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr) !=
        SQLITE_OK) {
      const Status error = SqliteError(handle, "open " + path);
      sqlite3_close(handle);
      handle = nullptr;
      return error;
    }
    sqlite3_busy_timeout(handle, kBusyTimeoutMs);
    Status made = Run("PRAGMA synchronous=FULL");
    if (made.ok()) made = Run(kTables);
    return made;
  }

  Status Run(const char* sql) {
    return sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) == SQLITE_OK ? Status::OK() : SqliteError(handle, sql);
  }

  // Runs one statement with text arguments and answers its first column.
  Result<std::vector<std::string>> Query(const char* sql, const std::vector<std::string>& arguments) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(handle, sql, -1, &statement, nullptr) != SQLITE_OK) return SqliteError(handle, sql);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owner(statement, &sqlite3_finalize);
    for (size_t i = 0; i < arguments.size(); ++i) {
      sqlite3_bind_text(statement, static_cast<int>(i) + 1, arguments[i].data(), static_cast<int>(arguments[i].size()),
                        SQLITE_TRANSIENT);
    }
    std::vector<std::string> rows;
    while (true) {
      const int step = sqlite3_step(statement);
      if (step == SQLITE_DONE) return rows;
      if (step != SQLITE_ROW) return SqliteError(handle, sql);
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
      rows.emplace_back(text == nullptr ? "" : text, static_cast<size_t>(sqlite3_column_bytes(statement, 0)));
    }
  }

  // The database of a lower-case name; the built-in one needs no entry.
  Result<DatabaseInfo> GetDatabase(const std::string& name, const std::string& warehouse) {
    TW_ASSIGN_OR_RETURN(std::optional<DatabaseInfo> database, FindDatabase(name));
    if (database) return std::move(*database);
    if (name == kDefaultDatabase) return BuiltInDefault(warehouse);
    return SchemaNotFound(name);
  }

  Result<std::optional<DatabaseInfo>> FindDatabase(const std::string& name) {
    if (handle == nullptr) return std::optional<DatabaseInfo>{};
    TW_ASSIGN_OR_RETURN(const std::vector<std::string> rows, Query("SELECT definition FROM databases WHERE name = ?", {name}));
    if (rows.empty()) return std::optional<DatabaseInfo>{};
    TW_ASSIGN_OR_RETURN(DatabaseInfo database, DatabaseFromJson(rows[0]));
    return std::optional<DatabaseInfo>(std::move(database));
  }

  Result<std::optional<TableInfo>> FindTable(const std::string& database, const std::string& name) {
    if (handle == nullptr) return std::optional<TableInfo>{};
    TW_ASSIGN_OR_RETURN(const std::vector<std::string> rows,
                        Query("SELECT definition FROM tables WHERE database = ? AND name = ?", {database, name}));
    if (rows.empty()) return std::optional<TableInfo>{};
    TW_ASSIGN_OR_RETURN(TableInfo table, TableFromJson(rows[0]));
    return std::optional<TableInfo>(std::move(table));
  }

  Status PutTable(const TableInfo& table) {
    return Query("INSERT OR REPLACE INTO tables VALUES (?, ?, ?)", {table.database, table.name, TableToJson(table)}).status();
  }

  Status RemoveTable(const TableInfo& table) {
    return Query("DELETE FROM tables WHERE database = ? AND name = ?", {table.database, table.name}).status();
  }

  Result<std::optional<FunctionInfo>> FindFunction(const std::string& database, const std::string& name) {
    if (handle == nullptr) return std::optional<FunctionInfo>{};
    TW_ASSIGN_OR_RETURN(const std::vector<std::string> rows,
                        Query("SELECT class FROM functions WHERE database = ? AND name = ?", {database, name}));
    if (rows.empty()) return std::optional<FunctionInfo>{};
    return std::optional<FunctionInfo>({database, name, rows[0]});
  }

  Result<std::vector<TableInfo>> TablesOf(const std::string& database) {
    std::vector<TableInfo> tables;
    if (handle == nullptr) return tables;
    TW_ASSIGN_OR_RETURN(const std::vector<std::string> rows,
                        Query("SELECT definition FROM tables WHERE database = ? ORDER BY name", {database}));
    for (const std::string& row : rows) {
      TW_ASSIGN_OR_RETURN(TableInfo table, TableFromJson(row));
      tables.push_back(std::move(table));
    }
    return tables;
  }

  // Runs `body` as one transaction that nobody interleaves; one that only reads lets others read. Without a file there is nothing to
  // interleave with.
  template <typename Body>
  Status Transaction(Body body, bool reads_only = false) {
    if (handle == nullptr) return body();
    TW_RETURN_NOT_OK(Run(reads_only ? "BEGIN" : "BEGIN IMMEDIATE"));
    Status status = body();
    if (status.ok()) status = Run("COMMIT");
    if (!status.ok()) Ignore(Run("ROLLBACK"), "the first error counts");
    return status;
  }

  // Opens the file when it is there; with `create`, makes it.
  Status Ensure(data::FileSystem& files, const std::string& warehouse, bool create) {
    if (handle != nullptr) return Status::OK();
    const std::string path = data::JoinPath(warehouse, kFileName);
    TW_ASSIGN_OR_RETURN(const bool exists, files.Exists(path));
    if (!exists && !create) return Status::OK();
    TW_RETURN_NOT_OK(files.MakeDirectories(warehouse));
    return Open(path);
  }
};

Catalog::Catalog(data::FileSystem& file_system, std::string warehouse)
    : file_system_(file_system), warehouse_(std::move(warehouse)), store_(std::make_unique<Store>()) {}
Catalog::~Catalog() = default;

Status Catalog::CreateDatabase(const DatabaseInfo& database, bool if_not_exists) {
  TW_RETURN_NOT_OK(CheckCatalogName(database.name));
  const MutexLock lock(store_->mutex);
  TW_RETURN_NOT_OK(store_->Ensure(file_system_, warehouse_, true));
  DatabaseInfo entry = database;
  entry.name = LowerName(database.name);
  return store_->Transaction([&]() -> Status {
    TW_ASSIGN_OR_RETURN(const std::optional<DatabaseInfo> existing, store_->FindDatabase(entry.name));
    if (existing || entry.name == kDefaultDatabase) return if_not_exists ? Status::OK() : SchemaExists(entry.name);
    return store_->Query("INSERT INTO databases VALUES (?, ?)", {entry.name, DatabaseToJson(entry)}).status();
  });
}

Result<DroppedDatabase> Catalog::DropDatabase(std::string_view name, bool if_exists, bool cascade) {
  const MutexLock lock(store_->mutex);
  const std::string key = LowerName(name);
  if (key == kDefaultDatabase) return Error("UNSUPPORTED_FEATURE.DROP_DATABASE").With("database", QuoteName({std::string(kSessionCatalog), key}));
  TW_RETURN_NOT_OK(store_->Ensure(file_system_, warehouse_, false));
  DroppedDatabase dropped;
  TW_RETURN_NOT_OK(store_->Transaction([&]() -> Status {
    TW_ASSIGN_OR_RETURN(dropped.database, store_->FindDatabase(key));
    if (!dropped.database) return if_exists ? Status::OK() : SchemaNotFound(key);
    TW_ASSIGN_OR_RETURN(const std::vector<TableInfo> tables, store_->TablesOf(key));
    TW_ASSIGN_OR_RETURN(const std::vector<std::string> functions, store_->Query("SELECT name FROM functions WHERE database = ?", {key}));
    if ((!tables.empty() || !functions.empty()) && !cascade) {
      return Error("SCHEMA_NOT_EMPTY").With("schemaName", QuoteName({std::string(kSessionCatalog), key}));
    }
    for (const TableInfo& table : tables) {
      if (table.type == TableType::kManaged) dropped.managed.push_back(table);
    }
    TW_RETURN_NOT_OK(store_->Query("DELETE FROM tables WHERE database = ?", {key}).status());
    TW_RETURN_NOT_OK(store_->Query("DELETE FROM functions WHERE database = ?", {key}).status());
    return store_->Query("DELETE FROM databases WHERE name = ?", {key}).status();
  }));
  return dropped;
}

Result<DatabaseInfo> Catalog::GetDatabase(std::string_view name) {
  const MutexLock lock(store_->mutex);
  TW_RETURN_NOT_OK(store_->Ensure(file_system_, warehouse_, false));
  return store_->GetDatabase(LowerName(name), warehouse_);
}

Status Catalog::AlterDatabase(std::string_view name, const std::function<void(DatabaseInfo*)>& change) {
  const MutexLock lock(store_->mutex);
  const std::string key = LowerName(name);
  TW_RETURN_NOT_OK(store_->Ensure(file_system_, warehouse_, key == kDefaultDatabase));
  return store_->Transaction([&]() -> Status {
    TW_ASSIGN_OR_RETURN(DatabaseInfo database, store_->GetDatabase(key, warehouse_));
    change(&database);
    database.name = key;
    return store_->Query("INSERT OR REPLACE INTO databases VALUES (?, ?)", {key, DatabaseToJson(database)}).status();
  });
}

Result<bool> Catalog::DatabaseExists(std::string_view name) {
  Result<DatabaseInfo> database = GetDatabase(name);
  if (database.ok()) return true;
  if (database.status().condition() == "SCHEMA_NOT_FOUND") return false;
  return database.status();
}

Result<std::vector<DatabaseInfo>> Catalog::ListDatabases() {
  const MutexLock lock(store_->mutex);
  TW_RETURN_NOT_OK(store_->Ensure(file_system_, warehouse_, false));
  std::map<std::string, DatabaseInfo> sorted;
  sorted.emplace(kDefaultDatabase, BuiltInDefault(warehouse_));
  if (store_->handle != nullptr) {
    TW_ASSIGN_OR_RETURN(const std::vector<std::string> rows, store_->Query("SELECT definition FROM databases", {}));
    for (const std::string& row : rows) {
      TW_ASSIGN_OR_RETURN(DatabaseInfo database, DatabaseFromJson(row));
      std::string name = database.name;
      sorted.insert_or_assign(std::move(name), std::move(database));
    }
  }
  std::vector<DatabaseInfo> databases;
  for (auto& [name, database] : sorted) databases.push_back(std::move(database));
  return databases;
}

Result<bool> Catalog::CreateTable(const TableInfo& table, IfExists if_exists) {
  TW_RETURN_NOT_OK(CheckCatalogName(table.name));
  const MutexLock lock(store_->mutex);
  TableInfo entry = table;
  entry.database = LowerName(table.database);
  entry.name = LowerName(table.name);
  TW_RETURN_NOT_OK(store_->Ensure(file_system_, warehouse_, entry.database == kDefaultDatabase));
  bool created = true;
  TW_RETURN_NOT_OK(store_->Transaction([&]() -> Status {
    TW_RETURN_NOT_OK(store_->GetDatabase(entry.database, warehouse_).status());
    TW_ASSIGN_OR_RETURN(const std::optional<TableInfo> existing, store_->FindTable(entry.database, entry.name));
    created = !existing || if_exists != IfExists::kKeep;
    if (!created) return Status::OK();
    if (existing && if_exists == IfExists::kFail) return TableExistsAlready(entry);
    if (existing && entry.type == TableType::kView && existing->type != TableType::kView) {
      return Error("EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE")
          .With("tableName", QuoteName(entry.QualifiedName()))
          .With("operation", "CREATE OR REPLACE VIEW");
    }
    return store_->PutTable(entry);
  }));
  return created;
}

Status Catalog::AlterTable(std::string_view database, std::string_view name, const std::function<Status(TableInfo*)>& change) {
  const MutexLock lock(store_->mutex);
  const std::string in = LowerName(database);
  TW_RETURN_NOT_OK(store_->Ensure(file_system_, warehouse_, false));
  return store_->Transaction([&]() -> Status {
    TW_ASSIGN_OR_RETURN(const std::optional<TableInfo> old, store_->FindTable(in, LowerName(name)));
    if (!old) {
      TW_RETURN_NOT_OK(store_->GetDatabase(in, warehouse_).status());
      return NoSuchTable(database, name);
    }
    TableInfo entry = *old;
    TW_RETURN_NOT_OK(change(&entry));
    TW_RETURN_NOT_OK(CheckCatalogName(entry.name));
    entry.database = LowerName(entry.database);
    entry.name = LowerName(entry.name);
    if (entry.database != old->database || entry.name != old->name) {
      TW_RETURN_NOT_OK(store_->GetDatabase(entry.database, warehouse_).status());
      TW_ASSIGN_OR_RETURN(const std::optional<TableInfo> existing, store_->FindTable(entry.database, entry.name));
      if (existing) return TableExistsAlready(entry);
      TW_RETURN_NOT_OK(store_->RemoveTable(*old));
    }
    return store_->PutTable(entry);
  });
}

Result<TableInfo> Catalog::DropTable(std::string_view database, std::string_view name) {
  const MutexLock lock(store_->mutex);
  const std::string in = LowerName(database);
  TW_RETURN_NOT_OK(store_->Ensure(file_system_, warehouse_, false));
  std::optional<TableInfo> table;
  TW_RETURN_NOT_OK(store_->Transaction([&]() -> Status {
    TW_ASSIGN_OR_RETURN(table, store_->FindTable(in, LowerName(name)));
    if (table) return store_->RemoveTable(*table);
    TW_RETURN_NOT_OK(store_->GetDatabase(in, warehouse_).status());
    return NoSuchTable(database, name);
  }));
  return std::move(*table);
}

Result<TableInfo> Catalog::GetTable(std::string_view database, std::string_view name) {
  const MutexLock lock(store_->mutex);
  const std::string in = LowerName(database);
  TW_RETURN_NOT_OK(store_->Ensure(file_system_, warehouse_, false));
  std::optional<TableInfo> table;
  TW_RETURN_NOT_OK(store_->Transaction([&]() -> Status {
    TW_ASSIGN_OR_RETURN(table, store_->FindTable(in, LowerName(name)));
    if (table) return Status::OK();
    TW_RETURN_NOT_OK(store_->GetDatabase(in, warehouse_).status());
    return NoSuchTable(database, name);
  }, true));
  return std::move(*table);
}

Result<bool> Catalog::TableExists(std::string_view database, std::string_view name) {
  Result<TableInfo> table = GetTable(database, name);
  if (table.ok()) return true;
  if (table.status().kind() == ErrorKind::kUser) return false;
  return table.status();
}

Result<std::vector<TableInfo>> Catalog::ListTables(std::string_view database) {
  const MutexLock lock(store_->mutex);
  const std::string in = LowerName(database);
  TW_RETURN_NOT_OK(store_->Ensure(file_system_, warehouse_, false));
  std::vector<TableInfo> tables;
  TW_RETURN_NOT_OK(store_->Transaction([&]() -> Status {
    TW_RETURN_NOT_OK(store_->GetDatabase(in, warehouse_).status());
    TW_ASSIGN_OR_RETURN(tables, store_->TablesOf(in));
    return Status::OK();
  }, true));
  return tables;
}

Result<bool> Catalog::CreateFunction(const FunctionInfo& function, IfExists if_exists) {
  const MutexLock lock(store_->mutex);
  const std::string database = LowerName(function.database), name = LowerName(function.name);
  TW_RETURN_NOT_OK(store_->Ensure(file_system_, warehouse_, database == kDefaultDatabase));
  bool created = true;
  TW_RETURN_NOT_OK(store_->Transaction([&]() -> Status {
    TW_RETURN_NOT_OK(store_->GetDatabase(database, warehouse_).status());
    TW_ASSIGN_OR_RETURN(const std::optional<FunctionInfo> existing, store_->FindFunction(database, name));
    created = !existing || if_exists != IfExists::kKeep;
    if (!created) return Status::OK();
    if (existing && if_exists == IfExists::kFail) {
      return Error("ROUTINE_ALREADY_EXISTS")
          .With("routineName", QuoteName({std::string(kSessionCatalog), database, name}))
          .With("newRoutineType", "routine")
          .With("existingRoutineType", "routine");
    }
    return store_->Query("INSERT OR REPLACE INTO functions VALUES (?, ?, ?)", {database, name, function.class_name}).status();
  }));
  return created;
}

Result<bool> Catalog::DropFunction(std::string_view database, std::string_view name) {
  const MutexLock lock(store_->mutex);
  const std::string in = LowerName(database), key = LowerName(name);
  TW_RETURN_NOT_OK(store_->Ensure(file_system_, warehouse_, false));
  std::optional<FunctionInfo> existing;
  TW_RETURN_NOT_OK(store_->Transaction([&]() -> Status {
    TW_ASSIGN_OR_RETURN(existing, store_->FindFunction(in, key));
    return existing ? store_->Query("DELETE FROM functions WHERE database = ? AND name = ?", {in, key}).status() : Status::OK();
  }));
  return existing.has_value();
}

Result<std::optional<FunctionInfo>> Catalog::FindFunction(std::string_view database, std::string_view name) {
  const MutexLock lock(store_->mutex);
  TW_RETURN_NOT_OK(store_->Ensure(file_system_, warehouse_, false));
  return store_->FindFunction(LowerName(database), LowerName(name));
}

Result<std::vector<FunctionInfo>> Catalog::ListFunctions(std::string_view database) {
  const MutexLock lock(store_->mutex);
  const std::string in = LowerName(database);
  TW_RETURN_NOT_OK(store_->Ensure(file_system_, warehouse_, false));
  std::vector<FunctionInfo> functions;
  TW_RETURN_NOT_OK(store_->Transaction([&]() -> Status {
    TW_RETURN_NOT_OK(store_->GetDatabase(in, warehouse_).status());
    if (store_->handle == nullptr) return Status::OK();
    TW_ASSIGN_OR_RETURN(const std::vector<std::string> names, store_->Query("SELECT name FROM functions WHERE database = ? ORDER BY name", {in}));
    for (const std::string& name : names) {
      TW_ASSIGN_OR_RETURN(std::optional<FunctionInfo> function, store_->FindFunction(in, name));
      if (function) functions.push_back(std::move(*function));
    }
    return Status::OK();
  }, true));
  return functions;
}

std::string Catalog::DefaultDatabaseLocation(std::string_view name) const {
  return data::JoinPath(warehouse_, LowerName(name) + ".db");
}

std::string Catalog::DefaultTableLocation(const DatabaseInfo& database, std::string_view table) {
  return data::JoinPath(database.location, LowerName(table));
}

}  // namespace thalweg::sql
