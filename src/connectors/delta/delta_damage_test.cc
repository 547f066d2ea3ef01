// Logs and deletion vectors that nobody wrote on purpose: each answers with an error.

#include <gtest/gtest.h>

#include "connectors/delta/deletion_vector.h"
#include "connectors/delta/delta_log.h"
#include "connectors/delta/delta_stats.h"
#include "connectors/delta/delta_testing.h"
#include "data/io/memory_file_system.h"

namespace thalweg::connectors {
namespace {

void PutFile(data::FileSystem& disk, const std::string& path, std::string_view bytes) {
  const auto file = disk.Create(path, data::CreateMode::kReplace).ValueOrDie();
  ASSERT_TRUE(file->Append(bytes).ok() && file->Close().ok());
}

void Append(uint64_t value, size_t width, std::string* out) {
  for (size_t i = 0; i < width; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

// A bitmap of `containers` full runs: 65,536 rows each from a dozen bytes.
std::string FullRuns(uint32_t containers) {
  std::string out;
  Append(1681511377, 4, &out);
  Append(1, 8, &out);
  Append(0, 4, &out);
  Append(12347 | (uint64_t{containers} - 1) << 16, 4, &out);
  out.append((containers + 7) / 8, '\xFF');
  for (uint32_t i = 0; i < containers; ++i) {
    Append(i, 2, &out);
    Append(65535, 2, &out);
  }
  if (containers >= 4) out.append(size_t{4} * containers, '\0');
  for (uint32_t i = 0; i < containers; ++i) {
    Append(1, 2, &out);
    Append(0, 2, &out);
    Append(65535, 2, &out);
  }
  return out;
}

TEST(DeltaDamageTest, ACheckpointBeyondTheLastCommitThatCannotBeRead) {
  data::MemoryFileSystem disk;
  const DeltaBench bench(disk);
  const data::Schema schema = {{.name = "id", .type = data::DataType::Long()}};
  const data::Chunk chunk = data::ChunkFromRows({data::DataType::Long()}, {{data::Value(int64_t{1})}});
  ASSERT_TRUE(bench.Write("/t", schema, {chunk}, sql::SaveMode::kAppend).ok());
  PutFile(disk, "/t/_delta_log/00000000000000000005.checkpoint.parquet", "no Parquet");
  DeltaLog log(disk, SystemClock::Get(), "/t");
  EXPECT_EQ(log.Update().status().condition(), "DELTA_VERSIONS_NOT_CONTIGUOUS");
}

TEST(DeltaDamageTest, BitmapsMayNotHoldMoreThanTheLogSays) {
  EXPECT_EQ(ParseDeletionBitmap(FullRuns(2), 2 * 65536).ValueOrDie().size(), 2 * 65536u);
  EXPECT_FALSE(ParseDeletionBitmap(FullRuns(65536), 10).ok());
}

TEST(DeltaDamageTest, SizesOfDeletionVectors) {
  data::MemoryFileSystem disk;
  PutFile(disk, "/dv.bin", "short");
  DeletionVector vector;
  vector.storage_type = "p";
  vector.path_or_inline = "file:/dv.bin";
  for (const int32_t size : {-1, -100, 0, 6, INT32_MAX}) {
    vector.size_in_bytes = size;
    vector.offset = size == 0 ? -3 : 0;
    EXPECT_FALSE(LoadDeletionVector(disk, "/t", vector).ok()) << size;
  }
}

TEST(DeltaDamageTest, SizesOfFiles) {
  const auto parse = [](int64_t size) {
    return ParseDeltaCommit("{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":" + std::to_string(size) + "}}\n", "test");
  };
  EXPECT_TRUE(parse(int64_t{1} << 40).ok());
  for (const int64_t size : {int64_t{-1}, int64_t{1} << 60, INT64_MAX}) EXPECT_FALSE(parse(size).ok()) << size;
}

// Microseconds of them would be another time.
TEST(DeltaDamageTest, TimesThatNobodyCanShowAreNone) {
  const auto commit = [](int64_t millis) {
    const std::string text = std::to_string(millis);
    return ParseDeltaCommit("{\"commitInfo\":{\"inCommitTimestamp\":" + text + ",\"operation\":\"WRITE\"}}\n{\"metaData\":{\"id\":\"a\",\"createdTime\":" +
                                text + ",\"schemaString\":\"\",\"partitionColumns\":[],\"configuration\":{}}}\n",
                            "test").ValueOrDie();
  };
  EXPECT_EQ(commit(1700000000000).info->in_commit_timestamp, 1700000000000);
  EXPECT_EQ(commit(1700000000000).metadata->created_time, 1700000000000);
  for (const int64_t millis : {INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(commit(millis).info->in_commit_timestamp, std::nullopt);
    EXPECT_EQ(commit(millis).metadata->created_time, std::nullopt);
  }
}

TEST(DeltaDamageTest, TheLatestTimestampIsNotBelowAll) {
  AddFile add;
  add.stats = R"({"numRecords":1,"maxValues":{"at":"294247-01-10T04:00:54.775Z"}})";
  data::ColumnPredicate later{.column = "at", .op = data::ColumnPredicate::Op::kGreater, .type = data::DataType::Timestamp(), .values = {}};
  later.values.emplace_back(int64_t{0});
  EXPECT_TRUE(FileMayMatch(add, {later}));
  later.values[0] = data::Value(INT64_MAX);
  EXPECT_FALSE(FileMayMatch(add, {later}));
}

}  // namespace
}  // namespace thalweg::connectors
