// date_add, dateadd, date_sub, datediff, date_diff, add_months, months_between, last_day, next_day, from_utc_timestamp,
// to_utc_timestamp, convert_timezone.

#include <cmath>

#include "data/text/civil.h"
#include "sql/expr/binding.h"
#include "sql/functions/alike.h"
#include "sql/functions/datetime/register.h"

namespace thalweg::sql {
namespace {

template <int kSign>
Result<ColumnPtr> AddDays(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTotal2<int32_t, int32_t, int32_t>(call, input, [](int32_t date, int32_t days) {
    return static_cast<int32_t>(static_cast<uint32_t>(date) + static_cast<uint32_t>(kSign) * static_cast<uint32_t>(days));
  });
}

Result<BoundCall> BindAddDays(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::Date(), context));
  const TypeKind days = arguments[1]->type().kind();
  const bool fits = days == TypeKind::kInteger || days == TypeKind::kShort || days == TypeKind::kByte ||
                    days == TypeKind::kNull || days == TypeKind::kString;
  if (!fits) return UnexpectedInputType(function.name, arguments, 1, "(\"INT\" or \"SMALLINT\" or \"TINYINT\")");
  arguments[1] = Coerce(arguments[1], DataType::Integer(), context.config);
  const ScalarKernel kernel = function.name == "date_sub" ? &AddDays<-1> : &AddDays<1>;
  return MakeBound(function, std::move(arguments), DataType::Date(), false, kernel, context);
}

Result<ColumnPtr> DiffDays(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTotal2<int32_t, int32_t, int32_t>(call, input, [](int32_t end, int32_t start) {
    return static_cast<int32_t>(static_cast<uint32_t>(end) - static_cast<uint32_t>(start));
  });
}

Result<ColumnPtr> AddMonths(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapChecked<int32_t, int32_t, int32_t>(
      call, input, [](int32_t date, int32_t months, std::optional<int32_t>* out) -> Status {
        int32_t result;
        if (!data::AddMonths(date, months, &result)) {
          return Error("DATETIME_OVERFLOW").With("operation", "add " + std::to_string(months) + " months to a date");
        }
        *out = result;
        return {};
      });
}

double MonthsBetween(int64_t a, int64_t b, bool round, const data::TimeZone& zone) {
  const int64_t a_days = data::DaysOfMicros(zone.ToLocal(a));
  const int64_t b_days = data::DaysOfMicros(zone.ToLocal(b));
  const data::CivilDate x = data::CivilFromDays(a_days);
  const data::CivilDate y = data::CivilFromDays(b_days);
  const auto months = static_cast<double>((static_cast<int64_t>(x.year) * 12 + x.month) -
                                          (static_cast<int64_t>(y.year) * 12 + y.month));
  const bool both_last = x.day == data::DaysInMonth(x.year, x.month) && y.day == data::DaysInMonth(y.year, y.month);
  if (x.day == y.day || both_last) return months;
  // Since midnight as time passes, not as the clock shows: they differ on days when it is changed.
  const int64_t a_seconds = (a - zone.FromLocal(a_days * data::kMicrosPerDay)) / data::kMicrosPerSecond;
  const int64_t b_seconds = (b - zone.FromLocal(b_days * data::kMicrosPerDay)) / data::kMicrosPerSecond;
  const int64_t seconds = static_cast<int64_t>(x.day - y.day) * 86400 + a_seconds - b_seconds;
  const double diff = months + static_cast<double>(seconds) / (31.0 * 86400);
  return round ? std::floor(diff * 1e8 + 0.5) / 1e8 : diff;
}

Result<ColumnPtr> Months(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const data::TimeZone zone = SessionZone(context);
  return MapValues<double, int64_t, int64_t, bool>(call, input, [&](int64_t a, int64_t b, bool round) {
    return MonthsBetween(a, b, round, zone);
  });
}

Result<BoundCall> BindMonths(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 3));
  if (arguments.size() == 2) arguments.push_back(Literal::Boolean(true));
  for (size_t i = 0; i < 2; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::Timestamp(), context));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 2, DataType::Boolean(), context));
  return MakeBound(function, std::move(arguments), DataType::Double(), false, &Months, context);
}

/// Past the last date comes the first, as in Java.
int32_t MovedDays(int32_t days, int32_t by) { return static_cast<int32_t>(static_cast<uint32_t>(days) + static_cast<uint32_t>(by)); }

Result<ColumnPtr> LastDay(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTotal1<int32_t, int32_t>(call, input, [](int32_t days) {
    const data::CivilDate date = data::CivilFromDays(days);
    return MovedDays(days, data::DaysInMonth(date.year, date.month) - date.day);
  });
}

/// 0 Thursday to 6 Wednesday, as days count from a Thursday; -1 for other names.
int DayOfWeekNumber(std::string_view name) {
  std::string upper;
  for (const char c : name) upper.push_back(static_cast<char>(std::toupper(static_cast<unsigned char>(c))));
  static constexpr std::string_view kNames[] = {"THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY"};
  for (int i = 0; i < 7; ++i) {
    if (upper == kNames[i] || upper == kNames[i].substr(0, 3) || upper == kNames[i].substr(0, 2)) return i;
  }
  return -1;
}

