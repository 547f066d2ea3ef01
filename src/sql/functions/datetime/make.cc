// make_date, make_timestamp, make_timestamp_ltz, make_timestamp_ntz, make_dt_interval, make_ym_interval.

#include <limits>

#include "data/text/civil.h"
#include "data/text/literal.h"
#include "sql/expr/binding.h"
#include "sql/functions/alike.h"
#include "sql/functions/datetime/register.h"

namespace thalweg::sql {
namespace {

Status OutOfBounds(std::string_view what) {
  return Error("DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION")
      .With("rangeMessage", what)
      .With("ansiConfig", "\"spark.sql.ansi.enabled\"");
}

std::string WhatIsWrong(int32_t year, int32_t month, int32_t day) {
  if (month < 1 || month > 12) return "Invalid value for MonthOfYear (valid values 1 - 12): " + std::to_string(month);
  if (day < 1 || day > 31) return "Invalid value for DayOfMonth (valid values 1 - 28/31): " + std::to_string(day);
  if (month == 2 && day == 29) return "Invalid date 'February 29' as '" + std::to_string(year) + "' is not a leap year";
  return "Invalid date";
}

Result<ColumnPtr> MakeDate(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapChecked<int32_t, int32_t, int32_t, int32_t>(
      call, input, [&](int32_t year, int32_t month, int32_t day, std::optional<int32_t>* out) -> Status {
        int32_t days;
        if (data::MakeDate(year, month, day, &days)) {
          *out = days;
        } else if (call.mode == EvalMode::kAnsi) {
          return OutOfBounds(WhatIsWrong(year, month, day));
        }
        return {};
      });
}

Result<BoundCall> BindMakeDate(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 3, 3));
  for (size_t i = 0; i < 3; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::Integer(), context));
  return MakeBound(function, std::move(arguments), DataType::Date(), !context.config.ansi, &MakeDate, context);
}

/// Local microseconds of the first six arguments; the seconds are DECIMAL(16, 6).
Status LocalMicros(const KernelInput& input, int64_t row, EvalMode mode, std::optional<int64_t>* out) {
  const auto field = [&](size_t i) { return Reader<int32_t>(*input.arguments[i])[row]; };
  const Int128 seconds = Reader<Int128>(*input.arguments[5])[row];
  const int32_t hour = field(3);
  const int32_t minute = field(4);
  const auto bad = [&](std::string_view what) -> Status {
    if (mode == EvalMode::kAnsi) return OutOfBounds(what);
    return {};
  };
  int32_t days = 0;
  if (!data::MakeDate(field(0), field(1), field(2), &days)) return bad(WhatIsWrong(field(0), field(1), field(2)));
  if (hour < 0 || hour > 23) return bad("Invalid value for HourOfDay (valid values 0 - 23): " + std::to_string(hour));
  if (minute < 0 || minute > 59) return bad("Invalid value for MinuteOfHour (valid values 0 - 59): " + std::to_string(minute));
  // 60.000000 is the next minute.
  if (seconds > 60000000 && seconds < 61000000 && mode == EvalMode::kAnsi) {
    return Error("INVALID_FRACTION_OF_SECOND").With("secAndMicros", data::ValueText(Value(seconds), DataType::Decimal(16, 6)));
  }
  if (seconds < 0 || seconds > 60000000) {
    return bad("Invalid value for SecondOfMinute (valid values 0 - 59): " + std::to_string(static_cast<int64_t>(seconds / 1000000)));
  }
  const int64_t of_day = hour * data::kMicrosPerHour + minute * data::kMicrosPerMinute + static_cast<int64_t>(seconds);
  int64_t micros;
  if (!data::MicrosFromCivil(days, of_day, &micros)) return bad("long overflow");
  *out = micros;
  return {};
}

