// Casts to numbers and booleans.

#include <cmath>
#include <limits>

#include "data/text/civil.h"
#include "data/text/decimal128.h"
#include "data/text/numbers.h"
#include "sql/expr/cast_job.h"

namespace thalweg::sql {
namespace {

template <typename T>
constexpr bool kIsFloat = std::is_floating_point_v<T>;

/// Scala's toInt / toLong of a floating number: saturates, NaN is 0.
template <typename To, typename From>
To Saturate(From value) {
  if (std::isnan(value)) return 0;
  if (value >= -static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::max();
  if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}

/// As the JVM narrows floating numbers: by way of int for bytes and shorts.
template <typename To, typename From>
To NarrowFloat(From value) {
  if constexpr (sizeof(To) < 4) {
    return static_cast<To>(Saturate<int32_t>(value));
  } else {
    return Saturate<To>(value);
  }
}

template <typename To, typename From>
bool FloatFits(From value) {
  // Bounds of the target are exact in double up to 2^53; BIGINT's upper bound rounds to 2^63, as in Scala's comparison.
  const double v = static_cast<double>(value);
  return std::floor(v) <= static_cast<double>(std::numeric_limits<To>::max()) &&
         std::ceil(v) >= static_cast<double>(std::numeric_limits<To>::min());
}

template <typename To>
bool IntFits(int64_t value) {
  return value >= std::numeric_limits<To>::min() && value <= std::numeric_limits<To>::max();
}

template <typename To>
Result<ColumnPtr> IntegerFromInt64Like(const CastJob& job, auto to_int64) {
  // `to_int64` takes the stored int64 (timestamps, intervals).
  // Without ANSI what does not fit is NULL here, not cut as between numbers.
  return Convert<To, int64_t>(
      job,
      [=](int64_t v, To* out) {
        const int64_t whole = to_int64(v);
        *out = static_cast<To>(whole);
        return IntFits<To>(whole);
      },
      [&](int64_t row) { return job.Overflow(row); });
}

template <typename To>
Result<ColumnPtr> IntegerFromDecimal(const CastJob& job) {
  const int scale = job.from.scale();
  const Int128 unit = data::PowerOfTen(scale);
  if (job.mode == EvalMode::kLegacy) {
    return ConvertAll<To, Int128>(job, [=](Int128 v) { return static_cast<To>(static_cast<int64_t>(v / unit)); });
  }
  return Convert<To, Int128>(
      job,
      [=](Int128 v, To* out) {
        const Int128 whole = v / unit;
        *out = static_cast<To>(whole);
        return whole >= std::numeric_limits<To>::min() && whole <= std::numeric_limits<To>::max();
      },
      [&](int64_t row) { return job.Overflow(row); });
}

template <typename To>
bool ParseInteger(std::string_view text, bool fraction, To* out) {
  if constexpr (sizeof(To) == 1) return data::ParseInt8(text, fraction, out);
  if constexpr (sizeof(To) == 2) return data::ParseInt16(text, fraction, out);
  if constexpr (sizeof(To) == 4) return data::ParseInt32(text, fraction, out);
  if constexpr (sizeof(To) == 8) return data::ParseInt64(text, fraction, out);
}

template <typename To, typename From>
Result<ColumnPtr> IntegerFromNumber(const CastJob& job) {
  if constexpr (std::is_same_v<From, Int128>) {
    return IntegerFromDecimal<To>(job);
  } else if constexpr (kIsFloat<From>) {
    if (job.mode == EvalMode::kLegacy) {
      return ConvertAll<To, From>(job, [](From v) { return NarrowFloat<To>(v); });
    }
    return Convert<To, From>(
        job,
        [](From v, To* out) {
          *out = NarrowFloat<To>(v);
          return FloatFits<To>(v);
        },
        [&](int64_t row) { return job.Overflow(row); });
  } else if constexpr (sizeof(From) <= sizeof(To)) {
    return ConvertAll<To, From>(job, [](From v) { return static_cast<To>(v); });
  } else {
    if (job.mode == EvalMode::kLegacy) {
      return ConvertAll<To, From>(job, [](From v) { return static_cast<To>(v); });
    }
    return Convert<To, From>(
        job,
        [](From v, To* out) {
          *out = static_cast<To>(v);
          return IntFits<To>(v);
        },
        [&](int64_t row) { return job.Overflow(row); });
  }
}

template <typename To>
Result<ColumnPtr> ToInteger(const CastJob& job) {
  switch (job.from.kind()) {
    case TypeKind::kBoolean: return ConvertAll<To, bool>(job, [](bool v) { return static_cast<To>(v); });
    case TypeKind::kString: {
      const bool fraction = job.mode == EvalMode::kLegacy;
      return Convert<To, std::string_view>(
          job, [=](std::string_view v, To* out) { return ParseInteger<To>(v, fraction, out); },
          [&](int64_t row) { return job.InvalidInput(row); });
    }
    case TypeKind::kTimestamp:
      return IntegerFromInt64Like<To>(job, [](int64_t v) { return data::FloorDiv(v, data::kMicrosPerSecond); });
    case TypeKind::kTime:
      return IntegerFromInt64Like<To>(job, [](int64_t v) { return v / data::kNanosPerSecond; });
    case TypeKind::kDayTimeInterval: {
      const int64_t unit = MicrosOf(job.from.day_time_end());
      return IntegerFromInt64Like<To>(job, [=](int64_t v) { return v / unit; });
    }
    case TypeKind::kYearMonthInterval: {
      const int32_t unit = MonthsOf(job.from.year_month_end());
      return Convert<To, int32_t>(
          job,
          [=](int32_t v, To* out) {
            *out = static_cast<To>(v / unit);
            return IntFits<To>(v / unit);
          },
          [&](int64_t row) { return job.Overflow(row); });
    }
    case TypeKind::kDate: return Column::Nulls(job.to, job.rows.length);
    default:
      return VisitNumber(job.from, [&](auto zero) { return IntegerFromNumber<To, decltype(zero)>(job); });
  }
}

template <typename To>
Result<ColumnPtr> ToFloating(const CastJob& job) {
  switch (job.from.kind()) {
    case TypeKind::kBoolean: return ConvertAll<To, bool>(job, [](bool v) { return static_cast<To>(v); });
    case TypeKind::kString:
      return Convert<To, std::string_view>(
          job,
          [](std::string_view v, To* out) {
            if constexpr (std::is_same_v<To, float>) {
              return data::ParseFloat(v, out);
            } else {
              return data::ParseDouble(v, out);
            }
          },
          [&](int64_t row) { return job.InvalidInput(row); });
    case TypeKind::kTimestamp:
      return ConvertAll<To, int64_t>(job, [](int64_t v) { return static_cast<To>(static_cast<double>(v) / 1e6); });
    case TypeKind::kTime:
      return ConvertAll<To, int64_t>(job, [](int64_t v) { return static_cast<To>(static_cast<double>(v) / 1e9); });
    case TypeKind::kDate: return Column::Nulls(job.to, job.rows.length);
    case TypeKind::kDecimal: {
      const int scale = job.from.scale();
      return ConvertAll<To, Int128>(job, [=](Int128 v) {
        if constexpr (std::is_same_v<To, float>) {
          return data::DecimalToFloat(v, scale);
        } else {
          return data::DecimalToDouble(v, scale);
        }
      });
    }
    default:
      return VisitNumber(job.from, [&](auto zero) -> Result<ColumnPtr> {
        using From = decltype(zero);
        return ConvertAll<To, From>(job, [](From v) { return static_cast<To>(v); });
      });
  }
}

/// Stored int64 that counts 10^-digits of a unit, as a decimal.
Result<ColumnPtr> DecimalFromScaled(const CastJob& job, int digits) {
  const int precision = job.to.precision();
  const int scale = job.to.scale();
  return Convert<Int128, int64_t>(
      job,
      [=](int64_t v, Int128* out) { return data::DecimalRescale(v, digits, precision, scale, out); },
      [&](int64_t row) { return job.OutOfDecimal(row); });
}

Result<ColumnPtr> DecimalFromString(const CastJob& job) {
  const int precision = job.to.precision();
  const int scale = job.to.scale();
  FixedOutput<Int128> out(job.to, job.rows.length);
  const Reader<std::string_view> in(*job.column);
  const KernelInput input{{}, job.rows, job.validity};
  TW_RETURN_NOT_OK(TryForEachValid(input, [&](int64_t row) -> Status {
    Int128 value = 0;
    const auto outcome = data::ParseDecimal(in[row], precision, scale, &value);
    if (outcome == data::DecimalOutcome::kOk) {
      out.Set(row, value);
    } else if (!job.ansi()) {
      out.SetNull(row);
    } else {
      return outcome == data::DecimalOutcome::kMalformed ? job.InvalidInput(row) : job.OutOfDecimal(row);
    }
    return {};
  }));
  return out.Finish();
}

template <typename From>
Result<ColumnPtr> DecimalFromNumber(const CastJob& job) {
  const int precision = job.to.precision();
  const int scale = job.to.scale();
  const auto fail = [&](int64_t row) { return job.OutOfDecimal(row); };
  if constexpr (std::is_same_v<From, Int128>) {
    const int from_scale = job.from.scale();
    if (CastIsTotal(job.from, job.to)) {
      const Int128 factor = data::PowerOfTen(scale - from_scale);
      return ConvertAll<Int128, Int128>(job, [=](Int128 v) { return v * factor; });
    }
    return Convert<Int128, Int128>(
        job, [=](Int128 v, Int128* out) { return data::DecimalRescale(v, from_scale, precision, scale, out); }, fail);
  } else if constexpr (kIsFloat<From>) {
    FixedOutput<Int128> out(job.to, job.rows.length);
    const Reader<From> in(*job.column);
    TW_RETURN_NOT_OK(TryForEachValid(KernelInput{{}, job.rows, job.validity}, [&](int64_t row) -> Status {
      Int128 value = 0;
      bool fits = false;
      if constexpr (std::is_same_v<From, float>) {
        fits = data::DecimalFromFloat(in[row], precision, scale, &value);
      } else {
        fits = data::DecimalFromDouble(in[row], precision, scale, &value);
      }
      if (fits) {
        out.Set(row, value);
        return {};
      }
      if (job.ansi() && std::isfinite(in[row])) return job.OutOfDecimal(row);
      out.SetNull(row);  // NaN and infinity are null in every mode
      return {};
    }));
    return out.Finish();
  } else {
    const int scale_up = scale;
    if (CastIsTotal(job.from, job.to)) {
      const Int128 factor = data::PowerOfTen(scale_up);
      return ConvertAll<Int128, From>(job, [=](From v) { return static_cast<Int128>(v) * factor; });
    }
    return Convert<Int128, From>(
        job, [=](From v, Int128* out) { return data::DecimalFromInt64(v, precision, scale, out); }, fail);
  }
}

Result<ColumnPtr> ToDecimal(const CastJob& job) {
  switch (job.from.kind()) {
    case TypeKind::kString: return DecimalFromString(job);
    case TypeKind::kTimestamp: return DecimalFromScaled(job, 6);
    case TypeKind::kTime: return DecimalFromScaled(job, 9);
    case TypeKind::kDate: return Column::Nulls(job.to, job.rows.length);
    case TypeKind::kBoolean: {
      const int precision = job.to.precision();
      const int scale = job.to.scale();
      return Convert<Int128, bool>(
          job, [=](bool v, Int128* out) { return data::DecimalFromInt64(v, precision, scale, out); },
          [&](int64_t row) { return job.OutOfDecimal(row); });
    }
    case TypeKind::kDayTimeInterval: {
      const int precision = job.to.precision();
      const int scale = job.to.scale();
      const int64_t unit = MicrosOf(job.from.day_time_end());
      const bool seconds = job.from.day_time_end() == data::DayTimeField::kSecond;
      return Convert<Int128, int64_t>(
          job,
          [=](int64_t v, Int128* out) {
            return seconds ? data::DecimalRescale(v, 6, precision, scale, out)
                           : data::DecimalFromInt64(v / unit, precision, scale, out);
          },
          [&](int64_t row) { return job.OutOfDecimal(row); });
    }
    case TypeKind::kYearMonthInterval: {
      const int precision = job.to.precision();
      const int scale = job.to.scale();
      const int32_t unit = MonthsOf(job.from.year_month_end());
      return Convert<Int128, int32_t>(
          job, [=](int32_t v, Int128* out) { return data::DecimalFromInt64(v / unit, precision, scale, out); },
          [&](int64_t row) { return job.OutOfDecimal(row); });
    }
    default: return VisitNumber(job.from, [&](auto zero) { return DecimalFromNumber<decltype(zero)>(job); });
  }
}

}  // namespace

int32_t MonthsOf(data::YearMonthField field) { return field == data::YearMonthField::kYear ? 12 : 1; }

int64_t MicrosOf(data::DayTimeField field) {
  switch (field) {
    case data::DayTimeField::kDay: return data::kMicrosPerDay;
    case data::DayTimeField::kHour: return data::kMicrosPerHour;
    case data::DayTimeField::kMinute: return data::kMicrosPerMinute;
    case data::DayTimeField::kSecond: return data::kMicrosPerSecond;
  }
  return 1;
}

Result<ColumnPtr> CastToNumber(const CastJob& job) {
  switch (job.to.kind()) {
    case TypeKind::kByte: return ToInteger<int8_t>(job);
    case TypeKind::kShort: return ToInteger<int16_t>(job);
    case TypeKind::kInteger: return ToInteger<int32_t>(job);
    case TypeKind::kLong: return ToInteger<int64_t>(job);
    case TypeKind::kFloat: return ToFloating<float>(job);
    case TypeKind::kDouble: return ToFloating<double>(job);
    default: return ToDecimal(job);
  }
}

Result<ColumnPtr> CastToBoolean(const CastJob& job) {
  switch (job.from.kind()) {
    case TypeKind::kString:
      return Convert<bool, std::string_view>(
          job, [](std::string_view v, bool* out) { return data::ParseBoolean(v, out); },
          [&](int64_t row) { return job.InvalidInput(row); });
    case TypeKind::kTimestamp: return ConvertAll<bool, int64_t>(job, [](int64_t v) { return v != 0; });
    case TypeKind::kDate: return Column::Nulls(job.to, job.rows.length);
    default:
      return VisitNumber(job.from, [&](auto zero) -> Result<ColumnPtr> {
        using From = decltype(zero);
        return ConvertAll<bool, From>(job, [](From v) { return v != 0; });
      });
  }
}

}  // namespace thalweg::sql
