#pragma once

// Sorting rows by typed keys.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/memory.h"
#include "base/status.h"
#include "data/columnar/chunk.h"

namespace thalweg::engine {

struct SortKey {
  int column = 0;
  data::DataType type;
  bool ascending = true;
  bool nulls_first = true;
};

/// Errors: UNSUPPORTED_FEATURE.THALWEG for collated strings; INTERNAL_ERROR for types without an order.
Status CheckSortable(const data::DataType& type);

/// -1, 0, 1: two values that are not null, as Spark orders them (NaN largest, -0.0 equal to 0.0, text by bytes, nested values by
/// their parts with nulls first). Flat columns of the same type.
int CompareValues(const data::Column& left, int64_t left_row, const data::Column& right, int64_t right_row);

/// The rows of `chunk` (dense) in order; equal ones keep theirs. At most `limit` of them. Keys become words that compare as
/// integers; only texts with a common prefix and nested values are compared by value. Input that consists of few ascending
/// runs (sorted partitions one after the other) is merged.
std::vector<int32_t> SortedRows(const data::Chunk& chunk, const std::vector<SortKey>& keys, int64_t limit);

/// Keeps chunks until all are there. Thread: confined to its user. Errors: OUT_OF_MEMORY.
class Sorter {
 public:
  Sorter(std::vector<SortKey> keys, std::vector<data::DataType> types, int64_t limit, MemoryReservation memory);
  Status Add(const data::Chunk& chunk);
  /// Sorts; then Next gives chunks until it is empty.
  Status Finish();
  std::optional<data::Chunk> Next();
  bool done() const { return next_ >= static_cast<int64_t>(order_.size()); }
  void Clear();

 private:
  Status Cut();

  const std::vector<SortKey> keys_;
  const std::vector<data::DataType> types_;
  const int64_t limit_;
  MemoryReservation memory_;
  std::vector<data::Chunk> chunks_;
  int64_t rows_ = 0;
  data::Chunk all_;
  std::vector<int32_t> order_;
  int64_t next_ = 0;
};

}  // namespace thalweg::engine
