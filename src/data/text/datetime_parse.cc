// Parsing by a compiled datetime pattern: strict, letters in any case, as java.time parses, with Spark's defaults for fields
// that the text does not have.

#include <limits>

#include "data/text/civil.h"
#include "data/text/datetime_pattern.h"
#include "data/text/datetime_program.h"

namespace thalweg::data {
namespace {

using internal::DateTimeField;
using internal::PatternStep;
using internal::SignStyle;
using Kind = PatternStep::Kind;

constexpr size_t kFailed = static_cast<size_t>(-1);

bool IsTextDigit(std::string_view text, size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; }

// What the text says. Small enough to be copied at each optional section.
struct ParsedFields {
  std::array<int64_t, static_cast<size_t>(DateTimeField::kCount)> values{};
  uint32_t present = 0;
  std::optional<TimeZone> zone;

  bool has(DateTimeField field) const { return (present >> static_cast<unsigned>(field) & 1) != 0; }
  int64_t get(DateTimeField field) const { return values[static_cast<size_t>(field)]; }
  int64_t get_or(DateTimeField field, int64_t otherwise) const { return has(field) ? get(field) : otherwise; }
  // False when the field is there with another value.
  bool Set(DateTimeField field, int64_t value) {
    if (has(field)) return get(field) == value;
    present |= 1u << static_cast<unsigned>(field);
    values[static_cast<size_t>(field)] = value;
    return true;
  }
};

size_t ParseNumberStep(const PatternStep& step, std::string_view text, size_t at, ParsedFields* fields) {
  if (at >= text.size()) return kFailed;
  const bool negative = text[at] == '-';
  const bool positive = text[at] == '+';
  if ((negative && step.sign == SignStyle::kNever) || (positive && step.sign != SignStyle::kExceedsPad)) return kFailed;
  if (negative || positive) ++at;
  size_t digits = 0;
  const auto most = static_cast<size_t>(step.max_width + step.following_width);
  while (digits < most && IsTextDigit(text, at + digits)) ++digits;
  if (step.following_width > 0) {
    const size_t reserved = static_cast<size_t>(step.following_width);
    digits = std::max(static_cast<size_t>(step.min_width), digits > reserved ? digits - reserved : 0);
  }
  int64_t value = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (!IsTextDigit(text, at + i)) return kFailed;
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text[at + i] - '0', &value)) return kFailed;
  }
  const auto least = static_cast<size_t>(step.min_width);
  if (digits < least || (negative && value == 0)) return kFailed;
  // A sign is written exactly when the digits exceed the pad.
  if (step.sign == SignStyle::kExceedsPad && !negative && positive != (digits > least)) return kFailed;
  if (step.kind == Kind::kTwoDigitYear) value += 2000;
  return fields->Set(step.field, negative ? -value : value) ? at + digits : kFailed;
}

size_t ParseFractionStep(const PatternStep& step, std::string_view text, size_t at, ParsedFields* fields) {
  int64_t nanos = 0;
  int64_t unit = 100000000;
  int digits = 0;
  for (; digits < step.max_width && IsTextDigit(text, at); ++digits, ++at, unit /= 10) nanos += (text[at] - '0') * unit;
  return digits >= step.min_width && fields->Set(step.field, nanos) ? at : kFailed;
}

size_t ParseTextStep(const PatternStep& step, std::string_view text, size_t at, ParsedFields* fields) {
  const internal::FieldNames& names = internal::NamesOf(step.field, step.full_text);
  for (size_t i = 0; i < names.names.size(); ++i) {
    const std::string_view name = names.names[i];
    if (internal::EqualsIgnoreCase(text.substr(at, name.size()), name)) {
      return fields->Set(step.field, names.first + static_cast<int64_t>(i)) ? at + name.size() : kFailed;
    }
  }
  return kFailed;
}

// Two digits below `limit`.
bool ReadTwo(std::string_view text, size_t* at, int32_t limit, int32_t* out) {
  if (!IsTextDigit(text, *at) || !IsTextDigit(text, *at + 1)) return false;
  *out = (text[*at] - '0') * 10 + (text[*at + 1] - '0');
  *at += 2;
  return *out < limit;
}

