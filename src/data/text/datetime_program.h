#pragma once

// A compiled datetime pattern; private to the room.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/text/datetime_pattern.h"

namespace thalweg::data::internal {

enum class DateTimeField : uint8_t {
  kYear,
  kYearOfEra,
  kEra,  ///< 0 BC, 1 AD
  kMonth,
  kDayOfMonth,
  kDayOfYear,
  kQuarter,
  kDayOfWeek,            ///< 1 Monday
  kAlignedDayInMonth,    ///< (day of month - 1) mod 7 + 1
  kModifiedJulianDay,
  kHourOfDay,
  kClockHourOfDay,   ///< 1 to 24
  kHourOfHalf,       ///< 0 to 11
  kClockHourOfHalf,  ///< 1 to 12
  kHalfOfDay,        ///< 0 AM, 1 PM
  kMinute,
  kSecond,
  kNano,
  kOffset,  ///< seconds
  kCount,
};

inline bool IsDateField(DateTimeField field) { return field <= DateTimeField::kModifiedJulianDay; }

enum class SignStyle : uint8_t { kNormal, kNever, kExceedsPad };

struct PatternStep {
  enum class Kind : uint8_t {
    kLiteral,
    kNumber,
    kTwoDigitYear,
    kFraction,
    kText,
    kZoneId,          ///< VV
    kZoneName,        ///< z
    kOffset,          ///< X, x, Z
    kLocalizedOffset, ///< O, ZZZZ
    kOptionalBegin,   ///< `end` is the matching kOptionalEnd
    kOptionalEnd,
  };
  Kind kind = Kind::kLiteral;
  DateTimeField field = DateTimeField::kYear;
  SignStyle sign = SignStyle::kNever;
  bool full_text = false;       ///< "January", "GMT+01:00", "Pacific Standard Time"
  int8_t offset_form = 0;       ///< 0 +HHmm, 1 +HHMM, 2 +HH:MM, 3 +HHMMss, 4 +HH:MM:ss
  int min_width = 0;
  int max_width = 0;
  int following_width = 0;      ///< digits that adjacent fields of fixed width need behind this one
  size_t end = 0;
  std::string text;             ///< literals; what a zero offset is written as
};

/// English names of a text field, by value; `first` is the value of names[0].
struct FieldNames {
  int64_t first = 0;
  std::vector<std::string_view> names;
};
const FieldNames& NamesOf(DateTimeField field, bool full);

/// Long name of a zone ("Pacific Daylight Time") by ICU's data; cached.
std::string LongZoneName(const TimeZone& zone, bool daylight);
/// The zone that an abbreviation or long name at the start of `text` means ("PST", "CET", "Pacific Standard Time"), the
/// longest one; `*length` is what it takes.
std::optional<TimeZone> ZoneByName(std::string_view text, bool full, size_t* length);

bool EqualsIgnoreCase(std::string_view a, std::string_view b);

}  // namespace thalweg::data::internal

namespace thalweg::data {
struct DateTimePattern::Program {
  std::string pattern;
  std::vector<internal::PatternStep> steps;
};
}  // namespace thalweg::data