Result<ColumnPtr> NextDay(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapChecked<int32_t, int32_t, std::string_view>(
      call, input, [&](int32_t days, std::string_view name, std::optional<int32_t>* out) -> Status {
        const int day = DayOfWeekNumber(name);
        if (day >= 0) {
          *out = MovedDays(days, 1 + static_cast<int32_t>(data::FloorMod(day - 1 - static_cast<int64_t>(days), 7)));
        } else if (call.mode == EvalMode::kAnsi) {
          return Error("ILLEGAL_DAY_OF_WEEK").With("string", name);
        }
        return {};
      });
}

template <bool kFromUtc>
Result<ColumnPtr> ShiftZone(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapChecked<int64_t, int64_t, std::string_view>(
      call, input, [](int64_t micros, std::string_view id, std::optional<int64_t>* out) -> Status {
        TW_ASSIGN_OR_RETURN(const data::TimeZone zone, data::TimeZone::Parse(id));
        *out = kFromUtc ? zone.ToLocal(micros) : zone.FromLocal(micros);
        return {};
      });
}

Result<ColumnPtr> ConvertZone(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapChecked<int64_t, std::string_view, std::string_view, int64_t>(
      call, input, [](std::string_view from, std::string_view to, int64_t micros, std::optional<int64_t>* out) -> Status {
        TW_ASSIGN_OR_RETURN(const data::TimeZone source, data::TimeZone::Parse(from));
        TW_ASSIGN_OR_RETURN(const data::TimeZone target, data::TimeZone::Parse(to));
        *out = target.ToLocal(source.FromLocal(micros));
        return {};
      });
}

Result<BoundCall> BindConvertZone(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 3));
  if (arguments.size() == 2) arguments.insert(arguments.begin(), Literal::String(context.config.time_zone));
  for (size_t i = 0; i < 2; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::String(), context));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 2, DataType::TimestampNtz(), context));
  return MakeBound(function, std::move(arguments), DataType::TimestampNtz(), false, &ConvertZone, context);
}

}  // namespace

void RegisterCalendar(FunctionLists& lists) {
  static const ScalarFunction kDateAdd{.name = "date_add", .aliases = {"dateadd"}, .since = "1.5.0", .doc = "The date so many days later.",
                                       .example = {"SELECT date_add('2016-07-30', 1)", "2016-07-31"}, .bind = &BindAddDays};
  static const ScalarFunction kDateSub =
      Alike(kDateAdd, "date_sub", "The date so many days before.", {"SELECT date_sub('2016-07-30', 1)", "2016-07-29"});
  static const ScalarFunction kDatediff{.name = "datediff", .signature = "(end DATE, start DATE) -> INT", .since = "1.5.0",
                                        .doc = "Days from the second date to the first.",
                                        .example = {"SELECT datediff('2009-07-31', '2009-07-30')", "1"},
                                        .evaluate = &DiffDays};
  static const ScalarFunction kDateDiff = Renamed(kDatediff, "date_diff");
  static const ScalarFunction kAddMonths{.name = "add_months", .signature = "(date DATE, months INT) -> DATE",
                                         .since = "1.5.0", .doc = "The date so many months later.",
                                         .example = {"SELECT add_months('2016-08-31', 1)", "2016-09-30"},
                                         .evaluate = &AddMonths};
  static const ScalarFunction kMonths{.name = "months_between", .since = "1.5.0",
                                      .doc = "Months from the second time to the first, rounded to 8 digits.",
                                      .example = {"SELECT months_between('1997-02-28 10:30:00', '1996-10-30')", "3.94959677"},
                                      .bind = &BindMonths};
  static const ScalarFunction kLastDay{.name = "last_day", .signature = "(date DATE) -> DATE", .since = "1.5.0",
                                       .doc = "The last day of the month.",
                                       .example = {"SELECT last_day('2009-01-12')", "2009-01-31"}, .evaluate = &LastDay};
  static const ScalarFunction kNextDay{.name = "next_day", .signature = "(date DATE, day STRING) -> DATE?", .since = "1.5.0",
                                       .doc = "The first such day of the week after the date.",
                                       .example = {"SELECT next_day('2015-01-14', 'TU')", "2015-01-20"},
                                       .evaluate = &NextDay};
  static const ScalarFunction kFromUtc{.name = "from_utc_timestamp", .signature = "(time TIMESTAMP, zone STRING) -> TIMESTAMP",
                                       .since = "1.5.0", .doc = "A moment of UTC as the clock of a zone shows it.",
                                       .example = {"SELECT from_utc_timestamp('2016-08-31', 'Asia/Seoul')", "2016-08-31 09:00:00"},
                                       .evaluate = &ShiftZone<true>};
  static const ScalarFunction kToUtc = [] {
    ScalarFunction f = Renamed(kFromUtc, "to_utc_timestamp");
    f.evaluate = &ShiftZone<false>;
    return f;
  }();
  static const ScalarFunction kConvert{.name = "convert_timezone", .since = "3.4.0", .doc = "A local time in another zone.",
                                       .bind = &BindConvertZone};
  for (const auto* f : {&kDateAdd, &kDateSub, &kDatediff, &kDateDiff, &kAddMonths, &kMonths, &kLastDay, &kNextDay,
                        &kFromUtc, &kToUtc, &kConvert}) {
    lists.Add(*f);
  }
}

}  // namespace thalweg::sql
