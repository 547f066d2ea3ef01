#include "engine/exec/window_rows.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/invariant.h"

namespace thalweg::engine {
namespace {

using data::Column;
using data::ColumnPtr;
using data::PhysicalType;
using sql::FrameEdge;
using sql::FrameUnit;

template <typename T>
bool Same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a == b || (a != a && b != b);
  return a == b;
}

template <typename T>
void MarkValues(const Column& column, int64_t rows, uint8_t* changed) {
  const T* values = column.values<T>().data();
  if (!column.has_nulls()) {
    for (int64_t row = 1; row < rows; ++row) changed[row] |= !Same(values[row], values[row - 1]);
    return;
  }
  bool before = column.IsNull(0);
  for (int64_t row = 1; row < rows; ++row) {
    const bool null = column.IsNull(row);
    changed[row] |= null != before || (!null && !Same(values[row], values[row - 1]));
    before = null;
  }
}

/// How a sort by the key puts a row against another column's value: negative before it.
int CompareBound(const SortKey& key, const Column& rows, int64_t row, const Column& bounds,
                 int64_t at) {
  const bool row_null = rows.IsNull(row);
  const bool bound_null = bounds.IsNull(at);
  if (row_null || bound_null) {
    if (row_null && bound_null) return 0;
    return row_null == key.nulls_first ? -1 : 1;
  }
  const int order = CompareValues(rows, row, bounds, at);
  return key.ascending ? order : -order;
}

}  // namespace

void MarkChanges(const Column& column, int64_t rows, uint8_t* changed) {
  switch (column.physical()) {
    case PhysicalType::kNull:
      return;
    case PhysicalType::kBool:
      return MarkValues<uint8_t>(column, rows, changed);
    case PhysicalType::kInt8:
      return MarkValues<int8_t>(column, rows, changed);
    case PhysicalType::kInt16:
      return MarkValues<int16_t>(column, rows, changed);
    case PhysicalType::kInt32:
      return MarkValues<int32_t>(column, rows, changed);
    case PhysicalType::kInt64:
      return MarkValues<int64_t>(column, rows, changed);
    case PhysicalType::kFloat:
      return MarkValues<float>(column, rows, changed);
    case PhysicalType::kDouble:
      return MarkValues<double>(column, rows, changed);
    default:
      break;
  }
  bool before = rows > 0 && column.IsNull(0);
  for (int64_t row = 1; row < rows; ++row) {
    const bool null = column.IsNull(row);
    changed[row] |= null != before || (!null && CompareValues(column, row, column, row - 1) != 0);
    before = null;
  }
}

int64_t PartitionFinder::LastStart(const data::Chunk& chunk) {
  const int64_t rows = chunk.num_rows();
  std::vector<uint8_t> changed(rows);
  for (size_t i = 0; i < columns_.size(); ++i) {
    const ColumnPtr& column = chunk.column(columns_[i]);
    MarkChanges(*column, rows, changed.data());
    if (!before_.empty()) {
      const std::vector<ColumnPtr> both = {before_[i], data::Slice(column, 0, 1)};
      std::array<uint8_t, 2> at_first{};
      MarkChanges(*data::Concat(both), 2, at_first.data());
      changed[0] |= at_first[1];
    }
  }
  before_.clear();
  for (const int column : columns_)
    before_.push_back(data::Compact(data::Slice(chunk.column(column), rows - 1, 1)));
  const auto last = std::find(changed.rbegin(), changed.rend(), 1);
  return changed.rend() - last - 1;
}

WindowRows::WindowRows(data::Chunk chunk, const std::vector<int>& partition_columns,
                       const std::vector<SortKey>& orders)
    : chunk_(std::move(chunk)), orders_(orders), partition_changes_(chunk_.num_rows()) {
  TW_DCHECK(chunk_.selection() == nullptr);
  for (const int column : partition_columns)
    MarkChanges(*data::Flatten(chunk_.column(column)), rows(), partition_changes_.data());
  partitions_ = StartsOf(partition_changes_);
}

std::vector<int32_t> WindowRows::StartsOf(std::vector<uint8_t> changed) const {
  std::vector<int32_t> starts;
  if (!changed.empty()) changed[0] = 1;
  for (size_t row = 0; row < changed.size(); ++row) {
    if (changed[row] != 0) starts.push_back(static_cast<int32_t>(row));
  }
  starts.push_back(static_cast<int32_t>(changed.size()));
  return starts;
}

