// Literals: numbers, DATE '...' and their like, intervals.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "data/text/datetime.h"
#include "data/text/interval.h"
#include "data/text/numbers.h"
#include "data/text/time_zone.h"
#include "sql/parser/parser_state.h"

namespace thalweg::sql {

bool IsDateTimeUnit(std::string_view word) {
  static constexpr std::string_view kUnits[] = {
      "YEAR",   "YEARS",   "QUARTER",     "MONTH",        "MONTHS",      "WEEK",        "WEEKS",
      "DAY",    "DAYS",    "DAYOFYEAR",   "HOUR",         "HOURS",       "MINUTE",      "MINUTES",
      "SECOND", "SECONDS", "MILLISECOND", "MILLISECONDS", "MICROSECOND", "MICROSECONDS"};
  return std::find(std::begin(kUnits), std::end(kUnits), word) != std::end(kUnits);
}

int IntervalField(std::string_view word) {
  static constexpr std::string_view kFields[] = {"YEAR", "MONTH",  "DAY",
                                                 "HOUR", "MINUTE", "SECOND"};
  for (int i = 0; i < 6; ++i) {
    if (word == kFields[i] || (word.size() == kFields[i].size() + 1 && word.back() == 'S' &&
                               word.substr(0, word.size() - 1) == kFields[i]))
      return i;
  }
  return -1;
}

Result<ExprPtr> ParserState::NumberLiteral(bool negative) {
  const Token token = Advance();
  std::string text = (negative ? "-" : "") + token.text;
  const auto bad = [&](std::string_view type, std::string_view least, std::string_view most) {
    const size_t suffix = token.kind == TokenKind::kSuffixed ? 1 : 0;
    return ParseErrorAt(Error("INVALID_NUMERIC_LITERAL_RANGE")
                            .With("rawStrippedQualifier", text.substr(0, text.size() - suffix))
                            .With("minValue", least)
                            .With("maxValue", most)
                            .With("typeName", type),
                        sql_, token.begin);
  };
  constexpr double kMostFloat = std::numeric_limits<float>::max();
  const auto bad_double = [&]() { return bad("double", "-1.7976931348623157E+308", "1.7976931348623157E+308"); };
  const auto decimal = [&](const std::string& digits) -> Result<ExprPtr> {
    data::Int128 unscaled = 0;
    int scale = 0;
    const auto bad_decimal = [&]() { return bad("decimal", "-1E38", "1E38"); };
    if (!data::ParseDecimalExact(digits, &unscaled, &scale)) return bad_decimal();
    if (scale < 0) {  // 1e3BD: Spark has no negative scales
      for (; scale < 0; ++scale) unscaled *= 10;
    }
    int precision = 0;
    for (data::Int128 rest = unscaled; rest != 0; rest /= 10) ++precision;
    precision = std::max({precision, scale, 1});
    if (precision > 38) return bad_decimal();
    return Literal::Make(Value(unscaled), DataType::Decimal(precision, scale));
  };
  if (token.kind == TokenKind::kInteger) {
    int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc{}) return decimal(text);
    if (value >= INT32_MIN && value <= INT32_MAX)
      return Literal::Integer(static_cast<int32_t>(value));
    return Literal::Long(value);
  }
  if (token.kind == TokenKind::kDecimal) return decimal(text);
  if (token.kind == TokenKind::kExponent) {
    double value = 0;
    if (!data::ParseDouble(text, &value) || std::isinf(value)) return bad_double();
    return Literal::Make(Value(value), DataType::Double());
  }
  const char last = static_cast<char>(std::toupper(static_cast<unsigned char>(text.back())));
  const bool is_decimal = last == 'D' && text.size() > 2 &&
                          std::toupper(static_cast<unsigned char>(text[text.size() - 2])) == 'B';
  const std::string digits = text.substr(0, text.size() - (is_decimal ? 2 : 1));
  if (is_decimal) return decimal(digits);
  if (last == 'D' || last == 'F') {
    double value = 0;
    const bool read = data::ParseDouble(digits, &value);
    if (last == 'D' && (!read || std::isinf(value))) return bad_double();
    if (last == 'D') return Literal::Make(Value(value), DataType::Double());
    if (!read || std::fabs(value) > kMostFloat) return bad("float", "-3.4028234663852886E+38", "3.4028234663852886E+38");
    return Literal::Make(Value(static_cast<float>(value)), DataType::Float());
  }
  int64_t value = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = parsed.ec == std::errc{} && parsed.ptr == digits.data() + digits.size();
  if (last == 'L' && whole) return Literal::Long(value);
  if (last == 'S' && whole && value >= INT16_MIN && value <= INT16_MAX)
    return Literal::Make(Value(static_cast<int16_t>(value)), DataType::Short());
  if (last == 'Y' && whole && value >= INT8_MIN && value <= INT8_MAX)
    return Literal::Make(Value(static_cast<int8_t>(value)), DataType::Byte());
  if (last == 'L') return bad("bigint", "-9223372036854775808", "9223372036854775807");
  return last == 'S' ? bad("smallint", "-32768", "32767") : bad("tinyint", "-128", "127");
}

