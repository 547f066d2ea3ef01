#include "data/text/datetime_pattern.h"

#include <limits>
#include <random>

#include "data/text/golden_test.h"

namespace thalweg::data {
namespace {

using Purpose = DateTimePattern::Purpose;

TEST(DateTimePattern, FormatsAsSparkDoes) {
  auto rows = ReadGoldenRows("pattern_formats");
  const char* const zones[] = {"UTC", "America/Los_Angeles", "Europe/Berlin", "+05:30"};
  int compared = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    const std::string pattern = rows[i][0];
    if (pattern == "v") continue;  // generic zone names are not there: see the next test
    const auto compiled = DateTimePattern::Compile(pattern, Purpose::kFormat);
    for (size_t z = 0; z < 4; ++z) {
      const GoldenRow& expected = rows[i][z + 1];
      if (expected.is_string()) {
        ASSERT_FALSE(compiled.ok()) << pattern;
        EXPECT_EQ("!" + compiled.status().condition(), expected.get<std::string>()) << pattern;
        continue;
      }
      ASSERT_TRUE(compiled.ok()) << pattern << " " << compiled.status().message();
      const TimeZone zone = TimeZone::Parse(zones[z]).ValueOrDie();
      for (size_t k = 1; k < rows[0].size(); ++k, ++compared) {
        std::string text;
        compiled->FormatTimestamp(rows[0][k], zone, &text);
        EXPECT_EQ(text, expected[k - 1].get<std::string>()) << pattern << " of " << rows[0][k] << " in " << zones[z];
      }
    }
  }
  EXPECT_GT(compared, 5000);
}

TEST(DateTimePattern, ParsesAsSparkDoes) {
  int compared = 0;
  for (const GoldenRow& row : ReadGoldenRows("pattern_parses")) {
    const TimeZone zone = TimeZone::Parse(row[0].get<std::string>()).ValueOrDie();
    const std::string pattern = row[1];
    const auto compiled = DateTimePattern::Compile(pattern, Purpose::kParse);
    if (row[3].is_string()) {
      ASSERT_FALSE(compiled.ok()) << pattern;
      EXPECT_EQ("!" + compiled.status().condition(), row[3].get<std::string>()) << pattern;
      continue;
    }
    ASSERT_TRUE(compiled.ok()) << pattern << " " << compiled.status().message();
    for (size_t i = 0; i < row[2].size(); ++i, ++compared) {
      int64_t micros = 0;
      const bool ok = compiled->ParseTimestamp(row[2][i].get<std::string>(), zone, &micros);
      EXPECT_EQ(ok ? std::to_string(micros) : "null", GoldenText(row[3][i])) << pattern << " of '" << row[2][i] << "' in " << zone.id();
    }
  }
  EXPECT_GT(compared, 300);
}

TEST(DateTimePattern, RefusesWhatIsNotThere) {
  EXPECT_EQ(DateTimePattern::Compile("v", Purpose::kFormat).status().condition(), "INVALID_DATETIME_PATTERN.WITH_SUGGESTION");
  EXPECT_EQ(DateTimePattern::Compile("e", Purpose::kFormat).status().condition(),
            "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_WEEK_BASED_PATTERN");
}

TEST(DateTimePattern, LocalValuesHaveNoZone) {
  const auto plain = DateTimePattern::Compile("yyyy-MM-dd HH:mm[ XXX]", Purpose::kFormat).ValueOrDie();
  std::string out = "<";
  EXPECT_TRUE(plain.FormatTimestampNtz(0, &out));
  EXPECT_EQ(out, "<1970-01-01 00:00");
  const auto zoned = DateTimePattern::Compile("HH:mm XXX", Purpose::kFormat).ValueOrDie();
  EXPECT_FALSE(zoned.FormatTimestampNtz(0, &(out = "<")));
  EXPECT_EQ(out, "<");
  const auto date = DateTimePattern::Compile("dd/MM/yyyy", Purpose::kFormat).ValueOrDie();
  date.FormatDate(18262, &(out = ""));
  EXPECT_EQ(out, "01/01/2020");
  EXPECT_FALSE(date.FormatTime(0, &out));
  const auto time = DateTimePattern::Compile("h:mm a", Purpose::kFormat).ValueOrDie();
  EXPECT_TRUE(time.FormatTime(45240000000000, &(out = "")));
  EXPECT_EQ(out, "12:34 PM");
}

TEST(DateTimePattern, ParsesDatesTimesAndLocalTimestamps) {
  const auto pattern = DateTimePattern::Compile("yyyy-MM-dd HH:mm:ss[XXX]", Purpose::kParse).ValueOrDie();
  int64_t micros = 0;
  EXPECT_TRUE(pattern.ParseTimestampNtz("2020-01-01 00:00:01", false, &micros));
  EXPECT_EQ(micros, 1577836801000000);
  EXPECT_FALSE(pattern.ParseTimestampNtz("2020-01-01 00:00:01+01:00", false, &micros));
  EXPECT_TRUE(pattern.ParseTimestampNtz("2020-01-01 00:00:01+01:00", true, &micros));
  EXPECT_EQ(micros, 1577836801000000);
  int32_t days = 0;
  EXPECT_TRUE(DateTimePattern::Compile("d.M.y", Purpose::kParse).ValueOrDie().ParseDate("1.2.2020", &days));
  EXPECT_EQ(days, 18293);
  int64_t nanos = 0;
  EXPECT_TRUE(DateTimePattern::Compile("HH:mm:ss.SSSSSSSSS", Purpose::kParse).ValueOrDie().ParseTime("00:00:01.000000002", &nanos));
  EXPECT_EQ(nanos, 1000000002);
}

TEST(DateTimePattern, EndsOfTheRange) {
  const auto pattern = DateTimePattern::Compile("yyyy-MM-dd HH:mm:ss.SSSSSS", Purpose::kFormat).ValueOrDie();
  std::string out;
  pattern.FormatTimestamp(std::numeric_limits<int64_t>::max(), TimeZone::Parse("+14:00").ValueOrDie(), &out);
  EXPECT_EQ(out, "+294247-01-10 18:00:54.775807");
  pattern.FormatTimestamp(std::numeric_limits<int64_t>::min(), TimeZone::Parse("-10:00").ValueOrDie(), &(out = ""));
  EXPECT_EQ(out, "-290308-12-21 09:59:05.224192");
}

TEST(DateTimePattern, DamagedTextAndPatternsAreAnswered) {
  std::mt19937 random(5);
  const std::string letters = "yMdHhmsSaGzVXxOZDkK[]'{}#- :.TqQEF";
  for (int i = 0; i < 20000; ++i) {
    std::string pattern;
    for (size_t k = random() % 12; k > 0; --k) pattern.append(1 + random() % 4, letters[random() % letters.size()]);
    std::string text;
    for (size_t k = random() % 30; k > 0; --k) text.push_back("0123456789-+: .TZGMTadpm"[random() % 24]);
    const auto parse = DateTimePattern::Compile(pattern, Purpose::kParse);
    int64_t micros = 0;
    if (parse.ok()) (void)parse->ParseTimestamp(text, TimeZone(), &micros);
    const auto format = DateTimePattern::Compile(pattern, Purpose::kFormat);
    std::string out;
    if (format.ok()) format->FormatTimestamp(static_cast<int64_t>(random()) * 1000003 * (i % 2 == 0 ? 1000 : -1000), TimeZone(), &out);
  }
}

}  // namespace
}  // namespace thalweg::data
