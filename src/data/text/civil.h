#pragma once

// The proleptic Gregorian calendar and the clock, as integers. Days count from 1970-01-01, microseconds of a local date-time
// from its midnight. Pure; made for row loops; exact over the whole range of int32 days and int64 microseconds.

#include <cstdint>

namespace thalweg::data {

inline constexpr int64_t kMicrosPerSecond = 1000000;
inline constexpr int64_t kMicrosPerMinute = 60 * kMicrosPerSecond;
inline constexpr int64_t kMicrosPerHour = 60 * kMicrosPerMinute;
inline constexpr int64_t kMicrosPerDay = 24 * kMicrosPerHour;
inline constexpr int64_t kNanosPerSecond = 1000000000;
inline constexpr int64_t kNanosPerDay = 86400 * kNanosPerSecond;

struct CivilDate {
  int32_t year = 1970;  ///< proleptic: 0 is 1 BC
  int8_t month = 1;     ///< 1 to 12
  int8_t day = 1;       ///< 1 to 31
  bool operator==(const CivilDate&) const = default;
};

/// Year and week of ISO 8601.
struct IsoWeek {
  int32_t year = 1970;
  int8_t week = 1;
};

struct ClockTime {
  int8_t hour = 0;
  int8_t minute = 0;
  int8_t second = 0;
  int32_t nanosecond = 0;
};

constexpr int64_t FloorDiv(int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }
constexpr int64_t FloorMod(int64_t a, int64_t b) {
  const int64_t rest = a % b;
  return rest != 0 && ((rest < 0) != (b < 0)) ? rest + b : rest;
}

bool IsLeapYear(int64_t year);
int DaysInMonth(int64_t year, int month);
/// Whether the three name a day of the calendar (any year).
bool IsValidDate(int64_t year, int month, int day);
/// Valid dates only; the result is exact for |year| below 10^9.
int64_t DaysFromCivil(int64_t year, int month, int day);
/// As DaysFromCivil, false when not a date or not an int32.
bool MakeDate(int64_t year, int month, int day, int32_t* days);
CivilDate CivilFromDays(int64_t days);

/// 1 Monday to 7 Sunday.
int IsoDayOfWeek(int64_t days);
/// 1 to 366.
int DayOfYear(int64_t days);
IsoWeek IsoWeekOf(int64_t days);
/// The same day of the month `months` later, the last one when there is none (LocalDate.plusMonths); false out of int32.
bool AddMonths(int32_t days, int64_t months, int32_t* out);
/// The same for microseconds of a local date-time; false on overflow.
bool AddMonthsToMicros(int64_t local_micros, int64_t months, int64_t* out);

/// Days of a local date-time, rounded down.
constexpr int64_t DaysOfMicros(int64_t local_micros) { return FloorDiv(local_micros, kMicrosPerDay); }
ClockTime ClockOfMicros(int64_t local_micros);
ClockTime ClockOfNanos(int64_t nanos_of_day);
/// False on overflow of int64.
bool MicrosFromCivil(int64_t days, int64_t micros_of_day, int64_t* out);

}  // namespace thalweg::data
