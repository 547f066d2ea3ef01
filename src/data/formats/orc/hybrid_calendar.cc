#include "data/formats/orc/hybrid_calendar.h"

#include <algorithm>

#include "data/columnar/buffer.h"
#include "data/text/civil.h"

namespace thalweg::data {

namespace {

constexpr int32_t kGregorianStart = -141427;  // 1582-10-15
constexpr int32_t kMissingStart = -141437;    // 1582-10-05, proleptic
constexpr int64_t kMicrosOfDay = int64_t{86400} * 1000000;

// Days from 1970-01-01 (Gregorian) to 0000-03-01 (Julian), where the four-year cycle begins.
constexpr int32_t kJulianOrigin = 719470;

int32_t JulianDays(int64_t year, int month, int day) {
  if (month <= 2) --year;
  const int64_t cycle = FloorDiv(year, 4);
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return static_cast<int32_t>(cycle * 1461 + (year - cycle * 4) * 365 + day_of_year - kJulianOrigin);
}

int32_t GregorianDaysOfJulian(int32_t days) {
  const int64_t shifted = int64_t{days} + kJulianOrigin;
  const int64_t cycle = FloorDiv(shifted, 1461);
  const int64_t day_of_cycle = shifted - cycle * 1461;
  const int64_t year_of_cycle = std::min<int64_t>(day_of_cycle / 365, 3);
  const int64_t day_of_year = day_of_cycle - year_of_cycle * 365;
  const int64_t month_of_march = (5 * day_of_year + 2) / 153;
  const auto day = static_cast<int32_t>(day_of_year - (153 * month_of_march + 2) / 5 + 1);
  const auto month = static_cast<int32_t>(month_of_march < 10 ? month_of_march + 3 : month_of_march - 9);
  const auto year = static_cast<int32_t>(cycle * 4 + year_of_cycle + (month <= 2 ? 1 : 0));
  return static_cast<int32_t>(DaysFromCivil(year, month, day));
}

using Rebase = int32_t (*)(int32_t);

int64_t RebaseMicros(int64_t micros, Rebase rebase) {
  const int64_t days = FloorDiv(micros, kMicrosOfDay);
  if (days >= kGregorianStart || days < INT32_MIN / 2) return micros;
  return rebase(static_cast<int32_t>(days)) * kMicrosOfDay + (micros - days * kMicrosOfDay);
}

bool HasDays(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kDate:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampNtz: return true;
    case TypeKind::kArray: return HasDays(type.element());
    case TypeKind::kMap: return HasDays(type.key()) || HasDays(type.value());
    case TypeKind::kStruct:
      return std::any_of(type.fields().begin(), type.fields().end(), [](const StructField& f) { return HasDays(f.type); });
    default: return false;
  }
}

template <typename T, typename Convert>
ColumnPtr MapOld(const ColumnPtr& column, T first_new, Convert convert) {
  const auto values = column->values<T>();
  if (std::all_of(values.begin(), values.end(), [&](T v) { return v >= first_new; })) return column;
  auto buffer = Buffer::Allocate(column->length() * static_cast<int64_t>(sizeof(T)));
  T* to = reinterpret_cast<T*>(buffer->mutable_data());
  for (size_t i = 0; i < values.size(); ++i) to[i] = convert(values[i]);
  Column::Parts parts = column->parts();
  parts.values = std::move(buffer);
  return Column::Make(std::move(parts));
}

ColumnPtr Rebased(const ColumnPtr& input, Rebase rebase) {
  if (!HasDays(input->type())) return input;
  const ColumnPtr column = Flatten(input);
  if (column->type().Is(TypeKind::kDate)) return MapOld<int32_t>(column, kGregorianStart, rebase);
  if (!column->type().IsNested()) {
    return MapOld<int64_t>(column, kGregorianStart * kMicrosOfDay, [rebase](int64_t v) { return RebaseMicros(v, rebase); });
  }
  Column::Parts parts = column->parts();
  for (ColumnPtr& child : parts.children) child = Rebased(child, rebase);
  return Column::Make(std::move(parts));
}

}  // namespace

int32_t ToHybridDays(int32_t days) {
  if (days >= kGregorianStart) return days;
  if (days >= kMissingStart) return kGregorianStart;
  const CivilDate date = CivilFromDays(days);
  return JulianDays(date.year, date.month, date.day);
}

int32_t FromHybridDays(int32_t days) { return days >= kGregorianStart ? days : GregorianDaysOfJulian(days); }

ColumnPtr ToHybridCalendar(const ColumnPtr& column) { return Rebased(column, &ToHybridDays); }
ColumnPtr FromHybridCalendar(const ColumnPtr& column) { return Rebased(column, &FromHybridDays); }

}  // namespace thalweg::data
