#pragma once

// Contract: what flows between operators.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/columnar/column.h"

namespace thalweg::data {

/// The target number of rows of a chunk; 1 row is legal and cheap, more than this is legal too (readers may give larger ones).
inline constexpr int64_t kChunkRows = 4096;

enum class ChangeKind : uint8_t { kInsert = 0, kUpdateBefore = 1, kUpdateAfter = 2, kDelete = 3 };

/// Rows as columns. Cheap to copy (pointers only).
/// Shape: every column has `physical_rows` rows; with a selection only the rows it lists, in its order, exist
/// ("logical rows"). Zero columns with a row count are legal. Thread: immutable once passed on.
class Chunk {
 public:
  using Selection = std::shared_ptr<const std::vector<int32_t>>;

  Chunk() = default;
  Chunk(std::vector<ColumnPtr> columns, int64_t physical_rows)
      : columns_(std::move(columns)), physical_rows_(physical_rows) {}

  int64_t num_rows() const {  ///< logical
    return selection_ ? static_cast<int64_t>(selection_->size()) : physical_rows_;
  }
  int64_t physical_rows() const { return physical_rows_; }
  int num_columns() const { return static_cast<int>(columns_.size()); }
  const ColumnPtr& column(int i) const { return columns_[i]; }
  const std::vector<ColumnPtr>& columns() const { return columns_; }

  const Selection& selection() const { return selection_; }  ///< null = all rows
  void set_selection(Selection selection) { selection_ = std::move(selection); }
  /// One kind per physical row; null = all inserts.
  const std::shared_ptr<const std::vector<ChangeKind>>& change_kinds() const { return change_kinds_; }
  void set_change_kinds(std::shared_ptr<const std::vector<ChangeKind>> kinds) { change_kinds_ = std::move(kinds); }

  /// The same rows without a selection (Take on every column when there is one).
  Chunk Dense() const;
  /// Dense, and every column `Compact`ed: for whoever keeps rows.
  Chunk Compacted() const;
  Chunk Slice(int64_t offset, int64_t length) const;  ///< logical rows
  int64_t bytes() const;

 private:
  std::vector<ColumnPtr> columns_;
  int64_t physical_rows_ = 0;
  Selection selection_;
  std::shared_ptr<const std::vector<ChangeKind>> change_kinds_;
};

/// All rows in one dense chunk. `types` gives the columns when there are no chunks.
Chunk ConcatChunks(std::span<const Chunk> chunks, std::span<const DataType> types);

}  // namespace thalweg::data
