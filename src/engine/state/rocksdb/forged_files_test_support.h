#pragma once

// For tests and fuzzing: RocksDB's files whose checksums are right, whatever else is wrong with them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/state/crc32c.h"
#include "engine/state/rocksdb/byte_cursor.h"
#include "engine/state/rocksdb/table_format.h"

namespace thalweg::engine {

inline void PutFixed32(uint32_t value, size_t at, std::string* bytes) {
  std::string fixed;
  AppendFixed32(value, &fixed);
  bytes->replace(at, fixed.size(), fixed);
}

/// Puts the checksums of a MANIFEST right, as far as its records are where they must be.
inline void ForgeManifest(std::string* log) {
  constexpr size_t kLogBlockBytes = 32768;
  for (size_t at = 0; at + 7 <= log->size();) {
    const size_t left = kLogBlockBytes - at % kLogBlockBytes;
    if (left < 7) {
      at += left;
      continue;
    }
    const size_t size = static_cast<uint8_t>((*log)[at + 4]) | static_cast<size_t>(static_cast<uint8_t>((*log)[at + 5])) << 8;
    if (at + 7 + size > log->size()) return;
    PutFixed32(MaskedCrc32c(Crc32c(std::string_view(*log).substr(at + 6, size + 1))), at, log);
    at += 7 + size;
  }
}

/// Of one block; false: it does not lie in the table.
inline bool ForgeBlock(uint8_t checksum, BlockHandle handle, std::string* table) {
  if (handle.offset > table->size() || handle.size > table->size() || handle.offset + handle.size + kBlockTrailerBytes > table->size()) {
    return false;
  }
  const auto right = BlockChecksum(checksum, std::string_view(*table).substr(handle.offset, handle.size + 1));
  if (right.ok()) PutFixed32(*right, handle.offset + handle.size + 1, table);
  return right.ok();
}

/// Of the block and of those that it names, as far as they can be found.
inline void ForgeIndex(uint8_t checksum, BlockHandle handle, bool bare_handles, std::string* table) {
  if (!ForgeBlock(checksum, handle, table)) return;
  const std::string stored = table->substr(handle.offset, handle.size + kBlockTrailerBytes);
  std::string scratch;
  DecodedIndex index;
  const auto contents = OpenBlock(checksum, stored, &scratch);
  if (!contents.ok() || !DecodeIndex(*contents, bare_handles, &index).ok()) return;
  for (const BlockHandle& named : index.handles) ForgeBlock(checksum, named, table);
}

/// Puts the checksums of a table right.
inline void ForgeTable(std::string* table) {
  if (table->size() < kFooterBytes) return;
  const auto footer = ParseTableFooter(std::string_view(*table).substr(table->size() - kFooterBytes), table->size());
  if (!footer.ok()) return;
  ForgeIndex(footer->checksum, footer->meta_index, false, table);
  ForgeIndex(footer->checksum, footer->index, true, table);
  ForgeIndex(footer->checksum, footer->index, false, table);
}

}  // namespace thalweg::engine
