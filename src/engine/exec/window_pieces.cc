#include "engine/exec/window_pieces.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "data/columnar/fixed_width.h"

namespace thalweg::engine {

using data::Column;
using data::ColumnPtr;
using data::PhysicalType;

int64_t BytesOfRows(const Column& column, int64_t begin, int64_t end) {
  int64_t bytes = (end - begin) * data::WidthOf(column.physical());
  switch (column.physical()) {
    case PhysicalType::kText:
      for (const data::TextView& text : column.values<data::TextView>().subspan(begin, end - begin))
        bytes += static_cast<int64_t>(text.view().size());
      return bytes;
    case PhysicalType::kStruct:
      for (int i = 0; i < column.num_children(); ++i)
        bytes += BytesOfRows(*column.child(i), begin, end);
      return bytes;
    case PhysicalType::kList:
    case PhysicalType::kMap:
      for (int i = 0; i < column.num_children(); ++i)
        bytes += BytesOfRows(*column.child(i), column.offsets()[begin], column.offsets()[end]);
      return bytes;
    default:
      return bytes;
  }
}

void SharedResults::Set(ColumnPtr results, std::vector<int32_t> of_row) {
  results_ = data::Flatten(results);
  const PhysicalType physical = results_->physical();
  nested_ = physical == PhysicalType::kText || physical == PhysicalType::kList ||
            physical == PhysicalType::kMap || physical == PhysicalType::kStruct;
  of_row_ = std::move(of_row);
  next_ = 0;
}

ColumnPtr SharedResults::Next(int64_t most) {
  TW_DCHECK(!empty() && most > 0);
  std::span<const int32_t> rows = std::span<const int32_t>(of_row_).subspan(next_);
  rows = rows.first(std::min<size_t>(rows.size(), static_cast<size_t>(most)));
  if (nested_) {
    int64_t bytes = 0;
    size_t count = 0;
    for (; count < rows.size() && bytes < kPieceBytes; ++count) {
      if (rows[count] >= 0) bytes += BytesOfRows(*results_, rows[count], rows[count] + 1);
    }
    rows = rows.first(count);
  }
  bool run = rows[0] >= 0;
  for (size_t i = 1; run && i < rows.size(); ++i)
    run = rows[i] == rows[0] + static_cast<int32_t>(i);
  ColumnPtr out = run ? data::Slice(results_, rows[0], static_cast<int64_t>(rows.size()))
                      : data::Take(results_, rows);
  next_ += rows.size();
  if (empty()) {
    results_ = nullptr;
    of_row_ = std::vector<int32_t>();
    next_ = 0;
  }
  return out;
}

}  // namespace thalweg::engine
