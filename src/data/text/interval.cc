#include "data/text/interval.h"

#include <array>
#include <limits>

#include "data/text/civil.h"
#include "data/text/numbers.h"

namespace thalweg::data {
namespace {

bool IsIntervalDigit(char c) { return c >= '0' && c <= '9'; }
bool IsIntervalSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1C && c <= 0x1F); }
char LowerAscii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

enum class UnitKind : uint8_t { kMonths, kDays, kMicros };
struct Unit {
  std::string_view name;
  UnitKind kind;
  int64_t factor;
};
constexpr std::array<Unit, 9> kUnits = {{{"year", UnitKind::kMonths, 12},
                                         {"month", UnitKind::kMonths, 1},
                                         {"week", UnitKind::kDays, 7},
                                         {"day", UnitKind::kDays, 1},
                                         {"hour", UnitKind::kMicros, kMicrosPerHour},
                                         {"minute", UnitKind::kMicros, kMicrosPerMinute},
                                         {"second", UnitKind::kMicros, kMicrosPerSecond},
                                         {"millisecond", UnitKind::kMicros, 1000},
                                         {"microsecond", UnitKind::kMicros, 1}}};

enum class Failure : uint8_t {
  kNone,
  kEmpty,
  kPrefix,
  kNumber,
  kOverflow,
  kValue,
  kPrecision,
  kFraction,
  kUnit,
  kMissingNumber,
  kMissingUnit,
  kUnknown,
};

// Reads "[interval] {[sign] number unit}" from left to right; `position` is where it stopped.
class IntervalReader {
 public:
  explicit IntervalReader(std::string_view text) : text_(TrimAll(text)) {}

  Failure Read(CalendarInterval* out) {
    if (text_.empty()) return Failure::kEmpty;
    if (StartsWith("interval")) {
      if (text_.size() == 8) return Failure::kEmpty;
      if (!IsIntervalSpace(text_[8])) return Failure::kPrefix;
      at_ = 9;
    }
    SkipSpaces();
    // "interval" and blanks alone can not be: the text is trimmed.
    while (at_ < text_.size()) {
      const Failure failure = ReadOne(out);
      if (failure != Failure::kNone) return failure;
      SkipSpaces();
    }
    return Failure::kNone;
  }

  std::string_view text() const { return text_; }
  // The word that the reader stands in.
  std::string_view Word() const {
    size_t begin = at_ < text_.size() ? at_ : text_.size() - 1;
    while (begin > 0 && IsIntervalSpace(text_[begin])) --begin;
    size_t end = begin;
    while (begin > 0 && !IsIntervalSpace(text_[begin - 1])) --begin;
    while (end < text_.size() && !IsIntervalSpace(text_[end])) ++end;
    return text_.substr(begin, end - begin);
  }

 private:
  bool StartsWith(std::string_view lower) const {
    if (text_.size() - at_ < lower.size()) return false;
    for (size_t i = 0; i < lower.size(); ++i) {
      if (LowerAscii(text_[at_ + i]) != lower[i]) return false;
    }
    return true;
  }
  void SkipSpaces() {
    while (at_ < text_.size() && IsIntervalSpace(text_[at_])) ++at_;
  }

