#include "data/text/datetime.h"

#include <limits>

#include "data/text/civil.h"
#include "data/text/numbers.h"

namespace thalweg::data {
namespace {

bool IsDateDigit(char c) { return c >= '0' && c <= '9'; }

// Reads a text from left to right.
struct Cursor {
  std::string_view text;
  size_t at = 0;

  bool done() const { return at >= text.size(); }
  char peek() const { return text[at]; }
  bool Take(char c) {
    if (done() || text[at] != c) return false;
    ++at;
    return true;
  }
  /// A number of `least` to `most` digits, all digits that stand there.
  bool Number(int least, int most, int32_t* out) {
    const size_t start = at;
    int32_t value = 0;
    while (!done() && IsDateDigit(text[at])) {
      if (at - start >= static_cast<size_t>(most)) return false;
      value = value * 10 + (text[at++] - '0');
    }
    *out = value;
    return at - start >= static_cast<size_t>(least);
  }
};

struct DateParts {
  int32_t year = 0;
  int32_t month = 1;
  int32_t day = 1;
  int count = 0;  // how many of the three stand in the text
};

// [+-]y{4,most_year_digits}[-[m]m[-[d]d]].
bool ReadDateParts(Cursor* cursor, int most_year_digits, DateParts* out) {
  const bool negative = !cursor->done() && cursor->peek() == '-';
  if (!cursor->done() && (cursor->peek() == '-' || cursor->peek() == '+')) ++cursor->at;
  if (!cursor->Number(4, most_year_digits, &out->year)) return false;
  if (negative) out->year = -out->year;
  out->count = 1;
  if (!cursor->Take('-')) return true;
  if (!cursor->Number(1, 2, &out->month)) return false;
  out->count = 2;
  if (!cursor->Take('-')) return true;
  out->count = 3;
  return cursor->Number(1, 2, &out->day);
}

// [h]h[:[m]m[:[s]s[.f*]]], h already allowed to be alone or not by the caller.
struct ClockParts {
  int32_t hour = 0;
  int32_t minute = 0;
  int32_t second = 0;
  int32_t micros = 0;
  int fraction_digits = 0;
  int count = 0;
};

void ReadFraction(Cursor* cursor, ClockParts* out) {
  int32_t unit = 100000;
  while (!cursor->done() && IsDateDigit(cursor->peek())) {
    out->micros += (cursor->peek() - '0') * unit;
    unit /= 10;
    ++out->fraction_digits;
    ++cursor->at;
  }
}

bool ReadClockParts(Cursor* cursor, ClockParts* out) {
  if (!cursor->Number(1, 2, &out->hour)) return false;
  out->count = 1;
  if (!cursor->Take(':')) return true;
  if (!cursor->Number(1, 2, &out->minute)) return false;
  out->count = 2;
  if (!cursor->Take(':')) return true;
  if (!cursor->Number(1, 2, &out->second)) return false;
  out->count = 3;
  if (cursor->Take('.')) ReadFraction(cursor, out);
  return true;
}

bool IsClock(const ClockParts& clock) { return clock.hour < 24 && clock.minute < 60 && clock.second < 60; }

int64_t MicrosOfClock(const ClockParts& clock) {
  return ((int64_t{clock.hour} * 60 + clock.minute) * 60 + clock.second) * kMicrosPerSecond + clock.micros;
}

std::string_view TrimSpacesAndControls(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= 0x20) text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= 0x20) text.remove_suffix(1);
  return text;
}

void AppendTwo(int value, std::string* out) {
  out->push_back(static_cast<char>('0' + value / 10));
  out->push_back(static_cast<char>('0' + value % 10));
}

// "12:34:56" and ".5" without trailing zeros; `digits` of `fraction`.
void AppendClock(const ClockTime& clock, int64_t fraction, int digits, std::string* out) {
  AppendTwo(clock.hour, out);
  out->push_back(':');
  AppendTwo(clock.minute, out);
  out->push_back(':');
  AppendTwo(clock.second, out);
  if (fraction == 0) return;
  while (fraction % 10 == 0) {
    fraction /= 10;
    --digits;
  }
  const size_t start = out->size() + 1;
  out->append(static_cast<size_t>(digits) + 1, '.');
  for (size_t i = start + static_cast<size_t>(digits); i-- > start; fraction /= 10) {
    (*out)[i] = static_cast<char>('0' + fraction % 10);
  }
}

