#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace thalweg::data {

/// UnsafeRows of one chunk, one after the other in one block. Reusable: writers overwrite it and keep its memory.
struct RowBatch {
  std::vector<uint8_t> bytes;
  std::vector<int64_t> offsets{0};  ///< num_rows() + 1; row i is bytes [offsets[i], offsets[i + 1])

  int64_t num_rows() const { return static_cast<int64_t>(offsets.size()) - 1; }
  std::string_view row(int64_t i) const {
    const auto at = static_cast<size_t>(i);
    return {reinterpret_cast<const char*>(bytes.data()) + offsets[at],
            static_cast<size_t>(offsets[at + 1] - offsets[at])};
  }
};

}  // namespace thalweg::data
