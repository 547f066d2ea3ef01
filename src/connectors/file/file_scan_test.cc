#include <gmock/gmock.h>

#include "connectors/file/file_test_support.h"
#include "connectors/file/glob.h"

namespace thalweg::connectors {
namespace {

using ::testing::ElementsAre;

TEST(Glob, MatchesAsHadoopDoes) {
  EXPECT_TRUE(GlobMatches("*.json", "a.json"));
  EXPECT_TRUE(GlobMatches("a*b*c", "axxbyybzc"));
  EXPECT_FALSE(GlobMatches("a*b", "axbx"));
  EXPECT_TRUE(GlobMatches("part-[0-9]?", "part-7x"));
  EXPECT_FALSE(GlobMatches("[^a]", "a"));
  EXPECT_TRUE(GlobMatches("\\*", "*"));
  EXPECT_FALSE(GlobMatches("\\*", "a"));
  EXPECT_THAT(ExpandBraces("/t/{a,b{1,2}}/x"), ElementsAre("/t/a/x", "/t/b1/x", "/t/b2/x"));
}

TEST(FileScan, ReadsJsonLinesAndSkipsHiddenNames) {
  Files files;
  files.Put("/in/ok.json", "{\"v\":1}\n");
  files.Put("/in/_tmp.json", "{\"v\":2}\n");
  files.Put("/in/.part.json", "{\"v\":3}\n");
  files.Put("/in/x.json._COPYING_", "{\"v\":4}\n");
  files.Put("/in/_SUCCESS", "");
  files.Put("/in/empty.json", "");
  files.Put("/in/blank.json", "\n");
  files.Put("/in/_a=b.json", "{\"v\":7}");
  files.Put("/in/sub/deep.json", "{\"v\":5}\n");
  files.Put("/in/sub/_no.json", "{\"v\":6}\n");
  EXPECT_EQ(files.ReadAll("json", "/in", "v INT").ValueOrDie(), (Lines{"1", "7"}));
  EXPECT_EQ(files.ReadAll("json", "/in", "v INT", {{"recursiveFileLookup", "true"}}).ValueOrDie(),
            (Lines{"1", "5", "7"}));
  EXPECT_EQ(files.ReadAll("json", "/in", "v INT", {{"pathGlobFilter", "o*"}}).ValueOrDie(), (Lines{"1"}));
  EXPECT_EQ(files.ReadAll("json", "/in/{ok,empty}.json", "v INT").ValueOrDie(), (Lines{"1"}));
  EXPECT_EQ(files.ReadAll("json", "/nothing", "v INT").status().condition(), "PATH_NOT_FOUND");
}

TEST(FileScan, PartitionDirectoriesBecomeColumns) {
  Files files;
  files.Put("/t/day=2024-01-02/n=1/a.json", "{\"v\":1}");
  files.Put("/t/day=2024-01-03/n=2.5/b.json", "{\"v\":2}");
  files.Put("/t/day=__HIVE_DEFAULT_PARTITION__/n=7/a%20b.json", "{\"v\":3}");
  const sql::TablePtr table = files.Load("json", "/t", "v INT").ValueOrDie();
  EXPECT_EQ(data::SchemaDdl(table->schema()), "v INT,day DATE,n DOUBLE");
  EXPECT_THAT(table->partition_columns(), ElementsAre("day", "n"));
  EXPECT_EQ(files.ReadAll("json", "/t", "v INT").ValueOrDie(),
            (Lines{"1 | 2024-01-02 | 1.0", "2 | 2024-01-03 | 2.5", "3 | NULL | 7.0"}));
  // The user's type wins, and the column moves to the end.
  EXPECT_EQ(data::SchemaDdl(files.Load("json", "/t", "n STRING, v INT").ValueOrDie()->schema()),
            "v INT,day DATE,n STRING");
  // Below a partition the directory is the root.
  EXPECT_EQ(files.ReadAll("json", "/t/day=2024-01-02/n=1", "v INT").ValueOrDie(), (Lines{"1"}));
  EXPECT_EQ(files.ReadAll("json", "/t/day=*", "v INT", {{"basePath", "/t"}}).ValueOrDie().size(), 3u);
}

TEST(FileScan, OnlyRequestedColumnsAreRead) {
  Files files;
  files.Put("/in/a.json", "{\"a\":\"bad\",\"b\":2}\n{\"a\":1,\"b\":3}\n");
  const sql::TablePtr table = files.Load("json", "/in", "a INT, b INT, _corrupt_record STRING").ValueOrDie();
  EXPECT_EQ(files.Rows(*table, {"b", "_corrupt_record"}).ValueOrDie(), (Lines{"2 | NULL", "3 | NULL"}));
  EXPECT_EQ(files.Rows(*table, {}).ValueOrDie().size(), 2u);
  EXPECT_EQ(files.Rows(*table, {"_corrupt_record"}).status().condition(),
            "UNSUPPORTED_FEATURE.QUERY_ONLY_CORRUPT_RECORD_COLUMN");
}

TEST(FileScan, BadJsonLinesByMode) {  // P32
  Files files;
  files.Put("/in/f1.json", "{\"a\":1,\"b\":\"x\"}\n{\"a\":\"oops\",\"b\":\"y\"}\n{\"a\":2,\"b\":\n\n{\"a\":3}\n");
  const sql::TablePtr table = files.Load("json", "/in", "a INT, b STRING, _corrupt_record STRING").ValueOrDie();
  EXPECT_EQ(files.Rows(*table, {"a", "b", "_corrupt_record"}).ValueOrDie(),
            (Lines{"1 | x | NULL", "NULL | y | {\"a\":\"oops\",\"b\":\"y\"}", "NULL | NULL | {\"a\":2,\"b\":",
                   "3 | NULL | NULL"}));
  EXPECT_EQ(files.ReadAll("json", "/in", "a INT, b STRING", {{"mode", "DROPMALFORMED"}}).ValueOrDie(),
            (Lines{"1 | x", "3 | NULL"}));
  const Status failed = files.ReadAll("json", "/in", "a INT, b STRING", {{"mode", "FAILFAST"}}).status();
  EXPECT_EQ(failed.condition(), "FAILED_READ_FILE.NO_HINT");
  EXPECT_TRUE(failed.cause().condition().starts_with("MALFORMED_RECORD_IN_PARSING"));
}

TEST(FileScan, JsonShapes) {
  Files files;
  files.Put("/a/x.json", "[{\"v\":1},{\"v\":2}]\r\n{\"v\":3}\r{\"v\":4}");
  EXPECT_EQ(files.ReadAll("json", "/a", "v INT").ValueOrDie(), (Lines{"1", "2", "3", "4"}));
  files.Put("/m/x.json", "[\n {\"v\":\n 1},\n {\"v\": 2}\n]\n");
  EXPECT_EQ(files.ReadAll("json", "/m", "v INT", {{"multiLine", "true"}}).ValueOrDie(), (Lines{"1", "2"}));
  files.Put("/s/x.json", "{\"v\":1}|{\"v\":2}|");
  EXPECT_EQ(files.ReadAll("json", "/s", "v INT", {{"lineSep", "|"}}).ValueOrDie(), (Lines{"1", "2"}));
  files.Put("/b/x.json", "\xEF\xBB\xBF{\"v\":1}\n{\"v\":2}");
  EXPECT_EQ(files.ReadAll("json", "/b", "v INT").ValueOrDie(), (Lines{"1", "2"}));
  std::string utf16("\xFF\xFE", 2);
  for (const char c : std::string("{\"v\":5}\n{\"v\":6}\n")) utf16 += {c, '\0'};
  files.Put("/u/x.json", utf16);
  EXPECT_EQ(files.ReadAll("json", "/u", "v INT", {{"encoding", "UTF-16LE"}, {"lineSep", "\n"}}).ValueOrDie(),
            (Lines{"5", "6"}));
  EXPECT_EQ(files.ReadAll("json", "/u", "v INT", {{"encoding", "UTF-16"}}).status().condition(), "ILLEGAL_ARGUMENT");
  EXPECT_EQ(files.ReadAll("json", "/u", "v INT", {{"multiLine", "true"}}).ValueOrDie(), (Lines{"5"}));
}

TEST(FileScan, JsonSchemasAreInferred) {
  Files files;
  files.Put("/in/a.json", "{\"v\":1,\"s\":{\"q\":null,\"p\":1.5}}\n[{\"l\":[1,2.5]}]\n");
  files.Put("/in/b.json", "{\"w\":\"new\",\"v\":12345678901234567890}\nbroken\n{\"b\":true}\n{\"b\":\"x\"}");
  EXPECT_EQ(data::SchemaDdl(files.Load("json", "/in", "").ValueOrDie()->schema()),
            "_corrupt_record STRING,b STRING,l ARRAY<DOUBLE>,s STRUCT<p: DOUBLE, q: STRING>,v DECIMAL(20,0),w STRING");
  EXPECT_EQ(data::SchemaDdl(files.Load("json", "/in", "", {{"mode", "DROPMALFORMED"}, {"dropFieldIfAllNull", "true"},
                                                           {"primitivesAsString", "true"}})
                                .ValueOrDie()
                                ->schema()),
            "b STRING,l ARRAY<STRING>,s STRUCT<p: STRING>,v STRING,w STRING");
  EXPECT_EQ(files.Load("json", "/in", "", {{"mode", "FAILFAST"}}).status().condition(), "_LEGACY_ERROR_TEMP_2165");
  EXPECT_EQ(files.Load("json", "/in/a*", "", {{"pathGlobFilter", "no"}}).status().condition(),
            "UNABLE_TO_INFER_SCHEMA");
}

TEST(FileScan, TextPassesBytesThrough) {
  Files files;
  files.Put("/t/a.txt", "one\ntwo that is longer than twelve bytes\r\n\ncaf\xE9");
  EXPECT_EQ(files.ReadAll("text", "/t", "").ValueOrDie(),
            (Lines{"", "caf\xE9", "one", "two that is longer than twelve bytes"}));
  EXPECT_EQ(files.ReadAll("text", "/t", "", {{"wholetext", "true"}}).ValueOrDie().size(), 1u);
  EXPECT_EQ(files.ReadAll("text", "/t", "", {{"lineSep", "o"}}).ValueOrDie().size(), 4u);
  EXPECT_EQ(files.Load("text", "/t", "a INT").status().condition(), "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE");
}

TEST(FileScan, PiecesOfALargeFileGiveEveryLineOnce) {
  Files files;
  files.settings.Set("spark.sql.files.maxPartitionBytes", "4194305");
  std::string text;
  int64_t lines = 0;
  for (; text.size() < (10 << 20); ++lines) text += "{\"v\":" + std::to_string(lines) + "}" + (lines % 3 ? "\n" : "\r\n");
  files.Put("/big/x.json", text);
  const sql::TablePtr table = files.Load("json", "/big", "v BIGINT").ValueOrDie();
  const auto scan = table->NewScan(Files::All(*table), files.config).ValueOrDie();
  const auto splits = scan->PlanSplits().ValueOrDie();
  EXPECT_EQ(splits.size(), 3u);
  const Lines rows = files.Read(splits).ValueOrDie();
  ASSERT_EQ(static_cast<int64_t>(rows.size()), lines);
  for (int64_t i = 0; i < lines; ++i) ASSERT_EQ(rows[static_cast<size_t>(i)], std::to_string(i));
}

TEST(FileScan, TheListingIsFixedAndContentsAreNot) {
  Files files;
  files.Put("/in/a.json", "{\"v\":1}");
  const sql::TablePtr table = files.Load("json", "/in", "v INT").ValueOrDie();
  const auto scan = table->NewScan(Files::All(*table), files.config).ValueOrDie();
  const sql::LeafVersion first = scan->Version().ValueOrDie();
  files.Put("/in/b.json", "{\"v\":2}");
  EXPECT_EQ(scan->Version().ValueOrDie(), first);
  EXPECT_EQ(files.Read(scan->PlanSplits().ValueOrDie()).ValueOrDie(), (Lines{"1"}));
  files.Put("/in/a.json", "{\"v\":10}\n{\"v\":11}");
  EXPECT_NE(scan->Version().ValueOrDie(), first);
  EXPECT_EQ(files.Read(scan->PlanSplits().ValueOrDie()).ValueOrDie(), (Lines{"10", "11"}));
  ASSERT_TRUE(files.memory.Remove("/in/a.json").ok());
  EXPECT_EQ(files.Read(scan->PlanSplits().ValueOrDie()).status().condition(), "FAILED_READ_FILE.FILE_NOT_EXIST");
}

TEST(FileScan, MissingAndCorruptFilesCanBeIgnored) {
  Files files;
  files.Put("/in/a.json.gz", "this is no gzip");
  files.Put("/in/b.json", "{\"v\":1}");
  EXPECT_EQ(files.ReadAll("json", "/in", "v INT").status().condition(), "FAILED_READ_FILE.NO_HINT");
  EXPECT_EQ(files.ReadAll("json", "/in", "v INT", {{"ignoreCorruptFiles", "true"}}).ValueOrDie(), (Lines{"1"}));
  const sql::TablePtr table =
      files.Load("json", "/in", "v INT", {{"ignoreCorruptFiles", "true"}, {"ignoreMissingFiles", "true"}}).ValueOrDie();
  ASSERT_TRUE(files.memory.Remove("/in/b.json").ok());
  EXPECT_EQ(files.Rows(*table, {"v"}).ValueOrDie(), Lines{});
}

TEST(FileScan, FormatsThatAreNotThereAnswerByName) {
  Files files;
  EXPECT_EQ(files.Load("avro", "/in", "v INT").status().condition(), "UNSUPPORTED_FEATURE.THALWEG");
}

}  // namespace
}  // namespace thalweg::connectors
