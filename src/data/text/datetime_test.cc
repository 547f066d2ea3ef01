#include "data/text/datetime.h"

#include "base/random.h"
#include "data/text/civil.h"
#include "data/text/golden_test.h"

namespace thalweg::data {
namespace {

constexpr int64_t kNow = 1600000000123456;  // 2020-09-13 12:26:40.123456 UTC

TEST(DateTime, DatesAreReadAndWrittenAsSparkCastsThem) {
  for (const GoldenRow& row : ReadGoldenRows("dates")) {
    int32_t days = 0;
    const bool ok = ParseDate(row[0].get<std::string>(), &days);
    EXPECT_EQ(ok ? std::to_string(days) : "null", GoldenText(row[1])) << row[0];
    std::string text = ok ? "" : "null";
    if (ok) AppendDate(days, &text);
    EXPECT_EQ(text, GoldenText(row[2])) << row[0];
  }
}

TEST(DateTime, TimestampsAreReadAndWrittenAsSparkCastsThem) {
  auto rows = ReadGoldenRows("timestamps");
  const GoldenRow zones = rows[0][1];
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i][0].get<std::string>().find("SystemV/") != std::string::npos) continue;  // names of the JDK alone
    for (size_t z = 0; z + 1 < rows[0].size(); ++z) {
      const TimeZone zone = TimeZone::Parse(rows[0][z + 1].get<std::string>()).ValueOrDie();
      int64_t micros = 0;
      const bool ok = ParseTimestamp(rows[i][0].get<std::string>(), zone, kNow, &micros);
      EXPECT_EQ(ok ? std::to_string(micros) : "null", GoldenText(rows[i][1 + 2 * z])) << rows[i][0] << " in " << zone.id();
      std::string text = ok ? "" : "null";
      if (ok) AppendTimestamp(micros, zone, &text);
      EXPECT_EQ(text, GoldenText(rows[i][2 + 2 * z])) << rows[i][0] << " in " << zone.id();
    }
  }
}

TEST(DateTime, TimestampsWithoutZoneAreReadAndWrittenAsSparkCastsThem) {
  for (const GoldenRow& row : ReadGoldenRows("timestamps_ntz")) {
    if (row[0].get<std::string>().find("SystemV/") != std::string::npos) continue;
    int64_t micros = 0;
    const bool ok = ParseTimestampNtz(row[0].get<std::string>(), true, &micros);
    std::string text = ok ? "" : "null";
    if (ok) AppendTimestampNtz(micros, &text);
    EXPECT_EQ(text, GoldenText(row[1])) << row[0];
  }
  int64_t micros = 0;
  EXPECT_FALSE(ParseTimestampNtz("2020-01-01 00:00:00Z", false, &micros));
  EXPECT_FALSE(ParseTimestampNtz("12:34:56", true, &micros));
}

TEST(DateTime, TimesAreReadAndWrittenAsSparkCastsThem) {
  for (const GoldenRow& row : ReadGoldenRows("times")) {
    int64_t nanos = 0;
    const bool ok = ParseTime(row[0].get<std::string>(), &nanos);
    std::string text = ok ? "" : "null";
    if (ok) AppendTime(nanos, &text);
    EXPECT_EQ(text, GoldenText(row[1])) << row[0];
  }
}