const std::vector<int32_t>& WindowRows::peers() {
  if (!peers_.empty()) return peers_;
  std::vector<uint8_t> changed = partition_changes_;
  for (const SortKey& key : orders_)
    MarkChanges(*data::Flatten(chunk_.column(key.column)), rows(), changed.data());
  peers_ = StartsOf(std::move(changed));
  return peers_;
}

std::vector<int32_t> WindowRows::RangeBounds(int column, bool behind) const {
  const SortKey& key = orders_[0];
  const ColumnPtr values = data::Flatten(chunk_.column(key.column));
  const ColumnPtr bounds = data::Flatten(chunk_.column(column));
  std::vector<int32_t> out(rows());
  for (size_t p = 0; p + 1 < partitions_.size(); ++p) {
    // Bounds rise with the rows.
    int32_t at = partitions_[p];
    for (int32_t row = partitions_[p]; row < partitions_[p + 1]; ++row) {
      while (at < partitions_[p + 1]) {
        const int order = CompareBound(key, *values, at, *bounds, row);
        if (order > 0 || (order == 0 && !behind)) break;
        ++at;
      }
      out[row] = at;
    }
  }
  return out;
}

std::vector<int32_t> WindowRows::FrameBegins(const FrameSpec& spec) {
  const FrameEdge edge = spec.frame.lower;
  if (edge == FrameEdge::kOffset && spec.frame.unit == FrameUnit::kRange)
    return RangeBounds(spec.lower_column, false);
  std::vector<int32_t> out(rows());
  if (edge == FrameEdge::kCurrentRow && spec.frame.unit == FrameUnit::kRange) {
    const std::vector<int32_t>& starts = peers();
    for (size_t p = 0; p + 1 < starts.size(); ++p)
      std::fill(out.begin() + starts[p], out.begin() + starts[p + 1], starts[p]);
    return out;
  }
  const int64_t step = edge == FrameEdge::kOffset ? spec.lower_rows : 0;
  for (size_t p = 0; p + 1 < partitions_.size(); ++p) {
    const int64_t first = partitions_[p];
    const int64_t last = partitions_[p + 1];
    for (int64_t row = first; row < last; ++row) {
      out[row] = static_cast<int32_t>(
          edge == FrameEdge::kUnboundedPreceding ? first : std::clamp(row + step, first, last));
    }
  }
  return out;
}

std::vector<int32_t> WindowRows::FrameEnds(const FrameSpec& spec) {
  const FrameEdge edge = spec.frame.upper;
  if (edge == FrameEdge::kOffset && spec.frame.unit == FrameUnit::kRange)
    return RangeBounds(spec.upper_column, true);
  std::vector<int32_t> out(rows());
  if (edge == FrameEdge::kCurrentRow && spec.frame.unit == FrameUnit::kRange) {
    const std::vector<int32_t>& starts = peers();
    for (size_t p = 0; p + 1 < starts.size(); ++p)
      std::fill(out.begin() + starts[p], out.begin() + starts[p + 1], starts[p + 1]);
    return out;
  }
  const int64_t step = edge == FrameEdge::kOffset ? spec.upper_rows : 0;
  for (size_t p = 0; p + 1 < partitions_.size(); ++p) {
    const int64_t first = partitions_[p];
    const int64_t last = partitions_[p + 1];
    for (int64_t row = first; row < last; ++row) {
      out[row] = static_cast<int32_t>(
          edge == FrameEdge::kUnboundedFollowing ? last : std::clamp(row + step + 1, first, last));
    }
  }
  return out;
}

int64_t WindowRows::index_bytes() const {
  return static_cast<int64_t>((partitions_.capacity() + peers_.capacity()) * sizeof(int32_t) +
                              partition_changes_.capacity());
}

WindowRows::Frames WindowRows::FramesOf(const FrameSpec& spec) {
  Frames frames{FrameBegins(spec), FrameEnds(spec)};
  for (size_t row = 0; row < frames.end.size(); ++row)
    frames.end[row] = std::max(frames.end[row], frames.begin[row]);
  return frames;
}

}  // namespace thalweg::engine
