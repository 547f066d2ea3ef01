#pragma once

// Rows as RocksDB's keys and values (encoding "unsaferow"). Do not change: Spark reads and writes them.
//   key                      00 row
//   key, prefix scans on p   int32 LE n | 00 row of the first p columns (n bytes) | 00 row of the others
//   value                    00 row
// With row checksums a value is int32 LE CRC-32C(key, value) | int32 LE bytes of the value | value, and the key of a removal in
// a changelog int32 LE CRC-32C(key) | key.

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/types/data_type.h"

namespace thalweg::engine {

/// Between rows and what lies on disk, for one store. Thread: immutable.
class RocksDbRowEncoding {
 public:
  /// `key_types` matter only where there is a prefix. `store`: for messages.
  RocksDbRowEncoding(std::vector<data::DataType> key_types, int prefix_columns, bool row_checksum, std::string store);

  /// Both append to `out`. Errors: MALFORMED_STATE_ROW for a key that is shorter than its columns.
  Status EncodeKey(std::string_view row, std::string* out) const;
  /// `key`: the encoded one.
  void EncodeValue(std::string_view key, std::string_view row, std::string* out) const;
  /// The key of a removal as a changelog has it.
  void EncodeRemovedKey(std::string_view key, std::string* out) const;

  /// The row of an encoded key: a view of it, or of a text that is added to `texts`.
  /// Errors: CANNOT_LOAD_STATE_STORE.UNCATEGORIZED.
  Result<std::string_view> DecodeKey(std::string_view key, std::deque<std::string>* texts) const;
  /// Errors: also STATE_STORE_ROW_CHECKSUM_VERIFICATION_FAILED.
  Result<std::string_view> DecodeValue(std::string_view key, std::string_view value) const;
  /// The encoded key of a removal in a changelog. Errors: as DecodeValue.
  Result<std::string_view> DecodeRemovedKey(std::string_view key) const;

 private:
  Status CheckSum(uint32_t expected, uint32_t computed) const;

  std::vector<data::DataType> key_types_;
  int prefix_columns_;
  bool row_checksum_;
  std::string store_;
};

}  // namespace thalweg::engine
