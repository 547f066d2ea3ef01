#include "data/text/numbers.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <array>
#include <charconv>
#include <limits>

#include "data/text/decimal128.h"
#include "data/types/java_double.h"

namespace thalweg::data {
namespace {

bool IsBlank(char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F; }
bool IsDecimalDigit(char c) { return c >= '0' && c <= '9'; }

// java.lang.String.trim: DEL stays.
std::string_view JavaTrim(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= 0x20) text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= 0x20) text.remove_suffix(1);
  return text;
}

bool EqualsLower(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

template <typename T>
bool ParseInteger(std::string_view text, bool allow_fraction, T* out) {
  text = TrimAll(text);
  if (text.empty()) return false;
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') text.remove_prefix(1);
  if (text.empty()) return false;
  int64_t value = 0;  // kept negative: its range is one larger
  size_t i = 0;
  for (; i < text.size() && IsDecimalDigit(text[i]); ++i) {
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_sub_overflow(value, text[i] - '0', &value)) return false;
  }
  if (i < text.size()) {
    if (text[i] != '.' || !allow_fraction) return false;
    for (++i; i < text.size(); ++i) {
      if (!IsDecimalDigit(text[i])) return false;
    }
  }
  if (!negative && value == std::numeric_limits<int64_t>::min()) return false;
  if (!negative) value = -value;
  if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) return false;
  *out = static_cast<T>(value);
  return true;
}

// A decimal number in text: sign, digits, point, exponent.
struct DecimalText {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  int64_t exponent = 0;         // cut to +-10^10
  bool exponent_fits = true;    // int32, as java.math.BigDecimal wants it
  std::string_view rest;        // behind the number
};

bool ReadDecimalText(std::string_view text, DecimalText* out) {
  size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) out->negative = text[i++] == '-';
  size_t start = i;
  while (i < text.size() && IsDecimalDigit(text[i])) ++i;
  out->whole = text.substr(start, i - start);
  if (i < text.size() && text[i] == '.') {
    start = ++i;
    while (i < text.size() && IsDecimalDigit(text[i])) ++i;
    out->fraction = text.substr(start, i - start);
  }
  if (out->whole.empty() && out->fraction.empty()) return false;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    size_t j = i + 1;
    bool negative = false;
    if (j < text.size() && (text[j] == '-' || text[j] == '+')) negative = text[j++] == '-';
    if (j >= text.size() || !IsDecimalDigit(text[j])) return false;
    int64_t value = 0;
    for (; j < text.size() && IsDecimalDigit(text[j]); ++j) {
      if (value < 10000000000) value = value * 10 + (text[j] - '0');
    }
    out->exponent = negative ? -value : value;
    out->exponent_fits = value <= std::numeric_limits<int32_t>::max();
    i = j;
  }
  out->rest = text.substr(i);
  return true;
}

// The decimal exponent of the first digit that is not zero: 1 for "1.5", 0 for "0.5"; nullopt-like false for zero.
bool LeadingExponent(const DecimalText& number, int64_t* exponent) {
  const size_t in_whole = number.whole.find_first_not_of('0');
  if (in_whole != std::string_view::npos) {
    *exponent = static_cast<int64_t>(number.whole.size() - in_whole) + number.exponent;
    return true;
  }
  const size_t in_fraction = number.fraction.find_first_not_of('0');
  if (in_fraction == std::string_view::npos) return false;
  *exponent = number.exponent - static_cast<int64_t>(in_fraction);
  return true;
}

