// trunc(date, unit), date_trunc(unit, timestamp).

#include "data/text/civil.h"
#include "sql/expr/binding.h"
#include "sql/functions/datetime/register.h"

namespace thalweg::sql {
namespace {

enum class Unit : uint8_t { kMicrosecond, kMillisecond, kSecond, kMinute, kHour, kDay, kWeek, kMonth, kQuarter, kYear, kUnknown };

Unit UnitOf(std::string_view text) {
  std::string upper;
  for (const char c : text) upper.push_back(static_cast<char>(std::toupper(static_cast<unsigned char>(c))));
  static constexpr std::pair<std::string_view, Unit> kUnits[] = {
      {"MICROSECOND", Unit::kMicrosecond}, {"MILLISECOND", Unit::kMillisecond}, {"SECOND", Unit::kSecond},
      {"MINUTE", Unit::kMinute}, {"HOUR", Unit::kHour}, {"DAY", Unit::kDay}, {"DD", Unit::kDay}, {"WEEK", Unit::kWeek},
      {"MON", Unit::kMonth}, {"MONTH", Unit::kMonth}, {"MM", Unit::kMonth}, {"QUARTER", Unit::kQuarter},
      {"YEAR", Unit::kYear}, {"YYYY", Unit::kYear}, {"YY", Unit::kYear}};
  for (const auto& [name, unit] : kUnits) {
    if (name == upper) return unit;
  }
  return Unit::kUnknown;
}

/// UnitOf of the row before, when the text is the same.
class UnitCache {
 public:
  Unit Get(std::string_view text) {
    if (!known_ || text != text_) {
      unit_ = UnitOf(text);
      text_ = text;
      known_ = true;
    }
    return unit_;
  }

 private:
  bool known_ = false;
  std::string text_;
  Unit unit_ = Unit::kUnknown;
};

int64_t TruncateDays(int64_t days, Unit unit) {
  const data::CivilDate date = data::CivilFromDays(days);
  switch (unit) {
    case Unit::kWeek: return days - (data::IsoDayOfWeek(days) - 1);
    case Unit::kMonth: return data::DaysFromCivil(date.year, date.month, 1);
    case Unit::kQuarter: return data::DaysFromCivil(date.year, (date.month - 1) / 3 * 3 + 1, 1);
    case Unit::kYear: return data::DaysFromCivil(date.year, 1, 1);
    default: return days;
  }
}

int64_t TruncateMicros(int64_t micros, Unit unit, const data::TimeZone& zone) {
  switch (unit) {
    case Unit::kMicrosecond: return micros;
    case Unit::kMillisecond: return micros - data::FloorMod(micros, 1000);
    case Unit::kSecond: return micros - data::FloorMod(micros, data::kMicrosPerSecond);
    case Unit::kMinute:
    case Unit::kHour: {
      // Offsets may have minutes and seconds: cut on the local clock.
      const int64_t step = unit == Unit::kMinute ? data::kMicrosPerMinute : data::kMicrosPerHour;
      const int64_t local = zone.ToLocal(micros);
      const int64_t cut = micros - data::FloorMod(local, step);
      const int32_t offset = zone.OffsetSecondsAt(micros);
      if (zone.OffsetSecondsAt(cut) == offset) return cut;
      return zone.FromLocal(local - data::FloorMod(local, step), offset);  // the clock was changed in between
    }
    default: {
      const int64_t days = data::DaysOfMicros(zone.ToLocal(micros));
      return zone.FromLocal(TruncateDays(days, unit) * data::kMicrosPerDay);
    }
  }
}

Result<ColumnPtr> TruncDate(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  UnitCache cache;
  return MapNullable<int32_t, int32_t, std::string_view>(call, input, [&](int32_t days, std::string_view text, int32_t* out) {
    const Unit unit = cache.Get(text);
    if (unit < Unit::kWeek || unit == Unit::kUnknown) return false;
    *out = static_cast<int32_t>(TruncateDays(days, unit));
    return true;
  });
}

Result<ColumnPtr> TruncTimestamp(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  UnitCache cache;
  const data::TimeZone zone = SessionZone(context);
  return MapNullable<int64_t, std::string_view, int64_t>(call, input, [&](std::string_view text, int64_t micros, int64_t* out) {
    const Unit unit = cache.Get(text);
    if (unit == Unit::kUnknown) return false;
    *out = TruncateMicros(micros, unit, zone);
    return true;
  });
}

}  // namespace

void RegisterTrunc(FunctionLists& lists) {
  static const ScalarFunction kTrunc{.name = "trunc", .signature = "(date DATE, unit STRING) -> DATE?", .since = "1.5.0",
                                     .doc = "The first day of the week, month, quarter or year.",
                                     .example = {"SELECT trunc('2019-08-04', 'week')", "2019-07-29"}, .evaluate = &TruncDate};
  static const ScalarFunction kDateTrunc{.name = "date_trunc", .signature = "(unit STRING, time TIMESTAMP) -> TIMESTAMP?",
                                         .since = "2.3.0", .doc = "The time cut to a unit.",
                                         .example = {"SELECT date_trunc('YEAR', '2015-03-05T09:32:05.359')", "2015-01-01 00:00:00"},
                                         .evaluate = &TruncTimestamp};
  lists.Add(kTrunc);
  lists.Add(kDateTrunc);
}

}  // namespace thalweg::sql
