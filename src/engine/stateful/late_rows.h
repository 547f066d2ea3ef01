#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/columnar/chunk.h"
#include "engine/state/state_table.h"

namespace thalweg::engine {

/// The event time of a row, in us: a timestamp column, or the end of a window struct.
data::ColumnPtr EventTimeColumn(const data::ColumnPtr& column, bool window_end);

/// Rows of a dense chunk whose event time lies after the watermark; null event times are never
/// late. Null when no row is late. `*dropped` counts the late ones.
std::shared_ptr<const std::vector<int32_t>> RowsInTime(const data::Chunk& chunk,
                                                       const KeyEventTime& event_time,
                                                       int64_t late_watermark_ms, int64_t* dropped);

}  // namespace thalweg::engine