template <typename T>
bool ParseHexadecimal(std::string_view text, bool negative, T* out) {
  // Java demands digits and a binary exponent.
  size_t i = 0;
  size_t digits = 0;
  const auto is_hex = [](char c) { return IsDecimalDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
  for (; i < text.size() && is_hex(text[i]); ++i) ++digits;
  if (i < text.size() && text[i] == '.') {
    for (++i; i < text.size() && is_hex(text[i]); ++i) ++digits;
  }
  if (digits == 0 || i >= text.size() || (text[i] != 'p' && text[i] != 'P')) return false;
  size_t j = i + 1;
  if (j < text.size() && (text[j] == '+' || text[j] == '-')) ++j;
  if (j >= text.size() || !IsDecimalDigit(text[j])) return false;
  while (j < text.size() && IsDecimalDigit(text[j])) ++j;
  const std::string_view rest = text.substr(j);
  if (!rest.empty() && !(rest.size() == 1 && std::string_view("fFdD").find(rest[0]) != std::string_view::npos)) return false;
  std::string clean(text.substr(0, i + 1));
  clean.append(text.substr(text[i + 1] == '+' ? i + 2 : i + 1, j - (text[i + 1] == '+' ? i + 2 : i + 1)));
  T value = 0;
  const auto [end, error] = std::from_chars(clean.data(), clean.data() + clean.size(), value, std::chars_format::hex);
  if (error == std::errc::result_out_of_range) {
    value = text[i + 1] == '-' ? T{0} : std::numeric_limits<T>::infinity();
  } else if (error != std::errc{}) {
    return false;
  }
  *out = negative ? -value : value;
  return true;
}

template <typename T>
bool ParseJavaFloating(std::string_view text, T* out) {
  text = JavaTrim(text);
  if (text.empty()) return false;
  const bool negative = text[0] == '-';
  const std::string_view unsigned_text = negative || text[0] == '+' ? text.substr(1) : text;
  if (unsigned_text == "NaN") {
    *out = std::numeric_limits<T>::quiet_NaN();
    return true;
  }
  if (unsigned_text == "Infinity") {
    *out = negative ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    return true;
  }
  if (unsigned_text.size() > 2 && unsigned_text[0] == '0' && (unsigned_text[1] == 'x' || unsigned_text[1] == 'X')) {
    return ParseHexadecimal(unsigned_text.substr(2), negative, out);
  }
  DecimalText number;
  if (!ReadDecimalText(text, &number)) return false;
  if (number.rest.size() > 1 || (number.rest.size() == 1 && std::string_view("fFdD").find(number.rest[0]) == std::string_view::npos)) {
    return false;
  }
  T value = 0;
  const char* const last = unsigned_text.data() + unsigned_text.size() - number.rest.size();
  const auto [end, error] = std::from_chars(unsigned_text.data(), last, value);
  if (error != std::errc{} || end != last) {
    // Beyond the range: tiny numbers are zero, huge ones infinite.
    int64_t exponent = 0;
    value = LeadingExponent(number, &exponent) && exponent > 0 ? std::numeric_limits<T>::infinity() : T{0};
  }
  *out = number.negative ? -value : value;
  return true;
}

template <typename T>
bool ParseFloating(std::string_view text, T* out) {
  if (ParseJavaFloating(text, out)) return true;
  text = JavaTrim(text);
  if (text.empty() || text.size() > 9) return false;
  const bool negative = text[0] == '-';
  const bool has_sign = negative || text[0] == '+';
  const std::string_view word = has_sign ? text.substr(1) : text;
  if (EqualsLower(word, "inf") || EqualsLower(word, "infinity")) {
    *out = negative ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    return true;
  }
  if (has_sign || !EqualsLower(word, "nan")) return false;
  *out = std::numeric_limits<T>::quiet_NaN();
  return true;
}

// java.math.BigDecimal takes the digits of every script. False: no such digit in the text, or something else that is not ASCII.
bool FoldDigits(std::string_view text, std::string* out) {
  bool found = false;
  const auto length = static_cast<int32_t>(text.size());
  for (int32_t i = 0; i < length;) {
    UChar32 c = 0;
    U8_NEXT(text.data(), i, length, c);
    if (c < 0) return false;
    if (c < 0x80) {
      out->push_back(static_cast<char>(c));
    } else if (const int digit = u_charDigitValue(c); digit >= 0) {
      out->push_back(static_cast<char>('0' + digit));
      found = true;
    } else {
      return false;
    }
  }
  return found;
}

// Digit `i` of whole and fraction written without the point.
char DigitAt(const DecimalText& number, size_t i) {
  return i < number.whole.size() ? number.whole[i] : number.fraction[i - number.whole.size()];
}

}  // namespace