Result<ColumnPtr> MakeTimestamp(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const bool ntz = call.type.Is(TypeKind::kTimestampNtz);
  const data::TimeZone session = SessionZone(context);
  FixedOutput<int64_t> out(call.type, input.rows.length);
  TW_RETURN_NOT_OK(TryForEachValid(input, [&](int64_t row) -> Status {
    std::optional<int64_t> local;
    TW_RETURN_NOT_OK(LocalMicros(input, row, call.mode, &local));
    if (!local) {
      out.SetNull(row);
    } else if (ntz) {
      out.Set(row, *local);
    } else if (input.arguments.size() == 7) {
      TW_ASSIGN_OR_RETURN(const data::TimeZone zone,
                          data::TimeZone::Parse(Reader<std::string_view>(*input.arguments[6])[row]));
      out.Set(row, zone.FromLocal(*local));
    } else {
      out.Set(row, session.FromLocal(*local));
    }
    return {};
  }));
  return out.Finish();
}

Result<BoundCall> BindMakeTimestamp(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  const bool ntz = function.name.ends_with("_ntz");
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 6, ntz ? 6 : 7));
  for (size_t i = 0; i < 5; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::Integer(), context));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 5, DataType::Decimal(16, 6), context));
  if (arguments.size() == 7) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 6, DataType::String(), context));
  return MakeBound(function, std::move(arguments), ntz ? DataType::TimestampNtz() : DataType::Timestamp(),
                   ModeOf(function, context) != EvalMode::kAnsi, &MakeTimestamp, context);
}

Status IntervalOverflow() { return Error("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION"); }

Result<ColumnPtr> MakeDayTime(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapChecked<int64_t, int32_t, int32_t, int32_t, Int128>(
      call, input, [](int32_t days, int32_t hours, int32_t minutes, Int128 seconds, std::optional<int64_t>* out) -> Status {
        const Int128 micros = static_cast<Int128>(days) * data::kMicrosPerDay + static_cast<Int128>(hours) * data::kMicrosPerHour +
                              static_cast<Int128>(minutes) * data::kMicrosPerMinute + seconds;
        if (micros > std::numeric_limits<int64_t>::max() || micros < std::numeric_limits<int64_t>::min()) return IntervalOverflow();
        *out = static_cast<int64_t>(micros);
        return {};
      });
}

Result<BoundCall> BindMakeDayTime(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 0, 4));
  while (arguments.size() < 3) arguments.push_back(Literal::Integer(0));
  if (arguments.size() < 4) arguments.push_back(Literal::Make(Value(Int128{0}), DataType::Decimal(18, 6)));
  for (size_t i = 0; i < 3; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::Integer(), context));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 3, DataType::Decimal(18, 6), context));
  return MakeBound(function, std::move(arguments), DataType::DayTimeInterval(), false, &MakeDayTime, context);
}

Result<ColumnPtr> MakeYearMonth(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapChecked<int32_t, int32_t, int32_t>(
      call, input, [](int32_t years, int32_t months, std::optional<int32_t>* out) -> Status {
        const int64_t total = static_cast<int64_t>(years) * 12 + months;
        if (total > std::numeric_limits<int32_t>::max() || total < std::numeric_limits<int32_t>::min()) return IntervalOverflow();
        *out = static_cast<int32_t>(total);
        return {};
      });
}

Result<BoundCall> BindMakeYearMonth(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 0, 2));
  while (arguments.size() < 2) arguments.push_back(Literal::Integer(0));
  for (size_t i = 0; i < 2; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::Integer(), context));
  return MakeBound(function, std::move(arguments), DataType::YearMonthInterval(), false, &MakeYearMonth, context);
}

/// make_interval(years, months, weeks, days, hours, minutes, seconds): a CALENDAR INTERVAL.
Result<ColumnPtr> MakeInterval(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  using data::CalendarInterval;
  return MapChecked<CalendarInterval, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t, Int128>(
      call, input,
      [&](int32_t years, int32_t months, int32_t weeks, int32_t days, int32_t hours, int32_t minutes, Int128 seconds,
          std::optional<CalendarInterval>* out) -> Status {
        const int64_t all_months = static_cast<int64_t>(years) * 12 + months;
        const int64_t all_days = static_cast<int64_t>(weeks) * 7 + days;
        const Int128 micros = static_cast<Int128>(hours) * data::kMicrosPerHour +
                              static_cast<Int128>(minutes) * data::kMicrosPerMinute + seconds;
        const auto fits32 = [](int64_t v) {
          return v >= std::numeric_limits<int32_t>::min() && v <= std::numeric_limits<int32_t>::max();
        };
        if (!fits32(all_months) || !fits32(all_days) || micros > std::numeric_limits<int64_t>::max() ||
            micros < std::numeric_limits<int64_t>::min()) {
          if (call.mode == EvalMode::kAnsi) return IntervalOverflow();
          return {};
        }
        *out = CalendarInterval{static_cast<int32_t>(all_months), static_cast<int32_t>(all_days), static_cast<int64_t>(micros)};
        return {};
      });
}

