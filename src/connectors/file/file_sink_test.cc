#include <gmock/gmock.h>

#include "connectors/file/file_test_support.h"

namespace thalweg::connectors {
namespace {

using ::testing::ElementsAre;

constexpr const char* kDdl = "a INT, p STRING";

class FileSinkTest : public ::testing::Test {
 protected:
  std::unique_ptr<sql::StreamingWrite> Open(const std::vector<std::string>& partitions = {},
                                            const std::vector<std::pair<std::string, std::string>>& options = {}) {
    const auto table = files_.Target("json", "/out", options).ValueOrDie();
    sql::StreamWriteRequest request;
    request.schema = data::ParseSchemaDdl(kDdl).ValueOrDie();
    request.partition_columns = partitions;
    request.config = files_.config;
    return std::get<0>(table->NewStreamingWrite(request).ValueOrDie());
  }

  sql::CommitMessagePtr Rows(sql::StreamingWrite& sink, int64_t epoch, const std::string& rows) {
    const auto writer = sink.NewWriter(PartitionId(0), BatchId(epoch)).ValueOrDie();
    for (const data::Chunk& chunk : files_.ChunksOf(kDdl, rows).ValueOrDie()) EXPECT_TRUE(writer->Write(chunk).ok());
    std::shared_ptr<Signal> blocked;
    return writer->Finish(&blocked).ValueOrDie();
  }

  std::string Read(const std::string& path) { return files_.services.file_system->ReadWhole(path).ValueOrDie(); }

  Files files_;
};

TEST_F(FileSinkTest, FilesCountOnceTheLogNamesThem) {
  const auto sink = Open();
  EXPECT_FALSE(sink->LastCommitted().ValueOrDie());
  const auto first = Rows(*sink, 0, "{\"a\":1,\"p\":\"x\"}");
  ASSERT_TRUE(sink->Commit(BatchId(0), {first}).ok());
  Rows(*sink, 1, "{\"a\":2,\"p\":\"y\"}");  // of an attempt that died
  EXPECT_THAT(files_.ReadAll("json", "/out", kDdl).ValueOrDie(), ElementsAre("1 | x"));
  EXPECT_EQ(sink->LastCommitted().ValueOrDie(), BatchId(0));
  const std::string log = Read("/out/_spark_metadata/0");
  EXPECT_THAT(log, ::testing::MatchesRegex("v1\n\\{\"path\":\"file:///out/part-00000-[0-9a-f-]+-c000.json\",\"size\":16,\"isDir\":false,"
                                           "\"modificationTime\":[0-9]+,\"blockReplication\":1,\"blockSize\":33554432,\"action\":\"add\"\\}"));
}

TEST_F(FileSinkTest, AReplayedEpochIsNotAddedAgain) {
  const auto sink = Open({"p"});
  ASSERT_TRUE(sink->Commit(BatchId(0), {Rows(*sink, 0, "{\"a\":1,\"p\":\"x\"}")}).ok());
  const auto replay = Open({"p"});
  ASSERT_TRUE(replay->Commit(BatchId(0), {Rows(*replay, 0, "{\"a\":1,\"p\":\"x\"}")}).ok());
  EXPECT_THAT(files_.ReadAll("json", "/out", kDdl).ValueOrDie(), ElementsAre("1 | x"));
  EXPECT_THAT(files_.Tree("/out"), ElementsAre("_spark_metadata/0", "p=x/part-00000-U.c000.json"));
  EXPECT_THAT(files_.ReadAll("json", "/out", "p STRING, a INT").ValueOrDie(), ElementsAre("x | 1"));
}

TEST_F(FileSinkTest, EveryTenthEntryRepeatsAllEarlierOnes) {
  const auto sink = Open();
  Lines expected;
  for (int epoch = 0; epoch < 12; ++epoch) {
    const std::string row = "{\"a\":" + std::to_string(10 + epoch) + ",\"p\":\"x\"}";
    ASSERT_TRUE(sink->Commit(BatchId(epoch), {Rows(*sink, epoch, row)}).ok());
    expected.push_back(std::to_string(10 + epoch) + " | x");
  }
  const std::string compact = Read("/out/_spark_metadata/9.compact");
  EXPECT_EQ(std::count(compact.begin(), compact.end(), '\n'), 10);
  EXPECT_EQ(files_.ReadAll("json", "/out", kDdl).ValueOrDie(), expected);
  EXPECT_EQ(Open()->LastCommitted().ValueOrDie(), BatchId(11));
}

TEST_F(FileSinkTest, AnEpochWithoutRowsIsRecordedToo) {
  const auto sink = Open();
  ASSERT_TRUE(sink->Commit(BatchId(0), {}).ok());
  EXPECT_EQ(sink->LastCommitted().ValueOrDie(), BatchId(0));
  EXPECT_TRUE(files_.ReadAll("json", "/out", kDdl).ValueOrDie().empty());
}

TEST_F(FileSinkTest, TakesRowsByAppendingAlone) {
  const auto table = files_.Target("json", "/out").ValueOrDie();
  sql::StreamWriteRequest request;
  request.schema = data::ParseSchemaDdl(kDdl).ValueOrDie();
  request.config = files_.config;
  for (const sql::OutputMode mode : {sql::OutputMode::kUpdate, sql::OutputMode::kComplete}) {
    request.mode = mode;
    EXPECT_EQ(table->NewStreamingWrite(request).status().condition(), "STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE");
  }
}

}  // namespace
}  // namespace thalweg::connectors