  // The number behind the sign; `fraction` in microseconds.
  Failure ReadNumber(int64_t* value, int64_t* fraction, bool* has_fraction) {
    *value = 0;
    *fraction = 0;
    *has_fraction = false;
    const bool starts_with_point = text_[at_] == '.';
    for (; at_ < text_.size() && IsIntervalDigit(text_[at_]); ++at_) {
      if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, text_[at_] - '0', value)) {
        return Failure::kOverflow;
      }
    }
    if (at_ < text_.size() && text_[at_] == '.') {
      *has_fraction = true;
      int64_t unit = 100000000;
      for (++at_; at_ < text_.size() && IsIntervalDigit(text_[at_]); ++at_, unit /= 10) {
        if (unit == 0) return Failure::kPrecision;
        *fraction += (text_[at_] - '0') * unit;
      }
      *fraction /= 1000;
      if (starts_with_point && unit == 100000000) return Failure::kValue;
    }
    if (at_ >= text_.size()) return Failure::kMissingUnit;
    return IsIntervalSpace(text_[at_]) ? Failure::kNone : Failure::kValue;
  }

  Failure ReadOne(CalendarInterval* out) {
    bool negative = false;
    if (text_[at_] == '-' || text_[at_] == '+') {
      negative = text_[at_++] == '-';
      SkipSpaces();
      if (at_ >= text_.size()) return Failure::kMissingNumber;
      if (!IsIntervalDigit(text_[at_]) && text_[at_] != '.') return Failure::kValue;
    } else if (!IsIntervalDigit(text_[at_]) && text_[at_] != '.') {
      return Failure::kNumber;
    }
    int64_t value = 0;
    int64_t fraction = 0;
    bool has_fraction = false;
    const Failure failure = ReadNumber(&value, &fraction, &has_fraction);
    if (failure != Failure::kNone) return failure;
    SkipSpaces();
    if (at_ >= text_.size()) return Failure::kMissingUnit;
    if (has_fraction && LowerAscii(text_[at_]) != 's') return Failure::kFraction;
    for (const Unit& unit : kUnits) {
      if (!StartsWith(unit.name)) continue;
      size_t end = at_ + unit.name.size();
      if (end < text_.size() && LowerAscii(text_[end]) == 's') ++end;
      if (end < text_.size() && !IsIntervalSpace(text_[end])) return Failure::kUnit;
      if (!Add(unit, negative ? -value : value, negative ? -fraction : fraction, out)) return Failure::kOverflow;
      at_ = end;
      return Failure::kNone;
    }
    return Failure::kUnit;
  }

  static bool Add(const Unit& unit, int64_t value, int64_t fraction, CalendarInterval* out) {
    int64_t amount = 0;
    if (__builtin_mul_overflow(value, unit.factor, &amount)) return false;
    if (unit.kind == UnitKind::kMicros) {
      return !__builtin_add_overflow(out->microseconds, amount, &out->microseconds) &&
             !__builtin_add_overflow(out->microseconds, fraction, &out->microseconds);
    }
    int32_t* const part = unit.kind == UnitKind::kMonths ? &out->months : &out->days;
    return !__builtin_add_overflow(*part, amount, part);
  }

  std::string_view text_;
  size_t at_ = 0;
};

void AppendPart(int64_t value, std::string_view unit, bool* first, std::string* out) {
  if (value == 0) return;
  if (!*first) out->push_back(' ');
  *first = false;
  AppendInt64(value, out);
  out->append(unit);
}

void AppendPadded(uint64_t value, size_t width, std::string* out) {
  const std::string digits = std::to_string(value);
  if (digits.size() < width) out->append(width - digits.size(), '0');
  out->append(digits);
}

// ".5" of microseconds without trailing zeros; nothing for 0.
void AppendMicrosFraction(uint64_t micros, std::string* out) {
  if (micros == 0) return;
  out->push_back('.');
  AppendPadded(micros, 6, out);
  while (out->back() == '0') out->pop_back();
}

// ---- ANSI intervals ----

struct AnsiText {
  std::string_view value;
  bool negative = false;
};

// The quoted value of "INTERVAL [sign]'value' FROM [TO LAST]", or the whole text when it does not begin with INTERVAL.
bool UnwrapAnsi(std::string_view text, std::string_view start, std::string_view end, AnsiText* out) {
  text = TrimAll(text);
  size_t at = 0;
  const auto skip = [&] {
    const size_t from = at;
    while (at < text.size() && IsIntervalSpace(text[at])) ++at;
    return at > from;
  };
  const auto word = [&](std::string_view lower) {
    if (text.size() - at < lower.size()) return false;
    for (size_t i = 0; i < lower.size(); ++i) {
      if (LowerAscii(text[at + i]) != lower[i]) return false;
    }
    at += lower.size();
    return true;
  };
  if (!word("interval")) {
    out->value = text;
    return true;
  }
  if (!skip() || at >= text.size()) return false;
  if (text[at] == '-' || text[at] == '+') out->negative = text[at++] == '-';
  if (at >= text.size() || text[at] != '\'') return false;
  const size_t close = text.find('\'', at + 1);
  if (close == std::string_view::npos) return false;
  out->value = text.substr(at + 1, close - at - 1);
  at = close + 1;
  if (!skip() || !word(start)) return false;
  if (start != end && (!skip() || !word("to") || !skip() || !word(end))) return false;
  return at == text.size();
}

// Takes the sign of the value into `negative`.
std::string_view TakeSign(std::string_view value, bool* negative) {
  if (!value.empty() && (value[0] == '-' || value[0] == '+')) {
    if (value[0] == '-') *negative = !*negative;
    value.remove_prefix(1);
  }
  return value;
}

// Digits up to `separator` (all that is left when it is 0); at most `width` of them. The number is cut at 10^15.
bool TakeField(std::string_view* value, size_t width, char separator, int64_t* out) {
  size_t n = 0;
  *out = 0;
  for (; n < value->size() && IsIntervalDigit((*value)[n]); ++n) {
    if (*out < 1000000000000000) *out = *out * 10 + ((*value)[n] - '0');
  }
  if (n == 0 || n > width) return false;
  value->remove_prefix(n);
  if (separator == 0) return true;
  if (value->empty() || value->front() != separator) return false;
  value->remove_prefix(1);
  return true;
}