std::string_view TrimAll(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

bool ParseInt8(std::string_view text, bool allow_fraction, int8_t* out) { return ParseInteger(text, allow_fraction, out); }
bool ParseInt16(std::string_view text, bool allow_fraction, int16_t* out) { return ParseInteger(text, allow_fraction, out); }
bool ParseInt32(std::string_view text, bool allow_fraction, int32_t* out) { return ParseInteger(text, allow_fraction, out); }
bool ParseInt64(std::string_view text, bool allow_fraction, int64_t* out) { return ParseInteger(text, allow_fraction, out); }

bool ParseJavaLong(std::string_view text, int64_t* out) {
  if (text.empty() || IsBlank(text.front()) || IsBlank(text.back())) return false;
  return ParseInteger(text, false, out);
}

bool ParseDouble(std::string_view text, double* out) { return ParseFloating(text, out); }
bool ParseFloat(std::string_view text, float* out) { return ParseFloating(text, out); }
bool ParseJavaDouble(std::string_view text, double* out) { return ParseJavaFloating(text, out); }
bool ParseJavaFloat(std::string_view text, float* out) { return ParseJavaFloating(text, out); }

bool ParseBoolean(std::string_view text, bool* out) {
  text = TrimAll(text);
  for (const std::string_view word : {"t", "true", "y", "yes", "1"}) {
    if (EqualsLower(text, word)) return *out = true, true;
  }
  for (const std::string_view word : {"f", "false", "n", "no", "0"}) {
    if (EqualsLower(text, word)) return *out = false, true;
  }
  return false;
}

DecimalOutcome ParseDecimal(std::string_view text, int precision, int scale, Int128* unscaled) {
  text = JavaTrim(text);
  DecimalText number;
  if (!ReadDecimalText(text, &number) || !number.rest.empty() || !number.exponent_fits) [[unlikely]] {
    std::string folded;
    return FoldDigits(text, &folded) ? ParseDecimal(folded, precision, scale, unscaled) : DecimalOutcome::kMalformed;
  }
  int64_t leading = 0;
  if (!LeadingExponent(number, &leading)) {
    // Spark counts the places of a zero, too, before it looks at the number.
    const int64_t places = 1 - (static_cast<int64_t>(number.fraction.size()) - number.exponent);
    *unscaled = 0;
    return places > kMaxDecimalPrecision ? DecimalOutcome::kOverflow : DecimalOutcome::kOk;
  }
  if (leading > precision - scale) return DecimalOutcome::kOverflow;
  const size_t total = number.whole.size() + number.fraction.size();
  size_t first = 0;
  while (DigitAt(number, first) == '0') ++first;
  const int64_t kept = leading + scale;  // digits of the result; the one behind them rounds
  Int128 value = 0;
  for (int64_t i = 0; i < kept; ++i) {
    const size_t at = first + static_cast<size_t>(i);
    value = value * 10 + (at < total ? DigitAt(number, at) - '0' : 0);
  }
  if (kept >= 0) {
    const size_t next = first + static_cast<size_t>(kept);
    if (next < total && DigitAt(number, next) >= '5') ++value;
  }
  if (!DecimalFits(value, precision)) return DecimalOutcome::kOverflow;
  *unscaled = number.negative ? -value : value;
  return DecimalOutcome::kOk;
}

bool ParseDecimalExact(std::string_view text, Int128* unscaled, int* scale) {
  text = JavaTrim(text);
  DecimalText number;
  if (!ReadDecimalText(text, &number) || !number.rest.empty() || !number.exponent_fits) return false;
  const size_t total = number.whole.size() + number.fraction.size();
  size_t first = 0;
  while (first < total && DigitAt(number, first) == '0') ++first;
  if (total - first > static_cast<size_t>(kMaxDecimalPrecision)) return false;
  Int128 value = 0;
  for (size_t i = first; i < total; ++i) value = value * 10 + (DigitAt(number, i) - '0');
  const int64_t wide_scale = static_cast<int64_t>(number.fraction.size()) - number.exponent;
  if (wide_scale > std::numeric_limits<int32_t>::max() || wide_scale < std::numeric_limits<int32_t>::min()) return false;
  *unscaled = number.negative ? -value : value;
  *scale = static_cast<int>(wide_scale);
  return true;
}

void AppendBoolean(bool value, std::string* out) { out->append(value ? "true" : "false"); }

void AppendInt64(int64_t value, std::string* out) {
  std::array<char, 24> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out->append(buffer.data(), end);
}

void AppendInt128(Int128 value, std::string* out) {
  if (value >= std::numeric_limits<int64_t>::min() && value <= std::numeric_limits<int64_t>::max()) {
    return AppendInt64(static_cast<int64_t>(value), out);
  }
  auto rest = static_cast<unsigned __int128>(value);
  if (value < 0) {
    out->push_back('-');
    rest = 0 - rest;
  }
  std::array<char, 40> buffer;
  char* at = buffer.data() + buffer.size();
  for (; rest != 0; rest /= 10) *--at = static_cast<char>('0' + static_cast<int>(rest % 10));
  out->append(at, buffer.data() + buffer.size());
}

void AppendDouble(double value, std::string* out) { AppendJavaDouble(value, out); }
void AppendFloat(float value, std::string* out) { AppendJavaFloat(value, out); }

void AppendDecimal(Int128 unscaled, int scale, std::string* out) {
  if (scale <= 0) {
    AppendInt128(unscaled, out);
    if (unscaled != 0) out->append(static_cast<size_t>(-scale), '0');
    return;
  }
  if (unscaled < 0) out->push_back('-');
  const size_t start = out->size();
  AppendInt128(unscaled, out);
  if (unscaled < 0) out->erase(start, 1);
  const size_t digits = out->size() - start;
  const auto places = static_cast<size_t>(scale);
  if (digits <= places) out->insert(start, places + 1 - digits, '0');
  out->insert(out->size() - places, 1, '.');
}

void AppendDecimalScientific(Int128 unscaled, int scale, std::string* out) {
  const int digits = DecimalDigits(unscaled);
  const int exponent = digits - 1 - scale;
  if (scale >= 0 && exponent >= -6) return AppendDecimal(unscaled, scale, out);
  const size_t start = out->size() + (unscaled < 0 ? 1 : 0);
  AppendInt128(unscaled, out);
  if (digits > 1) out->insert(start + 1, 1, '.');
  out->append(exponent >= 0 ? "E+" : "E");
  AppendInt64(exponent, out);
}

}  // namespace thalweg::data
