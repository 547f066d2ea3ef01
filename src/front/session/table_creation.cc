#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "data/io/atomic_write.h"
#include "data/io/file_system.h"
#include "data/io/path.h"
#include "front/session/session_impl.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/catalog_names.h"

namespace thalweg::front {

namespace {

constexpr auto kOtherCreator = std::chrono::seconds(30);  // how long the making of a table may take
constexpr auto kLookAgain = std::chrono::milliseconds(2);

// What a statement that failed or crashed before its first commit leaves: a log without a commit is no table.
bool IsLeftOver(data::FileSystem& files, const data::FileInfo& entry) {
  if (data::IsTemporaryName(entry.name())) return true;
  if (entry.name() != "_delta_log") return false;
  const auto log = files.List(entry.path);
  return log.ok() && std::all_of(log->begin(), log->end(), [](const data::FileInfo& file) { return data::IsTemporaryName(file.name()); });
}

Status LocationTaken(const sql::TableInfo& table) {
  return Error("LOCATION_ALREADY_EXISTS")
      .With("location", "'" + data::QualifiedPathText(table.location) + "'")
      .With("identifier", sql::QuoteName(table.QualifiedName()));
}

// The directory of a managed table while it is made: one creator at a time has it, in this process and others.
class OwnDirectory {
 public:
  // Waits for whoever makes the same table.
  static Result<OwnDirectory> Take(data::FileSystem& files, Clock& clock, const sql::TableInfo& table) {
    OwnDirectory own(files, table.location);
    TW_ASSIGN_OR_RETURN(const bool exists, files.Exists(table.location));
    own.made_ = !exists;
    for (const auto end = clock.NowMonotonic() + kOtherCreator; clock.NowMonotonic() < end; clock.WaitFor(kLookAgain, nullptr, {})) {
      TW_RETURN_NOT_OK(files.MakeDirectories(table.location));
      Result<std::unique_ptr<data::FileLock>> lock = files.TryLock(table.location);
      if (!lock.ok() && !data::IsNotFound(lock.status())) return std::move(lock).status();
      if (!lock.ok() || *lock == nullptr) continue;
      own.lock_ = std::move(*lock);
      return own;
    }
    return LocationTaken(table);
  }

  // The table owns it: nothing may stand there yet.
  Status CheckEmpty(const sql::TableInfo& table) const {
    TW_ASSIGN_OR_RETURN(const std::vector<data::FileInfo> entries, files_->List(path_));
    const bool empty = std::all_of(entries.begin(), entries.end(), [&](const data::FileInfo& entry) { return IsLeftOver(*files_, entry); });
    return empty ? Status::OK() : LocationTaken(table);
  }
  void RemoveIfNew() const {
    if (made_) Ignore(files_->Remove(path_), "somebody else uses it");
  }

 private:
  OwnDirectory(data::FileSystem& files, std::string path) : files_(&files), path_(std::move(path)) {}

  data::FileSystem* files_;  // borrowed
  std::string path_;
  bool made_ = false;
  std::unique_ptr<data::FileLock> lock_;
};

Result<bool> AlreadyThere(const sql::TableInfo& table, bool if_not_exists) {
  if (if_not_exists) return false;
  return Error("TABLE_OR_VIEW_ALREADY_EXISTS").With("relationName", sql::QuoteName(table.QualifiedName()));
}

}  // namespace

Result<bool> Session::CreateTable(sql::TableInfo* table, bool if_not_exists) {
  ServerContext& server = impl_->server;
  TW_RETURN_NOT_OK(sql::CheckCatalogName(table->name));  // before anything is made on disk
  TW_ASSIGN_OR_RETURN(const sql::DatabaseInfo database, server.catalog->GetDatabase(table->database));
  TW_ASSIGN_OR_RETURN(const bool exists, server.catalog->TableExists(table->database, table->name));
  if (exists) return AlreadyThere(*table, if_not_exists);
  if (table->format.empty()) table->format = GetConfOption("spark.sql.sources.default").value_or("parquet");
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<const sql::DataSource> source, FindDataSource(table->format));
  table->format = source->short_name();
  std::optional<OwnDirectory> own;
  if (table->location.empty()) {
    table->type = sql::TableType::kManaged;
    table->location = sql::Catalog::DefaultTableLocation(database, table->name);
    TW_ASSIGN_OR_RETURN(own, OwnDirectory::Take(*server.connectors.file_system, *server.connectors.clock, *table));
    TW_ASSIGN_OR_RETURN(const bool made_meanwhile, server.catalog->TableExists(table->database, table->name));
    if (made_meanwhile) return AlreadyThere(*table, if_not_exists);
    TW_RETURN_NOT_OK(own->CheckEmpty(*table));
  } else {
    table->type = sql::TableType::kExternal;
    TW_ASSIGN_OR_RETURN(const std::string path, data::PathFromText(table->location));
    table->location = data::AbsolutePath(path);
  }
  table->created_ms = server.connectors.clock->NowMillis();
  table->owner = impl_->user;
  if (table->format != "delta") {
    // Files promise nothing about nulls.
    for (data::StructField& field : table->schema) {
      field.nullable = true;
      field.type = field.type.AsNullable();
    }
  }
  const std::shared_ptr<const sql::EvalConfig> config = eval_config();
  const auto make = [&] { return source->CreateTable(table->location, table->schema, table->partition_columns, table->properties, *config); };
  Status made = make();
  if (made.condition() == "TABLE_OR_VIEW_ALREADY_EXISTS") made = make();  // by another, meanwhile: it may be the same
  if (!made.ok()) {
    if (own) own->RemoveIfNew();
    return made;
  }
  if (table->schema.empty()) {
    TW_ASSIGN_OR_RETURN(const sql::TablePtr opened, OpenTable(*table, {}, false, false));
    table->schema = opened->schema();
    table->partition_columns = opened->partition_columns();
  }
  return server.catalog->CreateTable(*table, if_not_exists ? sql::Catalog::IfExists::kKeep : sql::Catalog::IfExists::kFail);
}

}  // namespace thalweg::front
