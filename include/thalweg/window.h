#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "thalweg/column.h"
#include "thalweg/export.h"

namespace thalweg {

namespace internal {
struct WindowNode;
}

/// Which rows a function sees from each row: `row_number().Over(Window().PartitionBy({"k"}).OrderBy({col("ts").Desc()}))`.
/// Without a frame: the whole partition, or with an order all rows up to the last that equals the row in it.
/// Thread: immutable; copying is cheap.
class THALWEG_API Window {
 public:
  static constexpr int64_t kUnboundedPreceding = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kUnboundedFollowing = std::numeric_limits<int64_t>::max();
  static constexpr int64_t kCurrentRow = 0;

  Window();
  Window PartitionBy(const ColumnList& keys) const;
  /// Columns, or orders of them (Desc()).
  Window OrderBy(const ColumnList& orders) const;
  /// Rows from `first` to `last`, counted from the row itself; negative ones lie before it. Numbers of 32 bits beside the constants.
  Window RowsBetween(int64_t first, int64_t last) const;
  /// Rows whose value in the order (one number) lies between the row's own plus `first` and plus `last`.
  Window RangeBetween(int64_t first, int64_t last) const;

 private:
  friend class Column;
  explicit Window(std::shared_ptr<const internal::WindowNode> node) : node_(std::move(node)) {}
  std::shared_ptr<const internal::WindowNode> node_;
};

}  // namespace thalweg
