#include <gtest/gtest.h>

#include <thread>

#include "base/memory.h"
#include "base/settings.h"

namespace thalweg {
namespace {

const Setting<int64_t> kPartitions{.key = "spark.sql.shuffle.partitions", .default_value = 16, .min = 1, .doc = "d"};
const Setting<int64_t> kInterval{
    .key = "i", .default_value = 60'000, .unit = SettingUnit::kMillis, .doc = "d"};
const Setting<int64_t> kSize{.key = "s", .default_value = 64 << 20, .unit = SettingUnit::kBytes, .doc = "d"};
const Setting<bool> kAnsi{.key = "spark.sql.ansi.enabled", .default_value = true, .doc = "d"};
const Setting<std::string> kCodec{.key = "c", .default_value = "lz4", .choices = {"lz4", "zstd"}, .doc = "d"};
const Setting<double> kRatio{.key = "r", .default_value = 0.5, .min = 0.0, .max = 1.0, .doc = "d"};
const Setting<std::string> kHome{
    .key = "spark.sql.warehouse.dir", .default_value = "w", .scope = SettingScope::kServer, .doc = "d"};

TEST(SettingsTest, DefaultsUntilSet) {
  SettingsMap map;
  EXPECT_EQ(map.Get(kPartitions), 16);
  map.Set("spark.sql.shuffle.partitions", " 4 ");
  EXPECT_EQ(map.Get(kPartitions), 4);
  map.Set("spark.sql.shuffle.partitions", "four");
  EXPECT_EQ(map.Get(kPartitions), 16);
  EXPECT_EQ(map.Read(kPartitions).status().condition(), "INVALID_CONF_VALUE.TYPE_MISMATCH");
  map.Unset("spark.sql.shuffle.partitions");
  EXPECT_FALSE(map.Contains("spark.sql.shuffle.partitions"));
  map.Set(kAnsi, false);
  EXPECT_FALSE(map.Get(kAnsi));
}

TEST(SettingsTest, UnitsAreUnderstood) {
  EXPECT_EQ(*ParseSetting(kInterval, "10"), 10);
  EXPECT_EQ(*ParseSetting(kInterval, "10s"), 10'000);
  EXPECT_EQ(*ParseSetting(kInterval, "2 min"), 120'000);
  EXPECT_EQ(*ParseSetting(kInterval, "1500us"), 1);
  EXPECT_EQ(*ParseSetting(kSize, "64MB"), 64 << 20);
  EXPECT_EQ(*ParseSetting(kSize, "1k"), 1024);
  EXPECT_FALSE(ParseSetting(kSize, "1 parsec").ok());
  EXPECT_FALSE(ParseSetting(kSize, "99999999999p").ok());
  EXPECT_FALSE(ParseSetting(kPartitions, "1k").ok());
  EXPECT_EQ(SettingText(kInterval, 60'000), "60000ms");
  EXPECT_EQ(SettingText(kSize, 10), "10b");
  EXPECT_EQ(SettingText(kRatio, 1.0), "1.0");
}

TEST(SettingsTest, BoundsAndChoices) {
  EXPECT_EQ(ParseSetting(kPartitions, "0").status().condition(), "INVALID_CONF_VALUE.REQUIREMENT");
  EXPECT_EQ(ParseSetting(kRatio, "1.5").status().condition(), "INVALID_CONF_VALUE.REQUIREMENT");
  EXPECT_EQ(ParseSetting(kRatio, "nan").status().condition(), "INVALID_CONF_VALUE.TYPE_MISMATCH");
  EXPECT_EQ(*ParseSetting(kCodec, "ZSTD"), "zstd");
  EXPECT_EQ(ParseSetting(kCodec, "rot13").status().condition(), "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS");
  EXPECT_EQ(ParseSetting(kAnsi, "yes").status().condition(), "INVALID_CONF_VALUE.TYPE_MISMATCH");
}

TEST(SettingsTest, TheTableAnswersForEveryKey) {
  SettingsTable table;
  table.Add(kPartitions);
  table.Add(kHome);
  SettingsMap map;
  EXPECT_EQ(table.Lookup(map, "spark.sql.shuffle.partitions"), "16");
  EXPECT_EQ(table.Lookup(map, "my.own.key"), std::nullopt);
  map.Set("my.own.key", "v");
  EXPECT_EQ(table.Lookup(map, "my.own.key"), "v");
  EXPECT_TRUE(table.Validate("spark.sql.shuffle.partitions", "5").ok());
  EXPECT_FALSE(table.Validate("spark.sql.shuffle.partitions", "-5").ok());
  EXPECT_TRUE(table.Validate("my.own.key", "anything").ok());
  EXPECT_EQ(table.Validate("spark.sql.warehouse.dir", "x").condition(), "CANNOT_MODIFY_STATIC_CONFIG");
}

TEST(MemoryTest, ChargesEveryAncestorOrNone) {
  MemoryAccount server("server", nullptr, 100);
  MemoryAccount session("session", &server);
  MemoryAccount query("query", &session, 80);
  MemoryReservation reservation(query);
  EXPECT_TRUE(reservation.Grow(70).ok());
  EXPECT_EQ(server.used_bytes(), 70);
  const Status over_query = reservation.Grow(20);
  EXPECT_EQ(over_query.condition(), "OUT_OF_MEMORY");
  EXPECT_EQ(over_query.parameters()[1].second, "query");
  MemoryReservation other(session);
  const Status over_server = other.Grow(31);
  EXPECT_EQ(over_server.parameters()[1].second, "server");
  EXPECT_EQ(session.used_bytes(), 70);
  EXPECT_EQ(server.used_bytes(), 70);
  reservation.Release();
  EXPECT_EQ(server.used_bytes(), 0);
  EXPECT_EQ(server.peak_bytes(), 70);
}

TEST(MemoryTest, MovesSplitsAndTransfers) {
  MemoryAccount server("server", nullptr, 100);
  MemoryAccount query("query", &server);
  MemoryAccount table("table", &server, 60);
  {
    MemoryReservation whole(query);
    ASSERT_TRUE(whole.Grow(100).ok());
    MemoryReservation part = whole.Split(50);
    EXPECT_EQ(whole.bytes(), 50);
    EXPECT_TRUE(part.TransferTo(table).ok());  // although the server is full
    EXPECT_EQ(query.used_bytes(), 50);
    EXPECT_EQ(table.used_bytes(), 50);
    EXPECT_EQ(server.used_bytes(), 100);
    EXPECT_EQ(whole.TransferTo(table).condition(), "OUT_OF_MEMORY");
    EXPECT_EQ(whole.account(), &query);
    MemoryReservation moved = std::move(part);
    EXPECT_EQ(moved.bytes(), 50);
    EXPECT_TRUE(moved.Resize(10).ok());
    EXPECT_EQ(server.used_bytes(), 60);
  }
  EXPECT_EQ(server.used_bytes(), 0);
}

TEST(MemoryTest, ThreadsNeverPassTheLimit) {
  MemoryAccount server("server", nullptr, 1000);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        MemoryReservation reservation(server);
        for (int i = 0; i < 10000; ++i) {
          if (!reservation.Grow(400).ok()) reservation.Release();
          EXPECT_LE(server.used_bytes(), 1000);
        }
      });
    }
  }
  EXPECT_EQ(server.used_bytes(), 0);
}

}  // namespace
}  // namespace thalweg
