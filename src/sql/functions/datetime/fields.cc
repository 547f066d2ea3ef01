// year, quarter, month, day, dayofmonth, dayofyear, dayofweek, weekday, weekofyear, hour, minute, second, monthname, dayname,
// extract, date_part.

#include "data/text/civil.h"
#include "sql/expr/binding.h"
#include "sql/expr/fold_argument.h"
#include "sql/functions/alike.h"
#include "sql/functions/datetime/register.h"
#include "sql/functions/meaning.h"

namespace thalweg::sql {
namespace {

// --- of dates ---

int32_t Year(int64_t days) { return data::CivilFromDays(days).year; }
int32_t Quarter(int64_t days) { return (data::CivilFromDays(days).month - 1) / 3 + 1; }
int32_t Month(int64_t days) { return data::CivilFromDays(days).month; }
int32_t Day(int64_t days) { return data::CivilFromDays(days).day; }
int32_t OfYear(int64_t days) { return data::DayOfYear(days); }
int32_t OfWeek(int64_t days) { return data::IsoDayOfWeek(days) % 7 + 1; }
int32_t WeekDay(int64_t days) { return data::IsoDayOfWeek(days) - 1; }
int32_t IsoOfWeek(int64_t days) { return data::IsoDayOfWeek(days); }
int32_t Week(int64_t days) { return data::IsoWeekOf(days).week; }
int32_t WeekYear(int64_t days) { return data::IsoWeekOf(days).year; }

template <int32_t (*kField)(int64_t)>
Result<ColumnPtr> DateField(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTotal1<int32_t, int32_t>(call, input, [](int32_t days) { return kField(days); });
}

// --- of times ---

struct HourOf {
  static int32_t Of(int64_t local) { return data::ClockOfMicros(local).hour; }
};
struct MinuteOf {
  static int32_t Of(int64_t local) { return data::ClockOfMicros(local).minute; }
};
struct SecondOf {
  static int32_t Of(int64_t local) { return data::ClockOfMicros(local).second; }
};

template <typename Field>
Result<ColumnPtr> TimeField(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  if (input.arguments[0]->type().Is(TypeKind::kTimestampNtz)) {
    return MapTotal1<int32_t, int64_t>(call, input, [](int64_t micros) { return Field::Of(micros); });
  }
  const data::TimeZone zone = SessionZone(context);
  return MapTotal1<int32_t, int64_t>(call, input, [&](int64_t micros) { return Field::Of(zone.ToLocal(micros)); });
}

Status CoerceTime(const ScalarFunction& function, ExprList* arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments->size(), 1, 1));
  if ((*arguments)[0]->type().Is(TypeKind::kTimestampNtz)) return {};
  return CoerceArgument(function.name, arguments, 0, DataType::Timestamp(), context);
}

Result<BoundCall> BindTimeField(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CoerceTime(function, &arguments, context));
  ScalarKernel kernel = &TimeField<SecondOf>;
  if (function.name == "hour") kernel = &TimeField<HourOf>;
  if (function.name == "minute") kernel = &TimeField<MinuteOf>;
  return MakeBound(function, std::move(arguments), DataType::Integer(), false, kernel, context);
}

/// Seconds with their fraction, DECIMAL(8, 6): extract(SECOND FROM ...).
Result<ColumnPtr> SecondWithFraction(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const bool ntz = input.arguments[0]->type().Is(TypeKind::kTimestampNtz);
  const data::TimeZone zone = SessionZone(context);
  return MapTotal1<Int128, int64_t>(call, input, [&](int64_t micros) {
    return static_cast<Int128>(data::FloorMod(ntz ? micros : zone.ToLocal(micros), data::kMicrosPerMinute));
  });
}

Result<BoundCall> BindSecondWithFraction(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CoerceTime(function, &arguments, context));
  return MakeBound(function, std::move(arguments), DataType::Decimal(8, 6), false, &SecondWithFraction, context);
}

// --- of intervals ---

/// y, m, d, h, i (minute) or s.
struct IntervalFieldData final : BoundData {
  explicit IntervalFieldData(char f) : field(f) {}
  char field;
};

Result<ColumnPtr> IntervalField(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  using data::kMicrosPerDay;
  using data::kMicrosPerHour;
  using data::kMicrosPerMinute;
  switch (static_cast<const IntervalFieldData&>(*call.data).field) {
    case 'y': return MapTotal1<int32_t, int32_t>(call, input, [](int32_t v) { return v / 12; });
    case 'm': return MapTotal1<int8_t, int32_t>(call, input, [](int32_t v) { return static_cast<int8_t>(v % 12); });
    case 'd':
      return MapTotal1<int32_t, int64_t>(call, input, [](int64_t v) { return static_cast<int32_t>(v / kMicrosPerDay); });
    case 'h':
      return MapTotal1<int8_t, int64_t>(call, input, [](int64_t v) { return static_cast<int8_t>(v / kMicrosPerHour % 24); });
    case 'i':
      return MapTotal1<int8_t, int64_t>(call, input, [](int64_t v) { return static_cast<int8_t>(v / kMicrosPerMinute % 60); });
    default:
      return MapTotal1<Int128, int64_t>(call, input, [](int64_t v) { return static_cast<Int128>(v % kMicrosPerMinute); });
  }
}

