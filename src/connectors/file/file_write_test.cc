#include <gmock/gmock.h>
#include <unistd.h>

#include "connectors/file/file_test_support.h"
#include "data/io/local_file_system.h"

namespace thalweg::connectors {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using sql::SaveMode;

constexpr const char* kRows = "{\"a\":1,\"p\":\"x\"}\n{\"a\":2,\"p\":\"y\"}\n{\"a\":3,\"p\":\"x\"}\n";
constexpr const char* kDdl = "a INT, p STRING";

TEST(FileWrite, ReadsBackWhatItWroteInEveryFormatAndCodec) {
  for (const char* format : {"json", "csv", "parquet"}) {
    for (const char* codec : {"none", "gzip", "zstd", "lz4", "deflate", "bzip2", "GZIP"}) {
      SCOPED_TRACE(std::string(format) + " " + codec);
      Files files;
      const Result<bool> written = files.Write(format, "/out", kDdl, kRows, {.options = {{"compression", codec}}});
      const bool parquet = std::string(format) == "parquet";
      const bool known = parquet ? codec[0] != 'd' && codec[0] != 'b' : codec[0] != 'z' && codec[0] != 'l';
      ASSERT_EQ(written.ok(), known) << written.status().message();
      if (known) {
        EXPECT_THAT(files.ReadAll(format, "/out", kDdl).ValueOrDie(), ElementsAre("1 | x", "2 | y", "3 | x"));
      } else {
        EXPECT_EQ(written.status().condition(), codec[0] == 'l' ? "UNSUPPORTED_FEATURE.THALWEG" : "CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION");
        EXPECT_FALSE(files.services.file_system->Exists("/out").ValueOrDie());
      }
    }
  }
}

TEST(FileWrite, NamesFilesAsSparkDoes) {
  Files files;
  ASSERT_TRUE(files.Write("json", "/plain", kDdl, kRows, {.options = {{"compression", "gzip"}}}).ok());
  EXPECT_THAT(files.Tree("/plain"), ElementsAre("_SUCCESS", "part-00000-U-c000.json.gz"));
  ASSERT_TRUE(files.Write("parquet", "/parts", kDdl, kRows, {.partition_columns = {"p"}}).ok());
  EXPECT_THAT(files.Tree("/parts"), ElementsAre("_SUCCESS", "p=x/part-00000-U.c000.snappy.parquet", "p=y/part-00000-U.c000.snappy.parquet"));
  ASSERT_TRUE(files.Write("csv", "/limited", kDdl, kRows, {.options = {{"maxRecordsPerFile", "2"}}}).ok());
  EXPECT_THAT(files.Tree("/limited"), ElementsAre("_SUCCESS", "part-00000-U-c000.csv", "part-00000-U-c001.csv"));
  EXPECT_THAT(files.ReadAll("csv", "/limited", kDdl).ValueOrDie(), ElementsAre("1 | x", "2 | y", "3 | x"));
}

TEST(FileWrite, PartitionValuesComeBackFromTheirDirectories) {
  Files files;
  const std::string rows = "{\"a\":1,\"p\":\"a/b=c:d%e \\u00e9\"}\n{\"a\":2}\n{\"a\":3,\"p\":\"\"}\n";
  ASSERT_TRUE(files.Write("json", "/out", kDdl, rows, {.partition_columns = {"p"}}).ok());
  EXPECT_THAT(files.Tree("/out"), ElementsAre("_SUCCESS", "p=__HIVE_DEFAULT_PARTITION__/part-00000-U.c000.json",
                                              "p=a%2Fb%3Dc%3Ad%25e é/part-00000-U.c000.json"));
  EXPECT_THAT(files.ReadAll("json", "/out", kDdl).ValueOrDie(), ElementsAre("1 | a/b=c:d%e é", "2 | NULL", "3 | NULL"));
}

TEST(FileWrite, SaveModesSayWhatHappensToWhatIsThere) {
  Files files;
  ASSERT_TRUE(files.Write("json", "/out", kDdl, kRows, {}).ok());
  const Result<bool> again = files.Write("json", "/out", kDdl, kRows, {});
  EXPECT_EQ(again.status().condition(), "PATH_ALREADY_EXISTS");
  EXPECT_FALSE(files.Write("json", "/out", kDdl, kRows, {.mode = SaveMode::kIgnore}).ValueOrDie());
  EXPECT_THAT(files.Tree("/out"), ElementsAre("_SUCCESS", "part-00000-U-c000.json"));
  ASSERT_TRUE(files.Write("json", "/out", kDdl, "{\"a\":9,\"p\":\"z\"}", {.mode = SaveMode::kAppend}).ok());
  EXPECT_THAT(files.ReadAll("json", "/out", kDdl).ValueOrDie(), ElementsAre("1 | x", "2 | y", "3 | x", "9 | z"));
  ASSERT_TRUE(files.Write("json", "/out", kDdl, "{\"a\":7,\"p\":\"q\"}", {.mode = SaveMode::kOverwrite}).ok());
  EXPECT_THAT(files.ReadAll("json", "/out", kDdl).ValueOrDie(), ElementsAre("7 | q"));
  EXPECT_THAT(files.Tree("/out"), ElementsAre("_SUCCESS", "part-00000-U-c000.json"));
}

TEST(FileWrite, OverwritesAllPartitionsOrOnlyThoseThatGetRows) {
  Files files;
  ASSERT_TRUE(files.Write("json", "/out", kDdl, kRows, {.partition_columns = {"p"}}).ok());
  ASSERT_TRUE(files.Write("json", "/out", kDdl, "{\"a\":9,\"p\":\"x\"}",
                          {.mode = SaveMode::kOverwrite, .partition_columns = {"p"}, .options = {{"partitionOverwriteMode", "dynamic"}}})
                  .ok());
  EXPECT_THAT(files.ReadAll("json", "/out", kDdl).ValueOrDie(), ElementsAre("2 | y", "9 | x"));
  ASSERT_TRUE(files.Write("json", "/out", kDdl, "{\"a\":8,\"p\":\"w\"}", {.mode = SaveMode::kOverwrite, .partition_columns = {"p"}}).ok());
  EXPECT_THAT(files.Tree("/out"), ElementsAre("_SUCCESS", "p=w/part-00000-U.c000.json"));
}

// A table on the machine's disk with a symbolic link below it.
class LinkedFiles {
 public:
  LinkedFiles() {
    std::string pattern = testing::TempDir() + "tw_links_XXXXXX";
    root_ = mkdtemp(pattern.data());
    EXPECT_TRUE(Disk().MakeDirectories(root_ + "/outside").ok());
  }
  ~LinkedFiles() { EXPECT_TRUE(Disk().RemoveTree(root_).ok()); }