// The offset in one of the five forms, at its sign; kFailed when it is not one.
size_t ReadOffset(int form, std::string_view text, size_t at, int32_t* seconds) {
  if (at >= text.size() || (text[at] != '+' && text[at] != '-')) return kFailed;
  const bool negative = text[at++] == '-';
  const bool colons = form == 2 || form == 4;
  int32_t parts[3] = {0, 0, 0};
  if (!ReadTwo(text, &at, 100, &parts[0])) return kFailed;
  const bool minutes_needed = form != 0;
  size_t next = at;
  const bool has_separator = !colons || (next < text.size() && text[next] == ':');
  if (colons && has_separator) ++next;
  if (has_separator && ReadTwo(text, &next, 60, &parts[1])) {
    at = next;
    if (form >= 3) {
      const bool more = !colons || (next < text.size() && text[next] == ':');
      if (colons && more) ++next;
      if (more && ReadTwo(text, &next, 60, &parts[2])) {
        at = next;
      } else {
        parts[2] = 0;
      }
    }
  } else if (minutes_needed) {
    return kFailed;
  } else {
    parts[1] = 0;
  }
  const int32_t total = parts[0] * 3600 + parts[1] * 60 + parts[2];
  if (total > 18 * 3600) return kFailed;
  *seconds = negative ? -total : total;
  return at;
}

size_t ParseOffsetStep(const PatternStep& step, std::string_view text, size_t at, ParsedFields* fields) {
  int32_t seconds = 0;
  const size_t end = ReadOffset(step.offset_form, text, at, &seconds);
  if (end != kFailed) return fields->Set(DateTimeField::kOffset, seconds) ? end : kFailed;
  if (!internal::EqualsIgnoreCase(text.substr(at, step.text.size()), step.text)) return kFailed;
  return fields->Set(DateTimeField::kOffset, 0) ? at + step.text.size() : kFailed;
}

size_t ParseLocalizedOffsetStep(const PatternStep& step, std::string_view text, size_t at, ParsedFields* fields) {
  if (!internal::EqualsIgnoreCase(text.substr(at, 3), "GMT")) return kFailed;
  at += 3;
  int32_t seconds = 0;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
    const bool negative = text[at] == '-';
    if (step.full_text) {
      at = ReadOffset(4, text, at, &seconds);
      if (at == kFailed) return kFailed;
    } else {
      ++at;
      if (!IsTextDigit(text, at)) return kFailed;
      int32_t hours = text[at++] - '0';
      if (IsTextDigit(text, at)) hours = hours * 10 + (text[at++] - '0');
      int32_t minutes = 0;
      size_t next = at + 1;
      if (at < text.size() && text[at] == ':' && ReadTwo(text, &next, 60, &minutes)) at = next;
      seconds = (hours * 3600 + minutes * 60) * (negative ? -1 : 1);
      if (hours > 18) return kFailed;
    }
  }
  return fields->Set(DateTimeField::kOffset, seconds) ? at : kFailed;
}

// A zone id at `at`: an offset, a prefix with an offset, or the longest region that is known, in any case of letters.
size_t ReadZoneId(std::string_view text, size_t at, std::optional<TimeZone>* zone) {
  int32_t seconds = 0;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
    const size_t end = ReadOffset(4, text, at, &seconds);
    if (end != kFailed) *zone = TimeZone::FixedOffset(seconds);
    return end;
  }
  for (const std::string_view prefix : {"UTC", "GMT", "UT"}) {
    if (!internal::EqualsIgnoreCase(text.substr(at, prefix.size()), prefix)) continue;
    const size_t behind = at + prefix.size();
    const size_t end = ReadOffset(4, text, behind, &seconds);
    *zone = end == kFailed ? TimeZone::Find(prefix) : TimeZone::FixedOffset(seconds);
    return end == kFailed ? behind : end;
  }
  size_t end = at;
  while (end < text.size() && text[end] != ' ' && text[end] != ']' && text[end] != ',') ++end;
  std::string_view word = text.substr(at, end - at);
  if (internal::EqualsIgnoreCase(word, "Z")) {
    *zone = TimeZone::FixedOffset(0);
    return end;
  }
  if (word.size() < 4 && word != "CET" && word != "EET" && word != "MET" && word != "WET" && word != "PRC" && word != "ROK") return kFailed;
  *zone = TimeZone::Find(word);
  if (!*zone) {
    // "europe/berlin": each part with a capital.
    std::string fixed(word);
    bool start = true;
    for (char& c : fixed) {
      const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (is_letter && start && c >= 'a') c = static_cast<char>(c - 32);
      if (is_letter && !start && c <= 'Z') c = static_cast<char>(c + 32);
      start = !is_letter;
    }
    *zone = TimeZone::Find(fixed);
  }
  return *zone ? end : kFailed;
}

