#pragma once

// Blocks of RocksDB's table files, format versions 2 to 5. Do not change. Source: RocksDB's wiki, "Rocksdb BlockBasedTable Format".

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace thalweg::engine {

inline constexpr size_t kBlockTrailerBytes = 5;  // one of compression, four of checksum
inline constexpr size_t kFooterBytes = 53;

struct BlockHandle {
  uint64_t offset = 0;
  uint64_t size = 0;  ///< without the trailer
};

struct TableFooter {
  uint8_t checksum = 0;
  BlockHandle meta_index;
  BlockHandle index;
};

/// From a file's last kFooterBytes. Both blocks lie before the footer, in a file of `file_bytes`.
Result<TableFooter> ParseTableFooter(std::string_view bytes, uint64_t file_bytes);

/// A handle of two numbers, and nothing after it.
Result<BlockHandle> ParseBlockHandle(std::string_view bytes);

/// What stands in a block's trailer for `block`, its byte of compression included. 0 when the kind of checksum has none.
Result<uint32_t> BlockChecksum(uint8_t kind, std::string_view block);

/// The contents of a stored block, which comes with its trailer. They view `stored`, or `scratch` when they were compressed.
/// `make_room` (may be empty) is told how large `scratch` will be, before it is.
/// Errors: INTERNAL_ERROR; UNSUPPORTED_FEATURE.THALWEG for a compression or checksum that is not here; those of `make_room`.
Result<std::string_view> OpenBlock(uint8_t checksum, std::string_view stored, std::string* scratch,
                                   const std::function<Status(size_t bytes)>& make_room = {});

struct BlockEntry {
  std::string_view key;    ///< in the DecodedBlock
  std::string_view value;  ///< in the block's contents
};

/// The entries of one block.
struct DecodedBlock {
  std::vector<BlockEntry> entries;
  std::string keys;  ///< what the entries' keys view
};

/// Splits `contents` into entries, one at least; restart points stand where they must. The order of keys is the caller's to check.
/// Errors: INTERNAL_ERROR.
Status DecodeBlock(std::string_view contents, DecodedBlock* block);

/// A block that says where others lie: `handles[i]` belongs to the key `block.entries[i]`.
struct DecodedIndex {
  DecodedBlock block;
  std::vector<BlockHandle> handles;
};
/// `bare_handles`: they have no length, and what follows from the one before is left out. Where they point is the caller's to check.
Status DecodeIndex(std::string_view contents, bool bare_handles, DecodedIndex* index);

}  // namespace thalweg::engine
