// Formatting by a compiled datetime pattern.

#include <cstdlib>
#include <limits>

#include "data/text/civil.h"
#include "data/text/datetime_pattern.h"
#include "data/text/datetime_program.h"
#include "data/text/numbers.h"

namespace thalweg::data {
namespace {

using internal::DateTimeField;
using internal::PatternStep;
using internal::SignStyle;
using Kind = PatternStep::Kind;

// The value to format, taken apart once.
struct Moment {
  bool has_date = false;
  bool has_time = false;
  const TimeZone* zone = nullptr;  // borrowed; null: a local date-time
  int32_t offset = 0;
  int64_t micros = 0;  // the moment itself, for zone names
  int64_t days = 0;
  CivilDate date;
  ClockTime clock;

  void SetDays(int64_t value) {
    has_date = true;
    days = value;
    date = CivilFromDays(value);
  }
};

bool FieldValue(const Moment& m, DateTimeField field, int64_t* out) {
  if (internal::IsDateField(field) ? !m.has_date : !m.has_time) return false;
  switch (field) {
    case DateTimeField::kYear: *out = m.date.year; return true;
    case DateTimeField::kYearOfEra: *out = m.date.year > 0 ? m.date.year : 1 - int64_t{m.date.year}; return true;
    case DateTimeField::kEra: *out = m.date.year > 0 ? 1 : 0; return true;
    case DateTimeField::kMonth: *out = m.date.month; return true;
    case DateTimeField::kDayOfMonth: *out = m.date.day; return true;
    case DateTimeField::kDayOfYear: *out = DayOfYear(m.days); return true;
    case DateTimeField::kQuarter: *out = (m.date.month + 2) / 3; return true;
    case DateTimeField::kDayOfWeek: *out = IsoDayOfWeek(m.days); return true;
    case DateTimeField::kAlignedDayInMonth: *out = (m.date.day - 1) % 7 + 1; return true;
    case DateTimeField::kModifiedJulianDay: *out = m.days + 40587; return true;
    case DateTimeField::kHourOfDay: *out = m.clock.hour; return true;
    case DateTimeField::kClockHourOfDay: *out = m.clock.hour == 0 ? 24 : m.clock.hour; return true;
    case DateTimeField::kHourOfHalf: *out = m.clock.hour % 12; return true;
    case DateTimeField::kClockHourOfHalf: *out = m.clock.hour % 12 == 0 ? 12 : m.clock.hour % 12; return true;
    case DateTimeField::kHalfOfDay: *out = m.clock.hour / 12; return true;
    case DateTimeField::kMinute: *out = m.clock.minute; return true;
    case DateTimeField::kSecond: *out = m.clock.second; return true;
    case DateTimeField::kNano: *out = m.clock.nanosecond; return true;
    case DateTimeField::kOffset:
    case DateTimeField::kCount: break;
  }
  return false;
}

void AppendWidth(uint64_t value, int width, std::string* out) {
  char digits[20];
  int n = 0;
  do {
    digits[n++] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  if (n < width) out->append(static_cast<size_t>(width - n), '0');
  while (n > 0) out->push_back(digits[--n]);
}

void AppendNumberStep(const PatternStep& step, int64_t value, std::string* out) {
  const auto magnitude = static_cast<uint64_t>(value < 0 ? -value : value);
  if (value < 0) {
    out->push_back('-');
  } else if (step.sign == SignStyle::kExceedsPad) {
    uint64_t limit = 1;
    for (int i = 0; i < step.min_width && i < 19; ++i) limit *= 10;
    if (step.min_width < 19 && magnitude >= limit) out->push_back('+');
  }
  AppendWidth(magnitude, step.min_width, out);
}

void AppendOffsetStep(const PatternStep& step, int32_t offset, std::string* out) {
  const int32_t magnitude = std::abs(offset);
  const int32_t hours = magnitude / 3600;
  const int32_t minutes = magnitude / 60 % 60;
  const int32_t seconds = magnitude % 60;
  const bool with_seconds = step.offset_form >= 3 && seconds != 0;
  if (hours == 0 && minutes == 0 && !with_seconds) {
    out->append(step.text);
    return;
  }
  const bool colons = step.offset_form == 2 || step.offset_form == 4;
  out->push_back(offset < 0 ? '-' : '+');
  AppendWidth(static_cast<uint64_t>(hours), 2, out);
  if (step.offset_form == 0 && minutes == 0) return;
  if (colons) out->push_back(':');
  AppendWidth(static_cast<uint64_t>(minutes), 2, out);
  if (!with_seconds) return;
  if (colons) out->push_back(':');
  AppendWidth(static_cast<uint64_t>(seconds), 2, out);
}

void AppendLocalizedOffsetStep(const PatternStep& step, int32_t offset, std::string* out) {
  out->append("GMT");
  if (offset == 0) return;
  const int32_t magnitude = std::abs(offset);
  const int32_t minutes = magnitude / 60 % 60;
  const int32_t seconds = magnitude % 60;
  out->push_back(offset < 0 ? '-' : '+');
  AppendWidth(static_cast<uint64_t>(magnitude / 3600), step.full_text ? 2 : 1, out);
  if (!step.full_text && minutes == 0 && seconds == 0) return;
  out->push_back(':');
  AppendWidth(static_cast<uint64_t>(minutes), 2, out);
  if (seconds == 0) return;
  out->push_back(':');
  AppendWidth(static_cast<uint64_t>(seconds), 2, out);
}

bool AppendZoneStep(const PatternStep& step, const Moment& m, std::string* out) {
  if (m.zone == nullptr) return false;
  switch (step.kind) {
    case Kind::kZoneId: out->append(m.zone->id()); return true;
    case Kind::kOffset: AppendOffsetStep(step, m.offset, out); return true;
    case Kind::kLocalizedOffset: AppendLocalizedOffsetStep(step, m.offset, out); return true;
    default: break;
  }
  const bool daylight = m.zone->IsDaylightSaving(m.micros);
  out->append(step.full_text ? internal::LongZoneName(*m.zone, daylight) : m.zone->ShortName(daylight));
  return true;
}

bool AppendFieldStep(const PatternStep& step, const Moment& m, std::string* out) {
  int64_t value = 0;
  if (!FieldValue(m, step.field, &value)) return false;
  switch (step.kind) {
    case Kind::kNumber: AppendNumberStep(step, value, out); return true;
    case Kind::kTwoDigitYear: AppendWidth(static_cast<uint64_t>(std::llabs(value) % 100), 2, out); return true;
    case Kind::kFraction: {
      for (int i = step.max_width; i < 9; ++i) value /= 10;
      AppendWidth(static_cast<uint64_t>(value), step.max_width, out);
      return true;
    }
    default: {
      const internal::FieldNames& names = internal::NamesOf(step.field, step.full_text);
      out->append(names.names[static_cast<size_t>(value - names.first)]);
      return true;
    }
  }
}

// The steps [begin, end); false when a field is not there, outside of optional sections.
bool RunFormat(const std::vector<PatternStep>& steps, size_t begin, size_t end, const Moment& m, std::string* out) {
  for (size_t i = begin; i < end; ++i) {
    const PatternStep& step = steps[i];
    switch (step.kind) {
      case Kind::kLiteral: out->append(step.text); break;
      case Kind::kOptionalBegin: {
        const size_t length = out->size();
        if (!RunFormat(steps, i + 1, step.end, m, out)) out->resize(length);
        i = step.end;
        break;
      }
      case Kind::kOptionalEnd: break;
      case Kind::kZoneId:
      case Kind::kZoneName:
      case Kind::kOffset:
      case Kind::kLocalizedOffset:
        if (!AppendZoneStep(step, m, out)) return false;
        break;
      default:
        if (!AppendFieldStep(step, m, out)) return false;
    }
  }
  return true;
}

bool FormatMoment(const DateTimePattern::Program& program, const Moment& m, std::string* out) {
  const size_t length = out->size();
  if (RunFormat(program.steps, 0, program.steps.size(), m, out)) return true;
  out->resize(length);
  return false;
}

}  // namespace

void DateTimePattern::FormatTimestamp(int64_t micros, const TimeZone& zone, std::string* out) const {
  Moment m;
  m.zone = &zone;
  m.micros = micros;
  m.offset = zone.OffsetSecondsAt(micros);
  // Days and time of day apart, so that the ends of the range do not overflow.
  const int64_t utc_days = DaysOfMicros(micros);
  const int64_t local_of_day = FloorMod(micros, kMicrosPerDay) + m.offset * kMicrosPerSecond;
  m.SetDays(utc_days + FloorDiv(local_of_day, kMicrosPerDay));
  m.clock = ClockOfMicros(FloorMod(local_of_day, kMicrosPerDay));
  m.has_time = true;
  (void)FormatMoment(*program_, m, out);  // a timestamp has every field
}

bool DateTimePattern::FormatTimestampNtz(int64_t local_micros, std::string* out) const {
  Moment m;
  m.SetDays(DaysOfMicros(local_micros));
  m.clock = ClockOfMicros(local_micros);
  m.has_time = true;
  return FormatMoment(*program_, m, out);
}

void DateTimePattern::FormatDate(int32_t days, std::string* out) const {
  Moment m;
  m.SetDays(days);
  m.has_time = true;
  (void)FormatMoment(*program_, m, out);
}

bool DateTimePattern::FormatTime(int64_t nanos, std::string* out) const {
  Moment m;
  m.clock = ClockOfNanos(nanos);
  m.has_time = true;
  return FormatMoment(*program_, m, out);
}

}  // namespace thalweg::data