Result<BoundCall> BindMakeInterval(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 0, 7));
  while (arguments.size() < 6) arguments.push_back(Literal::Integer(0));
  if (arguments.size() < 7) arguments.push_back(Literal::Make(Value(Int128{0}), DataType::Decimal(18, 6)));
  for (size_t i = 0; i < 6; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::Integer(), context));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 6, DataType::Decimal(18, 6), context));
  const bool may_be_null = ModeOf(function, context) != EvalMode::kAnsi;
  return MakeBound(function, std::move(arguments), DataType::CalendarInterval(), may_be_null, &MakeInterval, context);
}

}  // namespace

void RegisterMake(FunctionLists& lists) {
  static const ScalarFunction kDate{.name = "make_date", .since = "3.0.0", .doc = "A date of year, month and day.",
                                    .example = {"SELECT make_date(2013, 7, 15)", "2013-07-15"}, .bind = &BindMakeDate};
  static const ScalarFunction kTimestamp{.name = "make_timestamp", .since = "3.0.0", .doc = "A timestamp of its fields.",
                                         .example = {"SELECT make_timestamp(2014, 12, 28, 6, 30, 45.887)", "2014-12-28 06:30:45.887"},
                                         .bind = &BindMakeTimestamp};
  static const ScalarFunction kLtz =
      Alike(kTimestamp, "make_timestamp_ltz", "A TIMESTAMP_LTZ of its parts.",
            {"SELECT make_timestamp_ltz(2014, 12, 28, 6, 30, 45.887)", "2014-12-28 06:30:45.887"});
  static const ScalarFunction kNtz =
      Alike(kTimestamp, "make_timestamp_ntz", "A TIMESTAMP_NTZ of its parts.",
            {"SELECT make_timestamp_ntz(2014, 12, 28, 6, 30, 45.887)", "2014-12-28 06:30:45.887"});
  static const ScalarFunction kDayTime{.name = "make_dt_interval", .since = "3.2.0", .doc = "An interval of days, hours, minutes and seconds.",
                                       .bind = &BindMakeDayTime};
  static const ScalarFunction kYearMonth{.name = "make_ym_interval", .since = "3.2.0", .doc = "An interval of years and months.",
                                         .bind = &BindMakeYearMonth};
  static const ScalarFunction kTryTimestamp =
      Alike(kTimestamp, "try_make_timestamp", "As make_timestamp, NULL where there is no such time.",
            {"SELECT try_make_timestamp(2014, 13, 28, 6, 30, 45.887)", "NULL"});
  static const ScalarFunction kTryLtz =
      Alike(kTimestamp, "try_make_timestamp_ltz", "As make_timestamp_ltz, NULL where there is no such time.",
            {"SELECT try_make_timestamp_ltz(2014, 13, 28, 6, 30, 45.887)", "NULL"});
  static const ScalarFunction kTryNtz =
      Alike(kTimestamp, "try_make_timestamp_ntz", "As make_timestamp_ntz, NULL where there is no such time.",
            {"SELECT try_make_timestamp_ntz(2014, 13, 28, 6, 30, 45.887)", "NULL"});
  static const ScalarFunction kInterval{.name = "make_interval", .since = "3.0.0", .doc = "An interval of its fields.",
                                        .bind = &BindMakeInterval};
  static const ScalarFunction kTryInterval =
      Alike(kInterval, "try_make_interval", "As make_interval, NULL when it overflows.",
            {"SELECT try_make_interval(2147483647)", "NULL"});
  for (const auto* f : {&kDate, &kTimestamp, &kLtz, &kNtz, &kDayTime, &kYearMonth, &kTryTimestamp, &kTryLtz, &kTryNtz,
                        &kInterval, &kTryInterval}) {
    lists.Add(*f);
  }
}

}  // namespace thalweg::sql
