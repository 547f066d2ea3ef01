#pragma once

// A database as a snapshot holds it, and the looks at it that come before anything is believed.

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/memory.h"
#include "base/mutex.h"
#include "base/status.h"
#include "data/io/file_system.h"
#include "engine/state/rocksdb/manifest.h"

namespace thalweg::engine {

/// What a snapshot names.
struct DatabaseImage {
  struct Named {
    std::string name;
    std::string bytes;
  };
  struct Table {
    std::string name;  ///< within the database: "000008.sst"
    std::string path;  ///< in the checkpoint; empty: new, its bytes are in Database::NewTable()
    int64_t size_bytes = 0;
  };
  std::vector<Named> files;  ///< CURRENT, MANIFEST-*
  std::vector<Table> tables;
};

struct DatabaseEntry {
  std::string_view key;
  std::string_view value;
};

/// Tables that were read to their end and found to be what a MANIFEST says of them, or written by us. A table's file is named by a UUID
/// and never changes: one look is enough. Forgets what is too much. Thread: any.
class VerifiedTables {
 public:
  bool Contains(const std::string& path, const ManifestTable& stated) const TW_EXCLUDES(mutex_);
  void Insert(const std::string& path, const ManifestTable& stated) TW_EXCLUDES(mutex_);

 private:
  using Seen = std::tuple<std::string, uint64_t, uint64_t, std::string, std::string>;
  static Seen SeenOf(const std::string& path, const ManifestTable& stated) {
    return {path, stated.size_bytes, stated.largest_sequence, stated.smallest, stated.largest};
  }

  mutable Mutex mutex_;
  std::set<Seen> seen_ TW_GUARDED_BY(mutex_);
};

/// An image whose MANIFEST was read: what it lists is there, under the size that it says.
struct CheckedImage {
  Manifest manifest;
  std::vector<DatabaseImage::Table> tables;  ///< manifest.tables' files, in the same order
};

/// Of an image without files: an empty database. Opens no table.
/// Errors: INTERNAL_ERROR for damage; UNSUPPORTED_FEATURE.THALWEG.
Result<CheckedImage> CheckImage(const DatabaseImage& image);

/// Opens a stored table. Errors: CANNOT_LOAD_STATE_STORE.UNEXPECTED_FILE_SIZE.
Result<std::unique_ptr<data::ReadableFile>> OpenTable(data::FileSystem& file_system, const DatabaseImage::Table& table);

/// Reads every table that is not verified yet to its end, one after the other: then RocksDB's library may have it. `memory` (may be
/// null) pays. Blocks: on the disk.
Status VerifyImage(data::FileSystem& file_system, const CheckedImage& image, VerifiedTables* verified, MemoryAccount* memory);

/// Every entry in the order of keys, some thousand at a time; the views live during the call. A table is open from its first key to
/// its last: from level 1 on one of each level at a time. `memory` (may be null) pays for what is open. Tables that were read to their
/// end are verified then. Blocks: on the disk. Errors: those of TableReader and of `visit`; OUT_OF_MEMORY. Nothing is thrown.
Status ScanImage(data::FileSystem& file_system, const CheckedImage& image, VerifiedTables* verified, MemoryAccount* memory,
                 const std::function<Status(std::span<const DatabaseEntry>)>& visit);

}  // namespace thalweg::engine
