#pragma once

// Intervals as text. Source: IntervalUtils and SparkIntervalUtils (stringToInterval, castStringToYMInterval,
// castStringToDTInterval, toYearMonthIntervalString, toDayTimeIntervalString), CalendarInterval.toString.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "data/types/data_type.h"
#include "data/types/value.h"

namespace thalweg::data {

/// "1 year 2 days", "interval -5 minutes", "1.5 seconds", any case of letters; units year(s) to microsecond(s) and week(s).
/// Only seconds take a fraction, of at most nine digits cut to microseconds.
bool ParseCalendarInterval(std::string_view text, CalendarInterval* out);
/// The same with a reason. Errors: INVALID_INTERVAL_FORMAT.*, as Spark's stringToInterval.
Result<CalendarInterval> MakeCalendarInterval(std::string_view text);

/// How long an interval is, days of 24 hours and months of `days_per_month` days; false on overflow.
bool IntervalMicros(const CalendarInterval& interval, int days_per_month, int64_t* micros);
/// The same in milliseconds, rounded towards zero, as Spark's getDuration for triggers and watermarks.
bool IntervalMillis(const CalendarInterval& interval, int days_per_month, int64_t* millis);
bool IsNegativeInterval(const CalendarInterval& interval, int days_per_month = 31);

/// "1 years 2 months 3 days 4 hours 5 minutes 6.5 seconds"; "0 seconds".
void AppendCalendarInterval(const CalendarInterval& interval, std::string* out);

enum class IntervalStyle : uint8_t {
  kAnsi,  ///< INTERVAL '1-2' YEAR TO MONTH
  kHive,  ///< 1-2
};
void AppendYearMonthInterval(int32_t months, YearMonthField start, YearMonthField end, IntervalStyle style, std::string* out);
void AppendDayTimeInterval(int64_t micros, DayTimeField start, DayTimeField end, IntervalStyle style, std::string* out);

/// CAST(string AS INTERVAL ...): both "1-2" and "INTERVAL '1-2' YEAR TO MONTH". kOverflow: right in form, out of range.
enum class IntervalOutcome : uint8_t { kOk, kMalformed, kOverflow };
IntervalOutcome ParseYearMonthInterval(std::string_view text, YearMonthField start, YearMonthField end, int32_t* months);
IntervalOutcome ParseDayTimeInterval(std::string_view text, DayTimeField start, DayTimeField end, int64_t* micros);

}  // namespace thalweg::data
