#include "engine/exec/operators/event_time_watermark.h"

#include <algorithm>

namespace thalweg::engine {

Status EventTimeWatermark::BeginEpoch(const sql::EpochContext&) {
  stats_ = {};
  return Status::OK();
}

Result<data::Chunk> EventTimeWatermark::Process(data::Chunk chunk) {
  const data::ColumnPtr column = data::Flatten(chunk.column(column_));
  const data::Column* times = column.get();
  if (column->physical() == data::PhysicalType::kStruct) times = column->child(1).get();
  const auto micros = times->values<int64_t>();
  const auto& selection = chunk.selection();
  const bool nulls = times->has_nulls() || column->has_nulls();
  EventTimeStats add;
  add.max_ms = INT64_MIN;
  add.min_ms = INT64_MAX;
  add.count = chunk.num_rows();
  for (int64_t i = 0; i < add.count; ++i) {
    const int64_t row = selection ? (*selection)[i] : i;
    int64_t value = micros[row];
    if (nulls && (times->IsNull(row) || column->IsNull(row))) value = 0;
    const int64_t ms = value / 1000 - (value % 1000 < 0 ? 1 : 0);
    add.max_ms = std::max(add.max_ms, ms);
    add.min_ms = std::min(add.min_ms, ms);
    add.sum_ms += static_cast<double>(ms);
  }
  stats_.Merge(add);
  return chunk;
}

void EventTimeWatermark::AddReport(bool ran, EpochResult* result) {
  if (ran && index_ < static_cast<int>(result->event_time.size())) result->event_time[index_].Merge(stats_);
}

}  // namespace thalweg::engine
