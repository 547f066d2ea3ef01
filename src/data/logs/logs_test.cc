#include <gtest/gtest.h>

#include <algorithm>

#include "base/fault_point.h"
#include "data/io/faulty_file_system.h"
#include "data/io/local_file_system.h"
#include "data/io/memory_file_system.h"
#include "data/io/path.h"
#include "data/logs/compactible_log.h"
#include "data/logs/file_logs.h"
#include "data/logs/log_text.h"
#include "data/logs/numbered_log.h"

namespace thalweg::data {
namespace {

constexpr const char* kVectors = TW_SOURCE_DIR "/tests/checkpoints/spark-4.2.0/vectors/";

void Put(FileSystem& fs, const std::string& path, std::string_view bytes) {
  ASSERT_TRUE(fs.MakeDirectories(ParentPath(path)).ok());
  auto file = fs.Create(path, CreateMode::kReplace).ValueOrDie();
  ASSERT_TRUE(file->Append(bytes).ok());
}

std::vector<std::string> Names(FileSystem& fs, const std::string& directory) {
  std::vector<std::string> names;
  for (const FileInfo& info : fs.List(directory).ValueOrDie()) names.emplace_back(info.name());
  return names;
}

TEST(LogTextTest, LinesAndVersions) {
  EXPECT_EQ(SplitLogLines("v1\n\na"), (std::vector<std::string_view>{"v1", "", "a"}));
  EXPECT_EQ(SplitLogLines("v1\r\na\r\n"), (std::vector<std::string_view>{"v1", "a"}));
  EXPECT_EQ(SplitLogLines("v1\n\n"), (std::vector<std::string_view>{"v1", ""}));
  EXPECT_TRUE(SplitLogLines("").empty());
  EXPECT_EQ(*ParseLogVersion("v2", 2), 2);
  EXPECT_EQ(ParseLogVersion("v3", 2).status().condition(), "INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION");
  for (const char* line : {"", "v", "1", "v0", "v-1", "v1 ", "vx", "{\"a\":1}", "v99999999999"}) {
    EXPECT_EQ(ParseLogVersion(line, 2).status().condition(), "MALFORMED_LOG_FILE") << line;
  }
  EXPECT_EQ(JsonQuoted("a\"b\\ü\n"), "\"a\\\"b\\\\ü\\n\"");
}

TEST(NumberedLogTest, EntriesAreCreatedOnce) {
  MemoryFileSystem fs;
  NumberedLog log(fs, "/c/offsets");
  EXPECT_TRUE(log.Ids()->empty());
  EXPECT_EQ(*log.LatestId(), std::nullopt);
  EXPECT_TRUE(*log.Add(0, "zero"));
  EXPECT_FALSE(*log.Add(0, "other"));
  EXPECT_TRUE(*log.Add(10, "ten"));
  EXPECT_TRUE(*log.Add(9, "nine"));
  EXPECT_EQ(**log.Get(0), "zero");
  EXPECT_EQ(*log.Get(1), std::nullopt);
  EXPECT_EQ(*log.Ids(), (std::vector<int64_t>{0, 9, 10}));
  EXPECT_EQ(*log.LatestId(), 10);
}

TEST(NumberedLogTest, StraysAreNotSeen) {
  MemoryFileSystem fs;
  NumberedLog log(fs, "/o");
  ASSERT_TRUE(*log.Add(3, "x"));
  for (const char* name : {".3.crc", ".4.0e0f.tmp", "abc", "5.compact", "6x", "99999999999999999999", "-1", "+4", "04", "9223372036854775807"}) {
    Put(fs, JoinPath("/o", name), "");
  }
  ASSERT_TRUE(fs.MakeDirectories("/o/7").ok());
  EXPECT_EQ(*log.Ids(), std::vector<int64_t>{3});
}

TEST(CompactibleLogTest, OneCompactionUnderTwoNamesIsOne) {
  MemoryFileSystem fs;
  Put(fs, "/o/9.compact", "v1\na");
  Put(fs, "/o/09.compact", "v1\na");
  auto log = CompactibleLog::Open(fs, "/o", {}, SystemClock::Get()).ValueOrDie();
  EXPECT_EQ(log.compact_interval(), 10);
  EXPECT_EQ(*log.AllLines(), std::vector<std::string>{"a"});
}

TEST(NumberedLogTest, PurgingTakesSideCarsAlong) {
  MemoryFileSystem fs;
  NumberedLog log(fs, "/o");
  for (int64_t id = 0; id < 6; ++id) ASSERT_TRUE(*log.Add(id, "x"));
  Put(fs, "/o/.0.crc", "c");
  EXPECT_TRUE(log.PurgeBefore(2).ok());
  EXPECT_TRUE(log.PurgeBefore(3).ok());
  EXPECT_TRUE(log.PurgeBefore(1).ok());
  EXPECT_TRUE(log.PurgeAfter(4).ok());
  EXPECT_EQ(Names(fs, "/o"), (std::vector<std::string>{"3", "4"}));
}

TEST(NumberedLogTest, WhatWasAddedSurvivesACrashAtAnyPoint) {
  for (const char* point : {"atomic write: temporary file written", "atomic write: renamed"}) {
    MemoryFileSystem fs;
    NumberedLog log(fs, "/c/offsets");
    ASSERT_TRUE(*log.Add(0, "zero"));
    ArmFaultPoint(point, 1, FaultAction::kError);
    EXPECT_FALSE(log.Add(1, "one").ok());
    DisarmFaultPoints();
    fs.Crash();
    EXPECT_EQ(**log.Get(0), "zero") << point;
    const auto second = *log.Get(1);
    EXPECT_TRUE(!second.has_value() || *second == "one") << point;
  }
}

TEST(CompactibleLogTest, IdArithmetic) {
  EXPECT_FALSE(IsCompactionId(0, 3));
  EXPECT_TRUE(IsCompactionId(2, 3));
  EXPECT_EQ(LastCompactionId(1, 3), std::nullopt);
  EXPECT_EQ(LastCompactionId(2, 3), 2);
  EXPECT_EQ(LastCompactionId(4, 3), 2);
  EXPECT_EQ(DeriveCompactInterval(10, 5), 6);    // 6 <= 10
  EXPECT_EQ(DeriveCompactInterval(10, 14), 15);  // 10 >= 15 / 2
  EXPECT_EQ(DeriveCompactInterval(3, 19), 4);    // the smallest divisor of 20 from 3
  EXPECT_EQ(DeriveCompactInterval(3, 22), 23);   // 23 is prime
}

TEST(CompactibleLogTest, EveryKthFileRepeatsWhatWentBefore) {
  MemoryFileSystem fs;
  auto log = CompactibleLog::Open(fs, "/s", {.compact_interval = 3}, SystemClock::Get()).ValueOrDie();
  std::vector<std::string> all;
  for (int64_t id = 0; id < 8; ++id) {
    all.push_back("line" + std::to_string(id));
    ASSERT_TRUE(*log.Add(id, {all.back()}));
    EXPECT_EQ(*log.AllLines(), all);
  }
  EXPECT_EQ(Names(fs, "/s"), (std::vector<std::string>{"0", "1", "2.compact", "3", "4", "5.compact", "6", "7"}));
  EXPECT_EQ(*fs.ReadWhole("/s/2.compact"), "v1\nline0\nline1\nline2");
  EXPECT_FALSE(*log.Add(7, {"x"}));
  EXPECT_EQ(*log.LatestId(), 7);
  // Files below the last compaction are not needed any more; one above is.
  ASSERT_TRUE(fs.Remove("/s/0").ok());
  EXPECT_EQ(*log.AllLines(), all);
  ASSERT_TRUE(fs.Remove("/s/6").ok());
  EXPECT_EQ(log.AllLines().status().message(), "batch 6 doesn't exist");
}

TEST(CompactibleLogTest, ADamagedLineIsToldWithItsFile) {
  MemoryFileSystem fs;
  Put(fs, "/s/0", "v1\n{\"path\":\"file:///a\",\"timestamp\":1,\"batchId\":0}");
  Put(fs, "/s/1", "v1\n{\"path\":\"file:///b\",\"times");
  const auto log = FileSourceLog::Open(fs, "/s", {}, SystemClock::Get()).ValueOrDie();
  for (const Status& status : {log.AllFiles().status(), log.Get(1).status()}) {
    EXPECT_EQ(status.condition(), "MALFORMED_LOG_ENTRY");
    EXPECT_NE(status.message().find("/s/1"), std::string::npos) << status.message();
  }
}

TEST(CompactibleLogTest, AnExistingLogKeepsItsInterval) {
  MemoryFileSystem fs;
  Put(fs, "/a/3.compact", "v1");
  EXPECT_EQ(CompactibleLog::Open(fs, "/a", {.compact_interval = 10}, SystemClock::Get())->compact_interval(), 4);
  Put(fs, "/a/7.compact", "v1");
  Put(fs, "/a/8", "v1");
  EXPECT_EQ(CompactibleLog::Open(fs, "/a", {.compact_interval = 10}, SystemClock::Get())->compact_interval(), 4);
}

TEST(CompactibleLogTest, ExpiredFilesGoAfterTheDelay) {
  ManualClock clock(1'000'000'000'000);
  MemoryFileSystem fs(clock);
  const CompactibleLogOptions options{.compact_interval = 2, .min_batches_to_retain = 1, .cleanup_delay_ms = 1000};
  auto log = CompactibleLog::Open(fs, "/s", options, clock).ValueOrDie();
  for (int64_t id = 0; id < 5; ++id) ASSERT_TRUE(*log.Add(id, {std::to_string(id)}));
  EXPECT_EQ(Names(fs, "/s").size(), 5u);
  clock.Advance(std::chrono::seconds(2));
  ASSERT_TRUE(*log.Add(5, {"5"}));
  EXPECT_EQ(Names(fs, "/s"), (std::vector<std::string>{"3.compact", "4", "5.compact"}));
  EXPECT_EQ(log.AllLines()->size(), 6u);
}

TEST(CompactibleLogTest, DamageIsNamed) {
  MemoryFileSystem fs;
  auto log = CompactibleLog::Open(fs, "/s", {}, SystemClock::Get()).ValueOrDie();
  Put(fs, "/s/0", "");
  EXPECT_EQ(log.AllLines().status().condition(), "MALFORMED_LOG_FILE");
  Put(fs, "/s/0", "v2\n{}");
  EXPECT_EQ(log.AllLines().status().condition(), "INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION");
}

// Files of a real file source with interval 6: read and written again, byte for byte.
TEST(FileLogsTest, ReadsAndRewritesSparksSourceLog) {
  LocalFileSystem& disk = LocalFileSystem::Get();
  const std::string directory = std::string(kVectors) + "sources/file";
  auto log = FileSourceLog::Open(disk, directory, {}, SystemClock::Get()).ValueOrDie();
  const std::vector<FileSourceEntry> files = log.AllFiles().ValueOrDie();
  ASSERT_FALSE(files.empty());
  EXPECT_EQ(*log.LatestId(), 6);
  EXPECT_EQ(log.Range(5, 6)->size(), log.Get(6)->value().size());
  std::vector<FileSourceEntry> collected;
  for (int64_t id = 0; id <= 6; ++id) {
    const auto entries = log.Get(id).ValueOrDie();
    ASSERT_TRUE(entries.has_value());
    collected.insert(collected.end(), entries->begin(), entries->end());
  }
  EXPECT_EQ(collected, files);

  MemoryFileSystem fs;
  auto copy = FileSourceLog::Open(fs, "/s", {.compact_interval = 6}, SystemClock::Get()).ValueOrDie();
  for (int64_t id = 0; id <= 6; ++id) ASSERT_TRUE(*copy.Add(id, log.Get(id)->value()));
  for (const char* name : {"5.compact", "6"}) {
    EXPECT_EQ(*fs.ReadWhole(JoinPath("/s", name)), *disk.ReadWhole(JoinPath(directory, name))) << name;
  }
}

TEST(FileLogsTest, ReadsAndRewritesSparksSinkLog) {
  LocalFileSystem& disk = LocalFileSystem::Get();
  const std::string directory = std::string(kVectors) + "file_sink/_spark_metadata";
  auto log = FileSinkLog::Open(disk, directory, {}, SystemClock::Get()).ValueOrDie();
  const std::vector<FileSinkEntry> files = log.AllFiles().ValueOrDie();
  ASSERT_EQ(files.size(), 7u);
  EXPECT_EQ(*PathFromUri(files[0].uri),
            "/data/out dir/k=a b0/part-00000-3a4efa98-fb8a-4b2f-a799-82e868187c70.c000.json");
  MemoryFileSystem fs;
  auto copy = FileSinkLog::Open(fs, "/m", {.compact_interval = 6}, SystemClock::Get()).ValueOrDie();
  for (int64_t id = 0; id < 7; ++id) ASSERT_TRUE(*copy.Add(id, {files[static_cast<size_t>(id)]}));
  for (const char* name : {"5.compact", "6"}) {
    EXPECT_EQ(*fs.ReadWhole(JoinPath("/m", name)), *disk.ReadWhole(JoinPath(directory, name))) << name;
  }
  EXPECT_FALSE(*copy.Add(6, {}));
}

TEST(FileLogsTest, RetentionDropsOldFiles) {
  ManualClock clock(10'000'000);
  MemoryFileSystem fs(clock);
  auto log = FileSinkLog::Open(fs, "/m", {.compact_interval = 2}, clock, 5'000).ValueOrDie();
  FileSinkEntry old{.uri = "file:///old", .size_bytes = 1, .modification_time_ms = 4'000};
  FileSinkEntry fresh{.uri = "file:///new", .size_bytes = 1, .modification_time_ms = 9'000};
  ASSERT_TRUE(*log.Add(0, {old, fresh}));
  EXPECT_EQ(*log.AllFiles(), std::vector<FileSinkEntry>{fresh});
  ASSERT_TRUE(*log.Add(1, {}));
  EXPECT_EQ(*fs.ReadWhole("/m/1.compact"), "v1\n" + FormatFileSinkEntry(fresh));
}

TEST(FileLogsTest, BrokenLinesAreErrors) {
  for (const char* line : {"", "{", "[]", "{\"path\":1,\"timestamp\":2,\"batchId\":3}", "{\"path\":\"a\",\"timestamp\":1}"}) {
    EXPECT_EQ(ParseFileSourceEntry(line).status().condition(), "MALFORMED_LOG_ENTRY") << line;
    EXPECT_EQ(ParseFileSinkEntry(line).status().condition(), "MALFORMED_LOG_ENTRY") << line;
  }
}

}  // namespace
}  // namespace thalweg::data
