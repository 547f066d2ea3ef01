#include "data/text/interval.h"

#include <limits>

#include "data/text/golden_test.h"

namespace thalweg::data {
namespace {

TEST(Interval, CalendarIntervalsAreReadAndWrittenAsSparkCastsThem) {
  for (const GoldenRow& row : ReadGoldenRows("calendar_intervals")) {
    const std::string text = row[0];
    CalendarInterval interval;
    const bool ok = ParseCalendarInterval(text, &interval);
    std::string got = ok ? "" : "null";
    if (ok) AppendCalendarInterval(interval, &got);
    EXPECT_EQ(got, GoldenText(row[1])) << text;
    const auto made = MakeCalendarInterval(text);
    EXPECT_EQ(made.ok(), ok) << text;
    if (!ok) {
      EXPECT_TRUE(made.status().condition().starts_with("INVALID_INTERVAL_FORMAT.")) << text;
    }
  }
}

TEST(Interval, ReasonsAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "INPUT_IS_EMPTY"},      {"interval", "INPUT_IS_EMPTY"},      {"intervals 1 day", "INVALID_PREFIX"},
      {"a day", "UNRECOGNIZED_NUMBER"}, {"1 foo", "INVALID_UNIT"},       {"1.5 days", "INVALID_FRACTION"},
      {"1x day", "INVALID_VALUE"}, {"1", "MISSING_UNIT"},               {"1 day -", "MISSING_NUMBER"},
      {"1.1234567891 seconds", "INVALID_PRECISION"}, {"9223372036854775808 days", "ARITHMETIC_EXCEPTION"}};
  for (const auto& [text, reason] : cases) {
    EXPECT_EQ(MakeCalendarInterval(text).status().condition(), std::string("INVALID_INTERVAL_FORMAT.") + reason) << text;
  }
}

TEST(Interval, YearMonthIntervalsAreReadAndWrittenAsSparkCastsThem) {
  const std::pair<YearMonthField, YearMonthField> kinds[] = {{YearMonthField::kYear, YearMonthField::kMonth},
                                                             {YearMonthField::kYear, YearMonthField::kYear},
                                                             {YearMonthField::kMonth, YearMonthField::kMonth}};
  auto rows = ReadGoldenRows("year_month_intervals");
  for (size_t i = 1; i < rows.size(); ++i) {
    for (size_t k = 0; k < 3; ++k) {
      const auto [start, end] = kinds[k];
      int32_t months = 0;
      const bool ok = ParseYearMonthInterval(rows[i][0].get<std::string>(), start, end, &months) == IntervalOutcome::kOk;
      std::string got = ok ? "" : "null";
      if (ok) AppendYearMonthInterval(months, start, end, IntervalStyle::kAnsi, &got);
      EXPECT_EQ(got, GoldenText(rows[i][k + 1])) << rows[i][0] << " kind " << k;
    }
  }
}

TEST(Interval, DayTimeIntervalsAreReadAndWrittenAsSparkCastsThem) {
  using F = DayTimeField;
  const std::pair<F, F> kinds[] = {{F::kDay, F::kSecond},  {F::kDay, F::kMinute},    {F::kDay, F::kHour},
                                   {F::kDay, F::kDay},     {F::kHour, F::kSecond},   {F::kHour, F::kMinute},
                                   {F::kHour, F::kHour},   {F::kMinute, F::kSecond}, {F::kMinute, F::kMinute},
                                   {F::kSecond, F::kSecond}};
  auto rows = ReadGoldenRows("day_time_intervals");
  int wrapped = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    for (size_t k = 0; k < 10; ++k) {
      const auto [start, end] = kinds[k];
      int64_t micros = 0;
      const auto outcome = ParseDayTimeInterval(rows[i][0].get<std::string>(), start, end, &micros);
      if (outcome == IntervalOutcome::kOverflow && start == end && start != F::kSecond) {
        // Spark lets a single field wrap around ("106751992" days are -106751990); here it does not fit.
        EXPECT_TRUE(rows[i][k + 1].is_null() || rows[i][k + 1].get<std::string>().find('-') != std::string::npos);
        ++wrapped;
        continue;
      }
      const bool ok = outcome == IntervalOutcome::kOk;
      std::string got = ok ? "" : "null";
      if (ok) AppendDayTimeInterval(micros, start, end, IntervalStyle::kAnsi, &got);
      EXPECT_EQ(got, GoldenText(rows[i][k + 1])) << rows[i][0] << " kind " << k;
    }
  }
  EXPECT_LE(wrapped, 9);
}

TEST(Interval, HiveStyle) {
  std::string out;
  AppendYearMonthInterval(-14, YearMonthField::kYear, YearMonthField::kMonth, IntervalStyle::kHive, &out);
  EXPECT_EQ(out, "-1-2");
  out.clear();
  AppendDayTimeInterval(93784500000, DayTimeField::kHour, DayTimeField::kHour, IntervalStyle::kHive, &out);
  EXPECT_EQ(out, "1 02:03:04.500000000");
  out.clear();
  AppendDayTimeInterval(std::numeric_limits<int64_t>::min(), DayTimeField::kDay, DayTimeField::kSecond, IntervalStyle::kHive, &out);
  EXPECT_EQ(out, "-106751991 04:00:54.775808000");
}

TEST(Interval, Durations) {
  int64_t micros = 0;
  EXPECT_TRUE(IntervalMicros({1, 2, 3}, 31, &micros));
  EXPECT_EQ(micros, 33 * int64_t{86400000000} + 3);
  int64_t millis = 0;
  EXPECT_TRUE(IntervalMillis({0, 0, 1999}, 31, &millis));
  EXPECT_EQ(millis, 1);
  EXPECT_FALSE(IntervalMicros({0, std::numeric_limits<int32_t>::max(), 0}, 31, &micros));
  EXPECT_TRUE(IsNegativeInterval({0, -1, 5}));
  EXPECT_FALSE(IsNegativeInterval({1, -31, 0}));
  EXPECT_TRUE(IsNegativeInterval({std::numeric_limits<int32_t>::min(), 0, 0}));
}

}  // namespace
}  // namespace thalweg::data
