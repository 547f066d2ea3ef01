#pragma once

// Dates, timestamps and times as text without a pattern, as Spark's casts read and write them. Made for row loops: parsers
// answer false for malformed text or a result out of range and leave `*out` unspecified; writers append.
// Source: SparkDateTimeUtils.stringToDate, stringToTimestamp, stringToTimestampWithoutTimeZone, stringToTime;
// TimestampFormatter.getFractionFormatter.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "data/text/time_zone.h"

namespace thalweg::data {

/// [+-]y{4,7}, [+-]y-[m]m, [+-]y-[m]m-[d]d, the last one followed by nothing, by a space or by T and anything. Trimmed.
bool ParseDate(std::string_view text, int32_t* days);

/// A date as above, then T or a space and [h]h:[m]m[:[s]s[.fraction]] and a zone id; or a time alone, which is taken at the
/// day of `now_micros`. Fraction digits beyond six are cut. `zone` is where text without a zone lies.
bool ParseTimestamp(std::string_view text, const TimeZone& zone, int64_t now_micros, int64_t* micros);
/// The form that machines write, without a look at the clock or a zone made of text: yyyy-mm-dd, T or a space, hh:mm:ss, at
/// most six fraction digits, at the end nothing or Z. False for every other text, good or bad: ask ParseTimestamp then.
bool ParsePlainTimestamp(std::string_view text, const TimeZone& zone, int64_t* micros);
/// TIMESTAMP_NTZ: a time alone is refused; a zone in the text is ignored when `allow_zone`, else refused.
bool ParseTimestampNtz(std::string_view text, bool allow_zone, int64_t* local_micros);
/// TIME: [T][h]h:[m]m[:[s]s[.fraction]] with optional AM/PM; at most nine fraction digits, cut to microseconds.
bool ParseTime(std::string_view text, int64_t* nanos);

/// What stands in a timestamp text, for callers with their own rules (inference of types).
struct TimestampText {
  bool has_date = false;
  int32_t days = 0;
  int64_t micros_of_day = 0;
  std::optional<TimeZone> zone;
};
bool ParseTimestampText(std::string_view text, TimestampText* out);

/// "2020-01-31", "+10000-01-01", "-0001-01-01".
void AppendDate(int32_t days, std::string* out);
/// "2020-01-31 12:00:00.5": no trailing zeros in the fraction, no zone.
void AppendTimestampNtz(int64_t local_micros, std::string* out);
void AppendTimestamp(int64_t micros, const TimeZone& zone, std::string* out);
/// "12:00:00.5".
void AppendTime(int64_t nanos, std::string* out);

}  // namespace thalweg::data
