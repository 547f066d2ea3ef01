#include "engine/checkpoint/checkpoint.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/fault_point.h"
#include "data/io/atomic_write.h"
#include "data/io/checksum_file.h"
#include "data/io/local_file_system.h"
#include "data/io/memory_file_system.h"
#include "data/io/path.h"
#include "engine/checkpoint/operator_metadata.h"
#include "engine/checkpoint/pinned_settings.h"
#include "engine/checkpoint/state_schema_file.h"

namespace thalweg::engine {
namespace {

using data::JoinPath;
using data::LocalFileSystem;
using data::MemoryFileSystem;

constexpr const char* kRecorded = TW_SOURCE_DIR "/tests/checkpoints/spark-4.2.0";
const QueryId kId(Uuid::Parse("0b9f2f52-3a0c-4b55-8a5c-5d3d1a3c7f10").ValueOrDie());

void Put(data::FileSystem& fs, const std::string& path, std::string_view bytes) {
  ASSERT_TRUE(fs.MakeDirectories(data::ParentPath(path)).ok());
  auto file = fs.Create(path, data::CreateMode::kReplace).ValueOrDie();
  ASSERT_TRUE(file->Append(bytes).ok());
}

std::vector<std::string> RecordedCheckpoints() {
  std::vector<std::string> roots;
  for (const data::FileInfo& info : LocalFileSystem::Get().List(kRecorded).ValueOrDie()) {
    const std::string root = JoinPath(info.path, "checkpoint");
    if (info.is_directory && *LocalFileSystem::Get().Exists(root)) roots.push_back(root);
  }
  return roots;
}

// Every file of Spark 4.2.0 below `part`, as (path, bytes).
std::vector<std::pair<std::string, std::string>> RecordedFiles(const std::string& part) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const data::FileInfo& info : LocalFileSystem::Get().ListTree(kRecorded).ValueOrDie()) {
    if (info.path.find(part) == std::string::npos || info.name().starts_with(".")) continue;
    files.emplace_back(info.path, LocalFileSystem::Get().ReadWhole(info.path).ValueOrDie());
  }
  return files;
}

TEST(OffsetLogTest, SparksEntriesRoundTripByteForByte) {
  int count = 0;
  auto files = RecordedFiles("/offsets/");
  for (auto& file : RecordedFiles("named_source_offset_0")) files.push_back(file);
  for (const auto& [path, bytes] : files) {
    Result<OffsetLogEntry> entry = ParseOffsetLogEntry(bytes);
    ASSERT_TRUE(entry.ok()) << path << " " << entry.status().message();
    EXPECT_EQ(FormatOffsetLogEntry(*entry).ValueOrDie(), bytes) << path;
    ASSERT_TRUE(entry->metadata.has_value()) << path;
    EXPECT_GT(entry->metadata->batch_timestamp_ms, 1'600'000'000'000) << path;
    ++count;
  }
  EXPECT_GE(count, 30);
}

TEST(OffsetLogTest, VersionTwoNamesItsSources) {
  const auto files = RecordedFiles("named_source_offset_0");
  ASSERT_EQ(files.size(), 1u);
  const OffsetLogEntry entry = ParseOffsetLogEntry(files[0].second).ValueOrDie();
  EXPECT_EQ(entry.version, 2);
  ASSERT_EQ(entry.offsets.size(), 1u);
  EXPECT_EQ(entry.offsets[0], (SourceOffset{"clicks", "{\"logOffset\":0}"}));
  EXPECT_EQ(entry.metadata->others, (std::vector<std::pair<std::string, std::string>>{{"sourceMetadataInfo", "{}"}}));
}

TEST(OffsetLogTest, PinnedSettingsAreThoseOfSparkInItsOrder) {
  const auto files = RecordedFiles("count/checkpoint/offsets/0");
  ASSERT_EQ(files.size(), 1u);
  OffsetLogEntry entry = ParseOffsetLogEntry(files[0].second).ValueOrDie();
  SettingsMap session;
  session.Set("spark.sql.shuffle.partitions", "2");
  EXPECT_EQ(MakePinnedConf(session), entry.metadata->conf);

  SettingsMap restarted;
  restarted.Set("spark.sql.shuffle.partitions", "99");
  restarted.Set("my.key", "v");
  const SettingsMap effective = ApplyPinnedConf(restarted, *entry.metadata);
  EXPECT_EQ(*effective.Find("spark.sql.shuffle.partitions"), "2");
  EXPECT_EQ(*effective.Find("my.key"), "v");
  // What an old entry lacks is what old releases did.
  const SettingsMap old = ApplyPinnedConf(restarted, OffsetMetadata{});
  EXPECT_EQ(*old.Find("spark.sql.shuffle.partitions"), "99");
  EXPECT_EQ(*old.Find("spark.sql.streaming.aggregation.stateFormatVersion"), "1");
  EXPECT_EQ(*old.Find("spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan"), "true");
  EXPECT_EQ(old.Find("spark.sql.streaming.stateStore.providerClass"), nullptr);
}