Result<ExprPtr> ParserState::TypedLiteral(std::string_view type) {
  const Token& start = Peek();
  Advance();
  TW_ASSIGN_OR_RETURN(const std::string text, StringText());
  const auto invalid = [&]() -> Status {
    return ParseErrorAt(Error("INVALID_TYPED_LITERAL")
                            .With("valueType", "\"" + std::string(type) + "\"")
                            .With("value", "'" + text + "'"),
                        sql_, start.begin);
  };
  TW_ASSIGN_OR_RETURN(const data::TimeZone zone, data::TimeZone::Parse(options_.time_zone));
  if (type == "DATE") {
    int32_t days = 0;
    if (!data::ParseDate(text, &days)) return invalid();
    return Literal::Make(Value(days), DataType::Date());
  }
  if (type == "TIME") {
    int64_t nanos = 0;
    if (!data::ParseTime(text, &nanos)) return invalid();
    return Literal::Make(Value(nanos), DataType::Time());
  }
  if (type == "X") {
    std::string bytes;
    const std::string padded = text.size() % 2 == 0 ? text : "0" + text;
    for (size_t i = 0; i < padded.size(); i += 2) {
      uint8_t byte = 0;
      const auto parsed = std::from_chars(padded.data() + i, padded.data() + i + 2, byte, 16);
      if (parsed.ec != std::errc{} || parsed.ptr != padded.data() + i + 2) return invalid();
      bytes.push_back(static_cast<char>(byte));
    }
    return Literal::Make(Value(std::move(bytes)), DataType::Binary());
  }
  data::TimestampText parts;
  const bool readable = data::ParseTimestampText(text, &parts);
  const bool ntz =
      type == "TIMESTAMP_NTZ" ||
      (type == "TIMESTAMP" && options_.timestamp_ntz_default && readable && !parts.zone);
  int64_t micros = 0;
  if (ntz) {
    if (!data::ParseTimestampNtz(text, type == "TIMESTAMP_NTZ", &micros)) return invalid();
    return Literal::Make(Value(micros), DataType::TimestampNtz());
  }
  if (!data::ParseTimestamp(text, zone, 0, &micros)) return invalid();
  return Literal::Make(Value(micros), DataType::Timestamp());
}