constexpr std::array<std::string_view, 2> kYearMonthNames = {"year", "month"};
constexpr std::array<std::string_view, 4> kDayTimeNames = {"day", "hour", "minute", "second"};
constexpr std::array<int64_t, 4> kFieldMicros = {kMicrosPerDay, kMicrosPerHour, kMicrosPerMinute, kMicrosPerSecond};
constexpr std::array<int64_t, 4> kFieldLimit = {0, 23, 59, 59};  // when the field is not the first

}  // namespace

bool ParseCalendarInterval(std::string_view text, CalendarInterval* out) {
  *out = {};
  return IntervalReader(text).Read(out) == Failure::kNone;
}

Result<CalendarInterval> MakeCalendarInterval(std::string_view text) {
  IntervalReader reader(text);
  CalendarInterval interval;
  const Failure failure = reader.Read(&interval);
  if (failure == Failure::kNone) return interval;
  const auto error = [&](std::string_view condition) {
    return Error("INVALID_INTERVAL_FORMAT." + std::string(condition)).With("input", text);
  };
  const auto with_word = [&](std::string_view condition, std::string_view parameter) {
    return error(condition).With(parameter, reader.Word());
  };
  switch (failure) {
    case Failure::kEmpty: return error("INPUT_IS_EMPTY");
    case Failure::kPrefix: return with_word("INVALID_PREFIX", "prefix");
    case Failure::kNumber: return with_word("UNRECOGNIZED_NUMBER", "number");
    case Failure::kOverflow: return error("ARITHMETIC_EXCEPTION");
    case Failure::kValue: return with_word("INVALID_VALUE", "value");
    case Failure::kPrecision: return with_word("INVALID_PRECISION", "value");
    case Failure::kFraction: return with_word("INVALID_FRACTION", "unit");
    case Failure::kUnit: return with_word("INVALID_UNIT", "unit");
    case Failure::kMissingNumber: return with_word("MISSING_NUMBER", "word");
    case Failure::kMissingUnit: return with_word("MISSING_UNIT", "word");
    default: return with_word("UNKNOWN_PARSING_ERROR", "word");
  }
}

bool IntervalMicros(const CalendarInterval& interval, int days_per_month, int64_t* micros) {
  const int64_t days = int64_t{interval.months} * days_per_month + interval.days;
  int64_t day_micros = 0;
  return !__builtin_mul_overflow(days, kMicrosPerDay, &day_micros) &&
         !__builtin_add_overflow(day_micros, interval.microseconds, micros);
}

bool IntervalMillis(const CalendarInterval& interval, int days_per_month, int64_t* millis) {
  int64_t micros = 0;
  if (!IntervalMicros(interval, days_per_month, &micros)) return false;
  *millis = micros / 1000;
  return true;
}

bool IsNegativeInterval(const CalendarInterval& interval, int days_per_month) {
  const Int128 micros = (Int128{interval.months} * days_per_month + interval.days) * kMicrosPerDay + interval.microseconds;
  return micros < 0;
}

void AppendCalendarInterval(const CalendarInterval& interval, std::string* out) {
  if (interval == CalendarInterval{}) {
    out->append("0 seconds");
    return;
  }
  bool first = true;
  AppendPart(interval.months / 12, " years", &first, out);
  AppendPart(interval.months % 12, " months", &first, out);
  AppendPart(interval.days, " days", &first, out);
  int64_t rest = interval.microseconds;
  AppendPart(rest / kMicrosPerHour, " hours", &first, out);
  rest %= kMicrosPerHour;
  AppendPart(rest / kMicrosPerMinute, " minutes", &first, out);
  rest %= kMicrosPerMinute;
  if (rest == 0) return;
  if (!first) out->push_back(' ');
  if (rest < 0) out->push_back('-');
  const auto magnitude = static_cast<uint64_t>(rest < 0 ? -rest : rest);
  AppendInt64(static_cast<int64_t>(magnitude / 1000000), out);
  AppendMicrosFraction(magnitude % 1000000, out);
  out->append(" seconds");
}

void AppendYearMonthInterval(int32_t months, YearMonthField start, YearMonthField end, IntervalStyle style, std::string* out) {
  const bool ansi = style == IntervalStyle::kAnsi;
  if (ansi) out->append("INTERVAL '");
  const uint32_t magnitude = months < 0 ? 0 - static_cast<uint32_t>(months) : static_cast<uint32_t>(months);
  if (months < 0) out->push_back('-');
  if (ansi && start == end) {
    AppendInt64(start == YearMonthField::kYear ? magnitude / 12 : magnitude, out);
    out->append(start == YearMonthField::kYear ? "' YEAR" : "' MONTH");
    return;
  }
  AppendInt64(magnitude / 12, out);
  out->push_back('-');
  AppendInt64(magnitude % 12, out);
  if (ansi) out->append("' YEAR TO MONTH");
}

