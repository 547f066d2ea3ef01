#pragma once

// The calendar of old ORC files: Julian until 1582-10-04, Gregorian from 1582-10-15, no days between. Private to the ORC
// family. Rows of ours are proleptic Gregorian. The date as it is read (year, month, day) stays; the day number changes.

#include <cstdint>

#include "data/columnar/column.h"

namespace thalweg::data {

/// Days since 1970-01-01 of the date that the hybrid calendar writes as the proleptic one writes `days`. The ten days that the
/// hybrid calendar lacks become 1582-10-15, as in Spark.
int32_t ToHybridDays(int32_t days);
int32_t FromHybridDays(int32_t days);

/// Every DATE, TIMESTAMP and TIMESTAMP_NTZ in a flat column, whatever its nesting. Columns without old days are returned as they are.
ColumnPtr ToHybridCalendar(const ColumnPtr& column);
ColumnPtr FromHybridCalendar(const ColumnPtr& column);

}  // namespace thalweg::data
