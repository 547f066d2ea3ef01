// A Delta table as a stream: positions, limits, starts, what other commits may do, schema changes, lost log entries.

#include <gtest/gtest.h>

#include <algorithm>

#include "connectors/delta/delta_commit.h"
#include "connectors/delta/delta_stream_offset.h"
#include "connectors/delta/delta_stream_options.h"
#include "connectors/delta/delta_testing.h"
#include "connectors/delta/delta_write_plan.h"
#include "data/io/memory_file_system.h"

namespace thalweg::connectors {
namespace {

using data::DataType;
using data::Value;
using data::ValueList;

constexpr const char* kPath = "/t";

class DeltaStreamTest : public ::testing::Test {
 protected:
  DeltaStreamTest() : clock_(1'700'000'000'000'000), disk_(clock_), bench_(disk_, clock_) {}

  void Append(std::vector<int64_t> ids, bool with_extra = false, sql::SaveMode mode = sql::SaveMode::kAppend) {
    clock_.Advance(std::chrono::seconds(1));
    data::Schema schema = {{.name = "id", .type = DataType::Long()}};
    if (with_extra) schema.push_back({.name = "extra", .type = DataType::String()});
    std::vector<DataType> types;
    for (const auto& field : schema) types.push_back(field.type);
    std::vector<ValueList> rows;
    for (const int64_t id : ids) {
      rows.push_back({Value(id)});
      if (with_extra) rows.back().emplace_back(std::string("x"));
    }
    sql::OptionMap options;
    if (with_extra) options.Set("mergeSchema", "true");
    const auto written = bench_.Write(kPath, schema, {data::ChunkFromRows(types, rows)}, mode, {}, options);
    ASSERT_TRUE(written.ok()) << written.status().message();
  }

  Result<std::unique_ptr<sql::MicroBatchStream>> Open(std::vector<std::pair<std::string, std::string>> options = {}) {
    sql::LoadRequest request;
    request.paths = {kPath};
    for (auto& [key, value] : options) request.options.Set(key, value);
    request.streaming = true;
    request.config = bench_.config();
    TW_ASSIGN_OR_RETURN(const sql::TablePtr table, bench_.source().Load(request));
    sql::StreamContext context;
    context.config = bench_.config();
    context.on_more_data = [] {};
    return table->NewMicroBatchStream(context);
  }

  /// Ids of the rows between two positions, sorted.
  Result<std::vector<int64_t>> Ids(sql::MicroBatchStream& stream, const sql::Offset& start, const sql::Offset& end) {
    sql::ScanRequest scan;
    scan.columns = {"id"};
    TW_ASSIGN_OR_RETURN(const auto splits, stream.PlanSplits(start, end, scan));
    std::vector<int64_t> ids;
    for (const auto& split : splits) {
      TW_ASSIGN_OR_RETURN(const auto reader, split->Open(*bench_.config()));
      while (true) {
        TW_ASSIGN_OR_RETURN(const sql::ReadStep step, reader->Next());
        const auto* read = std::get_if<sql::ReadChunk>(&step);
        if (read == nullptr) break;
        const data::Chunk chunk = read->chunk.Dense();
        for (int64_t row = 0; row < chunk.num_rows(); ++row) ids.push_back(chunk.column(0)->GetValue(row).AsInt64());
      }
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }

  /// "version,index,starting" without the table's id.
  static std::string Place(const sql::Offset& offset) {
    const size_t at = offset.json.find("\"reservoirVersion\"");
    return at == std::string::npos ? offset.json : offset.json.substr(at);
  }
  static std::string Place(int64_t version, int64_t index, bool starting) {
    return "\"reservoirVersion\":" + std::to_string(version) + ",\"index\":" + std::to_string(index) +
           ",\"isStartingVersion\":" + (starting ? "true" : "false") + "}";
  }

  struct Run {
    std::vector<std::string> batches;  // "place: ids"
    sql::Offset end;
  };
  /// All batches from `start` on.
  Result<Run> Batches(sql::MicroBatchStream& stream, sql::Offset start = {}) {
    Run run{.batches = {}, .end = std::move(start)};
    for (int i = 0; i < 100; ++i) {
      TW_ASSIGN_OR_RETURN(const auto end, stream.LatestOffset(run.end, stream.DefaultReadLimits()));
      if (!end || *end == run.end) return run;
      TW_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, Ids(stream, run.end, *end));
      std::string text = Place(*end) + ":";
      for (const int64_t id : ids) text += " " + std::to_string(id);
      run.batches.push_back(text);
      TW_RETURN_NOT_OK(stream.Commit(*end));
      run.end = *end;
    }
    return InternalError("a stream without an end");
  }

  /// Commits a removal of all files, by the way with which rows are rearranged (dataChange false) or deleted.
  void Remove(bool data_change, bool adds_back) {
    DeltaLog log(disk_, clock_, kPath);
    DeltaTransaction transaction;
    transaction.read = log.Update().ValueOrDie();
    transaction.operation = "TEST";
    transaction.parameters_json = "{}";
    for (const AddFilePtr& add : transaction.read->files()->live()) {
      transaction.removes.push_back(RemoveOf(*add, clock_.NowMillis()));
      transaction.removes.back().data_change = data_change;
      if (!adds_back) continue;
      // The same bytes under another name.
      AddFile copy = *add;
      copy.path = "copy-" + add->path;
      copy.data_change = data_change;
      const std::string bytes = disk_.ReadWhole(std::string(kPath) + "/" + add->path).ValueOrDie();
      auto file = disk_.Create(std::string(kPath) + "/" + copy.path, data::CreateMode::kReplace).ValueOrDie();
      ASSERT_TRUE(file->Append(bytes).ok() && file->Close().ok());
      transaction.adds.push_back(std::move(copy));
    }
    ASSERT_TRUE(CommitDelta(log, std::move(transaction)).ok());
  }

  std::string Condition(std::vector<std::pair<std::string, std::string>> options) {
    auto stream = Open(std::move(options));
    if (!stream.ok()) return stream.status().condition();
    return Batches(**stream).status().condition();
  }
  std::vector<std::string> Texts(std::vector<std::pair<std::string, std::string>> options) {
    auto stream = Open(std::move(options));
    EXPECT_TRUE(stream.ok()) << stream.status().message();
    auto run = Batches(**stream);
    EXPECT_TRUE(run.ok()) << run.status().message();
    return run.ok() ? run->batches : std::vector<std::string>{};
  }

  ManualClock clock_;
  data::MemoryFileSystem disk_;
  DeltaBench bench_;
};

TEST(DeltaStreamOffset, IsWrittenAndReadAsDeltaDoes) {
  const DeltaStreamPosition base{.version = 7};
  // As Delta writes it.
  EXPECT_EQ(DeltaStreamOffsetText("<id>", base),
            "{\"sourceVersion\":1,\"reservoirId\":\"<id>\",\"reservoirVersion\":7,\"index\":-1,\"isStartingVersion\":false}");
  EXPECT_EQ(ParseDeltaStreamOffset(DeltaStreamOffsetText("a", base), "a").ValueOrDie(), base);
  const DeltaStreamPosition inside{.version = 3, .index = 5, .starting = true};
  EXPECT_EQ(ParseDeltaStreamOffset(DeltaStreamOffsetText("a", inside), "a").ValueOrDie(), inside);
}

TEST(DeltaStreamOffset, IsRefusedByName) {
  const auto condition = [](const std::string& text) { return ParseDeltaStreamOffset(text, "a").status().condition(); };
  const auto of = [](int version, const std::string& id, int index) {
    return "{\"sourceVersion\":" + std::to_string(version) + ",\"reservoirId\":\"" + id + "\",\"reservoirVersion\":1,\"index\":" +
           std::to_string(index) + ",\"isStartingVersion\":false}";
  };
  EXPECT_EQ(condition("x"), "DELTA_INVALID_SOURCE_OFFSET_FORMAT");
  EXPECT_EQ(condition("{\"sourceVersion\":1}"), "DELTA_INVALID_SOURCE_OFFSET_FORMAT");
  EXPECT_EQ(condition(of(0, "a", 1)), "DELTA_INVALID_SOURCE_VERSION");
  EXPECT_EQ(condition(of(2, "a", 1)), "DELTA_INVALID_SOURCE_VERSION");
  EXPECT_EQ(condition(of(4, "a", 1)), "DELTA_INVALID_FORMAT_FROM_SOURCE_VERSION");
  EXPECT_EQ(condition(of(1, "b", 1)), "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE");
  EXPECT_EQ(condition(of(3, "a", -20)), "UNSUPPORTED_FEATURE.THALWEG");
  // Nothing may follow them: counted on they would be small again, and all rows would come once more.
  EXPECT_EQ(condition("{\"sourceVersion\":1,\"reservoirId\":\"a\",\"reservoirVersion\":1,\"index\":9223372036854775807,\"isStartingVersion\":true}"),
            "DELTA_INVALID_SOURCE_OFFSET_FORMAT");
  EXPECT_EQ(condition("{\"sourceVersion\":1,\"reservoirId\":\"a\",\"reservoirVersion\":9223372036854775807,\"index\":-1,\"isStartingVersion\":false}"),
            "DELTA_INVALID_SOURCE_OFFSET_FORMAT");
}

// The offsets that Spark recorded for one file per batch over a snapshot of three files.
TEST_F(DeltaStreamTest, SnapshotThenCommits) {
  Append({1});
  Append({2});
  Append({3});
  auto stream = Open({{"maxFilesPerTrigger", "1"}}).ValueOrDie();
  const Run first = Batches(*stream).ValueOrDie();
  EXPECT_EQ(first.batches, (std::vector<std::string>{Place(2, 0, true) + ": 1", Place(2, 1, true) + ": 2", Place(3, -1, false) + ": 3"}));
  Append({4});
  Append({5});
  const Run second = Batches(*stream, first.end).ValueOrDie();
  EXPECT_EQ(second.batches, (std::vector<std::string>{Place(4, -1, false) + ": 4", Place(5, -1, false) + ": 5"}));
  // A restart in the middle of the snapshot, after more commits.
  auto again = Open({{"maxFilesPerTrigger", "1"}}).ValueOrDie();
  const std::string id = first.end.json.substr(0, first.end.json.find("\"reservoirVersion\""));
  const sql::Offset middle = again->DeserializeOffset(id + Place(2, 0, true)).ValueOrDie();
  EXPECT_EQ(Batches(*again, middle).ValueOrDie().batches,
            (std::vector<std::string>{Place(2, 1, true) + ": 2", Place(3, -1, false) + ": 3", Place(4, -1, false) + ": 4",
                                      Place(5, -1, false) + ": 5"}));
}

TEST_F(DeltaStreamTest, ABatchThatWasPlannedHasTheSameRowsLater) {
  Append({1});
  Append({2});
  auto stream = Open().ValueOrDie();
  const auto end = stream->LatestOffset({}, stream->DefaultReadLimits()).ValueOrDie();
  ASSERT_TRUE(end.has_value());
  Append({3});
  auto again = Open().ValueOrDie();
  EXPECT_EQ(Ids(*again, {}, *end).ValueOrDie(), (std::vector<int64_t>{1, 2}));
}

TEST_F(DeltaStreamTest, BytesAreASoftLimit) {
  Append({1});
  Append({2});
  EXPECT_EQ(Texts({{"maxBytesPerTrigger", "1b"}}).size(), 2U);
  EXPECT_EQ(Texts({{"maxBytesPerTrigger", "1g"}}).size(), 1U);
  EXPECT_EQ(Texts({{"maxBytesPerTrigger", "1g"}, {"maxFilesPerTrigger", "1"}}).size(), 2U);
}

TEST_F(DeltaStreamTest, StartsWhereItIsTold) {
  Append({1});
  Append({2});
  Append({3});
  EXPECT_EQ(Texts({{"startingVersion", "1"}}), (std::vector<std::string>{Place(3, -1, false) + ": 2 3"}));
  EXPECT_EQ(Texts({{"startingTimestamp", "2023-11-14 22:13:22"}}), (std::vector<std::string>{Place(3, -1, false) + ": 2 3"}));
  // Empty: it only makes the place durable.
  EXPECT_EQ(Texts({{"startingVersion", "latest"}}), (std::vector<std::string>{Place(3, -1, false) + ":"}));
  EXPECT_EQ(Condition({{"startingVersion", "9"}}), "DELTA_VERSION_NOT_FOUND");
  EXPECT_EQ(Condition({{"startingTimestamp", "2100-01-01"}}), "DELTA_TIMESTAMP_GREATER_THAN_COMMIT");
}

TEST_F(DeltaStreamTest, AvailableNowEndsWhereItBegan) {
  Append({1});
  auto stream = Open().ValueOrDie();
  ASSERT_TRUE(stream->PrepareForTriggerAvailableNow().ok());
  Append({2});
  EXPECT_EQ(Batches(*stream).ValueOrDie().batches, (std::vector<std::string>{Place(1, -1, false) + ": 1"}));
}

TEST_F(DeltaStreamTest, OtherCommitsAreRefusedUnlessAllowed) {
  Append({1});
  Remove(true, false);
  EXPECT_EQ(Condition({{"startingVersion", "0"}}), "DELTA_SOURCE_IGNORE_DELETE");
  EXPECT_EQ(Texts({{"startingVersion", "0"}, {"ignoreDeletes", "true"}}), (std::vector<std::string>{Place(2, -1, false) + ": 1"}));
  Append({2});
  Remove(false, true);  // rearranged: yields nothing, disturbs nobody
  EXPECT_EQ(Texts({{"startingVersion", "2"}}), (std::vector<std::string>{Place(4, -1, false) + ": 2"}));
  Remove(true, true);
  EXPECT_EQ(Condition({{"startingVersion", "2"}}), "DELTA_SOURCE_TABLE_IGNORE_CHANGES");
  EXPECT_EQ(Condition({{"startingVersion", "2"}, {"ignoreDeletes", "true"}}), "DELTA_SOURCE_TABLE_IGNORE_CHANGES");
  EXPECT_EQ(Texts({{"startingVersion", "2"}, {"ignoreChanges", "true"}}), (std::vector<std::string>{Place(5, -1, false) + ": 2 2"}));
  EXPECT_EQ(Texts({{"startingVersion", "2"}, {"skipChangeCommits", "true"}}), (std::vector<std::string>{Place(5, -1, false) + ": 2"}));
}

TEST_F(DeltaStreamTest, SchemaChangesStopItUntilARestart) {
  Append({1});
  auto stream = Open().ValueOrDie();
  const Run first = Batches(*stream).ValueOrDie();
  Append({2}, /*with_extra=*/true);
  const auto changed = Batches(*stream, first.end);
  EXPECT_EQ(changed.status().condition(), "DELTA_SCHEMA_CHANGED_WITH_VERSION");
  auto again = Open().ValueOrDie();
  EXPECT_EQ(Batches(*again, first.end).ValueOrDie().batches, (std::vector<std::string>{Place(2, -1, false) + ": 2"}));
  // From the beginning: the older, narrower commits are read with nulls.
  EXPECT_EQ(Texts({{"startingVersion", "0"}}), (std::vector<std::string>{Place(2, -1, false) + ": 1 2"}));
}

TEST_F(DeltaStreamTest, LostLogEntriesAreNoticed) {
  for (int64_t id = 1; id <= 3; ++id) Append({id});
  DeltaLog log(disk_, clock_, kPath);
  auto stream = Open({{"startingVersion", "0"}, {"maxFilesPerTrigger", "1"}}).ValueOrDie();
  const auto end = stream->LatestOffset({}, {sql::ReadMaxFiles{1}}).ValueOrDie();
  ASSERT_TRUE(WriteDeltaCheckpoint(log, *log.Update().ValueOrDie()).ok());
  ASSERT_TRUE(disk_.Remove(log.CommitPath(1)).ok());
  auto strict = Open().ValueOrDie();
  EXPECT_EQ(strict->LatestOffset(*end, {}).status().condition(), "DELTA_MISSING_FILES_UNEXPECTED_VERSION");
  auto lenient = Open({{"failOnDataLoss", "false"}}).ValueOrDie();
  EXPECT_EQ(Batches(*lenient, *end).ValueOrDie().batches, (std::vector<std::string>{Place(3, -1, false) + ": 3"}));
}

TEST_F(DeltaStreamTest, OptionsAreChecked) {
  Append({1});
  EXPECT_EQ(Condition({{"maxFilesPerTrigger", "0"}}), "DELTA_ILLEGAL_OPTION");
  EXPECT_EQ(Condition({{"maxBytesPerTrigger", "x"}}), "DELTA_ILLEGAL_OPTION");
  EXPECT_EQ(Condition({{"ignoreDeletes", "maybe"}}), "DELTA_ILLEGAL_OPTION");
  EXPECT_EQ(Condition({{"startingVersion", "-1"}}), "DELTA_ILLEGAL_OPTION");
  EXPECT_EQ(Condition({{"excludeRegex", "("}}), "DELTA_REGEX_OPT_SYNTAX_ERROR");
  EXPECT_EQ(Condition({{"startingVersion", "0"}, {"startingTimestamp", "2020-01-01"}}), "DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET");
  EXPECT_EQ(Condition({{"versionAsOf", "0"}}), "DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS");
  EXPECT_EQ(Condition({{"readChangeFeed", "true"}}), "UNSUPPORTED_FEATURE.THALWEG");
  EXPECT_EQ(Condition({{"schemaTrackingLocation", "/x"}}), "UNSUPPORTED_FEATURE.THALWEG");
  EXPECT_EQ(Texts({{"excludeRegex", "part-.*"}}), (std::vector<std::string>{Place(1, -1, false) + ":"}));
}

}  // namespace
}  // namespace thalweg::connectors