size_t ParseZoneStep(const PatternStep& step, std::string_view text, size_t at, ParsedFields* fields) {
  std::optional<TimeZone> zone;
  size_t end = kFailed;
  if (step.kind == Kind::kZoneName) {
    size_t length = 0;
    zone = internal::ZoneByName(text.substr(std::min(at, text.size())), step.full_text, &length);
    if (zone) end = at + length;
  }
  std::optional<TimeZone> by_id;
  const size_t id_end = ReadZoneId(text, at, &by_id);
  if (id_end != kFailed && (end == kFailed || id_end > end)) {
    end = id_end;
    zone = std::move(by_id);
  }
  if (end == kFailed || (fields->zone && !(*fields->zone == *zone))) return kFailed;
  fields->zone = std::move(zone);
  return end;
}

// The steps [begin, end) from position `at`; the position behind, or kFailed.
size_t RunParse(const std::vector<PatternStep>& steps, size_t begin, size_t end, std::string_view text, size_t at,
                ParsedFields* fields) {
  for (size_t i = begin; i < end && at != kFailed; ++i) {
    const PatternStep& step = steps[i];
    switch (step.kind) {
      case Kind::kLiteral:
        at = internal::EqualsIgnoreCase(text.substr(std::min(at, text.size()), step.text.size()), step.text)
                 ? at + step.text.size()
                 : kFailed;
        break;
      case Kind::kNumber:
      case Kind::kTwoDigitYear: at = ParseNumberStep(step, text, at, fields); break;
      case Kind::kFraction: at = ParseFractionStep(step, text, at, fields); break;
      case Kind::kText: at = ParseTextStep(step, text, at, fields); break;
      case Kind::kZoneId:
      case Kind::kZoneName: at = ParseZoneStep(step, text, at, fields); break;
      case Kind::kOffset: at = ParseOffsetStep(step, text, at, fields); break;
      case Kind::kLocalizedOffset: at = ParseLocalizedOffsetStep(step, text, at, fields); break;
      case Kind::kOptionalBegin: {
        ParsedFields attempt = *fields;
        const size_t behind = RunParse(steps, i + 1, step.end, text, at, &attempt);
        if (behind != kFailed) {
          *fields = std::move(attempt);
          at = behind;
        }
        i = step.end;
        break;
      }
      case Kind::kOptionalEnd: break;
    }
  }
  return at;
}

bool InRange(const ParsedFields& fields, DateTimeField field, int64_t low, int64_t high) {
  return !fields.has(field) || (fields.get(field) >= low && fields.get(field) <= high);
}

// The date of the fields; what is missing is 1970, January, the first.
bool ResolveDate(ParsedFields* fields, int64_t* days) {
  using F = DateTimeField;
  if (fields->has(F::kYearOfEra)) {
    const int64_t year = fields->get(F::kYearOfEra);
    if (year < 1) return false;
    if (fields->has(F::kEra) && !fields->Set(F::kYear, fields->get(F::kEra) == 1 ? year : 1 - year)) return false;
  }
  if (!InRange(*fields, F::kYear, -999999999, 999999999) || !InRange(*fields, F::kMonth, 1, 12) ||
      !InRange(*fields, F::kDayOfMonth, 1, 31) || !InRange(*fields, F::kDayOfYear, 1, 366)) {
    return false;
  }
  const int64_t year = fields->get_or(F::kYear, 1970);
  const bool is_whole = fields->has(F::kYear) && fields->has(F::kMonth) && fields->has(F::kDayOfMonth);
  if (fields->has(F::kModifiedJulianDay)) {
    *days = fields->get(F::kModifiedJulianDay) - 40587;
    return *days > -4000000000 && *days < 4000000000;
  }
  if (!is_whole && fields->has(F::kYear) && fields->has(F::kDayOfYear)) {
    const int64_t day = fields->get(F::kDayOfYear);
    if (day > (IsLeapYear(year) ? 366 : 365)) return false;
    *days = DaysFromCivil(year, 1, 1) + day - 1;
    return true;
  }
  const auto month = static_cast<int>(fields->get_or(F::kMonth, 1));
  const auto day = static_cast<int>(fields->get_or(F::kDayOfMonth, 1));
  if (!IsValidDate(year, month, day)) return false;
  *days = DaysFromCivil(year, month, day);
  return !is_whole || !fields->has(F::kDayOfYear) || DayOfYear(*days) == fields->get(F::kDayOfYear);
}