// The quick way against the general parser, on texts that are nearly of the plain form.
TEST(DateTime, PlainTimestampsAreWhatTheGeneralParserSays) {
  const TimeZone berlin = *TimeZone::Find("Europe/Berlin");
  Random random(5);
  static constexpr std::string_view kOther = "0123456789-: T.Z+zx";
  int plain = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string text = "2024-03-31T02:30:15.123456Z";
    text[0] = static_cast<char>('0' + random.NextBelow(3));
    text[6] = static_cast<char>('0' + random.NextBelow(10));
    text[8] = static_cast<char>('0' + random.NextBelow(4));
    text[9] = static_cast<char>('0' + random.NextBelow(10));
    if (random.NextBelow(2) == 0) text[10] = ' ';
    const uint64_t shape = random.NextBelow(4);
    if (shape == 0) text.resize(19 + random.NextBelow(8));
    if (shape == 1) text = text.substr(0, 19) + "Z";
    for (uint64_t changes = random.NextBelow(3); changes > 0; --changes) {
      text[random.NextBelow(text.size())] = kOther[random.NextBelow(kOther.size())];
    }
    int64_t micros = 0;
    if (!ParsePlainTimestamp(text, berlin, &micros)) continue;
    ++plain;
    TimestampText parsed;
    ASSERT_TRUE(ParseTimestampText(text, &parsed)) << text;
    ASSERT_TRUE(parsed.has_date) << text;
    const int64_t local = parsed.days * int64_t{86'400'000'000} + parsed.micros_of_day;
    ASSERT_EQ(micros, (parsed.zone ? *parsed.zone : berlin).FromLocal(local)) << text;
  }
  EXPECT_GT(plain, 20'000);
}

TEST(DateTime, ATimeAloneLiesInTheDayOfNow) {
  int64_t micros = 0;
  const TimeZone tokyo = TimeZone::Parse("Asia/Tokyo").ValueOrDie();
  ASSERT_TRUE(ParseTimestamp("12:34:56.5", tokyo, kNow + 12 * kMicrosPerHour, &micros));
  std::string text;
  AppendTimestamp(micros, tokyo, &text);
  EXPECT_EQ(text, "2020-09-14 12:34:56.5");
  EXPECT_TRUE(ParseTimestamp("T1:2", TimeZone(), kNow, &micros));
  EXPECT_EQ(micros, 1599958920000000);
}

TEST(TimeZone, IdsAreJavas) {
  const std::pair<const char*, const char*> ids[] = {
      {"UTC", "UTC"},           {"Z", "Z"},           {"+1", "+01:00"},       {"-08:30", "-08:30"}, {"+1:00", "+01:00"},
      {"+01:0", "+01:00"},      {"GMT", "GMT"},       {"UTC+1", "UTC+01:00"}, {"GMT-8", "GMT-08:00"}, {"UT+01:30", "UT+01:30"},
      {"UTC+0", "UTC"},         {"PST", "America/Los_Angeles"}, {"EST", "-05:00"}, {"Europe/Berlin", "Europe/Berlin"},
      {"+18:00", "+18:00"},     {"+00:00", "Z"},      {"-010203", "-01:02:03"}, {"GMT0", "GMT0"}};
  for (const auto& [text, id] : ids) {
    const auto zone = TimeZone::Find(text);
    ASSERT_TRUE(zone.has_value()) << text;
    EXPECT_EQ(zone->id(), id);
  }
  for (const char* bad : {"", "z", "utc", "+", "+19", "+18:01", "+1:2:3", "UTC+", "Nowhere", "localtime", "posix/UTC", "../etc/passwd",
                          "Europe/../UTC", "/usr/share/zoneinfo/UTC", "+100", "+01:", "UTC0", "Factory"}) {
    EXPECT_FALSE(TimeZone::Find(bad).has_value()) << bad;
  }
  EXPECT_EQ(TimeZone::Parse("Mars").status().condition(), "INVALID_TIMEZONE");
}

TEST(TimeZone, GapsAndOverlapsAsJava) {
  const TimeZone berlin = TimeZone::Parse("Europe/Berlin").ValueOrDie();
  const auto local = [](int64_t y, int m, int d, int hour, int minute) {
    return DaysFromCivil(y, m, d) * kMicrosPerDay + hour * kMicrosPerHour + minute * kMicrosPerMinute;
  };
  // 02:30 does not exist on 2020-03-29: it is taken as 03:30 summer time.
  EXPECT_EQ(berlin.ToLocal(berlin.FromLocal(local(2020, 3, 29, 2, 30))), local(2020, 3, 29, 3, 30));
  // 02:30 is there twice on 2020-10-25: the first one, unless the other offset is preferred.
  const int64_t first = berlin.FromLocal(local(2020, 10, 25, 2, 30));
  EXPECT_EQ(berlin.OffsetSecondsAt(first), 7200);
  EXPECT_EQ(berlin.FromLocal(local(2020, 10, 25, 2, 30), 3600), first + kMicrosPerHour);
  EXPECT_EQ(berlin.FromLocal(local(2020, 10, 25, 2, 30), 7200), first);
  EXPECT_TRUE(berlin.IsDaylightSaving(first));
  // Rules go on for ever, every year.
  for (int year : {2049, 2051, 2449, 2451, 2850, 9999, 99999, 290000}) {
    EXPECT_EQ(berlin.OffsetSecondsAt(local(year, 7, 1, 0, 0)), 7200) << year;
    EXPECT_EQ(berlin.OffsetSecondsAt(local(year, 1, 1, 0, 0)), 3600) << year;
    EXPECT_EQ(berlin.FromLocal(local(year, 7, 1, 2, 0)), local(year, 7, 1, 0, 0)) << year;
  }
}

TEST(TimeZone, LocalTimesRoundTripAllYear) {
  for (const char* id : {"Europe/Berlin", "America/Los_Angeles", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "UTC"}) {
    const TimeZone zone = TimeZone::Parse(id).ValueOrDie();
    for (int64_t hour = -500000; hour < 700000; ++hour) {
      const int64_t micros = hour * kMicrosPerHour;
      const int32_t offset = zone.OffsetSecondsAt(micros);
      ASSERT_EQ(zone.FromLocal(zone.ToLocal(micros), offset), micros) << id << " " << hour;
      ASSERT_LE(zone.FromLocal(zone.ToLocal(micros)), micros) << id << " " << hour;
    }
  }
}

}  // namespace
}  // namespace thalweg::data