Result<BoundCall> BindIntervalField(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  const char field = arguments[1]->As<Literal>()->value().get<std::string>()[0];
  DataType type = DataType::Integer();
  if (field == 'm' || field == 'h' || field == 'i') type = DataType::Byte();
  if (field == 's') type = DataType::Decimal(8, 6);
  return MakeBound(function, std::move(arguments), type, false, &IntervalField, context,
                   std::make_shared<IntervalFieldData>(field));
}

// --- extract ---

/// The function of a field name of extract, or empty. Source: Spark's DatetimeExtract.
std::string_view FunctionOfField(const std::string& field) {
  constexpr std::string_view kSecond = "__second_with_fraction";
  static constexpr std::pair<std::string_view, std::string_view> kFields[] = {
      {"YEAR", "year"}, {"Y", "year"}, {"YEARS", "year"}, {"YR", "year"}, {"YRS", "year"}, {"YEAROFWEEK", "__year_of_week"},
      {"QUARTER", "quarter"}, {"QTR", "quarter"}, {"MONTH", "month"}, {"MON", "month"}, {"MONS", "month"}, {"MONTHS", "month"},
      {"WEEK", "weekofyear"}, {"W", "weekofyear"}, {"WEEKS", "weekofyear"}, {"DAY", "dayofmonth"}, {"D", "dayofmonth"},
      {"DAYS", "dayofmonth"}, {"DAYOFWEEK", "dayofweek"}, {"DOW", "dayofweek"}, {"DAYOFWEEK_ISO", "__day_of_week_iso"},
      {"DOW_ISO", "__day_of_week_iso"}, {"DOY", "dayofyear"}, {"HOUR", "hour"}, {"H", "hour"}, {"HOURS", "hour"}, {"HR", "hour"},
      {"HRS", "hour"}, {"MINUTE", "minute"}, {"M", "minute"}, {"MIN", "minute"}, {"MINS", "minute"}, {"MINUTES", "minute"},
      {"SECOND", kSecond}, {"S", kSecond}, {"SEC", kSecond}, {"SECONDS", kSecond}, {"SECS", kSecond}};
  for (const auto& [name, function] : kFields) {
    if (name == field) return function;
  }
  return {};
}

/// The field of an interval that has it between its first and its last one, as BindIntervalField knows it; null: it has not.
const char* IntervalLetter(const DataType& interval, std::string_view function) {
  static constexpr std::pair<std::string_view, const char*> kOfMonths[] = {{"year", "y"}, {"month", "m"}};
  static constexpr std::pair<std::string_view, const char*> kOfTime[] = {
      {"dayofmonth", "d"}, {"hour", "h"}, {"minute", "i"}, {"__second_with_fraction", "s"}};
  if (interval.Is(TypeKind::kYearMonthInterval)) {
    for (auto at = static_cast<size_t>(interval.year_month_start()); at <= static_cast<size_t>(interval.year_month_end()); ++at) {
      if (kOfMonths[at].first == function) return kOfMonths[at].second;
    }
    return nullptr;
  }
  for (auto at = static_cast<size_t>(interval.day_time_start()); at <= static_cast<size_t>(interval.day_time_end()); ++at) {
    if (kOfTime[at].first == function) return kOfTime[at].second;
  }
  return nullptr;
}

Result<ExprPtr> MeanExtract(const ExprList& arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity("extract", arguments.size(), 2, 2));
  TW_ASSIGN_OR_RETURN(const Value field, FoldArgumentAs("extract", arguments, 0, "field", DataType::String(), context));
  if (field.is_null()) return Literal::Null(DataType::Double());
  std::string name = field.get<std::string>();
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const std::string_view function = FunctionOfField(name);
  const DataType& source = arguments[1]->type();
  const bool interval = source.IsAnsiInterval();
  const char* letter = interval ? IntervalLetter(source, function) : nullptr;
  if (function.empty() || (interval && letter == nullptr)) {
    return Error("INVALID_EXTRACT_FIELD")
        .With("field", QuoteFunctionName(field.get<std::string>()))
        .With("expr", QuoteSql(arguments[1]->Sql()));
  }
  if (interval) return BindBuiltin("__interval_field", {arguments[1], Literal::String(letter)}, context);
  return BindBuiltin(function, {arguments[1]}, context);
}

