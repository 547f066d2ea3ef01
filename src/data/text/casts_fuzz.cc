// Every parser of the room on the same bytes; what was understood is the same after it was written and read again.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "data/text/datetime.h"
#include "data/text/datetime_pattern.h"
#include "data/text/decimal128.h"
#include "data/text/interval.h"
#include "data/text/numbers.h"
#include "data/text/utf8.h"

namespace {

using namespace thalweg::data;  // NOLINT

void Require(bool holds) {
  if (!holds) std::abort();
}

template <typename T, typename Parse, typename Append>
void RoundTrip(std::string_view text, Parse parse, Append append) {
  T value{};
  if (!parse(text, &value)) return;
  std::string written;
  append(value, &written);
  T again{};
  Require(parse(written, &again));
  std::string twice;
  append(again, &twice);
  Require(twice == written);
}

void Patterns(std::string_view text) {
  const size_t split = text.find('|');
  if (split == std::string_view::npos) return;
  const auto parse = DateTimePattern::Compile(text.substr(0, split), DateTimePattern::Purpose::kParse);
  int64_t micros = 0;
  if (parse.ok() && parse->ParseTimestamp(text.substr(split + 1), TimeZone(), &micros)) {
    const auto format = DateTimePattern::Compile(text.substr(0, split), DateTimePattern::Purpose::kFormat);
    std::string out;
    if (format.ok()) format->FormatTimestamp(micros, TimeZone(), &out);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  RoundTrip<int64_t>(text, [](auto t, auto* v) { return ParseInt64(t, true, v); }, AppendInt64);
  RoundTrip<double>(text, ParseDouble, AppendDouble);
  RoundTrip<float>(text, ParseFloat, AppendFloat);
  RoundTrip<Int128>(
      text, [](auto t, Int128* v) { return ParseDecimal(t, 38, 10, v) == DecimalOutcome::kOk; },
      [](Int128 v, std::string* out) { AppendDecimal(v, 10, out); });
  RoundTrip<int32_t>(text, ParseDate, AppendDate);
  RoundTrip<int64_t>(text, [](auto t, auto* v) { return ParseTimestamp(t, TimeZone(), 0, v); },
                     [](int64_t v, std::string* out) { AppendTimestamp(v, TimeZone(), out); });
  RoundTrip<int64_t>(text, ParseTime, AppendTime);
  CalendarInterval interval;
  (void)ParseCalendarInterval(text, &interval);
  Require(MakeCalendarInterval(text).ok() == ParseCalendarInterval(text, &interval));
  int32_t months = 0;
  (void)ParseYearMonthInterval(text, YearMonthField::kYear, YearMonthField::kMonth, &months);
  int64_t micros = 0;
  (void)ParseDayTimeInterval(text, DayTimeField::kDay, DayTimeField::kSecond, &micros);
  std::string repaired;
  AppendValidUtf8(text, &repaired);
  Require(IsValidUtf8(repaired) && IsValidUtf8(text) == (repaired == text));
  std::string upper;
  AppendUpper(text, &upper);
  AppendLower(text, &upper);
  AppendInitCap(text, &upper);
  Require(IsValidUtf8(upper));
  (void)Utf8Substring(text, static_cast<int32_t>(size) / 2 - 3, 4);
  Patterns(text);
  return 0;
}
