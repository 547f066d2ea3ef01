#pragma once

// Minimum, maximum and null count of a leaf column while it is written. Private to the Parquet family.

#include <memory>
#include <span>

#include "data/columnar/column.h"
#include "data/formats/parquet/parquet_writer.h"

namespace thalweg::data {

/// Thread: confined to its writer.
class LeafAccumulator {
 public:
  virtual ~LeafAccumulator() = default;
  /// Which rows of a flat column are values: `rows`, or all `count` of them when `rows` is null.
  virtual void Add(const Column& column, const int32_t* rows, int64_t count) = 0;
  void AddNulls(int64_t count) { null_count_ += count; }
  virtual void Finish(LeafStatistics* out) const { out->null_count = null_count_; }
  /// One that counts nulls alone for types without an order that Delta knows (boolean, binary, nested).
  static std::unique_ptr<LeafAccumulator> Make(const DataType& type);

 protected:
  int64_t null_count_ = 0;
};

}  // namespace thalweg::data
