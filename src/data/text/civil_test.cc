#include "data/text/civil.h"

#include <gtest/gtest.h>

#include <limits>

namespace thalweg::data {
namespace {

TEST(Civil, WalksTheCalendarDayByDay) {
  // A naive calendar, one day at a time, from 0000-01-01.
  int64_t year = 0;
  int month = 1;
  int day = 1;
  int64_t days = DaysFromCivil(0, 1, 1);
  EXPECT_EQ(days, -719528);
  for (int i = 0; i < 900000; ++i, ++days) {
    ASSERT_EQ(DaysFromCivil(year, month, day), days);
    ASSERT_EQ(CivilFromDays(days), (CivilDate{static_cast<int32_t>(year), static_cast<int8_t>(month), static_cast<int8_t>(day)}));
    if (++day > DaysInMonth(year, month)) {
      day = 1;
      if (++month > 12) {
        month = 1;
        ++year;
      }
    }
  }
}

TEST(Civil, EndsOfTheRange) {
  int32_t days = 0;
  EXPECT_TRUE(MakeDate(5881580, 7, 11, &days));
  EXPECT_EQ(days, std::numeric_limits<int32_t>::max());
  EXPECT_FALSE(MakeDate(5881580, 7, 12, &days));
  EXPECT_TRUE(MakeDate(-5877641, 6, 23, &days));
  EXPECT_EQ(days, std::numeric_limits<int32_t>::min());
  EXPECT_FALSE(MakeDate(-5877641, 6, 22, &days));
  int64_t micros = 0;
  EXPECT_TRUE(MicrosFromCivil(DaysFromCivil(-290308, 12, 21), 71945224192, &micros));
  EXPECT_EQ(micros, std::numeric_limits<int64_t>::min());
  EXPECT_FALSE(MicrosFromCivil(DaysFromCivil(-290308, 12, 21), 71945224191, &micros));
}

TEST(Civil, WeeksAndMonths) {
  EXPECT_EQ(IsoDayOfWeek(0), 4);  // a Thursday
  EXPECT_EQ(IsoWeekOf(DaysFromCivil(2021, 1, 3)).week, 53);
  EXPECT_EQ(IsoWeekOf(DaysFromCivil(2021, 1, 3)).year, 2020);
  EXPECT_EQ(IsoWeekOf(DaysFromCivil(2018, 12, 31)).week, 1);
  EXPECT_EQ(DayOfYear(DaysFromCivil(2020, 12, 31)), 366);
  int32_t out = 0;
  EXPECT_TRUE(AddMonths(static_cast<int32_t>(DaysFromCivil(2020, 1, 31)), 1, &out));
  EXPECT_EQ(out, DaysFromCivil(2020, 2, 29));
  EXPECT_TRUE(AddMonths(static_cast<int32_t>(DaysFromCivil(2020, 3, 31)), -13, &out));
  EXPECT_EQ(out, DaysFromCivil(2019, 2, 28));
  int64_t micros = 0;
  EXPECT_TRUE(AddMonthsToMicros(-1, 1, &micros));
  EXPECT_EQ(micros, 31 * kMicrosPerDay - 1);
}

}  // namespace
}  // namespace thalweg::data
