#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "data/text/time_zone.h"

namespace thalweg::data {

/// A datetime pattern of Spark ("yyyy-MM-dd HH:mm:ss.SSS"), compiled once, English (US) texts.
/// Letters: G y M L d D Q q E F g a h K k H m s S V z O x X Z, quotes, [optional] sections. Formatting appends; parsing answers
/// false for text that does not match (spark.sql.legacy.timeParserPolicy CORRECTED, the default; LEGACY is not there).
/// Thread: immutable. Source: Spark's "Datetime patterns" page, DateTimeFormatterHelper, java.time.format.
class DateTimePattern {
 public:
  enum class Purpose : uint8_t { kFormat, kParse };
  /// Errors: INVALID_DATETIME_PATTERN.{ILLEGAL_CHARACTER,LENGTH,WITH_SUGGESTION}; INCONSISTENT_BEHAVIOR_CROSS_VERSION
  /// .{DATETIME_PATTERN_RECOGNITION,DATETIME_WEEK_BASED_PATTERN} for what only Spark 2 knew (week-based fields, "MMMMM").
  static Result<DateTimePattern> Compile(std::string_view pattern, Purpose purpose);

  const std::string& pattern() const;

  void FormatTimestamp(int64_t micros, const TimeZone& zone, std::string* out) const;
  /// False: the pattern asks for a zone, which a local date-time has not.
  bool FormatTimestampNtz(int64_t local_micros, std::string* out) const;
  /// The date at midnight, without a zone: zone letters outside [] give nothing.
  void FormatDate(int32_t days, std::string* out) const;
  bool FormatTime(int64_t nanos, std::string* out) const;

  /// Missing fields: year 1970, month and day 1, time 0. `zone` is where text without a zone lies.
  bool ParseTimestamp(std::string_view text, const TimeZone& zone, int64_t* micros) const;
  /// A zone in the text is ignored when `allow_zone`, else the text is refused.
  bool ParseTimestampNtz(std::string_view text, bool allow_zone, int64_t* local_micros) const;
  bool ParseDate(std::string_view text, int32_t* days) const;
  bool ParseTime(std::string_view text, int64_t* nanos) const;

  struct Program;

 private:
  explicit DateTimePattern(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  std::shared_ptr<const Program> program_;
};

}  // namespace thalweg::data
