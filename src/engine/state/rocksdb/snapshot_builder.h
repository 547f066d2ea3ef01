#pragma once

// One state version as a database, and how it becomes `<version>.zip` with its table files.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/status.h"
#include "data/io/atomic_write.h"
#include "data/io/file_system.h"
#include "engine/state/rocksdb/database.h"
#include "engine/state/rocksdb/snapshot_metadata.h"

namespace thalweg::engine {

/// A snapshot as it lies in a store's directory.
struct StoredSnapshot {
  DatabaseImage image;
  SnapshotMetadata metadata;
};

/// The directory of a store's table files.
std::string TablesDirectory(const std::string& store_directory);

/// Reads `<path>` whole, its tables not yet. Nothing in a damaged file ends the process.
/// Errors: CANNOT_LOAD_STATE_STORE.*; UNSUPPORTED_FEATURE.THALWEG for column families.
Result<StoredSnapshot> ReadStoredSnapshot(data::FileSystem& file_system, const std::string& store_directory,
                                          const std::string& path);
/// Only what its metadata says. Errors: as ReadStoredSnapshot.
Result<SnapshotMetadata> ReadStoredMetadata(data::FileSystem& file_system, const std::string& path);
/// An error of a database or an archive as one of loading; those that are named already stay.
Status SnapshotLoadError(const std::string& path, const Status& status);

/// What Stage() wrote.
struct StagedSnapshot {
  int64_t zip_bytes = 0;
  int64_t table_bytes = 0;
  std::set<std::string> tables;  ///< stored names of every table of the snapshot, old ones too
};

/// A database that goes from version to version. Table files that a version shares with the one before are not written again.
/// Thread: confined to its owner. Keys and values as row_encoding.h makes them.
class SnapshotBuilder {
 public:
  /// From a snapshot, or from nothing. Reads those of its tables that `verified` does not know; adds what Stage() writes to it.
  /// `memory`: as Database's.
  static Result<std::unique_ptr<SnapshotBuilder>> Open(data::FileSystem& file_system, std::string store_directory,
                                                       const std::optional<StoredSnapshot>& base,
                                                       VerifiedTables& verified, MemoryAccount* memory = nullptr);

  Status Put(std::string_view key, std::string_view value);
  Status Remove(std::string_view key);
  /// As Database's.
  Status Charge() { return database_->Charge(); }
  /// Stages new table files first, then the archive as `path`. Adds to `work`, also what came before it.
  Result<StagedSnapshot> Stage(data::DurableGroup& group, const std::string& path, StagingWork* work);
  int64_t memory_bytes() const { return database_->memory_bytes(); }

 private:
  SnapshotBuilder(std::string store_directory, std::unique_ptr<Database> database, VerifiedTables& verified)
      : store_directory_(std::move(store_directory)), verified_(verified), database_(std::move(database)) {}
  Status StageTables(data::DurableGroup& group, const DatabaseImage& image, StagedSnapshot* staged, StagingWork* work);

  /// Tables of ours need no look when a later version begins with them.
  void NoteOwnTables(const DatabaseImage& image);

  const std::string store_directory_;
  VerifiedTables& verified_;
  std::unique_ptr<Database> database_;
  std::map<std::string, std::string> stored_names_;  // of tables, by their name in the database
  int64_t num_keys_ = 0;                             // -1: Spark did not count
  int64_t gets_ = 0;
};

}  // namespace thalweg::engine