void AppendDayTimeInterval(int64_t micros, DayTimeField start, DayTimeField end, IntervalStyle style, std::string* out) {
  static constexpr std::array<std::string_view, 4> kNames = {"DAY", "HOUR", "MINUTE", "SECOND"};
  const bool ansi = style == IntervalStyle::kAnsi;
  const auto first = static_cast<size_t>(ansi ? start : DayTimeField::kDay);
  const auto last = static_cast<size_t>(ansi ? end : DayTimeField::kSecond);
  uint64_t rest = micros < 0 ? 0 - static_cast<uint64_t>(micros) : static_cast<uint64_t>(micros);
  if (ansi) out->append("INTERVAL '");
  if (micros < 0) out->push_back('-');
  for (size_t field = first; field <= last; ++field) {
    const auto unit = static_cast<uint64_t>(kFieldMicros[field]);
    if (field > first) out->push_back(field == 1 ? ' ' : ':');
    AppendPadded(rest / unit, field == 0 ? 1 : 2, out);
    rest %= unit;
  }
  if (last == 3 && ansi) AppendMicrosFraction(rest, out);
  if (!ansi) {
    out->push_back('.');
    AppendPadded(rest * 1000, 9, out);
    return;
  }
  out->append("' ").append(kNames[first]);
  if (first != last) out->append(" TO ").append(kNames[last]);
}

IntervalOutcome ParseYearMonthInterval(std::string_view text, YearMonthField start, YearMonthField end, int32_t* months) {
  AnsiText ansi;
  if (!UnwrapAnsi(text, kYearMonthNames[static_cast<size_t>(start)], kYearMonthNames[static_cast<size_t>(end)], &ansi)) {
    return IntervalOutcome::kMalformed;
  }
  bool negative = ansi.negative;
  std::string_view value = TakeSign(ansi.value, &negative);
  int64_t years = 0;
  int64_t rest = 0;
  if (start == end) {
    if (!TakeField(&value, 1000, 0, start == YearMonthField::kYear ? &years : &rest)) return IntervalOutcome::kMalformed;
  } else if (!TakeField(&value, 1000, '-', &years) || !TakeField(&value, 1000, 0, &rest) || rest > 11) {
    return IntervalOutcome::kMalformed;
  }
  if (!value.empty()) return IntervalOutcome::kMalformed;
  const int64_t total = (years * 12 + rest) * (negative ? -1 : 1);
  if (total < std::numeric_limits<int32_t>::min() || total > std::numeric_limits<int32_t>::max()) {
    return IntervalOutcome::kOverflow;
  }
  *months = static_cast<int32_t>(total);
  return IntervalOutcome::kOk;
}

IntervalOutcome ParseDayTimeInterval(std::string_view text, DayTimeField start, DayTimeField end, int64_t* micros) {
  const auto first = static_cast<size_t>(start);
  const auto last = static_cast<size_t>(end);
  AnsiText ansi;
  if (!UnwrapAnsi(text, kDayTimeNames[first], kDayTimeNames[last], &ansi)) return IntervalOutcome::kMalformed;
  bool negative = ansi.negative;
  std::string_view value = TakeSign(ansi.value, &negative);
  Int128 total = 0;
  for (size_t field = first; field <= last; ++field) {
    int64_t number = 0;
    const char separator = field == last ? '\0' : field == 0 ? ' ' : ':';
    if (!TakeField(&value, field == first ? 1000 : 2, separator, &number)) return IntervalOutcome::kMalformed;
    if (field > first && number > kFieldLimit[field]) return IntervalOutcome::kMalformed;
    total += Int128{number} * kFieldMicros[field];
  }
  // Spark takes the sign of a lone SECOND from its whole part: "-0.5" is half a second.
  if (first == 3 && total == 0) negative = false;
  if (last == 3 && !value.empty() && value[0] == '.') {
    value.remove_prefix(1);
    if (value.empty() || value.size() > 9) return IntervalOutcome::kMalformed;
    int64_t unit = 100000;
    for (; !value.empty() && IsIntervalDigit(value[0]); value.remove_prefix(1), unit /= 10) total += (value[0] - '0') * unit;
  }
  if (!value.empty()) return IntervalOutcome::kMalformed;
  if (negative) total = -total;
  if (total < std::numeric_limits<int64_t>::min() || total > std::numeric_limits<int64_t>::max()) {
    return IntervalOutcome::kOverflow;
  }
  *micros = static_cast<int64_t>(total);
  return IntervalOutcome::kOk;
}

}  // namespace thalweg::data