// The time of day; what is missing is 0, and the half of the day alone is its first hour.
bool ResolveTime(ParsedFields* fields, int64_t* nanos) {
  using F = DateTimeField;
  if (!InRange(*fields, F::kHourOfDay, 0, 23) || !InRange(*fields, F::kClockHourOfDay, 1, 24) ||
      !InRange(*fields, F::kHourOfHalf, 0, 11) || !InRange(*fields, F::kClockHourOfHalf, 1, 12) ||
      !InRange(*fields, F::kMinute, 0, 59) || !InRange(*fields, F::kSecond, 0, 59)) {
    return false;
  }
  if (fields->has(F::kClockHourOfDay) && !fields->Set(F::kHourOfDay, fields->get(F::kClockHourOfDay) % 24)) return false;
  if (fields->has(F::kClockHourOfHalf) && !fields->Set(F::kHourOfHalf, fields->get(F::kClockHourOfHalf) % 12)) return false;
  const bool has_half = fields->has(F::kHalfOfDay);
  if (has_half && fields->has(F::kHourOfHalf) &&
      !fields->Set(F::kHourOfDay, fields->get(F::kHalfOfDay) * 12 + fields->get(F::kHourOfHalf))) {
    return false;
  }
  int64_t hour = 0;
  if (fields->has(F::kHourOfDay)) {
    hour = fields->get(F::kHourOfDay);
    if (has_half && hour / 12 != fields->get(F::kHalfOfDay)) return false;
    if (fields->has(F::kHourOfHalf) && hour % 12 != fields->get(F::kHourOfHalf)) return false;
  } else if (fields->has(F::kHourOfHalf)) {
    hour = fields->get(F::kHourOfHalf);
  } else if (has_half) {
    hour = fields->get(F::kHalfOfDay) * 12;
  }
  *nanos = ((hour * 60 + fields->get_or(F::kMinute, 0)) * 60 + fields->get_or(F::kSecond, 0)) * kNanosPerSecond +
           fields->get_or(F::kNano, 0);
  return true;
}

struct ParsedMoment {
  int64_t days = 0;
  int64_t nanos = 0;
  std::optional<TimeZone> zone;
};

bool ParseMoment(const DateTimePattern::Program& program, std::string_view text, ParsedMoment* out) {
  ParsedFields fields;
  if (RunParse(program.steps, 0, program.steps.size(), text, 0, &fields) != text.size()) return false;
  if (!ResolveDate(&fields, &out->days) || !ResolveTime(&fields, &out->nanos)) return false;
  if (fields.zone) {
    out->zone = std::move(fields.zone);
  } else if (fields.has(DateTimeField::kOffset)) {
    out->zone = TimeZone::FixedOffset(static_cast<int>(fields.get(DateTimeField::kOffset)));
  }
  return true;
}

}  // namespace

bool DateTimePattern::ParseTimestamp(std::string_view text, const TimeZone& zone, int64_t* micros) const {
  ParsedMoment moment;
  int64_t local = 0;
  if (!ParseMoment(*program_, text, &moment) || !MicrosFromCivil(moment.days, moment.nanos / 1000, &local)) return false;
  *micros = (moment.zone ? *moment.zone : zone).FromLocal(local);
  // FromLocal wraps at the ends of the range.
  return (local > 0) == (*micros > 0) || (local < 2 * kMicrosPerDay && local > -2 * kMicrosPerDay);
}

bool DateTimePattern::ParseTimestampNtz(std::string_view text, bool allow_zone, int64_t* local_micros) const {
  ParsedMoment moment;
  if (!ParseMoment(*program_, text, &moment) || (moment.zone && !allow_zone)) return false;
  return MicrosFromCivil(moment.days, moment.nanos / 1000, local_micros);
}

bool DateTimePattern::ParseDate(std::string_view text, int32_t* days) const {
  ParsedMoment moment;
  if (!ParseMoment(*program_, text, &moment)) return false;
  if (moment.days < std::numeric_limits<int32_t>::min() || moment.days > std::numeric_limits<int32_t>::max()) return false;
  *days = static_cast<int32_t>(moment.days);
  return true;
}

bool DateTimePattern::ParseTime(std::string_view text, int64_t* nanos) const {
  ParsedMoment moment;
  if (!ParseMoment(*program_, text, &moment)) return false;
  *nanos = moment.nanos;
  return true;
}

}  // namespace thalweg::data
