// ORC files as tables: what real Spark wrote and read (testdata/orc.jsonl, recorded by tools/goldens/record_orc.py), and our own.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "connectors/file/file_json_rows.h"

namespace thalweg::connectors {
namespace {

using ::testing::ElementsAre;

std::vector<nlohmann::json> Recorded(const std::string& kind) {
  std::ifstream recorded(TW_SOURCE_DIR "/src/connectors/file/testdata/orc.jsonl");
  std::vector<nlohmann::json> cases;
  std::string line;
  while (std::getline(recorded, line)) {
    nlohmann::json entry = nlohmann::json::parse(line);
    if (entry.value("case", "") == kind) cases.push_back(std::move(entry));
  }
  return cases;
}

std::vector<std::pair<std::string, std::string>> OptionsOf(const nlohmann::json& entry) {
  std::vector<std::pair<std::string, std::string>> options;
  for (const auto& [key, value] : entry["options"].items()) options.emplace_back(key, value);
  return options;
}

/// What a table answers, against what Spark answered.
void Expect(Files& files, const nlohmann::json& entry, bool sorted = false) {
  const Result<sql::TablePtr> table = files.Load("orc", "/in", entry.value("schema", ""), OptionsOf(entry));
  Status status = table.status();
  Lines rows;
  if (status.ok()) {
    Result<Lines> read = JsonRows(files, **table);
    status = read.status();
    if (read.ok()) rows = *read;
  }
  if (entry.contains("error")) {
    EXPECT_FALSE(status.ok());
    const std::string error = entry["error"];
    if (error.find('_') != std::string::npos) {
      EXPECT_EQ(status.condition(), error);
    }
    return;
  }
  ASSERT_TRUE(status.ok()) << status.message() << status.cause().message();
  EXPECT_EQ(data::SchemaDdl((*table)->schema()), entry["found"].get<std::string>());
  if (sorted) std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, entry["rows"].get<Lines>());
}

/// What ORC's Java library makes of columns of another type, and we refuse. TIMESTAMP_NTZ as TIMESTAMP and back give nonsense or fail there.
const std::set<std::string> kConversions = {"as int STRING", "as big INT", "as text INT", "as dec_mid DECIMAL(9, 1)", "as bin STRING", "as day STRING", "as day TIMESTAMP",
                                            "as ts TIMESTAMP_NTZ", "as ts DATE", "as ts STRING", "as bool INT", "as int BOOLEAN", "as double FLOAT", "as nested"};

TEST(FileOrc, ReadsWhatSparkWrote) {
  int cases = 0;
  std::map<std::string, std::string> contents;
  for (const nlohmann::json& entry : Recorded("read")) {
    const std::string name = entry["name"];
    SCOPED_TRACE(name);
    const std::string content = entry.contains("content") ? BytesOf(entry["content"]) : contents.at(entry["content_of"]);
    contents[name] = content;
    Files files;
    files.settings.Set("thalweg.orc.reader.enabled", "true");
    files.Put("/in/f.orc", content);
    ++cases;
    if (name.starts_with("as text VARCHAR") || name.starts_with("as text CHAR")) continue;  // the session refuses these types
    if (name == "damaged inside") continue;                                              // the damage lies where Spark does not look
    if (kConversions.contains(name)) {
      const sql::TablePtr table = files.Load("orc", "/in", entry["schema"]).ValueOrDie();
      EXPECT_EQ(JsonRows(files, *table).status().cause().condition(), "UNSUPPORTED_FEATURE.THALWEG");
    } else {
      Expect(files, entry);
    }
  }
  EXPECT_GT(cases, 40);
}

TEST(FileOrc, MergesSchemasAsSparkDoes) {
  for (const nlohmann::json& entry : Recorded("merge")) {
    SCOPED_TRACE(entry["name"].get<std::string>());
    Files files;
    files.settings.Set("thalweg.orc.reader.enabled", "true");
    // Spark took the files as the folder listed them: the second one first. We take them by name.
    int number = static_cast<int>(entry["contents"].size());
    for (const std::string content : entry["contents"]) files.Put("/in/f" + std::to_string(--number) + ".orc", BytesOf(content));
    Expect(files, entry, true);
  }
}

TEST(FileOrc, CodecsHaveSparksNames) {
  for (const nlohmann::json& entry : Recorded("write")) {
    SCOPED_TRACE(entry.dump());
    Files files;
    files.settings.Set("thalweg.orc.reader.enabled", "true");
    const Result<bool> written = files.Write("orc", "/out", "a INT", "{\"a\":1}", {.partition_columns = {}, .options = OptionsOf(entry)});
    if (entry.contains("error")) {
      ASSERT_FALSE(written.ok());
      const std::string error = entry["error"];  // brotli: Spark has it and its library was not there
      EXPECT_EQ(written.status().condition(), error == "Py4JJavaError" ? "UNSUPPORTED_FEATURE.THALWEG" : error);
      continue;
    }
    const std::string suffix = entry["suffix"];
    if (suffix == ".lzo.orc" || suffix == ".brotli.orc") {
      EXPECT_EQ(written.status().condition(), "UNSUPPORTED_FEATURE.THALWEG");
      continue;
    }
    ASSERT_TRUE(written.ok()) << written.status().message();
    EXPECT_THAT(files.Tree("/out"), ElementsAre("_SUCCESS", "part-00000-U-c000" + suffix));
    EXPECT_THAT(files.ReadAll("orc", "/out", "").ValueOrDie(), ElementsAre("1"));
  }
}

TEST(FileOrc, TypesThatSparkRefusesAreRefused) {
  for (const nlohmann::json& entry : Recorded("type")) {
    // The second is written, and refused when it is read.
    if (!entry.contains("schema") || entry["expression"] == "named_struct('a', 1, 'A', 2) AS a") continue;
    SCOPED_TRACE(entry.dump());
    Files files;
    const data::Schema schema = data::ParseSchemaDdl(entry["schema"].get<std::string>()).ValueOrDie();
    const auto table = files.Target("orc", "/out").ValueOrDie();
    sql::WriteRequest request;
    request.schema = schema;
    request.config = files.config;
    const Status status = table->NewBatchWrite(request).status();
    if (entry.contains("error")) {
      const std::string error = entry["error"];
      EXPECT_FALSE(status.ok());
      if (error.find('_') != std::string::npos) {
        EXPECT_EQ(status.condition(), error);
      }
    } else {
      EXPECT_TRUE(status.ok()) << status.message();
    }
  }
}

TEST(FileOrc, IsReadWhenTheUserTrustsTheFiles) {
  Files files;
  ASSERT_TRUE(files.Write("orc", "/out", "a INT", "{\"a\":1}", {.partition_columns = {}, .options = {}}).ValueOrDie());
  EXPECT_EQ(files.Load("orc", "/out", "").status().condition(), "UNSUPPORTED_FEATURE.THALWEG");
  EXPECT_EQ(files.ReadAll("orc", "/out", "a INT").status().condition(), "UNSUPPORTED_FEATURE.THALWEG");
  files.settings.Set("thalweg.orc.reader.enabled", "true");
  EXPECT_THAT(files.ReadAll("orc", "/out", "").ValueOrDie(), ElementsAre("1"));
}

TEST(FileOrc, PartitionsStandInDirectories) {
  Files files;
  files.settings.Set("thalweg.orc.reader.enabled", "true");
  ASSERT_TRUE(files.Write("orc", "/out", "a INT, p STRING, s STRUCT<x: INT, y: STRING>", "{\"a\":1,\"p\":\"x\",\"s\":{\"x\":1,\"y\":\"q\"}}\n{\"a\":2,\"p\":null}",
                          {.partition_columns = {"p"}, .options = {}}).ValueOrDie());
  EXPECT_THAT(files.Tree("/out"), ElementsAre("_SUCCESS", "p=__HIVE_DEFAULT_PARTITION__/part-00000-U.c000.zstd.orc", "p=x/part-00000-U.c000.zstd.orc"));
  EXPECT_THAT(files.ReadAll("orc", "/out", "").ValueOrDie(), ElementsAre("1 | {1, q} | x", "2 | NULL | NULL"));
  const sql::TablePtr table = files.Load("orc", "/out", "s STRUCT<y: STRING, z: INT>, p STRING, a BIGINT").ValueOrDie();
  EXPECT_EQ(files.Rows(*table, {"p", "s"}).ValueOrDie().size(), 2u);
  EXPECT_EQ(files.Rows(*table, {}).ValueOrDie().size(), 2u);
}

TEST(FileOrc, AStreamWritesAndIsRead) {
  Files files;
  files.settings.Set("thalweg.orc.reader.enabled", "true");
  const auto table = files.Target("orc", "/out").ValueOrDie();
  sql::StreamWriteRequest request;
  request.schema = data::ParseSchemaDdl("a INT").ValueOrDie();
  request.config = files.config;
  const auto sink = std::get<0>(table->NewStreamingWrite(request).ValueOrDie());
  for (int epoch = 0; epoch < 3; ++epoch) {
    const auto writer = sink->NewWriter(PartitionId(0), BatchId(epoch)).ValueOrDie();
    for (const data::Chunk& chunk : files.ChunksOf("a INT", "{\"a\":" + std::to_string(epoch) + "}").ValueOrDie()) ASSERT_TRUE(writer->Write(chunk).ok());
    std::shared_ptr<Signal> blocked;
    const auto message = writer->Finish(&blocked).ValueOrDie();
    if (epoch == 2) break;  // it dies before its commit
    ASSERT_TRUE(sink->Commit(BatchId(epoch), {message}).ok());
  }
  EXPECT_THAT(files.ReadAll("orc", "/out", "").ValueOrDie(), ElementsAre("0", "1"));
}

}  // namespace
}  // namespace thalweg::connectors
