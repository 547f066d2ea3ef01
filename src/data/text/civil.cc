#include "data/text/civil.h"

#include <algorithm>
#include <limits>

namespace thalweg::data {
namespace {

constexpr int64_t kDaysPer400Years = 146097;
// Days from 0000-03-01, where the arithmetic starts a year (leap days come last), to 1970-01-01.
constexpr int64_t kEpochFromMarchZero = 719468;

}  // namespace

bool IsLeapYear(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int DaysInMonth(int64_t year, int month) {
  constexpr int8_t kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeapYear(year) ? 29 : kDays[month - 1];
}

bool IsValidDate(int64_t year, int month, int day) {
  return month >= 1 && month <= 12 && day >= 1 && day <= DaysInMonth(year, month);
}

int64_t DaysFromCivil(int64_t year, int month, int day) {
  const int64_t march_year = month <= 2 ? year - 1 : year;
  const int64_t march_month = (month + 9) % 12;  // 0 is March
  const int64_t cycle = FloorDiv(march_year, 400);
  const int64_t year_of_cycle = march_year - cycle * 400;
  const int64_t day_of_year = (153 * march_month + 2) / 5 + day - 1;  // months of 31,30,31,30,31 days, repeated
  const int64_t day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
  return cycle * kDaysPer400Years + day_of_cycle - kEpochFromMarchZero;
}

bool MakeDate(int64_t year, int month, int day, int32_t* days) {
  if (year < -6000000 || year > 6000000 || !IsValidDate(year, month, day)) return false;
  const int64_t result = DaysFromCivil(year, month, day);
  if (result < std::numeric_limits<int32_t>::min() || result > std::numeric_limits<int32_t>::max()) return false;
  *days = static_cast<int32_t>(result);
  return true;
}

CivilDate CivilFromDays(int64_t days) {
  const int64_t shifted = days + kEpochFromMarchZero;
  const int64_t cycle = FloorDiv(shifted, kDaysPer400Years);
  const int64_t day_of_cycle = shifted - cycle * kDaysPer400Years;
  // Days without the leap days before them, so that every year has 365.
  const int64_t year_of_cycle =
      (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36524 - day_of_cycle / 146096) / 365;
  const int64_t day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
  const int64_t march_month = (5 * day_of_year + 2) / 153;
  const int64_t day = day_of_year - (153 * march_month + 2) / 5 + 1;
  const int64_t month = march_month < 10 ? march_month + 3 : march_month - 9;
  const int64_t year = cycle * 400 + year_of_cycle + (month <= 2 ? 1 : 0);
  return {static_cast<int32_t>(year), static_cast<int8_t>(month), static_cast<int8_t>(day)};
}

int IsoDayOfWeek(int64_t days) { return static_cast<int>(FloorMod(days + 3, 7)) + 1; }

int DayOfYear(int64_t days) {
  return static_cast<int>(days - DaysFromCivil(CivilFromDays(days).year, 1, 1)) + 1;
}

IsoWeek IsoWeekOf(int64_t days) {
  // The week belongs to the year of its Thursday.
  const int64_t thursday = days - (IsoDayOfWeek(days) - 4);
  return {CivilFromDays(thursday).year, static_cast<int8_t>((DayOfYear(thursday) - 1) / 7 + 1)};
}

bool AddMonths(int32_t days, int64_t months, int32_t* out) {
  if (months > 200000000 || months < -200000000) return false;
  const CivilDate date = CivilFromDays(days);
  const int64_t total = int64_t{date.year} * 12 + (date.month - 1) + months;
  const int64_t year = FloorDiv(total, 12);
  const int month = static_cast<int>(total - year * 12) + 1;
  return MakeDate(year, month, std::min<int>(date.day, DaysInMonth(year, month)), out);
}

bool AddMonthsToMicros(int64_t local_micros, int64_t months, int64_t* out) {
  const int64_t days = DaysOfMicros(local_micros);
  int32_t moved = 0;
  if (!AddMonths(static_cast<int32_t>(days), months, &moved)) return false;
  return MicrosFromCivil(moved, FloorMod(local_micros, kMicrosPerDay), out);
}

ClockTime ClockOfMicros(int64_t local_micros) {
  return ClockOfNanos(FloorMod(local_micros, kMicrosPerDay) * 1000);
}

ClockTime ClockOfNanos(int64_t nanos_of_day) {
  const int64_t seconds = nanos_of_day / kNanosPerSecond;
  return {static_cast<int8_t>(seconds / 3600), static_cast<int8_t>(seconds / 60 % 60), static_cast<int8_t>(seconds % 60),
          static_cast<int32_t>(nanos_of_day - seconds * kNanosPerSecond)};
}

bool MicrosFromCivil(int64_t days, int64_t micros_of_day, int64_t* out) {
  // The first day of the range is not whole: its midnight does not fit, but later moments of it do.
  if (days < 0 && micros_of_day > 0) {
    int64_t next_midnight = 0;
    return !__builtin_mul_overflow(days + 1, kMicrosPerDay, &next_midnight) &&
           !__builtin_add_overflow(next_midnight, micros_of_day - kMicrosPerDay, out);
  }
  int64_t midnight = 0;
  return !__builtin_mul_overflow(days, kMicrosPerDay, &midnight) && !__builtin_add_overflow(midnight, micros_of_day, out);
}

}  // namespace thalweg::data
