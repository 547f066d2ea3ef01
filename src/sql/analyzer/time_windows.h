#pragma once

// The functions that time windows become: one kernel each instead of Spark's arithmetic over casts.

#include <cstdint>

#include "sql/expr/expression.h"
#include "sql/expr/function.h"

namespace thalweg::sql {

/// Window `index` of those that hold a time, the latest one first. Microseconds.
struct TimeWindowShape {
  int64_t window = 0;
  int64_t slide = 0;
  int64_t start = 0;
};

/// struct<start, end> of window `index` around `time`; never null itself, its fields are null where the time is.
ExprPtr MakeWindowStruct(const ExprPtr& time, const TimeWindowShape& shape, int64_t index);
/// struct<time, time + gap>; `gap` is a CALENDAR INTERVAL.
ExprPtr MakeSessionStruct(const ExprPtr& time, const ExprPtr& gap);
/// The last microsecond of a window struct.
ExprPtr MakeWindowTime(const ExprPtr& window);

/// Start of the latest window that holds `time`. Wraps at the ends of int64.
int64_t LatestWindowStart(int64_t time, const TimeWindowShape& shape);

}  // namespace thalweg::sql