void AppendCivilDate(const CivilDate& date, std::string* out) {
  int64_t year = date.year;
  if (year < 0) {
    out->push_back('-');
    year = -year;
  } else if (year > 9999) {
    out->push_back('+');
  }
  if (year < 10000) {
    AppendTwo(static_cast<int>(year / 100), out);
    AppendTwo(static_cast<int>(year % 100), out);
  } else {
    AppendInt64(year, out);
  }
  out->push_back('-');
  AppendTwo(date.month, out);
  out->push_back('-');
  AppendTwo(date.day, out);
}

// True for a text that begins a time of day: "T12..." or "12:...".
bool BeginsWithClock(std::string_view text) {
  if (text[0] == 'T') return true;
  size_t digits = 0;
  while (digits < text.size() && IsDateDigit(text[digits])) ++digits;
  return digits >= 1 && digits <= 2 && digits < text.size() && text[digits] == ':';
}

}  // namespace

bool ParseDate(std::string_view text, int32_t* days) {
  Cursor cursor{TrimAll(text)};
  DateParts date;
  if (cursor.done() || !ReadDateParts(&cursor, 7, &date)) return false;
  if (!cursor.done() && (date.count < 3 || (cursor.peek() != ' ' && cursor.peek() != 'T'))) return false;
  return MakeDate(date.year, date.month, date.day, days);
}

bool ParseTimestampText(std::string_view text, TimestampText* out) {
  Cursor cursor{TrimAll(text)};
  if (cursor.done()) return false;
  ClockParts clock;
  out->has_date = !BeginsWithClock(cursor.text);
  if (out->has_date) {
    DateParts date;
    if (!ReadDateParts(&cursor, 6, &date) || !MakeDate(date.year, date.month, date.day, &out->days)) return false;
    if (!cursor.done()) {
      if (date.count < 3 || (!cursor.Take(' ') && !cursor.Take('T'))) return false;
      if (!cursor.done() && !ReadClockParts(&cursor, &clock)) return false;
      // A T or a space at the very end is not taken, but trimming has removed the space.
      if (clock.count == 0) return false;
    }
  } else {
    cursor.Take('T');
    if (!ReadClockParts(&cursor, &clock)) return false;
  }
  if (!IsClock(clock)) return false;
  out->micros_of_day = MicrosOfClock(clock);
  out->zone.reset();
  if (cursor.done()) return true;
  // A zone only follows seconds.
  if (clock.count < 3) return false;
  out->zone = TimeZone::Find(TrimSpacesAndControls(cursor.text.substr(cursor.at)));
  return out->zone.has_value();
}

bool ParsePlainTimestamp(std::string_view text, const TimeZone& zone, int64_t* micros) {
  constexpr size_t kSeconds = 19;  // up to and with them
  constexpr size_t kMostFraction = 6;
  if (text.size() < kSeconds) return false;
  const char* const at = text.data();
  if (at[4] != '-' || at[7] != '-' || (at[10] != 'T' && at[10] != ' ') || at[13] != ':' || at[16] != ':') return false;
  bool digits = true;
  const auto two = [&](size_t from) {
    const auto high = static_cast<unsigned char>(at[from] - '0'), low = static_cast<unsigned char>(at[from + 1] - '0');
    digits = digits && high < 10 && low < 10;
    return high * 10 + low;
  };
  const int year = two(0) * 100 + two(2), month = two(5), day = two(8), hour = two(11), minute = two(14), second = two(17);
  if (!digits || month < 1 || month > 12 || day < 1 || day > DaysInMonth(year, month) || hour > 23 || minute > 59 || second > 59) {
    return false;
  }
  size_t next = kSeconds;
  int64_t fraction = 0;
  if (next < text.size() && at[next] == '.') {
    const size_t first = ++next;
    for (; next < text.size() && IsDateDigit(at[next]); ++next) {
      if (next - first == kMostFraction) return false;
      fraction = fraction * 10 + (at[next] - '0');
    }
    if (next == first) return false;
    for (size_t count = next - first; count < kMostFraction; ++count) fraction *= 10;
  }
  const bool utc = next + 1 == text.size() && at[next] == 'Z';
  if (!utc && next != text.size()) return false;
  const int64_t seconds = (hour * 60 + minute) * 60 + second;
  const int64_t local = DaysFromCivil(year, month, day) * kMicrosPerDay + seconds * kMicrosPerSecond + fraction;
  *micros = utc ? local : zone.FromLocal(local);
  return true;
}

