#include "data/columnar/chunk.h"

#include "base/status.h"

namespace thalweg::data {

Chunk Chunk::Dense() const {
  if (selection_ == nullptr) return *this;
  std::vector<ColumnPtr> columns;
  columns.reserve(columns_.size());
  for (const auto& column : columns_) columns.push_back(Take(column, *selection_));
  Chunk dense(std::move(columns), num_rows());
  if (change_kinds_ != nullptr) {
    auto kinds = std::make_shared<std::vector<ChangeKind>>();
    kinds->reserve(selection_->size());
    for (const int32_t row : *selection_) kinds->push_back((*change_kinds_)[static_cast<size_t>(row)]);
    dense.set_change_kinds(std::move(kinds));
  }
  return dense;
}

Chunk Chunk::Compacted() const {
  Chunk dense = Dense();
  for (auto& column : dense.columns_) column = Compact(column);
  return dense;
}

Chunk Chunk::Slice(int64_t offset, int64_t length) const {
  TW_DCHECK(offset >= 0 && length >= 0 && offset + length <= num_rows());
  if (selection_ != nullptr) {
    Chunk sliced = *this;
    sliced.set_selection(std::make_shared<std::vector<int32_t>>(selection_->begin() + offset,
                                                                selection_->begin() + offset + length));
    return sliced;
  }
  std::vector<ColumnPtr> columns;
  columns.reserve(columns_.size());
  for (const auto& column : columns_) columns.push_back(data::Slice(column, offset, length));
  Chunk sliced(std::move(columns), length);
  if (change_kinds_ != nullptr) {
    sliced.set_change_kinds(std::make_shared<std::vector<ChangeKind>>(change_kinds_->begin() + offset,
                                                                      change_kinds_->begin() + offset + length));
  }
  return sliced;
}

int64_t Chunk::bytes() const {
  int64_t total = 0;
  for (const auto& column : columns_) total += column->bytes();
  if (selection_ != nullptr) total += static_cast<int64_t>(selection_->capacity() * sizeof(int32_t));
  if (change_kinds_ != nullptr) total += static_cast<int64_t>(change_kinds_->capacity());
  return total;
}

Chunk ConcatChunks(std::span<const Chunk> chunks, std::span<const DataType> types) {
  std::vector<Chunk> dense;
  int64_t rows = 0;
  bool kinds_given = false;
  for (const Chunk& chunk : chunks) {
    if (chunk.num_rows() == 0) continue;
    dense.push_back(chunk.Dense());
    rows += chunk.num_rows();
    kinds_given = kinds_given || chunk.change_kinds() != nullptr;
  }
  std::vector<ColumnPtr> columns;
  for (size_t i = 0; i < types.size(); ++i) {
    if (dense.empty()) {
      columns.push_back(Flatten(Column::Nulls(types[i], 0)));
      continue;
    }
    std::vector<ColumnPtr> pieces;
    for (const Chunk& chunk : dense) pieces.push_back(chunk.column(static_cast<int>(i)));
    columns.push_back(Concat(pieces));
  }
  Chunk result(std::move(columns), rows);
  if (kinds_given) {
    auto kinds = std::make_shared<std::vector<ChangeKind>>();
    for (const Chunk& chunk : dense) {
      if (chunk.change_kinds() != nullptr) {
        kinds->insert(kinds->end(), chunk.change_kinds()->begin(), chunk.change_kinds()->end());
      } else {
        kinds->insert(kinds->end(), static_cast<size_t>(chunk.num_rows()), ChangeKind::kInsert);
      }
    }
    result.set_change_kinds(std::move(kinds));
  }
  return result;
}

}  // namespace thalweg::data