TEST(OffsetLogTest, MissingOffsetsOldFormsAndUnknownMembers) {
  const std::string text = "v1\n{\"batchWatermarkMs\":5,\"batchTimestampMs\":7,\"conf\":{\"a\":\"ü\\n\"},\"new\":{\"x\":[1,2.5,null]}}\n-\n1";
  const OffsetLogEntry entry = ParseOffsetLogEntry(text).ValueOrDie();
  EXPECT_EQ(entry.offsets[0].json, std::nullopt);
  EXPECT_EQ(entry.offsets[1].json, "1");
  EXPECT_EQ(*entry.metadata->FindConf("a"), "ü\n");
  EXPECT_EQ(FormatOffsetLogEntry(entry).ValueOrDie(), text);
  EXPECT_TRUE(entry.CheckSourceCount(2).ok());
  EXPECT_EQ(entry.CheckSourceCount(1).message(),
            "assertion failed: There are [2] sources in the checkpoint offsets and now there are [1] sources requested "
            "by the query. Cannot continue.");
  // Continuous queries leave the line empty; so does the first line of a very old one.
  const OffsetLogEntry continuous = ParseOffsetLogEntry("v1\n\n{\"0\":{\"value\":-1}}").ValueOrDie();
  EXPECT_FALSE(continuous.metadata.has_value());
  EXPECT_EQ(FormatOffsetLogEntry(continuous).ValueOrDie(), "v1\n\n{\"0\":{\"value\":-1}}");
  OffsetLogEntry broken = entry;
  broken.offsets[1].json = "two\nlines";
  EXPECT_EQ(FormatOffsetLogEntry(broken).status().condition(), "INTERNAL_ERROR");
}