bool ParseTimestamp(std::string_view text, const TimeZone& zone, int64_t now_micros, int64_t* micros) {
  if (ParsePlainTimestamp(text, zone, micros)) return true;
  TimestampText parsed;
  if (!ParseTimestampText(text, &parsed)) return false;
  const TimeZone& own = parsed.zone ? *parsed.zone : zone;
  const int64_t days = parsed.has_date ? parsed.days : DaysOfMicros(own.ToLocal(now_micros));
  int64_t local = 0;
  // At the ends of the range the local date-time may not fit where the moment does.
  if (MicrosFromCivil(days, parsed.micros_of_day, &local)) {
    *micros = own.FromLocal(local);
    const bool wrapped = local > 0 ? *micros < 0 && local > kMicrosPerDay : *micros > 0 && local < -kMicrosPerDay;
    return !wrapped;
  }
  const int32_t offset = own.OffsetSecondsAt(days < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max());
  const int64_t shifted = parsed.micros_of_day - offset * kMicrosPerSecond;
  return MicrosFromCivil(days + FloorDiv(shifted, kMicrosPerDay), FloorMod(shifted, kMicrosPerDay), micros);
}

bool ParseTimestampNtz(std::string_view text, bool allow_zone, int64_t* local_micros) {
  TimestampText parsed;
  if (!ParseTimestampText(text, &parsed) || !parsed.has_date || (parsed.zone && !allow_zone)) return false;
  return MicrosFromCivil(parsed.days, parsed.micros_of_day, local_micros);
}

bool ParseTime(std::string_view text, int64_t* nanos) {
  text = TrimAll(text);
  // An optional AM or PM makes it a clock of twelve hours.
  int half = -1;
  if (text.size() > 2 && (text.back() == 'm' || text.back() == 'M')) {
    const char c = text[text.size() - 2];
    half = c == 'a' || c == 'A' ? 0 : c == 'p' || c == 'P' ? 1 : -1;
    if (half < 0) return false;
    text.remove_suffix(2);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  }
  Cursor cursor{text};
  if (half < 0) cursor.Take('T');
  ClockParts clock;
  if (!ReadClockParts(&cursor, &clock) || !cursor.done() || clock.count < 2) return false;
  if (half >= 0) {
    if (clock.hour < 1 || clock.hour > 12) return false;
    clock.hour = clock.hour % 12 + half * 12;
  }
  if (!IsClock(clock)) return false;
  *nanos = MicrosOfClock(clock) * 1000;
  return true;
}

void AppendDate(int32_t days, std::string* out) { AppendCivilDate(CivilFromDays(days), out); }

void AppendTimestampNtz(int64_t local_micros, std::string* out) {
  AppendCivilDate(CivilFromDays(DaysOfMicros(local_micros)), out);
  out->push_back(' ');
  const ClockTime clock = ClockOfMicros(local_micros);
  AppendClock(clock, clock.nanosecond / 1000, 6, out);
}

void AppendTimestamp(int64_t micros, const TimeZone& zone, std::string* out) {
  const int64_t offset = zone.OffsetSecondsAt(micros) * kMicrosPerSecond;
  int64_t local = 0;
  if (!__builtin_add_overflow(micros, offset, &local)) return AppendTimestampNtz(local, out);
  // At the ends of the range the day is not one of int64 microseconds.
  const int64_t days = FloorDiv(micros, kMicrosPerDay);
  const int64_t of_day = FloorMod(micros, kMicrosPerDay) + offset;
  AppendCivilDate(CivilFromDays(days + FloorDiv(of_day, kMicrosPerDay)), out);
  out->push_back(' ');
  const ClockTime clock = ClockOfMicros(FloorMod(of_day, kMicrosPerDay));
  AppendClock(clock, clock.nanosecond / 1000, 6, out);
}

void AppendTime(int64_t nanos, std::string* out) {
  AppendClock(ClockOfNanos(nanos), nanos % kNanosPerSecond, 9, out);
}

}  // namespace thalweg::data
