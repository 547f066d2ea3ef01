#pragma once

// Reads RocksDB's table files without RocksDB's library, which trusts what has the right checksums.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/memory.h"
#include "base/status.h"
#include "data/io/file_system.h"
#include "engine/state/rocksdb/manifest.h"
#include "engine/state/rocksdb/table_format.h"

namespace thalweg::engine {

/// The entries of one table in their order, a block at a time. Whoever has come to the end without an error has seen that the whole
/// file is as RocksDB writes it: every checksum, restart point and handle, the order of keys, the range that the MANIFEST gives it, the
/// counts in its properties, the filter's shape.
/// Thread: confined to its owner. Blocks: on the disk. Errors: INTERNAL_ERROR for damage, UNSUPPORTED_FEATURE.THALWEG, OUT_OF_MEMORY.
class TableReader {
 public:
  /// `table` must outlive it. Reads footer, index, properties and filter. `memory` (may be null, must outlive it) pays for what it holds.
  static Result<std::unique_ptr<TableReader>> Open(std::unique_ptr<data::ReadableFile> file, const ManifestTable& table,
                                                   MemoryAccount* memory);

  /// The next block's entries, at least one; keys are internal. Null at the end. Valid until the next call.
  Result<const DecodedBlock*> NextBlock();

 private:
  struct Counts {
    uint64_t entries = 0;
    uint64_t deletions = 0;
    uint64_t key_bytes = 0;
    uint64_t value_bytes = 0;
    bool operator==(const Counts&) const = default;
  };

  TableReader(std::unique_ptr<data::ReadableFile> file, const ManifestTable& table, MemoryAccount* memory)
      : file_(std::move(file)), table_(table), memory_(memory == nullptr ? MemoryReservation() : MemoryReservation(*memory)) {}
  Status ReadFrame();
  Status ReadProperties(BlockHandle handle);
  Status ReadFilter(BlockHandle handle);
  Status CheckIndex() const;
  Status CheckBlock(const DecodedBlock& block);
  Status CheckEnd() const;
  /// Makes `of` hold `bytes` without growing; what stood in it is gone then. Charged before it is there.
  Status MakeRoom(size_t bytes, std::string* of);
  /// Charges what there is now.
  Status Charge();
  /// A block with its trailer, from the window.
  Result<std::string_view> Stored(BlockHandle handle);
  Result<std::string_view> Contents(BlockHandle handle);
  /// Negative: an index key comes before an internal one. An index key has a trailer or not.
  int CompareIndexKey(std::string_view index_key, std::string_view key) const;

  const std::unique_ptr<data::ReadableFile> file_;
  const ManifestTable& table_;
  MemoryReservation memory_;
  TableFooter footer_;
  bool user_keys_in_index_ = false;
  bool bare_handles_ = false;
  Counts stated_;
  Counts seen_;
  DecodedIndex index_;
  size_t next_block_ = 0;
  DecodedBlock block_;
  std::string last_key_;
  std::string window_;  // of the file, from window_offset_ on
  uint64_t window_offset_ = 0;
  std::string scratch_;
};

}  // namespace thalweg::engine
