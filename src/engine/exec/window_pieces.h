#pragma once

// Results of functions over windows, handed out a piece at a time. Internal to this room.

#include <cstdint>
#include <span>
#include <vector>

#include "data/columnar/column.h"

namespace thalweg::engine {

/// A piece of results is not made larger than this, if it has more than one row.
inline constexpr int64_t kPieceBytes = 4 << 20;
/// Rows that one call adds to accumulators, about: a millisecond.
inline constexpr int64_t kStepRows = 16 << 10;

/// Bytes of the values in rows [begin, end) of a flat column, texts and elements too.
int64_t BytesOfRows(const data::Column& column, int64_t begin, int64_t end);

/// Results that rows share: row i has result `of_row[i]`, null for -1. Thread: confined.
class SharedResults {
 public:
  bool empty() const { return next_ == of_row_.size(); }
  void Set(data::ColumnPtr results, std::vector<int32_t> of_row);
  /// Of the next rows: `most` of them, or fewer where kPieceBytes are reached. Not empty.
  data::ColumnPtr Next(int64_t most);
  int64_t bytes() const { return index_bytes() + (results_ != nullptr ? results_->bytes() : 0); }
  /// Without the results.
  int64_t index_bytes() const { return static_cast<int64_t>(of_row_.capacity() * sizeof(int32_t)); }

 private:
  data::ColumnPtr results_;
  bool nested_ = false;  ///< values whose size is not known from the type
  std::vector<int32_t> of_row_;
  size_t next_ = 0;
};

}  // namespace thalweg::engine
