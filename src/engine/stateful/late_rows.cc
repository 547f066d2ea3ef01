#include "engine/stateful/late_rows.h"

namespace thalweg::engine {

data::ColumnPtr EventTimeColumn(const data::ColumnPtr& column, bool window_end) {
  const data::ColumnPtr flat = data::Flatten(column);
  if (!window_end) return flat;
  const data::ColumnPtr end = data::Flatten(flat->child(1));
  if (!flat->has_nulls() || end->has_nulls()) return end;
  return data::WithValidity(end, flat->parts().validity, flat->null_count());
}

std::shared_ptr<const std::vector<int32_t>> RowsInTime(const data::Chunk& chunk,
                                                       const KeyEventTime& event_time,
                                                       int64_t late_watermark_ms,
                                                       int64_t* dropped) {
  const data::ColumnPtr times =
      EventTimeColumn(chunk.column(event_time.column), event_time.window_end);
  const std::span<const int64_t> micros = times->values<int64_t>();
  const int64_t bound_us = late_watermark_ms * 1000;
  const int64_t rows = chunk.num_rows();
  int64_t late = 0;
  for (int64_t row = 0; row < rows; ++row) late += micros[row] <= bound_us && !times->IsNull(row);
  *dropped = late;
  if (late == 0) return nullptr;
  auto kept = std::make_shared<std::vector<int32_t>>();
  kept->reserve(rows - late);
  for (int64_t row = 0; row < rows; ++row) {
    if (micros[row] > bound_us || times->IsNull(row)) kept->push_back(static_cast<int32_t>(row));
  }
  return kept;
}

}  // namespace thalweg::engine