  static data::LocalFileSystem& Disk() { return data::LocalFileSystem::Get(); }
  std::string table() const { return root_ + "/t"; }
  void Link(const std::string& name) { EXPECT_EQ(symlink((root_ + "/outside").c_str(), (table() + "/" + name).c_str()), 0); }
  void Write(const std::string& rows, const Files::Writing& writing, const std::vector<std::pair<std::string, data::Value>>& partition = {}) {
    const auto target = files_.Target("json", table(), writing.options).ValueOrDie();
    const sql::WriteRequest request{.schema = data::ParseSchemaDdl(kDdl).ValueOrDie(), .partition_columns = writing.partition_columns,
                                    .mode = writing.mode, .overwrite_partition = partition, .config = files_.config};
    const auto write = target->NewBatchWrite(request).ValueOrDie();
    const auto writer = write->NewWriter(PartitionId(0)).ValueOrDie();
    for (const data::Chunk& chunk : in_memory_.ChunksOf(kDdl, rows).ValueOrDie()) ASSERT_TRUE(writer->Write(chunk).ok());
    std::shared_ptr<Signal> blocked;
    const Status committed = write->Commit({writer->Finish(&blocked).ValueOrDie()});
    ASSERT_TRUE(committed.ok()) << committed.message();
  }
  Lines Rows() { return files_.ReadAll("json", table(), kDdl).ValueOrDie(); }
  Lines Outside() { return files_.Tree(root_ + "/outside"); }
  void PutOutside() { files_.PutNow(root_ + "/outside/keep.json", "{\"a\":70}\n"); }