/// INTERVAL '1-2' YEAR TO MONTH, INTERVAL '3' DAY, INTERVAL 1 DAY 2 HOURS, INTERVAL '1 day 2
/// hours'.
Result<ExprPtr> ParserState::IntervalLiteral() {
  const Token start = Advance();
  const auto invalid = [&](const std::string& text) {
    return ParseErrorAt(Error("INVALID_INTERVAL_FORMAT.INPUT_IS_EMPTY").With("input", text), sql_,
                        start.begin);
  };
  const auto from_calendar = [&](const std::string& text) -> Result<ExprPtr> {
    TW_ASSIGN_OR_RETURN(const data::CalendarInterval interval, data::MakeCalendarInterval(text));
    if (interval.days == 0 && interval.microseconds == 0 && interval.months != 0) {
      return Literal::Make(Value(interval.months), DataType::YearMonthInterval());
    }
    if (interval.months == 0) {
      int64_t micros = 0;
      if (!data::IntervalMicros(interval, 31, &micros)) return invalid(text);
      return Literal::Make(Value(micros), DataType::DayTimeInterval());
    }
    return Literal::Make(Value(interval), DataType::CalendarInterval());
  };
  const bool quoted = Peek().kind == TokenKind::kString;
  const bool negative = !quoted && TakeSymbol("-");
  if (quoted && IntervalField(Peek(1).upper) >= 0) {
    const std::string text = Advance().text;
    const int from = IntervalField(Advance().upper);
    int to = from;
    if (TakeWord("TO")) {
      to = IntervalField(Advance().upper);
      if (to < from) return Unexpected();
    }
    if (from != to || Peek().kind != TokenKind::kString) {
      if (from <= 1 && to <= 1) {
        int32_t months = 0;
        const auto f = static_cast<data::YearMonthField>(from),
                   t = static_cast<data::YearMonthField>(to);
        if (data::ParseYearMonthInterval(text, f, t, &months) != data::IntervalOutcome::kOk)
          return invalid(text);
        return Literal::Make(Value(months), DataType::YearMonthInterval(f, t));
      }
      if (from >= 2) {
        int64_t micros = 0;
        const auto f = static_cast<data::DayTimeField>(from - 2),
                   t = static_cast<data::DayTimeField>(to - 2);
        if (data::ParseDayTimeInterval(text, f, t, &micros) != data::IntervalOutcome::kOk)
          return invalid(text);
        return Literal::Make(Value(micros), DataType::DayTimeInterval(f, t));
      }
      return Unexpected();
    }
    at_ -= 2;  // '1' DAY '2' HOURS: a list of values and units
  }
  if (quoted && !IsDateTimeUnit(Peek(1).upper)) return from_calendar(Advance().text);
  std::string text;
  int first = 6, last = -1;
  while (true) {
    const TokenKind kind = Peek().kind;
    const bool sign = IsSymbol("-") &&
                      (Peek(1).kind == TokenKind::kInteger || Peek(1).kind == TokenKind::kDecimal);
    if (kind != TokenKind::kInteger && kind != TokenKind::kDecimal && kind != TokenKind::kString &&
        !sign)
      break;
    if (sign) Advance();
    std::string value = Advance().text;
    if (!IsDateTimeUnit(Peek().upper)) return Unexpected();
    const int field = IntervalField(Peek().upper);
    first = std::min(first, field < 0 ? 2 : field);
    last = std::max(last, field < 0 ? 5 : field);
    text += (text.empty() ? "" : " ") + std::string(sign != negative ? "-" : "") + value + " " +
            Advance().text;
  }
  if (text.empty()) return Unexpected();
  TW_ASSIGN_OR_RETURN(const data::CalendarInterval interval, data::MakeCalendarInterval(text));
  if (last <= 1) {
    return Literal::Make(Value(interval.months),
                         DataType::YearMonthInterval(static_cast<data::YearMonthField>(first),
                                                     static_cast<data::YearMonthField>(last)));
  }
  if (first >= 2) {
    int64_t micros = 0;
    if (!data::IntervalMicros(interval, 31, &micros)) return invalid(text);
    return Literal::Make(Value(micros),
                         DataType::DayTimeInterval(static_cast<data::DayTimeField>(first - 2),
                                                   static_cast<data::DayTimeField>(last - 2)));
  }
  return Literal::Make(Value(interval), DataType::CalendarInterval());
}

}  // namespace thalweg::sql
