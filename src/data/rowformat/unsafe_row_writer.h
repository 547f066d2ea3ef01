#pragma once

#include <span>
#include <vector>

#include "base/status.h"
#include "data/columnar/column.h"
#include "data/rowformat/row_batch.h"

namespace thalweg::data {

/// Rows as Spark's UnsafeRow bytes, in canonical form (equal rows, equal bytes): padding and unused bytes are zero, NaN is
/// canonical, variable parts are dense and in column order, decimals beyond their precision become null.
/// Thread: immutable; Write may run on several threads. Layout: unsafe_row_format.h.
class UnsafeRowWriter {
 public:
  struct Options {
    bool normalize_zero = false;  ///< -0.0 becomes 0.0, also inside structs and arrays: for keys
  };
  explicit UnsafeRowWriter(std::vector<DataType> types) : UnsafeRowWriter(std::move(types), Options{}) {}
  UnsafeRowWriter(std::vector<DataType> types, Options options);

  /// One row per entry of `rows` (physical rows of the columns), or one per row when `rows` is null.
  /// Columns may have any encoding. A row of no columns is 0 bytes. Errors: INTERNAL_ERROR for a row beyond 2 GiB.
  Status Write(std::span<const ColumnPtr> columns, int64_t num_rows, const std::vector<int32_t>* rows,
               RowBatch* out) const;

  const std::vector<DataType>& types() const { return types_; }

 private:
  std::vector<DataType> types_;
  Options options_;
};

}  // namespace thalweg::data
