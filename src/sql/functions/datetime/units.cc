// timestampadd(unit, count, time), timestampdiff(unit, start, end).

#include "data/text/civil.h"
#include "sql/expr/binding.h"
#include "sql/functions/alike.h"
#include "sql/functions/datetime/register.h"

namespace thalweg::sql {
namespace {

/// One of the three counts is not 0; days are calendar days.
struct UnitData final : BoundData {
  int64_t months = 0;
  int64_t days = 0;
  int64_t micros = 0;
};

Result<std::shared_ptr<const UnitData>> ReadUnit(const ScalarFunction& function, const std::string& text) {
  std::string upper;
  for (const char c : text) upper.push_back(static_cast<char>(std::toupper(static_cast<unsigned char>(c))));
  auto unit = std::make_shared<UnitData>();
  if (upper == "YEAR") unit->months = 12;
  if (upper == "QUARTER") unit->months = 3;
  if (upper == "MONTH") unit->months = 1;
  if (upper == "WEEK") unit->days = 7;
  if (upper == "DAY" || upper == "DAYOFYEAR") unit->days = 1;
  if (upper == "HOUR") unit->micros = data::kMicrosPerHour;
  if (upper == "MINUTE") unit->micros = data::kMicrosPerMinute;
  if (upper == "SECOND") unit->micros = data::kMicrosPerSecond;
  if (upper == "MILLISECOND") unit->micros = 1000;
  if (upper == "MICROSECOND") unit->micros = 1;
  if (unit->months == 0 && unit->days == 0 && unit->micros == 0) {
    return Error("INVALID_PARAMETER_VALUE.DATETIME_UNIT")
        .With("functionName", QuoteFunctionName(function.name))
        .With("parameter", "`unit`")
        .With("invalidValue", "'" + text + "'");
  }
  return std::shared_ptr<const UnitData>(std::move(unit));
}

bool AddUnits(const UnitData& unit, int64_t count, int64_t micros, const data::TimeZone& zone, int64_t* out) {
  if (unit.micros != 0) {
    int64_t shift;
    return !__builtin_mul_overflow(count, unit.micros, &shift) && !__builtin_add_overflow(micros, shift, out);
  }
  int64_t local = zone.ToLocal(micros);
  if (unit.months != 0) {
    if (!data::AddMonthsToMicros(local, count * unit.months, &local)) return false;
  } else {
    int64_t shift;
    if (__builtin_mul_overflow(count * unit.days, data::kMicrosPerDay, &shift)) return false;
    if (__builtin_add_overflow(local, shift, &local)) return false;
  }
  *out = zone.FromLocal(local, zone.OffsetSecondsAt(micros));
  return true;
}

data::TimeZone ZoneFor(const DataType& type, const EvalContext& context) {
  return type.Is(TypeKind::kTimestampNtz) ? data::TimeZone::Utc() : SessionZone(context);
}

Result<ColumnPtr> AddUnits(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const auto& unit = static_cast<const UnitData&>(*call.data);
  const data::TimeZone zone = ZoneFor(call.type, context);
  return MapChecked<int64_t, std::string_view, int32_t, int64_t>(
      call, input, [&](std::string_view, int32_t count, int64_t micros, std::optional<int64_t>* out) -> Status {
        int64_t result;
        if (!AddUnits(unit, count, micros, zone, &result)) {
          return Error("DATETIME_OVERFLOW").With("operation", "add " + std::to_string(count) + " units to a timestamp");
        }
        *out = result;
        return {};
      });
}

/// Whole units from `start` to `end`, as java.time.temporal.ChronoUnit.between.
int64_t Between(const UnitData& unit, int64_t start, int64_t end) {
  if (unit.months == 0) return static_cast<int64_t>((static_cast<Int128>(end) - start) / (unit.micros != 0 ? unit.micros : unit.days * data::kMicrosPerDay));
  const data::CivilDate a = data::CivilFromDays(data::DaysOfMicros(start));
  const data::CivilDate b = data::CivilFromDays(data::DaysOfMicros(end));
  int64_t months = (static_cast<int64_t>(b.year) - a.year) * 12 + (b.month - a.month);
  const int64_t a_rest = a.day * data::kMicrosPerDay + data::FloorMod(start, data::kMicrosPerDay);
  const int64_t b_rest = b.day * data::kMicrosPerDay + data::FloorMod(end, data::kMicrosPerDay);
  if (months > 0 && b_rest < a_rest) --months;
  if (months < 0 && b_rest > a_rest) ++months;
  return months / unit.months;
}

Result<ColumnPtr> DiffUnits(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const auto& unit = static_cast<const UnitData&>(*call.data);
  const data::TimeZone zone = ZoneFor(input.arguments[1]->type(), context);
  return MapValues<int64_t, std::string_view, int64_t, int64_t>(
      call, input,
      [&](std::string_view, int64_t start, int64_t end) { return Between(unit, zone.ToLocal(start), zone.ToLocal(end)); });
}

Result<BoundCall> BindUnits(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 3, 3));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::String(), context));
  TW_ASSIGN_OR_RETURN(const Value text, FoldArgument(function.name, arguments, 0, "unit", context));
  TW_ASSIGN_OR_RETURN(auto unit, ReadUnit(function, text.is_null() ? "" : text.get<std::string>()));
  if (function.name == "timestampadd") {
    TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, DataType::Integer(), context));
    if (!arguments[2]->type().Is(TypeKind::kTimestampNtz)) {
      TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 2, DataType::Timestamp(), context));
    }
    const DataType type = arguments[2]->type();
    return MakeBound(function, std::move(arguments), type, false, &AddUnits, context, std::move(unit));
  }
  for (size_t i = 1; i < 3; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::Timestamp(), context));
  return MakeBound(function, std::move(arguments), DataType::Long(), false, &DiffUnits, context, std::move(unit));
}

}  // namespace

void RegisterUnits(FunctionLists& lists) {
  static const ScalarFunction kAdd{.name = "timestampadd", .since = "3.3.0", .doc = "The time so many units later.",
                                   .example = {"SELECT timestampadd(HOUR, 8, TIMESTAMP '2022-02-25 00:00:00')", "2022-02-25 08:00:00"},
                                   .bind = &BindUnits};
  static const ScalarFunction kDiff =
      Alike(kAdd, "timestampdiff", "Whole units between two times.",
            {"SELECT timestampdiff(MONTH, TIMESTAMP '2021-01-01 00:00:00', TIMESTAMP '2021-03-01 00:00:00')", "2"});
  lists.Add(kAdd);
  lists.Add(kDiff);
}

}  // namespace thalweg::sql
