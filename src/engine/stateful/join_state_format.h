#pragma once

// What a stream-stream join keeps on disk: state format 2. Do not change. Per side two stores:
//   <side>-keyToNumValues       key                  -> n, a bigint row
//   <side>-keyWithIndexToValue  key and a bigint i   -> the side's row and a boolean, `matched`
// The i of a key are 0 .. n - 1, n >= 1. Source: Spark's SymmetricHashJoinStateManager; docs/internals/stream_join.md.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/types/data_type.h"

namespace thalweg::engine {

inline constexpr char kKeyToNumValues[] = "-keyToNumValues";
inline constexpr char kKeyWithIndexToValue[] = "-keyWithIndexToValue";

/// Rows of keys with and without an index. Thread: immutable.
class IndexedKeyFormat {
 public:
  explicit IndexedKeyFormat(std::vector<data::DataType> key_types);
  /// Appends the row of `key` with `index` to `out`.
  void Append(std::string_view key, int64_t index, std::vector<uint8_t>* out) const;
  int64_t bytes(std::string_view key) const { return static_cast<int64_t>(key.size()) + growth_; }
  /// The inverse; false when the row is damaged.
  bool Split(std::string_view row, std::string* key, int64_t* index) const;
  const std::vector<data::DataType>& types() const { return types_; }  ///< of the key, then bigint

 private:
  std::vector<data::DataType> types_;
  int64_t columns_;   // of the key
  int64_t growth_;    // bytes that the index adds
  std::vector<int64_t> variable_;  // key columns whose slots hold offsets
};

/// A bigint row, 16 bytes.
void WriteCountRow(int64_t count, uint8_t* row);
/// The bigint of such a row, or -1.
int64_t ReadCountRow(std::string_view row);

}  // namespace thalweg::engine
