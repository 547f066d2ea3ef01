// Casts to dates, times and intervals.

#include <cmath>
#include <limits>

#include "data/text/civil.h"
#include "data/text/datetime.h"
#include "data/text/decimal128.h"
#include "data/text/interval.h"
#include "sql/expr/cast_job.h"

namespace thalweg::sql {
namespace {

using data::CalendarInterval;
using data::kMicrosPerDay;
using data::kMicrosPerSecond;

int64_t SaturatingSeconds(int64_t seconds) {
  int64_t micros;
  if (!__builtin_mul_overflow(seconds, kMicrosPerSecond, &micros)) return micros;
  return seconds < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

/// from_local(midnight of the date) for every row; an error for dates beyond the range of timestamps, as Java's multiplyExact.
template <typename F>
Result<ColumnPtr> Midnights(const CastJob& job, F from_local) {
  constexpr int64_t kLastDay = std::numeric_limits<int64_t>::max() / kMicrosPerDay;
  const Reader<int32_t> days(*job.column);
  bool fits = true;
  ForEachValid(KernelInput{{}, job.rows, job.validity}, [&](int64_t row) { fits &= days[row] <= kLastDay && days[row] >= -kLastDay; });
  if (!fits) return Error("DATETIME_OVERFLOW").With("operation", "cast a date to a timestamp");
  // Null slots are converted too, whatever stands there.
  return ConvertAll<int64_t, int32_t>(job, [&](int32_t day) {
    return from_local(static_cast<int64_t>(static_cast<uint64_t>(int64_t{day}) * static_cast<uint64_t>(kMicrosPerDay)));
  });
}

Result<ColumnPtr> ToDate(const CastJob& job) {
  switch (job.from.kind()) {
    case TypeKind::kString:
      return Convert<int32_t, std::string_view>(
          job, [](std::string_view v, int32_t* out) { return data::ParseDate(v, out); },
          [&](int64_t row) { return job.InvalidInput(row); });
    case TypeKind::kTimestamp: {
      const data::TimeZone zone = job.Zone();
      return ConvertAll<int32_t, int64_t>(
          job, [&](int64_t v) { return static_cast<int32_t>(data::DaysOfMicros(zone.ToLocal(v))); });
    }
    case TypeKind::kTimestampNtz:
      return ConvertAll<int32_t, int64_t>(job, [](int64_t v) { return static_cast<int32_t>(data::DaysOfMicros(v)); });
    default: return Unsupported("CAST of " + job.from.SimpleString() + " to date");
  }
}

template <typename From>
Result<ColumnPtr> TimestampFromNumber(const CastJob& job) {
  if constexpr (std::is_same_v<From, Int128>) {
    const int scale = job.from.scale();
    return ConvertAll<int64_t, Int128>(job, [=](Int128 v) {
      // (value * 10^6) cut to a long, as Decimal.toLong of the product.
      Int128 out = 0;
      if (scale >= 6) {
        out = v / data::PowerOfTen(scale - 6);
      } else {
        out = v * data::PowerOfTen(6 - scale);
      }
      return static_cast<int64_t>(out);
    });
  } else if constexpr (std::is_floating_point_v<From>) {
    // What is beyond the range of micros is an overflow, or without ANSI the end of the range.
    constexpr double kEnd = 9223372036854775808.0;
    const bool saturates = job.mode == EvalMode::kLegacy;
    const Reader<From> in(*job.column);
    return Convert<int64_t, From>(
        job,
        [=](From value, int64_t* out) {
          const double micros = static_cast<double>(value) * 1e6;
          if (!std::isfinite(static_cast<double>(value))) return false;
          if (micros >= -kEnd && micros < kEnd) {
            *out = static_cast<int64_t>(micros);
            return true;
          }
          *out = micros < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
          return saturates;
        },
        [&](int64_t row) { return std::isfinite(static_cast<double>(in[row])) ? job.Overflow(row) : job.InvalidInput(row); });
  } else {
    return ConvertAll<int64_t, From>(job, [](From v) { return SaturatingSeconds(v); });
  }
}

Result<ColumnPtr> ToTimestamp(const CastJob& job) {
  const data::TimeZone zone = job.Zone();
  switch (job.from.kind()) {
    case TypeKind::kString: {
      const int64_t now = job.NowMicros();
      return Convert<int64_t, std::string_view>(
          job, [&](std::string_view v, int64_t* out) { return data::ParseTimestamp(v, zone, now, out); },
          [&](int64_t row) { return job.InvalidInput(row); });
    }
    case TypeKind::kDate:
      return Midnights(job, [&](int64_t local) { return zone.FromLocal(local); });
    case TypeKind::kTimestampNtz:
      return ConvertAll<int64_t, int64_t>(job, [&](int64_t v) { return zone.FromLocal(v); });
    case TypeKind::kBoolean: return ConvertAll<int64_t, bool>(job, [](bool v) { return v ? int64_t{1} : int64_t{0}; });
    default: return VisitNumber(job.from, [&](auto zero) { return TimestampFromNumber<decltype(zero)>(job); });
  }
}

Result<ColumnPtr> ToTimestampNtz(const CastJob& job) {
  switch (job.from.kind()) {
    case TypeKind::kString:
      return Convert<int64_t, std::string_view>(
          job, [](std::string_view v, int64_t* out) { return data::ParseTimestampNtz(v, true, out); },
          [&](int64_t row) { return job.InvalidInput(row); });
    case TypeKind::kDate:
      return Midnights(job, [](int64_t local) { return local; });
    case TypeKind::kTimestamp: {
      const data::TimeZone zone = job.Zone();
      return ConvertAll<int64_t, int64_t>(job, [&](int64_t v) { return zone.ToLocal(v); });
    }
    default: return Unsupported("CAST of " + job.from.SimpleString() + " to timestamp_ntz");
  }
}

Result<ColumnPtr> ToTime(const CastJob& job) {
  int64_t unit = 1;
  for (int digits = job.to.precision(); digits < 9; ++digits) unit *= 10;
  switch (job.from.kind()) {
    case TypeKind::kString:
      return Convert<int64_t, std::string_view>(
          job,
          [=](std::string_view v, int64_t* out) {
            if (!data::ParseTime(v, out)) return false;
            *out -= *out % unit;
            return true;
          },
          [&](int64_t row) { return job.InvalidInput(row); });
    case TypeKind::kTime: return ConvertAll<int64_t, int64_t>(job, [=](int64_t v) { return v - v % unit; });
    case TypeKind::kTimestampNtz:
      return ConvertAll<int64_t, int64_t>(
          job, [=](int64_t v) { const int64_t n = data::FloorMod(v, kMicrosPerDay) * 1000; return n - n % unit; });
    default: return Unsupported("CAST of " + job.from.SimpleString() + " to time");
  }
}

Status IntervalFormatError(const CastJob& job, int64_t row, data::IntervalOutcome outcome) {
  if (outcome == data::IntervalOutcome::kOverflow) return job.Overflow(row);
  const std::string text = job.ValueAt(row).get<std::string>();
  return Error("INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING")
      .With("input", text)
      .With("supportedFormat", "`[+|-]y-m`")
      .With("typeName", job.to.SimpleString())
      .With("intervalStr", text);
}

template <typename Out, typename Parse>
Result<ColumnPtr> IntervalFromString(const CastJob& job, Parse parse) {
  FixedOutput<Out> out(job.to, job.rows.length);
  const Reader<std::string_view> in(*job.column);
  TW_RETURN_NOT_OK(TryForEachValid(KernelInput{{}, job.rows, job.validity}, [&](int64_t row) -> Status {
    Out value{};
    const data::IntervalOutcome outcome = parse(in[row], &value);
    if (outcome == data::IntervalOutcome::kOk) {
      out.Set(row, value);
      return {};
    }
    // Malformed text is an error in every mode but TRY.
    if (job.mode == EvalMode::kAnsi) return IntervalFormatError(job, row, outcome);
    out.SetNull(row);
    return {};
  }));
  return out.Finish();
}

Result<ColumnPtr> ToYearMonth(const CastJob& job) {
  const auto start = job.to.year_month_start();
  const auto end = job.to.year_month_end();
  const int32_t unit = MonthsOf(end);
  if (job.from.Is(TypeKind::kString)) {
    return IntervalFromString<int32_t>(job, [=](std::string_view text, int32_t* out) {
      return data::ParseYearMonthInterval(text, start, end, out);
    });
  }
  if (job.from.Is(TypeKind::kYearMonthInterval)) {
    return ConvertAll<int32_t, int32_t>(job, [=](int32_t v) { return v - v % unit; });
  }
  return VisitNumber(job.from, [&](auto zero) -> Result<ColumnPtr> {
    using From = decltype(zero);
    const Int128 power = std::is_same_v<From, Int128> ? data::PowerOfTen(job.from.scale()) : 1;
    return Convert<int32_t, From>(
        job,
        [=](From v, int32_t* out) {
          const Int128 twice = static_cast<Int128>(v) * unit * 2;
          const Int128 months = (twice + (twice < 0 ? -power : power)) / (2 * power);
          *out = static_cast<int32_t>(months);
          return months >= std::numeric_limits<int32_t>::min() && months <= std::numeric_limits<int32_t>::max();
        },
        [&](int64_t row) { return job.Overflow(row); });
  });
}

Result<ColumnPtr> ToDayTime(const CastJob& job) {
  const auto start = job.to.day_time_start();
  const auto end = job.to.day_time_end();
  const int64_t unit = MicrosOf(end);
  if (job.from.Is(TypeKind::kString)) {
    return IntervalFromString<int64_t>(job, [=](std::string_view text, int64_t* out) {
      return data::ParseDayTimeInterval(text, start, end, out);
    });
  }
  if (job.from.Is(TypeKind::kDayTimeInterval)) {
    // Fields below the last one are cut; seconds keep their fraction.
    if (end == data::DayTimeField::kSecond) return data::WithType(job.column, job.to);
    return ConvertAll<int64_t, int64_t>(job, [=](int64_t v) { return v - v % unit; });
  }
  return VisitNumber(job.from, [&](auto zero) -> Result<ColumnPtr> {
    using From = decltype(zero);
    const Int128 power = std::is_same_v<From, Int128> ? data::PowerOfTen(job.from.scale()) : 1;
    return Convert<int64_t, From>(
        job,
        [=](From v, int64_t* out) {
          Int128 twice;
          if (__builtin_mul_overflow(static_cast<Int128>(v), static_cast<Int128>(unit) * 2, &twice)) return false;
          const Int128 micros = (twice + (twice < 0 ? -power : power)) / (2 * power);
          *out = static_cast<int64_t>(micros);
          return micros >= std::numeric_limits<int64_t>::min() && micros <= std::numeric_limits<int64_t>::max();
        },
        [&](int64_t row) { return job.Overflow(row); });
  });
}

}  // namespace

Result<ColumnPtr> CastToDatetime(const CastJob& job) {
  switch (job.to.kind()) {
    case TypeKind::kDate: return ToDate(job);
    case TypeKind::kTimestamp: return ToTimestamp(job);
    case TypeKind::kTimestampNtz: return ToTimestampNtz(job);
    default: return ToTime(job);
  }
}

Result<ColumnPtr> CastToInterval(const CastJob& job) {
  if (job.to.Is(TypeKind::kYearMonthInterval)) return ToYearMonth(job);
  if (job.to.Is(TypeKind::kDayTimeInterval)) return ToDayTime(job);
  if (!job.from.Is(TypeKind::kString)) return Unsupported("CAST of " + job.from.SimpleString() + " to interval");
  // Malformed text is NULL in every mode, as in Spark.
  FixedOutput<CalendarInterval> out(job.to, job.rows.length);
  const Reader<std::string_view> in(*job.column);
  ForEachValid(KernelInput{{}, job.rows, job.validity}, [&](int64_t row) {
    CalendarInterval value;
    if (data::ParseCalendarInterval(in[row], &value)) {
      out.Set(row, value);
    } else {
      out.SetNull(row);
    }
  });
  return out.Finish();
}

}  // namespace thalweg::sql