TEST(OffsetLogTest, DamageIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "MALFORMED_LOG_FILE"},
      {"{}", "MALFORMED_LOG_FILE"},
      {"v3\n{}", "INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION"},
      {"v1", "MALFORMED_LOG_ENTRY"},
      {"v1\n{", "MALFORMED_LOG_ENTRY"},
      {"v1\n[]", "MALFORMED_LOG_ENTRY"},
      {"v1\n{\"batchWatermarkMs\":\"x\"}", "MALFORMED_LOG_ENTRY"},
      {"v1\n{\"conf\":{\"a\":1}}", "MALFORMED_LOG_ENTRY"},
      {"v2\n\n0:1", "MALFORMED_LOG_ENTRY"},
      {"v2\n{}\nno-colon", "MALFORMED_LOG_ENTRY"},
  };
  for (const auto& [text, condition] : cases) {
    EXPECT_EQ(ParseOffsetLogEntry(text).status().condition(), condition) << text;
  }
  const std::string deep = "v1\n{\"x\":" + std::string(100'000, '[');
  EXPECT_EQ(ParseOffsetLogEntry(deep).status().condition(), "MALFORMED_LOG_ENTRY");
}

TEST(CommitLogTest, SparksEntriesRoundTripByteForByte) {
  int count = 0;
  bool with_ids = false;
  for (const auto& [path, bytes] : RecordedFiles("/commits/")) {
    Result<CommitLogEntry> entry = ParseCommitLogEntry(bytes);
    ASSERT_TRUE(entry.ok()) << path;
    EXPECT_EQ(FormatCommitLogEntry(*entry), bytes) << path;
    if (const OperatorStateIds* ids = entry->FindStateIds(OperatorId(0))) {
      with_ids = true;
      EXPECT_EQ(ids->ids.size(), 2u);
    }
    ++count;
  }
  EXPECT_GE(count, 30);
  EXPECT_TRUE(with_ids);
}

TEST(CommitLogTest, ShortFormsAndDamage) {
  EXPECT_EQ(ParseCommitLogEntry("v1")->next_batch_watermark_ms, 0);
  EXPECT_EQ(ParseCommitLogEntry("v2\n{\"nextBatchWatermarkMs\":3}")->next_batch_watermark_ms, 3);
  const std::string v3 = "v3\n{\"nextBatchWatermarkMs\":0,\"stateUniqueIds\":{},\"sinkMetadataMap\":{\"s\":{\"isActive\":true}}}";
  EXPECT_EQ(FormatCommitLogEntry(ParseCommitLogEntry(v3).ValueOrDie()), v3);
  EXPECT_EQ(ParseCommitLogEntry("v4\n{}").status().condition(), "INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION");
  for (const char* text : {"v1\nx", "v2\n{\"stateUniqueIds\":[]}", "v2\n{\"stateUniqueIds\":{\"a\":[]}}",
                           "v2\n{\"stateUniqueIds\":{\"0\":[1]}}", "v2\n{\"stateUniqueIds\":{\"0\":[[1]]}}"}) {
    EXPECT_EQ(ParseCommitLogEntry(text).status().condition(), "MALFORMED_LOG_ENTRY") << text;
  }
}

TEST(OperatorMetadataTest, SparksFilesRoundTripByteForByte) {
  std::set<std::string> names;
  auto files = RecordedFiles("_metadata/metadata");
  for (auto& file : RecordedFiles("operator_metadata_v2_0")) files.push_back(file);
  for (const auto& [path, bytes] : files) {
    Result<OperatorMetadata> metadata = ParseOperatorMetadata(bytes);
    ASSERT_TRUE(metadata.ok()) << path << " " << metadata.status().message();
    EXPECT_EQ(FormatOperatorMetadata(*metadata), bytes) << path;
    names.insert(metadata->operator_name);
  }
  EXPECT_EQ(names, (std::set<std::string>{"applyInPandasWithState", "dedupe", "dedupeWithinWatermark", "globalLimit",
                                          "sessionWindowStateStoreSaveExec", "stateStoreSave", "symmetricHashJoin",
                                          "transformWithStateInPandasExec"}));
}

TEST(OperatorMetadataTest, NumbersThatNoStoreHasAreRefused) {
  const auto parse = [](const char* prefix, const char* partitions) {
    return ParseOperatorMetadata(R"(v1
{"operatorInfo":{"operatorId":0,"operatorName":"dedupe"},"stateStoreInfo":[{"storeName":"default","numColsPrefixKey":)" + std::string(prefix) +
                                 ",\"numPartitions\":" + partitions + "}]}").status();
  };
  EXPECT_TRUE(parse("0", "200").ok()) << parse("0", "200").message();
  for (const char* number : {"-1", "1000000000000"}) {
    EXPECT_EQ(parse(number, "200").condition(), "MALFORMED_LOG_ENTRY") << number;
    EXPECT_EQ(parse("0", number).condition(), "MALFORMED_LOG_ENTRY") << number;
  }
}

TEST(OperatorMetadataTest, TheNewestNotAboveTheBatchCounts) {
  MemoryFileSystem fs;
  const CheckpointLayout layout("/c");
  EXPECT_EQ(*ReadOperatorMetadata(fs, layout, OperatorId(1), BatchId(9)), std::nullopt);
  OperatorMetadata metadata{.version = 1, .operator_id = OperatorId(1), .operator_name = "dedupe", .stores = {{}}};
  ASSERT_TRUE(WriteOperatorMetadata(fs, layout, metadata, BatchId(0)).ok());
  EXPECT_EQ(*fs.ReadWhole("/c/state/1/_metadata/metadata"), FormatOperatorMetadata(metadata));
  metadata.operator_name = "ignored: the file exists";
  ASSERT_TRUE(WriteOperatorMetadata(fs, layout, metadata, BatchId(0)).ok());
  EXPECT_EQ(ReadOperatorMetadata(fs, layout, OperatorId(1), BatchId(9))->value().operator_name, "dedupe");
  for (const int64_t batch : {0, 4, 10}) {
    metadata.version = 2;
    metadata.operator_name = "run at " + std::to_string(batch);
    metadata.properties_json = "{}";
    ASSERT_TRUE(WriteOperatorMetadata(fs, layout, metadata, BatchId(batch)).ok());
  }
  EXPECT_EQ(ReadOperatorMetadata(fs, layout, OperatorId(1), BatchId(9))->value().operator_name, "run at 4");
  EXPECT_EQ(ReadOperatorMetadata(fs, layout, OperatorId(1), BatchId(10))->value().operator_name, "run at 10");
  EXPECT_EQ(*ListOperators(fs, layout), std::vector<OperatorId>{OperatorId(1)});
  EXPECT_TRUE(ListOperators(fs, CheckpointLayout("/none"))->empty());
}

TEST(OperatorMetadataTest, DamageIsNamed) {
  for (const char* text : {"v1", "v1\n{}", "v1\n{\"operatorInfo\":{},\"stateStoreInfo\":[]}",
                           "v1\n{\"operatorInfo\":{\"operatorId\":0,\"operatorName\":\"x\"},\"stateStoreInfo\":[1]}",
                           "v2\n{\"operatorInfo\":{\"operatorId\":0,\"operatorName\":\"x\"},\"stateStoreInfo\":[]}"}) {
    EXPECT_EQ(ParseOperatorMetadata(text).status().condition(), "MALFORMED_LOG_ENTRY") << text;
  }
}

TEST(StateSchemaFileTest, SparksFilesRoundTripByteForByte) {
  int count = 0;
  auto files = RecordedFiles("_metadata/schema");
  for (auto& file : RecordedFiles("stateSchema_v3")) files.push_back(file);
  for (const auto& [path, bytes] : files) {
    Result<StateSchemaFile> file = ParseStateSchemaFile(bytes);
    ASSERT_TRUE(file.ok()) << path << " " << file.status().message();
    EXPECT_EQ(FormatStateSchemaFile(*file).ValueOrDie(), bytes) << path;
    for (const StateSchema& schema : file->families) {
      EXPECT_TRUE(nlohmann::json::accept(schema.key_json)) << path;
      EXPECT_TRUE(nlohmann::json::accept(schema.value_json)) << path;
    }
    ++count;
    // Cut anywhere, it is refused.
    for (size_t length = 0; length < bytes.size(); length += 7) {
      EXPECT_FALSE(ParseStateSchemaFile(bytes.substr(0, length)).ok()) << path << " " << length;
    }
  }
  EXPECT_GE(count, 15);
}

TEST(StateSchemaFileTest, VersionOneIsReadAndTheExampleHolds) {
  const StateSchemaFile old = ParseStateSchemaFile(std::string("\0\x02v1\0\x01k\0\x01v", 10)).ValueOrDie();
  EXPECT_EQ(old.families[0].key_json, "k");
  EXPECT_EQ(old.families[0].value_json, "v");
  const std::string key = R"({"type":"struct","fields":[{"name":"word","type":"string","nullable":true,"metadata":{}}]})";
  StateSchemaFile file;
  file.families.push_back({.key_json = key, .value_json = key});
  const std::string bytes = FormatStateSchemaFile(file).ValueOrDie();
  EXPECT_TRUE(bytes.starts_with(std::string("\0\x02v2\0\0\0\x01\0\x5a{\"type", 16)));
  EXPECT_EQ(ParseStateSchemaFile(bytes).ValueOrDie(), file);
  EXPECT_FALSE(FormatStateSchemaFile({.version = 1, .families = file.families}).ok());
}

TEST(StateSchemaFileTest, ModifiedUtf8AndLongTexts) {
  const std::string text = std::string("a\0ü€😀", 11);
  EXPECT_EQ(ToModifiedUtf8(text), std::string("a\xC0\x80ü€\xED\xA0\xBD\xED\xB8\x80"));
  EXPECT_EQ(FromModifiedUtf8(ToModifiedUtf8(text)).ValueOrDie(), text);
  for (const char* bytes : {"\xED\xA0\xBD", "\xED\xB8\x80", "\xFF", "\xC3", "\xE2\x82"}) {
    EXPECT_FALSE(FromModifiedUtf8(bytes).ok());
  }
  std::string longer;
  for (int i = 0; i < 60'000; ++i) longer += i % 3 == 0 ? "😀" : "x";
  StateSchemaFile file;
  file.families.push_back({.key_json = longer, .value_json = std::string(65'535, 'v')});
  EXPECT_EQ(ParseStateSchemaFile(FormatStateSchemaFile(file).ValueOrDie()).ValueOrDie(), file);
}

TEST(CheckpointTest, EveryRecordedCheckpointIsRecovered) {
  int count = 0;
  for (const std::string& root : RecordedCheckpoints()) {
    auto checkpoint = Checkpoint::Open(LocalFileSystem::Get(), root, kId).ValueOrDie();
    EXPECT_NE(checkpoint->query_id(), kId) << root;
    EXPECT_EQ(FormatQueryMetadata(checkpoint->query_id()), *LocalFileSystem::Get().ReadWhole(root + "/metadata"));
    const RecoveryPoint point = checkpoint->Recover().ValueOrDie();
    EXPECT_FALSE(point.rerun) << root;
    EXPECT_EQ(point.next_batch, point.last_commit_id->Next()) << root;
    ASSERT_TRUE(point.start.has_value()) << root;
    EXPECT_GE(point.watermark_ms, point.start->metadata->batch_watermark_ms);
    EXPECT_FALSE(ListOperators(LocalFileSystem::Get(), checkpoint->layout())->empty()) << root;
    EXPECT_FALSE(checkpoint->RequireEmpty().ok());
    ++count;
  }
  EXPECT_EQ(count, 12);
}

// Hadoop's side-cars of all recorded files, computed again.
TEST(CheckpointTest, RecordedSideCarsMatchOurs) {
  int count = 0;
  for (const std::string& root : RecordedCheckpoints()) {
    for (const data::FileInfo& info : LocalFileSystem::Get().ListTree(root).ValueOrDie()) {
      if (info.name().starts_with(".") || info.name().ends_with(".zip")) continue;
      const data::ChecksumVerdict verdict = data::CheckHadoopChecksum(LocalFileSystem::Get(), info.path).ValueOrDie();
      EXPECT_NE(verdict, data::ChecksumVerdict::kStale) << info.path;
      count += verdict == data::ChecksumVerdict::kMatch ? 1 : 0;
    }
  }
  EXPECT_GT(count, 100);
}

class NewCheckpointTest : public testing::Test {
 protected:
  static constexpr const char* kRoot = "/ckpt %2F#1/q";
  std::unique_ptr<Checkpoint> Open() { return Checkpoint::Open(fs_, kRoot, kId).ValueOrDie(); }
  static OffsetLogEntry Entry(int64_t watermark_ms, const std::string& offset) {
    OffsetLogEntry entry;
    entry.metadata = OffsetMetadata{.batch_watermark_ms = watermark_ms, .batch_timestamp_ms = 1, .conf = {}, .others = {}};
    entry.offsets = {{"0", offset}};
    return entry;
  }
  static CommitLogEntry Commit(int64_t watermark_ms) {
    CommitLogEntry entry;
    entry.next_batch_watermark_ms = watermark_ms;
    return entry;
  }
  MemoryFileSystem fs_;
};

TEST_F(NewCheckpointTest, TheIdIsMadeOnceAndKept) {
  const auto first = Open();
  EXPECT_EQ(first->query_id(), kId);
  EXPECT_EQ(*fs_.ReadWhole(std::string(kRoot) + "/metadata"), "{\"id\":\"0b9f2f52-3a0c-4b55-8a5c-5d3d1a3c7f10\"}");
  EXPECT_TRUE(first->RequireEmpty().ok());
  fs_.Crash();
  const QueryId other(Uuid::MakeRandom());
  EXPECT_EQ(Checkpoint::Open(fs_, kRoot, other).ValueOrDie()->query_id(), kId);
}

TEST_F(NewCheckpointTest, WhatACrashLeftOfTheFirstEntryIsNoEntry) {
  const auto checkpoint = Open();
  const std::string offsets = std::string(kRoot) + "/offsets";
  const std::string left = data::TemporaryPathFor(offsets + "/0");
  ASSERT_TRUE(fs_.MakeDirectories(offsets).ok());
  ASSERT_TRUE(fs_.Create(left, data::CreateMode::kReplace).ok());
  EXPECT_TRUE(checkpoint->RequireEmpty().ok());
  EXPECT_FALSE(*fs_.Exists(left));
  ASSERT_TRUE(fs_.Create(offsets + "/.0.tmp", data::CreateMode::kReplace).ok());  // not ours
  EXPECT_EQ(checkpoint->RequireEmpty().condition(), "STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY");
}

TEST_F(NewCheckpointTest, RecoveryFollowsTheProtocol) {
  auto checkpoint = Open();
  RecoveryPoint point = checkpoint->Recover().ValueOrDie();
  EXPECT_EQ(point.next_batch, BatchId(0));
  EXPECT_FALSE(point.rerun);
  EXPECT_EQ(point.newest(), nullptr);

  ASSERT_TRUE(checkpoint->offsets().Add(BatchId(0), Entry(0, "10")).ok());
  point = checkpoint->Recover().ValueOrDie();
  EXPECT_EQ(point.next_batch, BatchId(0));
  EXPECT_TRUE(point.rerun);
  EXPECT_FALSE(point.start.has_value());
  EXPECT_EQ(point.planned, Entry(0, "10"));

  ASSERT_TRUE(checkpoint->commits().Add(BatchId(0), Commit(500)).ok());
  point = checkpoint->Recover().ValueOrDie();
  EXPECT_EQ(point.next_batch, BatchId(1));
  EXPECT_FALSE(point.rerun);
  EXPECT_EQ(point.watermark_ms, 500);

  ASSERT_TRUE(checkpoint->offsets().Add(BatchId(1), Entry(500, "20")).ok());
  point = checkpoint->Recover().ValueOrDie();
  EXPECT_EQ(point.next_batch, BatchId(1));
  EXPECT_TRUE(point.rerun);
  EXPECT_EQ(point.start, Entry(0, "10"));
  EXPECT_EQ(point.newest()->offsets[0].json, "20");
}

TEST_F(NewCheckpointTest, ASecondWriterIsRefused) {
  auto one = Open();
  auto two = Open();
  ASSERT_TRUE(one->offsets().Add(BatchId(0), Entry(0, "1")).ok());
  EXPECT_EQ(two->offsets().Add(BatchId(0), Entry(0, "2")).condition(), "CONCURRENT_STREAM_LOG_UPDATE");
  ASSERT_TRUE(one->commits().Add(BatchId(0), Commit(0)).ok());
  EXPECT_EQ(two->commits().Add(BatchId(0), Commit(0)).condition(), "CONCURRENT_STREAM_LOG_UPDATE");
  ASSERT_TRUE(one->LockForRun().ok());
  EXPECT_EQ(two->LockForRun().condition(), "CHECKPOINT_IN_USE");
  one->Unlock();
  EXPECT_TRUE(two->LockForRun().ok());
}

TEST_F(NewCheckpointTest, APoisonedQueryWritesNoMore) {
  PoisonFlag poison;
  auto checkpoint = Checkpoint::Open(fs_, kRoot, kId, {}, &poison).ValueOrDie();
  poison.Poison(InternalError("broken"));
  EXPECT_EQ(checkpoint->offsets().Add(BatchId(0), Entry(0, "1")).condition(), "INTERNAL_ERROR");
  EXPECT_EQ(checkpoint->commits().Add(BatchId(0), Commit(0)).condition(), "INTERNAL_ERROR");
  EXPECT_EQ(checkpoint->offsets().LatestId().ValueOrDie(), std::nullopt);
}

TEST_F(NewCheckpointTest, PurgingKeepsWhatARestartNeeds) {
  auto checkpoint = Open();
  for (int64_t batch = 0; batch < 10; ++batch) {
    ASSERT_TRUE(checkpoint->offsets().Add(BatchId(batch), Entry(0, "1")).ok());
    ASSERT_TRUE(checkpoint->PurgeLogs(BatchId(batch), 3).ok());
    ASSERT_TRUE(checkpoint->commits().Add(BatchId(batch), Commit(0)).ok());
  }
  EXPECT_EQ(*checkpoint->offsets().Ids(), (std::vector<int64_t>{6, 7, 8, 9}));
  EXPECT_EQ(*checkpoint->commits().Ids(), (std::vector<int64_t>{6, 7, 8, 9}));
  ASSERT_TRUE(checkpoint->PurgeLogs(BatchId(9), 0).ok());
  EXPECT_EQ(*checkpoint->offsets().Ids(), (std::vector<int64_t>{8, 9}));
  EXPECT_EQ(checkpoint->Recover()->next_batch, BatchId(10));
}

TEST_F(NewCheckpointTest, SparseLogsStartAtTheEntryBefore) {
  auto checkpoint = Open();
  for (const int64_t batch : {0, 3, 7}) {
    ASSERT_TRUE(checkpoint->offsets().Add(BatchId(batch), Entry(0, std::to_string(batch))).ok());
  }
  ASSERT_TRUE(checkpoint->commits().Add(BatchId(3), Commit(0)).ok());
  EXPECT_EQ(checkpoint->Recover().status().message(), "batch 6 doesn't exist");
  const RecoveryPoint point = checkpoint->Recover(true).ValueOrDie();
  EXPECT_TRUE(point.rerun);
  EXPECT_EQ(point.start->offsets[0].json, "3");
}

TEST_F(NewCheckpointTest, ACrashAtAnyStepLeavesTheOldOrTheNewState) {
  std::vector<std::string> points;
  {
    MemoryFileSystem fs;
    RecordFaultPoints(true);
    auto checkpoint = Checkpoint::Open(fs, "/c", kId).ValueOrDie();
    ASSERT_TRUE(checkpoint->offsets().Add(BatchId(0), Entry(0, "1")).ok());
    ASSERT_TRUE(checkpoint->commits().Add(BatchId(0), Commit(0)).ok());
    points = PassedFaultPoints();
    DisarmFaultPoints();
  }
  EXPECT_EQ(points.size(), 6u);
  for (const std::string& point : points) {
    for (int nth = 1; nth <= 3; ++nth) {
      MemoryFileSystem fs;
      ArmFaultPoint(point, nth, FaultAction::kError);
      {
        auto checkpoint = Checkpoint::Open(fs, "/c", kId);
        bool planned = checkpoint.ok() && (*checkpoint)->offsets().Add(BatchId(0), Entry(0, "1")).ok();
        if (planned) Ignore((*checkpoint)->commits().Add(BatchId(0), Commit(0)), "it may be made to fail");
      }
      DisarmFaultPoints();
      fs.Crash();
      auto checkpoint = Checkpoint::Open(fs, "/c", kId).ValueOrDie();
      const RecoveryPoint recovered = checkpoint->Recover().ValueOrDie();
      EXPECT_LE(recovered.next_batch, BatchId(1)) << point;
      // Going on from there works whatever was left behind.
      if (!recovered.rerun && recovered.next_batch == BatchId(0)) {
        EXPECT_TRUE(checkpoint->offsets().Add(BatchId(0), Entry(0, "1")).ok()) << point << " " << nth;
      }
      if (recovered.next_batch == BatchId(0)) {
        EXPECT_TRUE(checkpoint->commits().Add(BatchId(0), Commit(0)).ok()) << point << " " << nth;
      }
      EXPECT_EQ(checkpoint->Recover()->next_batch, BatchId(1));
    }
  }
}

// What Spark 4.2.0 did after each change to a checkpoint with offsets/0 and commits/0 (damage.jsonl), done to a recorded one.
class DamageTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file(std::string(kRecorded) + "/damage.jsonl");
    for (std::string line; std::getline(file, line);) {
      const auto object = nlohmann::json::parse(line);
      cases_[object["case"]] = object["result"] == "accepted" ? "accepted" : object.value("message", "refused");
    }
    const std::string source = std::string(kRecorded) + "/count/checkpoint";
    for (const data::FileInfo& info : LocalFileSystem::Get().ListTree(source).ValueOrDie()) {
      const std::string path = "/c" + info.path.substr(source.size());
      Put(fs_, path, LocalFileSystem::Get().ReadWhole(info.path).ValueOrDie());
    }
    for (const char* log : {"/c/offsets", "/c/commits"}) {
      ASSERT_TRUE(data::NumberedLog(fs_, log).PurgeAfter(0).ok());
    }
    offsets_ = fs_.ReadWhole("/c/offsets/0").ValueOrDie();
  }

  // Opens, recovers and counts sources, as a restart does; the error, or ok.
  Status Restart() {
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<Checkpoint> checkpoint, Checkpoint::Open(fs_, "/c", kId));
    TW_ASSIGN_OR_RETURN(const RecoveryPoint point, checkpoint->Recover());
    next_batch_ = point.next_batch.value();
    if (point.newest() == nullptr) return checkpoint->RequireEmpty();
    return point.newest()->CheckSourceCount(1);
  }

  void ExpectAccepted(const std::string& name, int64_t next_batch = 1) {
    ASSERT_EQ(cases_.at(name), "accepted") << name;
    const Status status = Restart();
    EXPECT_TRUE(status.ok()) << name << ": " << status.message();
    EXPECT_EQ(next_batch_, next_batch) << name;
  }
  // Refused by both; with the same words up to places when `same_text`.
  void ExpectRefused(const std::string& name, const std::string& condition, bool same_text) {
    const std::string recorded = cases_.at(name);
    ASSERT_NE(recorded, "accepted") << name;
    const Status status = Restart();
    EXPECT_EQ(status.condition(), condition) << name;
    if (same_text) {
      EXPECT_NE(recorded.find(status.message_text().substr(0, 40)), std::string::npos)
          << name << "\n" << recorded << "\n" << status.message();
    }
  }

  MemoryFileSystem fs_;
  std::map<std::string, std::string> cases_;
  std::string offsets_;
  int64_t next_batch_ = -1;
};

TEST_F(DamageTest, MissingFiles) {
  for (const data::FileInfo& info : fs_.ListTree("/c").ValueOrDie()) {
    if (!info.name().ends_with(".crc")) continue;
    ASSERT_TRUE(fs_.Remove(info.path).ok());
  }
  ExpectAccepted("all .crc side-cars removed");
  ASSERT_TRUE(fs_.RemoveTree("/c/state/0/_metadata").ok());
  ExpectAccepted("operator metadata missing");
  ASSERT_TRUE(fs_.RemoveTree("/c/commits").ok());
  ExpectAccepted("commits/ missing (re-run batch 0)", 0);
}

TEST_F(DamageTest, MissingMetadataAndLogs) {
  ASSERT_TRUE(fs_.Remove("/c/metadata").ok());
  ExpectRefused("metadata missing", "STREAMING_CHECKPOINT_MISSING_METADATA_FILE", false);
  ASSERT_TRUE(fs_.RemoveTree("/c/offsets").ok());
  ASSERT_TRUE(fs_.RemoveTree("/c/commits").ok());
  ExpectRefused("offsets, commits, metadata missing, state present", "STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY", false);
}

TEST_F(DamageTest, OffsetsMissing) {
  ASSERT_TRUE(fs_.RemoveTree("/c/offsets").ok());
  ExpectRefused("offsets/ missing, commits present", "STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY", false);
}

TEST_F(DamageTest, StaleSideCarsAreNotNoticed) {
  for (const char* name : {"metadata", "offsets/0", "commits/0"}) {
    Put(fs_, data::HadoopChecksumPath(JoinPath("/c", name)), data::HadoopChecksumBytes("something else"));
    ExpectAccepted(std::string("stale .crc for ") + name);
  }
}

TEST_F(DamageTest, AlteredOffsets) {
  const auto with = [&](const std::string& text) { Put(fs_, "/c/offsets/0", text); };
  with(offsets_ + "\n");
  ExpectAccepted("offsets/0 with trailing newline");
  with(offsets_ + "\n\n");
  ExpectRefused("offsets/0 with two trailing newlines", "_LEGACY_ERROR_THALWEG_SOURCE_COUNT", true);
  std::string crlf;
  for (const char c : offsets_) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  with(crlf);
  ExpectAccepted("offsets/0 with CRLF");
  with(offsets_.substr(0, offsets_.rfind('\n')) + "\n0");
  ExpectAccepted("offsets/0 bare integer file offset");
  with("v1\n\n{\"logOffset\":0}");
  ExpectRefused("offsets/0 empty metadata line", "CHECKPOINT_ENTRY_WITHOUT_METADATA", false);
  std::string extra = offsets_;
  extra.insert(extra.find("\"conf\":{") + 8, "\"unknown.key\":\"x\",");
  extra.insert(extra.find("{\"batch") + 1, "\"unknownField\":{\"a\":1},");
  with(extra);
  ExpectAccepted("offsets/0 extra unknown JSON field and conf key");
  with("v3" + offsets_.substr(2));
  ExpectRefused("offsets/0 v3", "INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION", true);
  with(offsets_.substr(3));
  ExpectRefused("offsets/0 no version", "MALFORMED_LOG_FILE", true);
}

TEST_F(DamageTest, AlteredCommits) {
  Put(fs_, "/c/commits/0", "v1");
  ExpectAccepted("commits/0 only version line");
  Put(fs_, "/c/commits/0", "v2\n{\"nextBatchWatermarkMs\":0}");
  ExpectAccepted("commits/0 v2 without ids");
  Put(fs_, "/c/commits/0", "v4\n{\"nextBatchWatermarkMs\":0}");
  ExpectRefused("commits/0 v4", "INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION", true);
}

TEST_F(DamageTest, StraysAndGaps) {
  Put(fs_, "/c/offsets/abc", "x");
  Put(fs_, "/c/offsets/.1.8d0f.tmp", "x");
  ExpectAccepted("stray file offsets/abc and tmp");
  Put(fs_, "/c/offsets/2", offsets_);
  ExpectRefused("gap: offsets 0 and 2 only", "_LEGACY_ERROR_THALWEG_BATCH_MISSING", true);
}

}  // namespace
}  // namespace thalweg::engine