std::string ExtractText(const Call& call, bool plan_text) {
  const bool extract = call.function_name() == "extract";
  return call.function_name() + "(" + TextOf(call.child(0), plan_text) + (extract ? " FROM " : ", ") +
         TextOf(call.child(1), plan_text) + ")";
}

// --- names ---

constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::string_view kDays[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

Result<ColumnPtr> MonthName(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<int32_t>(call, input, [](int32_t days, std::string* out) {
    out->append(kMonths[data::CivilFromDays(days).month - 1]);
    return true;
  });
}
Result<ColumnPtr> DayName(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<int32_t>(call, input, [](int32_t days, std::string* out) {
    out->append(kDays[data::IsoDayOfWeek(days) - 1]);
    return true;
  });
}

struct FieldEntry {
  const char* name;
  const char* doc;
  ScalarKernel kernel;
  bool internal;
};
const FieldEntry kDateFields[] = {
    {"year", "The year.", &DateField<Year>, false},
    {"quarter", "The quarter, 1 to 4.", &DateField<Quarter>, false},
    {"month", "The month, 1 to 12.", &DateField<Month>, false},
    {"day", "The day of the month.", &DateField<Day>, false},
    {"dayofmonth", "The day of the month.", &DateField<Day>, false},
    {"dayofyear", "The day of the year.", &DateField<OfYear>, false},
    {"dayofweek", "The day of the week, 1 is Sunday.", &DateField<OfWeek>, false},
    {"weekday", "The day of the week, 0 is Monday.", &DateField<WeekDay>, false},
    {"weekofyear", "The ISO week.", &DateField<Week>, false},
    {"__year_of_week", "The year of the ISO week.", &DateField<WeekYear>, true},
    {"__day_of_week_iso", "The day of the week, 1 is Monday.", &DateField<IsoOfWeek>, true},
};

}  // namespace

void RegisterFields(FunctionLists& lists) {
  static std::vector<ScalarFunction>* const functions = [] {
    auto* all = new std::vector<ScalarFunction>();
    for (const FieldEntry& entry : kDateFields) {
      ScalarFunction f;
      f.name = entry.name;
      f.signature = "(date DATE) -> INT";
      f.since = "1.5.0";
      f.doc = entry.doc;
      f.evaluate = entry.kernel;
      f.internal = entry.internal;
      all->push_back(std::move(f));
    }
    return all;
  }();
  for (const auto& function : *functions) lists.Add(function);
  static const ScalarFunction kHour{.name = "hour", .since = "1.5.0", .doc = "The field of a time.",
                                    .example = {"SELECT hour('2009-07-30 12:58:59')", "12"}, .bind = &BindTimeField};
  static const ScalarFunction kMinute =
      Alike(kHour, "minute", "The minute of a time.", {"SELECT minute('2009-07-30 12:58:59')", "58"});
  static const ScalarFunction kSecond =
      Alike(kHour, "second", "The second of a time.", {"SELECT second('2009-07-30 12:58:59')", "59"});
  static const ScalarFunction kFraction{.name = "__second_with_fraction", .doc = "Seconds with their fraction.",
                                        .bind = &BindSecondWithFraction, .internal = true};
  static const ScalarFunction kIntervalField{.name = "__interval_field", .doc = "A field of an interval.",
                                             .bind = &BindIntervalField, .internal = true};
  static const ScalarFunction kExtract{.name = "extract", .since = "3.0.0", .doc = "A field of a date, time or interval.",
                                       .example = {"SELECT extract(YEAR FROM TIMESTAMP '2019-08-12 01:00:00')", "2019"},
                                       .bind = &BindAs<MeanExtract>, .sql = &ExtractText};
  static const ScalarFunction kDatePart =
      Alike(kExtract, "date_part", "A field of a time or interval by its name.",
            {"SELECT date_part('YEAR', TIMESTAMP '2019-08-12 01:00:00')", "2019"});
  static const ScalarFunction kDatepart =
      Alike(kExtract, "datepart", "A field of a time or interval by its name.",
            {"SELECT datepart('YEAR', TIMESTAMP '2019-08-12 01:00:00')", "2019"});
  static const ScalarFunction kMonthName{.name = "monthname", .signature = "(date DATE) -> STRING", .since = "4.0.0",
                                         .doc = "Three letters of the month.",
                                         .example = {"SELECT monthname('2008-02-20')", "Feb"}, .evaluate = &MonthName};
  static const ScalarFunction kDayName{.name = "dayname", .signature = "(date DATE) -> STRING", .since = "4.0.0",
                                       .doc = "Three letters of the day of the week.",
                                       .example = {"SELECT dayname('2008-02-20')", "Wed"}, .evaluate = &DayName};
  for (const auto* f : {&kHour, &kMinute, &kSecond, &kFraction, &kIntervalField, &kExtract, &kDatePart, &kDatepart,
                        &kMonthName, &kDayName}) {
    lists.Add(*f);
  }
}

}  // namespace thalweg::sql
