// + - * / over dates, timestamps and intervals.
// Source: Spark's BinaryArithmeticWithDatetimeResolver, DateTimeUtils, IntervalUtils.

#include <cmath>
#include <limits>
#include <optional>

#include "data/text/civil.h"
#include "data/text/decimal128.h"
#include "data/text/time_zone.h"
#include "sql/expr/binding.h"
#include "sql/functions/operators/register.h"

namespace thalweg::sql {
namespace {

using data::CalendarInterval;
using data::kMicrosPerDay;
using data::TimeZone;

bool IsStamp(const DataType& t) { return t.Is(TypeKind::kTimestamp) || t.Is(TypeKind::kTimestampNtz); }
bool IsInterval(const DataType& t) { return t.IsAnsiInterval() || t.Is(TypeKind::kCalendarInterval); }
bool IsDayInterval(const DataType& t) {
  return t.Is(TypeKind::kDayTimeInterval) && t.day_time_start() == data::DayTimeField::kDay &&
         t.day_time_end() == data::DayTimeField::kDay;
}

/// Which way the interval counts.
struct SignData final : BoundData {
  explicit SignData(int s) : sign(s) {}
  int sign;
};
int SignOf(const BoundScalar& call) { return static_cast<const SignData&>(*call.data).sign; }

TimeZone ZoneFor(const DataType& type, EvalContext& context) {
  if (type.Is(TypeKind::kTimestampNtz)) return TimeZone::Utc();
  auto zone = TimeZone::Find(context.config->time_zone);
  return zone ? *zone : TimeZone::Utc();
}

Status StampOverflow(const BoundScalar& call) {
  if (call.mode == EvalMode::kTry) return {};
  return Error("DATETIME_OVERFLOW").With("operation", "add an interval to a timestamp");
}

/// micros + months + days in the zone's calendar + micros on the clock.
bool AddToStamp(int64_t micros, int64_t months, int64_t days, int64_t extra, const TimeZone& zone, int64_t* out) {
  int64_t result = micros;
  if (months != 0 || days != 0) {
    const int32_t offset = zone.OffsetSecondsAt(micros);
    int64_t local = zone.ToLocal(micros);
    if (months != 0 && !data::AddMonthsToMicros(local, months, &local)) return false;
    int64_t shift;
    if (__builtin_mul_overflow(days, kMicrosPerDay, &shift) || __builtin_add_overflow(local, shift, &local)) return false;
    result = zone.FromLocal(local, offset);
  }
  return !__builtin_add_overflow(result, extra, out);
}

Result<ColumnPtr> StampAddDayTime(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const TimeZone zone = ZoneFor(call.type, context);
  const int sign = SignOf(call);
  return MapChecked<int64_t, int64_t, int64_t>(
      call, input, [&](int64_t micros, int64_t interval, std::optional<int64_t>* out) -> Status {
        const int64_t days = interval / kMicrosPerDay;
        int64_t result;
        if (!AddToStamp(micros, 0, sign * days, sign * (interval - days * kMicrosPerDay), zone, &result)) {
          return StampOverflow(call);
        }
        *out = result;
        return {};
      });
}

Result<ColumnPtr> StampAddMonths(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const TimeZone zone = ZoneFor(call.type, context);
  const int sign = SignOf(call);
  return MapChecked<int64_t, int64_t, int32_t>(
      call, input, [&](int64_t micros, int32_t months, std::optional<int64_t>* out) -> Status {
        int64_t result;
        if (!AddToStamp(micros, static_cast<int64_t>(sign) * months, 0, 0, zone, &result)) return StampOverflow(call);
        *out = result;
        return {};
      });
}

Result<ColumnPtr> StampAddCalendar(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const TimeZone zone = ZoneFor(call.type, context);
  const int sign = SignOf(call);
  return MapChecked<int64_t, int64_t, CalendarInterval>(
      call, input, [&](int64_t micros, CalendarInterval v, std::optional<int64_t>* out) -> Status {
        int64_t result;
        if (!AddToStamp(micros, static_cast<int64_t>(sign) * v.months, static_cast<int64_t>(sign) * v.days,
                        sign * v.microseconds, zone, &result)) {
          return StampOverflow(call);
        }
        *out = result;
        return {};
      });
}

bool FitsDate(int64_t days) {
  return days >= std::numeric_limits<int32_t>::min() && days <= std::numeric_limits<int32_t>::max();
}

Result<ColumnPtr> DateAddDays(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const int sign = SignOf(call);
  return MapValues<int32_t, int32_t, int64_t>(call, input, [=](int32_t date, int64_t interval) {
    return static_cast<int32_t>(static_cast<uint32_t>(date) + static_cast<uint32_t>(sign * (interval / kMicrosPerDay)));
  });
}

Result<ColumnPtr> DateAddMonths(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const int sign = SignOf(call);
  return MapChecked<int32_t, int32_t, int32_t>(
      call, input, [&](int32_t date, int32_t months, std::optional<int32_t>* out) -> Status {
        int32_t result;
        if (!data::AddMonths(date, static_cast<int64_t>(sign) * months, &result)) return StampOverflow(call);
        *out = result;
        return {};
      });
}

Result<ColumnPtr> DateAddCalendar(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const int sign = SignOf(call);
  return MapChecked<int32_t, int32_t, CalendarInterval>(
      call, input, [&](int32_t date, CalendarInterval v, std::optional<int32_t>* out) -> Status {
        if (v.microseconds != 0 && call.mode == EvalMode::kAnsi) {
          return Error("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION");
        }
        int32_t months = 0;
        if (!data::AddMonths(date, static_cast<int64_t>(sign) * v.months, &months)) return StampOverflow(call);
        const int64_t rest = data::DaysOfMicros(sign * v.microseconds);
        const int64_t days = static_cast<int64_t>(months) + static_cast<int64_t>(sign) * v.days + rest;
        if (!FitsDate(days)) return StampOverflow(call);
        *out = static_cast<int32_t>(days);
        return {};
      });
}

Result<ColumnPtr> SubtractDates(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapChecked<int64_t, int32_t, int32_t>(
      call, input, [](int32_t a, int32_t b, std::optional<int64_t>* out) -> Status {
        int64_t micros;
        if (__builtin_mul_overflow(static_cast<int64_t>(a) - b, kMicrosPerDay, &micros)) {
          return Error("DATETIME_OVERFLOW").With("operation", "subtract dates");
        }
        *out = micros;
        return {};
      });
}

Result<ColumnPtr> SubtractStamps(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const TimeZone zone = ZoneFor(input.arguments[0]->type(), context);
  return MapTotal2<int64_t, int64_t, int64_t>(
      call, input, [&](int64_t a, int64_t b) { return zone.ToLocal(a) - zone.ToLocal(b); });
}

Status IntervalOverflow(const BoundScalar& call, std::string_view function) {
  if (call.mode == EvalMode::kTry) return {};
  if (function.empty()) return Error("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION");
  return Error("INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION").With("functionName", QuoteFunctionName(function));
}

template <typename T, bool kPlus>
Result<ColumnPtr> AddIntervals(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapChecked<T, T, T>(call, input, [&](T a, T b, std::optional<T>* out) -> Status {
    T result;
    if (kPlus ? __builtin_add_overflow(a, b, &result) : __builtin_sub_overflow(a, b, &result)) {
      return IntervalOverflow(call, kPlus ? "try_add" : "try_subtract");
    }
    *out = result;
    return {};
  });
}

template <bool kPlus>
Result<ColumnPtr> AddCalendarIntervals(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapChecked<CalendarInterval, CalendarInterval, CalendarInterval>(
      call, input, [&](CalendarInterval a, CalendarInterval b, std::optional<CalendarInterval>* out) -> Status {
        CalendarInterval r;
        // All three parts are worked out: without ANSI each wraps by itself.
        const auto overflows = [](auto x, auto y, auto* out_part) -> bool {
          return kPlus ? __builtin_add_overflow(x, y, out_part) : __builtin_sub_overflow(x, y, out_part);
        };
        bool bad = overflows(a.months, b.months, &r.months);
        bad |= overflows(a.days, b.days, &r.days);
        bad |= overflows(a.microseconds, b.microseconds, &r.microseconds);
        if (bad && call.mode == EvalMode::kAnsi) return IntervalOverflow(call, kPlus ? "try_add" : "try_subtract");
        if (bad && call.mode == EvalMode::kTry) return {};
        *out = r;
        return {};
      });
}

/// How many times one interval goes into another.
template <typename T>
Result<ColumnPtr> DivideIntervals(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapChecked<int64_t, T, T>(call, input, [&](T a, T b, std::optional<int64_t>* out) -> Status {
    if (b == 0) {
      if (call.mode != EvalMode::kAnsi) return {};
      return Error("DIVIDE_BY_ZERO").With("config", "\"spark.sql.ansi.enabled\"");
    }
    if (b == -1 && static_cast<int64_t>(a) == std::numeric_limits<int64_t>::min()) return IntervalOverflow(call, "");
    *out = static_cast<int64_t>(a) / static_cast<int64_t>(b);
    return {};
  });
}

/// value * 2 / (2 * divisor), HALF_UP.
bool DivideHalfUp(Int128 value, Int128 divisor, Int128* out) {
  if (divisor < 0) {
    divisor = -divisor;
    value = -value;
  }
  Int128 twice;
  if (__builtin_mul_overflow(value, Int128{2}, &twice)) return false;
  *out = (twice + (twice < 0 ? -divisor : divisor)) / (2 * divisor);
  return true;
}

template <typename T>
bool Narrow(Int128 value, T* out) {
  *out = static_cast<T>(value);
  return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

/// interval * n, or interval / n, HALF_UP; N is int64_t, double or Int128 (a decimal).
template <typename T, typename N, bool kTimes>
Result<ColumnPtr> ScaleInterval(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Int128 power =
      std::is_same_v<N, Int128> ? data::PowerOfTen(input.arguments[1]->type().scale()) : Int128{1};
  return MapChecked<T, T, N>(call, input, [&](T interval, N n, std::optional<T>* out) -> Status {
    if (!kTimes && n == 0) {
      if (call.mode == EvalMode::kTry) return {};
      return Error("INTERVAL_DIVIDED_BY_ZERO");
    }
    T result{};
    bool ok = true;
    if constexpr (std::is_same_v<N, double>) {
      const double exact = kTimes ? static_cast<double>(interval) * n : static_cast<double>(interval) / n;
      const double rounded = exact < 0 ? -std::floor(-exact + 0.5) : std::floor(exact + 0.5);
      ok = std::isfinite(rounded) && rounded < -static_cast<double>(std::numeric_limits<T>::min()) &&
           rounded >= static_cast<double>(std::numeric_limits<T>::min());
      if (ok) result = static_cast<T>(rounded);
    } else {
      Int128 wide;
      if (kTimes) {
        ok = !__builtin_mul_overflow(static_cast<Int128>(interval), static_cast<Int128>(n), &wide) &&
             DivideHalfUp(wide, power, &wide) && Narrow(wide, &result);
      } else {
        ok = !__builtin_mul_overflow(static_cast<Int128>(interval), power, &wide) &&
             DivideHalfUp(wide, static_cast<Int128>(n), &wide) && Narrow(wide, &result);
      }
    }
    if (!ok) return IntervalOverflow(call, kTimes ? "try_multiply" : "try_divide");
    *out = result;
    return {};
  });
}

template <bool kTimes>
Result<ColumnPtr> ScaleCalendarInterval(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapChecked<CalendarInterval, CalendarInterval, double>(
      call, input, [&](CalendarInterval v, double n, std::optional<CalendarInterval>* out) -> Status {
        if (!kTimes && n == 0) {
          if (call.mode != EvalMode::kAnsi) return {};
          return Error("INTERVAL_DIVIDED_BY_ZERO");
        }
        const double factor = kTimes ? n : 1 / n;
        const double months = v.months * factor;
        const double days = v.days * factor;
        const double micros = static_cast<double>(v.microseconds) * factor;
        if (std::fabs(months) > 2147483647.0 || std::fabs(days) > 2147483647.0 || std::fabs(micros) > 9.2e18) {
          return IntervalOverflow(call, kTimes ? "try_multiply" : "try_divide");
        }
        *out = CalendarInterval{static_cast<int32_t>(months), static_cast<int32_t>(days),
                                static_cast<int64_t>(std::floor(micros + 0.5))};
        return {};
      });
}

template <typename T, bool kTimes>
ScalarKernel PickScale(const DataType& number) {
  if (number.Is(TypeKind::kDecimal)) return &ScaleInterval<T, Int128, kTimes>;
  if (number.IsIntegral()) return &ScaleInterval<T, int64_t, kTimes>;
  return &ScaleInterval<T, double, kTimes>;
}

BoundCall Make(const ScalarFunction& function, ExprList arguments, DataType type, ScalarKernel kernel,
               const BindContext& context, int sign = 1, bool may_be_null = false) {
  const EvalMode mode = ModeOf(function, context);
  const bool nullable = AnyNullable(arguments) || mode == EvalMode::kTry || may_be_null;
  return MakeBoundExact(function, std::move(arguments), std::move(type), nullable, kernel, mode,
                        std::make_shared<SignData>(sign));
}

Result<BoundCall> BindScaled(const ScalarFunction& function, bool times, ExprPtr interval, ExprPtr number,
                             const BindContext& context) {
  const DataType& type = interval->type();
  DataType factor = number->type();
  if (!factor.Is(TypeKind::kDecimal) || type.Is(TypeKind::kCalendarInterval)) {
    factor = factor.IsIntegral() && !type.Is(TypeKind::kCalendarInterval) ? DataType::Long() : DataType::Double();
  }
  ExprList arguments{interval, Coerce(number, factor, context.config)};
  if (type.Is(TypeKind::kCalendarInterval)) {
    return Make(function, std::move(arguments), type, times ? &ScaleCalendarInterval<true> : &ScaleCalendarInterval<false>,
                context, 1, true);
  }
  if (type.Is(TypeKind::kYearMonthInterval)) {
    return Make(function, std::move(arguments), DataType::YearMonthInterval(),
                times ? PickScale<int32_t, true>(factor) : PickScale<int32_t, false>(factor), context);
  }
  return Make(function, std::move(arguments), DataType::DayTimeInterval(),
              times ? PickScale<int64_t, true>(factor) : PickScale<int64_t, false>(factor), context);
}

/// A date or timestamp, and an interval.
Result<BoundCall> BindShifted(const ScalarFunction& function, int sign, ExprPtr time, ExprPtr interval,
                              const BindContext& context) {
  const DataType& by = interval->type();
  if (time->type().Is(TypeKind::kDate)) {
    if (by.Is(TypeKind::kYearMonthInterval)) {
      return Make(function, {time, interval}, DataType::Date(), &DateAddMonths, context, sign);
    }
    if (by.Is(TypeKind::kCalendarInterval)) {
      return Make(function, {time, interval}, DataType::Date(), &DateAddCalendar, context, sign);
    }
    if (IsDayInterval(by)) return Make(function, {time, interval}, DataType::Date(), &DateAddDays, context, sign);
    time = Coerce(time, DataType::Timestamp(), context.config);
  }
  const DataType type = time->type();
  ScalarKernel kernel = &StampAddDayTime;
  if (by.Is(TypeKind::kYearMonthInterval)) kernel = &StampAddMonths;
  if (by.Is(TypeKind::kCalendarInterval)) kernel = &StampAddCalendar;
  return Make(function, {time, interval}, type, kernel, context, sign);
}

Result<BoundCall> BindIntervalSum(const ScalarFunction& function, bool plus, const ExprList& arguments,
                                  const BindContext& context) {
  const DataType& left = arguments[0]->type();
  const DataType& right = arguments[1]->type();
  const auto type = TightestCommonType(left, right, context.config.ansi);
  if (!type) {
    return DifferentTypesError("(" + arguments[0]->Sql() + " " + std::string(function.name) + " " +
                                   arguments[1]->Sql() + ")",
                               left, right);
  }
  ExprList coerced{Coerce(arguments[0], *type, context.config), Coerce(arguments[1], *type, context.config)};
  ScalarKernel kernel = plus ? &AddIntervals<int64_t, true> : &AddIntervals<int64_t, false>;
  if (type->Is(TypeKind::kYearMonthInterval)) kernel = plus ? &AddIntervals<int32_t, true> : &AddIntervals<int32_t, false>;
  if (type->Is(TypeKind::kCalendarInterval)) kernel = plus ? &AddCalendarIntervals<true> : &AddCalendarIntervals<false>;
  return Make(function, std::move(coerced), *type, kernel, context);
}

Result<std::optional<BoundCall>> BindDateAndNumber(const ScalarFunction& function, bool plus, const ExprPtr& date,
                                                   const ExprPtr& number, const BindContext& context) {
  const bool text = number->type().Is(TypeKind::kString);
  if (text && context.config.ansi) {
    return UnexpectedInputType(plus ? "date_add" : "date_sub", {date, number}, 1,
                               "(\"INT\" or \"SMALLINT\" or \"TINYINT\")");
  }
  if (!text && !number->type().IsIntegral() && !number->type().Is(TypeKind::kNull)) return std::optional<BoundCall>();
  if (function.name.starts_with("try_")) {
    // The same under the name that was called.
    TW_ASSIGN_OR_RETURN(const ExprPtr meaning, BindBuiltin(plus ? "date_add" : "date_sub", {date, number}, context));
    const auto* call = meaning->As<Call>();
    return std::optional<BoundCall>(
        MakeBoundExact(function, call->children(), call->type(), true, call->bound().kernel, EvalMode::kTry));
  }
  TW_ASSIGN_OR_RETURN(ExprPtr call, BindBuiltin(plus ? "date_add" : "date_sub", {date, number}, context));
  return std::optional<BoundCall>(ReplaceWith(std::move(call)));
}

std::optional<BoundCall> Some(BoundCall call) { return std::optional<BoundCall>(std::move(call)); }

}  // namespace

Result<std::optional<BoundCall>> BindDatetimeArithmetic(const ScalarFunction& function, char op, const ExprList& arguments,
                                                        const BindContext& context) {
  const DataType& left = arguments[0]->type();
  const DataType& right = arguments[1]->type();
  const auto is_time = [](const DataType& t) { return t.Is(TypeKind::kDate) || IsStamp(t); };
  if (!is_time(left) && !is_time(right) && !IsInterval(left) && !IsInterval(right)) return std::optional<BoundCall>();
  const bool plus = op == '+';
  if (plus || op == '-') {
    if (is_time(left) && IsInterval(right)) {
      TW_ASSIGN_OR_RETURN(BoundCall call, BindShifted(function, plus ? 1 : -1, arguments[0], arguments[1], context));
      return Some(std::move(call));
    }
    if (plus && IsInterval(left) && is_time(right)) {
      TW_ASSIGN_OR_RETURN(BoundCall call, BindShifted(function, 1, arguments[1], arguments[0], context));
      return Some(std::move(call));
    }
    if (IsInterval(left) && (IsInterval(right) || right.Is(TypeKind::kNull))) {
      TW_ASSIGN_OR_RETURN(BoundCall call, BindIntervalSum(function, plus, arguments, context));
      return Some(std::move(call));
    }
    if (IsInterval(right) && left.Is(TypeKind::kNull)) {
      TW_ASSIGN_OR_RETURN(BoundCall call, BindIntervalSum(function, plus, arguments, context));
      return Some(std::move(call));
    }
    if (IsInterval(right) && left.Is(TypeKind::kString) && right.Is(TypeKind::kCalendarInterval)) {
      TW_ASSIGN_OR_RETURN(BoundCall call,
                          BindShifted(function, plus ? 1 : -1,
                                      Coerce(arguments[0], DataType::Timestamp(), context.config), arguments[1], context));
      return Some(std::move(call));
    }
    if (!plus && left.Is(TypeKind::kDate) && right.Is(TypeKind::kDate)) {
      const auto day = data::DayTimeField::kDay;
      return Some(Make(function, arguments, DataType::DayTimeInterval(day, day), &SubtractDates, context));
    }
    if (!plus && ((IsStamp(left) && (is_time(right) || right.Is(TypeKind::kString))) ||
                  ((is_time(left) || left.Is(TypeKind::kString)) && IsStamp(right)))) {
      const bool ntz = left.Is(TypeKind::kTimestampNtz) && !right.Is(TypeKind::kTimestamp);
      const DataType type = ntz || (right.Is(TypeKind::kTimestampNtz) && !left.Is(TypeKind::kTimestamp))
                                ? DataType::TimestampNtz()
                                : DataType::Timestamp();
      ExprList coerced{Coerce(arguments[0], type, context.config), Coerce(arguments[1], type, context.config)};
      return Some(Make(function, std::move(coerced), DataType::DayTimeInterval(), &SubtractStamps, context));
    }
    if (left.Is(TypeKind::kDate)) return BindDateAndNumber(function, plus, arguments[0], arguments[1], context);
    if (plus && right.Is(TypeKind::kDate)) return BindDateAndNumber(function, true, arguments[1], arguments[0], context);
    return std::optional<BoundCall>();
  }
  if (op == 'd' && (left.IsAnsiInterval() || left.Is(TypeKind::kNull)) &&
      (right.IsAnsiInterval() || right.Is(TypeKind::kNull))) {
    const auto type = TightestCommonType(left, right, context.config.ansi);
    if (!type) return std::optional<BoundCall>();
    ExprList coerced{Coerce(arguments[0], *type, context.config), Coerce(arguments[1], *type, context.config)};
    return Some(MakeBound(function, std::move(coerced), DataType::Long(), true,
                          type->Is(TypeKind::kYearMonthInterval) ? &DivideIntervals<int32_t> : &DivideIntervals<int64_t>,
                          context));
  }
  const auto is_number = [](const DataType& t) {
    return t.IsNumeric() || t.Is(TypeKind::kString) || t.Is(TypeKind::kNull);
  };
  if ((op == '*' || op == '/') && IsInterval(left) && is_number(right)) {
    TW_ASSIGN_OR_RETURN(BoundCall call, BindScaled(function, op == '*', arguments[0], arguments[1], context));
    return Some(std::move(call));
  }
  if (op == '*' && IsInterval(right) && is_number(left)) {
    TW_ASSIGN_OR_RETURN(BoundCall call, BindScaled(function, true, arguments[1], arguments[0], context));
    return Some(std::move(call));
  }
  return std::optional<BoundCall>();
}

}  // namespace thalweg::sql