 private:
  std::string root_;
  Files in_memory_;
  Files files_{&Disk()};
};

TEST(FileWrite, OverwritingRemovesLinksAndKeepsWhatTheyLeadTo) {
  for (const char* how : {"all", "dynamic", "partition"}) {
    SCOPED_TRACE(how);
    LinkedFiles linked;
    linked.PutOutside();
    linked.Write("{\"a\":1,\"p\":\"x\"}\n{\"a\":2,\"p\":\"y\"}", {.partition_columns = {"p"}});
    linked.Link("p=z");
    EXPECT_THAT(linked.Rows(), ElementsAre("1 | x", "2 | y", "70 | z"));
    Files::Writing writing{.mode = SaveMode::kOverwrite, .partition_columns = {"p"}};
    if (how == std::string("dynamic")) writing.options = {{"partitionOverwriteMode", "dynamic"}};
    std::vector<std::pair<std::string, data::Value>> partition;
    if (how == std::string("partition")) partition = {{"p", data::Value(std::string("z"))}};
    linked.Write("{\"a\":9,\"p\":\"z\"}", writing, partition);
    const bool all = how == std::string("all");
    EXPECT_EQ(linked.Rows(), all ? Lines({"9 | z"}) : Lines({"1 | x", "2 | y", "9 | z"}));
    EXPECT_THAT(linked.Outside(), ElementsAre("keep.json"));
  }
  LinkedFiles linked;
  linked.PutOutside();
  linked.Write("{\"a\":1,\"p\":\"x\"}", {});
  linked.Link("link");
  linked.Write("{\"a\":2,\"p\":\"y\"}", {.mode = SaveMode::kOverwrite});
  EXPECT_THAT(linked.Rows(), ElementsAre("2 | y"));
  EXPECT_THAT(linked.Outside(), ElementsAre("keep.json"));
}

TEST(FileWrite, AFailedJobLeavesNothing) {
  Files files;
  ASSERT_TRUE(files.Write("json", "/out", kDdl, kRows, {}).ok());
  const auto chunks = files.ChunksOf(kDdl, kRows).ValueOrDie();
  const auto table = files.Target("json", "/out").ValueOrDie();
  sql::WriteRequest request{.schema = data::ParseSchemaDdl(kDdl).ValueOrDie(), .mode = SaveMode::kOverwrite, .config = files.config};
  auto write = table->NewBatchWrite(request).ValueOrDie();
  auto writer = write->NewWriter(PartitionId(0)).ValueOrDie();
  ASSERT_TRUE(writer->Write(chunks[0]).ok());
  EXPECT_EQ(files.Tree("/out").size(), 3u);
  EXPECT_THAT(files.ReadAll("json", "/out", kDdl).ValueOrDie(), ElementsAre("1 | x", "2 | y", "3 | x"));
  writer->Abort();
  write->Abort({});
  EXPECT_THAT(files.Tree("/out"), ElementsAre("_SUCCESS", "part-00000-U-c000.json"));
  EXPECT_FALSE(files.services.file_system->Exists("/out/_temporary").ValueOrDie());
}

TEST(FileWrite, RefusesWhatItCannotKeep) {
  Files files;
  const auto condition = [&](const char* format, const std::string& ddl, Files::Writing writing = {}) {
    return files.Write(format, "/out", ddl, "", writing).status().condition();
  };
  EXPECT_EQ(condition("json", kDdl, {.partition_columns = {"q"}}), "_LEGACY_ERROR_TEMP_1155");
  EXPECT_EQ(condition("json", kDdl, {.partition_columns = {"a", "p"}}), "ALL_PARTITION_COLUMNS_NOT_ALLOWED");
  EXPECT_EQ(condition("json", "a INT, p ARRAY<INT>", {.partition_columns = {"p"}}), "INVALID_PARTITION_COLUMN_DATA_TYPE");
  EXPECT_EQ(condition("csv", "a STRUCT<b: INT>"), "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE");
  EXPECT_EQ(condition("json", "a INT", {.options = {{"compression", "nope"}}}), "CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION");
  EXPECT_FALSE(files.services.file_system->Exists("/out").ValueOrDie());
}

TEST(FileWrite, AnEmptyResultLeavesAFileThatTellsItsSchema) {
  Files files;
  ASSERT_TRUE(files.Write("parquet", "/out", kDdl, "", {}).ok());
  EXPECT_THAT(files.Tree("/out"), ElementsAre("_SUCCESS", "part-00000-U-c000.snappy.parquet"));
  EXPECT_THAT(files.ReadAll("parquet", "/out", "").ValueOrDie(), IsEmpty());
  ASSERT_TRUE(files.Write("parquet", "/parts", kDdl, "", {.partition_columns = {"p"}}).ok());
  EXPECT_THAT(files.Tree("/parts"), ElementsAre("_SUCCESS"));
}

}  // namespace
}  // namespace thalweg::connectors
