#pragma once

// The only face of the RocksDB library in this program.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/memory.h"
#include "base/status.h"
#include "data/io/file_system.h"
#include "engine/state/rocksdb/database_image.h"
#include "engine/state/rocksdb/rocksdb_metrics.h"

namespace thalweg::engine {

/// A RocksDB database over the table files of a checkpoint, which are read where they lie; what is written stays in memory until
/// its owner takes it. No write-ahead log, no compaction in the background. Keys and values are RocksDB's (row_encoding.h).
/// Thread: confined to its owner. Blocks: on the disk. Errors: INTERNAL_ERROR with RocksDB's words, OUT_OF_MEMORY; nothing is
/// thrown. After an error of a change or of Flush it is of no use any more.
class Database {
 public:
  /// Of an image that VerifyImage() has seen: RocksDB's library believes what has the right checksums, and ends the process over what
  /// does not hold together. It gets a MANIFEST of ours. `memory` (may be null, must outlive it) pays for what is in memory, the cache
  /// of blocks apart: that is one for all, of 32 MiB.
  static Result<std::unique_ptr<Database>> Open(data::FileSystem& file_system, const CheckedImage& image,
                                                MemoryAccount* memory = nullptr);
  ~Database();

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
