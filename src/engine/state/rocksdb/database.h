#pragma once

// The only face of the RocksDB library in this program.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "base/status.h"
#include "data/io/file_system.h"
#include "engine/state/rocksdb/rocksdb_metrics.h"

namespace thalweg::engine {

/// A database as a snapshot holds it.
struct DatabaseImage {
  struct Named {
    std::string name;
    std::string bytes;
  };
  struct Table {
    std::string name;  ///< within the database: "000008.sst"
    std::string path;  ///< in the checkpoint; empty: new, its bytes are in NewTable()
    int64_t size_bytes = 0;
  };
  std::vector<Named> files;  ///< CURRENT, MANIFEST-*
  std::vector<Table> tables;
};

struct DatabaseEntry {
  std::string_view key;
  std::string_view value;
};

/// A RocksDB database over the table files of a checkpoint, which are read where they lie; what is written stays in memory until
/// its owner takes it. No write-ahead log, no compaction in the background. Keys and values are RocksDB's (row_encoding.h).
/// Thread: confined to its owner. Blocks: on the disk. Errors: INTERNAL_ERROR with RocksDB's words, OUT_OF_MEMORY; nothing is
/// thrown. After an error of a change or of Flush it is of no use any more.
class Database {
 public:
  /// An image without files is an empty database. `writable`: false when it is only to be read, which is cheaper. `memory` (may be
  /// null, must outlive it) pays for what is in memory, the cache of blocks apart: that is one for all, of 32 MiB.
  static Result<std::unique_ptr<Database>> Open(data::FileSystem& file_system, const DatabaseImage& image, bool writable,
                                                MemoryAccount* memory = nullptr);
  ~Database();

  /// Every entry in the order of keys, some thousand at a time; the views live during the call. Checksums are verified.
  Status Scan(const std::function<Status(std::span<const DatabaseEntry>)>& visit) const;
  /// Whether there is such a key.
  Result<bool> Contains(std::string_view key) const;
  Status Put(std::string_view key, std::string_view value);
  Status Remove(std::string_view key);
  /// Pays for the changes that are not in a table yet; call it now and then.
  Status Charge();

  /// Writes what is in memory to a new table, and merges tables where many or much has come: every entry is rewritten a few
  /// times in its life. Tables that were merged are no part of the image any more. What does not fit into memory is merged later.
  Status Flush(TableWork* work);
  /// After Flush.
  Result<DatabaseImage> Image() const;
  /// The bytes of a table whose path in the image is empty.
  std::shared_ptr<const std::string> NewTable(const std::string& name) const;
  /// What new tables and the log of changes to the database's shape hold in memory.
  int64_t memory_bytes() const;

 private:
  struct Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace thalweg::engine
