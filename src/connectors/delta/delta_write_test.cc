// What we write: read back, compared with what Spark wrote for the same rows, under races, faults and lost power.

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/fault_point.h"
#include "connectors/delta/delta_actions.h"
#include "connectors/delta/delta_log.h"
#include "connectors/delta/delta_stats.h"
#include "connectors/delta/delta_testing.h"
#include "connectors/delta/deletion_vector.h"
#include "data/columnar/random_column.h"
#include "data/io/faulty_file_system.h"
#include "data/io/local_file_system.h"
#include "data/io/memory_file_system.h"
#include "data/io/path.h"
#include "data/text/literal.h"
#include "data/text/utf8.h"
#include "sql/functions/registry.h"

namespace thalweg::connectors {
namespace {

using data::Chunk;
using data::DataType;
using data::MemoryFileSystem;
using data::Schema;
using data::TypeKind;
using data::Value;
using data::ValueList;
using nlohmann::ordered_json;
using sql::SaveMode;

const Schema kIdName = {{.name = "id", .type = DataType::Long()}, {.name = "name", .type = DataType::String()}};

Chunk IdNames(int64_t from, int64_t to) {
  std::vector<ValueList> rows;
  for (int64_t id = from; id < to; ++id) rows.push_back({Value(id), Value("n" + std::to_string(id % 3))});
  return data::ChunkFromRows({DataType::Long(), DataType::String()}, rows);
}

std::vector<std::string> Texts(const std::vector<ValueList>& rows, const Schema& schema) {
  std::vector<std::string> out;
  for (const ValueList& row : rows) {
    std::string text;
    for (size_t i = 0; i < row.size(); ++i) text += data::ValueText(row[i], schema[i].type) + "|";
    out.push_back(std::move(text));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<int64_t> Ids(const DeltaBench& bench, const std::string& path) {
  std::vector<int64_t> ids;
  const auto rows = bench.Rows(path);
  EXPECT_TRUE(rows.ok()) << rows.status().message();
  if (!rows.ok()) return ids;
  for (const ValueList& row : *rows) ids.push_back(row[0].AsInt64());
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<int64_t> Range(int64_t from, int64_t to) {
  std::vector<int64_t> out;
  for (int64_t id = from; id < to; ++id) out.push_back(id);
  return out;
}

std::vector<ordered_json> LogLines(data::FileSystem& disk, const std::string& path, int64_t version) {
  SystemClock& clock = SystemClock::Get();
  const std::string text = disk.ReadWhole(DeltaLog(disk, clock, path).CommitPath(version)).ValueOrDie();
  std::vector<ordered_json> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back(ordered_json::parse(text.substr(at, end - at)));
    at = end + 1;
  }
  return lines;
}

DeltaSnapshotPtr Newest(data::FileSystem& disk, const std::string& path) {
  return DeltaLog(disk, SystemClock::Get(), path).Update().ValueOrDie();
}

TEST(DeltaWriteTest, SaveModes) {
  MemoryFileSystem disk;
  const DeltaBench bench(disk);
  ASSERT_TRUE(bench.Write("/t", kIdName, {IdNames(0, 3)}, SaveMode::kErrorIfExists).ValueOrDie());
  EXPECT_EQ(bench.Write("/t", kIdName, {IdNames(0, 3)}, SaveMode::kErrorIfExists).status().condition(), "DELTA_PATH_EXISTS");
  EXPECT_FALSE(bench.Write("/t", kIdName, {IdNames(0, 3)}, SaveMode::kIgnore).ValueOrDie());
  ASSERT_TRUE(bench.Write("/t", kIdName, {IdNames(3, 5), IdNames(5, 8)}, SaveMode::kAppend, {}, {}, 2).ValueOrDie());
  EXPECT_EQ(Ids(bench, "/t"), Range(0, 8));
  ASSERT_TRUE(bench.Write("/t", kIdName, {IdNames(10, 12)}, SaveMode::kOverwrite).ValueOrDie());
  EXPECT_EQ(Ids(bench, "/t"), Range(10, 12));
  EXPECT_EQ(Newest(disk, "/t")->version(), 2);
  ASSERT_TRUE(bench.Write("/t", kIdName, {}, SaveMode::kAppend).ValueOrDie());  // nothing to record
  EXPECT_EQ(Newest(disk, "/t")->version(), 2);
  const auto overwrite = LogLines(disk, "/t", 2);
  EXPECT_EQ(overwrite[0]["commitInfo"]["operationMetrics"]["numRemovedFiles"], "3");
  EXPECT_EQ(overwrite[0]["commitInfo"]["isBlindAppend"], false);
  EXPECT_EQ(Ids(bench, "/t@v1"), Range(0, 8));
}

TEST(DeltaWriteTest, LogHasTheFormOfDeltasOwnWriter) {
  // Keys and their order as in tests/delta/plain, version 0 and 1: written by Spark 4.2.0 with Delta 4.4.0.
  MemoryFileSystem disk;
  const DeltaBench bench(disk);
  const Schema schema = {{.name = "id", .type = DataType::Long()}, {.name = "s", .type = DataType::String()},
                         {.name = "d", .type = DataType::Double()}};
  std::vector<DataType> types = {DataType::Long(), DataType::String(), DataType::Double()};
  const Chunk first = data::ChunkFromRows(types, {{Value(int64_t{1}), Value(std::string("a")), Value(1.5)},
                                                  {Value(int64_t{2}), Value(std::string("b")), Value()},
                                                  {Value(int64_t{3}), Value(), Value(-0.0)}});
  ASSERT_TRUE(bench.Write("/t", schema, {first}, SaveMode::kErrorIfExists).ok());
  sql::OptionMap options;
  options.Set("userMetadata", "um");
  const Chunk second = data::ChunkFromRows(types, {{Value(int64_t{4}), Value(std::string("d")), Value(4.0)},
                                                   {Value(int64_t{5}), Value(std::string("e")), Value(5.0)}});
  ASSERT_TRUE(bench.Write("/t", schema, {second}, SaveMode::kAppend, {}, options).ok());
  auto& local = data::LocalFileSystem::Get();
  for (const int64_t version : {0, 1}) {
    auto ours = LogLines(disk, "/t", version);
    auto sparks = LogLines(local, TW_SOURCE_DIR "/tests/delta/plain", version);
    ASSERT_EQ(ours.size(), sparks.size());
    for (size_t i = 0; i < ours.size(); ++i) {
      for (ordered_json* line : {&ours[i], &sparks[i]}) {  // what differs by nature
        if (line->contains("commitInfo")) {
          for (const char* key : {"timestamp", "engineInfo", "txnId"}) (*line)["commitInfo"][key] = "?";
          (*line)["commitInfo"]["operationMetrics"]["numOutputBytes"] = "?";
        }
        if (line->contains("metaData")) (*line)["metaData"]["id"] = (*line)["metaData"]["createdTime"] = "?";
        if (line->contains("add")) {
          std::string path = (*line)["add"]["path"];
          EXPECT_TRUE(path.starts_with("part-00000-") && path.ends_with("-c000.snappy.parquet")) << path;
          for (const char* key : {"path", "size", "modificationTime"}) (*line)["add"][key] = "?";
        }
      }
      EXPECT_EQ(ours[i].dump(), sparks[i].dump());
    }
  }
}

TEST(DeltaWriteTest, SinkWritesTheWorkedExamplesLog) {
  // 00000000000000000000.json to ...1 of tests/delta/streaming_txn/target: a query appending to a new path.
  MemoryFileSystem disk;
  const DeltaBench bench(disk);
  const Schema schema = {{.name = "id", .type = DataType::Long(), .nullable = false}, {.name = "s", .type = DataType::String()}};
  const auto rows = [](std::vector<int64_t> ids) {
    std::vector<ValueList> out;
    for (const int64_t id : ids) out.push_back({Value(id), Value("s" + std::to_string(id))});
    return data::ChunkFromRows({DataType::Long(), DataType::String()}, out);
  };
  auto& local = data::LocalFileSystem::Get();
  const std::string target = TW_SOURCE_DIR "/tests/delta/streaming_txn/target";
  const Uuid query = Uuid::Parse("cda02c8d-a966-4e87-8c01-66036c9a4feb").ValueOrDie();
  auto sink = bench.Sink("/t", schema, query).ValueOrDie();
  EXPECT_EQ(sink->Description(), "DeltaSink[file:/t]");
  ASSERT_TRUE(bench.RunEpoch(*sink, 0, {rows({0, 1, 2})}).ok());
  ASSERT_TRUE(bench.RunEpoch(*sink, 1, {rows({10, 11})}).ok());
  for (const int64_t version : {0, 1}) {
    auto ours = LogLines(disk, "/t", version);
    auto sparks = LogLines(local, target, version);
    ASSERT_EQ(ours.size(), sparks.size());
    for (size_t i = 0; i < ours.size(); ++i) {
      for (ordered_json* line : {&ours[i], &sparks[i]}) {
        if (line->contains("commitInfo")) {
          for (const char* key : {"timestamp", "engineInfo", "txnId"}) (*line)["commitInfo"][key] = "?";
          (*line)["commitInfo"]["operationMetrics"]["numOutputBytes"] = "?";
        }
        if (line->contains("metaData")) (*line)["metaData"]["id"] = (*line)["metaData"]["createdTime"] = "?";
        if (line->contains("txn")) (*line)["txn"]["lastUpdated"] = "?";
        if (line->contains("add")) {
          for (const char* key : {"path", "size", "modificationTime"}) (*line)["add"][key] = "?";
        }
      }
      EXPECT_EQ(ours[i].dump(), sparks[i].dump());
    }
  }
  EXPECT_EQ(sink->LastCommitted().ValueOrDie(), BatchId(1));
  // A batch without rows still records its epoch.
  ASSERT_TRUE(bench.RunEpoch(*sink, 2, {}).ok());
  EXPECT_EQ(LogLines(disk, "/t", 2).size(), 2u);
}

TEST(DeltaWriteTest, CreateTableHasTheFormOfDeltasOwn) {
  MemoryFileSystem disk;
  const DeltaBench bench(disk);
  const Schema schema = {{.name = "start", .type = DataType::Timestamp()}, {.name = "page", .type = DataType::String(), .nullable = false}};
  ASSERT_TRUE(bench.source().CreateTable("/t", schema, {"page"}, {{"delta.enableChangeDataFeed", "true"}}, *bench.config()).ok());
  auto ours = LogLines(disk, "/t", 0);
  auto sparks = LogLines(data::LocalFileSystem::Get(), TW_SOURCE_DIR "/tests/delta/cdf", 0);
  ASSERT_EQ(ours.size(), 3u);
  for (ordered_json* line : {&ours[0], &sparks[0]}) {
    for (const char* key : {"timestamp", "engineInfo", "txnId"}) (*line)["commitInfo"][key] = "?";
    (*line)["commitInfo"]["operationParameters"]["partitionBy"] = "?";
  }
  EXPECT_EQ(ours[0].dump(), sparks[0].dump());
  EXPECT_EQ(ours[2].dump(), sparks[2].dump());  // the protocol
  EXPECT_TRUE(bench.source().CreateTable("/t", schema, {"page"}, {}, *bench.config()).ok());
  EXPECT_EQ(bench.source().CreateTable("/t", kIdName, {}, {}, *bench.config()).condition(), "DELTA_CREATE_TABLE_SCHEME_MISMATCH");
  EXPECT_EQ(bench.source().CreateTable("/u", schema, {}, {{"delta.nonsense", "1"}}, *bench.config()).condition(), "DELTA_UNKNOWN_CONFIGURATION");
  EXPECT_EQ(bench.source().CreateTable("/u", schema, {}, {{"delta.enableRowTracking", "true"}}, *bench.config()).condition(),
            "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE");
  const Chunk null_page = data::ChunkFromRows({DataType::Timestamp(), DataType::String()}, {{Value(), Value()}});
  EXPECT_EQ(bench.Write("/t", schema, {null_page}, SaveMode::kAppend).status().condition(), "DELTA_NOT_NULL_CONSTRAINT_VIOLATED");
}

// Rows that Spark wrote, written again by us: statistics, partition values and directories must be the same.
class DeltaSameAsSparkTest : public ::testing::TestWithParam<const char*> {};

TEST_P(DeltaSameAsSparkTest, StatisticsAndPaths) {
  auto& local = data::LocalFileSystem::Get();
  const std::string sample = std::string(TW_SOURCE_DIR) + "/tests/delta/" + GetParam();
  const auto snapshot = DeltaLog(local, SystemClock::Get(), sample).Update().ValueOrDie();
  const DeltaBench reader(local);
  int compared = 0;
  for (int64_t version = 0; version <= snapshot->version(); ++version) {
    const auto commit = DeltaLog(local, SystemClock::Get(), sample).ReadCommit(version).ValueOrDie();
    for (const AddFilePtr& add : commit->adds) {
      if (!add->stats || add->deletion_vector || !commit->removes.empty()) continue;
      // A table of that one file: its log entry under the sample's files.
      MemoryFileSystem disk;
      auto lines = ActionLine(snapshot->protocol()) + "\n" + ActionLine(snapshot->metadata()) + "\n";
      AddFile absolute = *add;
      absolute.path = data::UriFromPath(data::AbsolutePath(sample)) + "/" + add->path;
      const std::string one = ::testing::TempDir() + "delta_one_" + Uuid::MakeRandom().ToString();
      ASSERT_TRUE(local.MakeDirectories(one + "/_delta_log").ok());
      auto entry = local.Create(one + "/_delta_log/00000000000000000000.json", data::CreateMode::kReplace).ValueOrDie();
      ASSERT_TRUE(entry->Append(lines + ActionLine(absolute)).ok() && entry->Close().ok());
      const auto table = reader.Load(one).ValueOrDie();
      const auto rows = reader.Rows(table);
      ASSERT_TRUE(rows.ok()) << rows.status().message();
      Schema schema = table->schema();
      std::vector<DataType> types;
      std::vector<ValueList> plain = *rows;
      for (auto& field : schema) {
        field.nullable = true;
        const size_t at = types.size();
        types.push_back(field.type);
        if (field.metadata_json.find("char(5)") == std::string::npos) continue;
        for (ValueList& row : plain) {  // CHAR is stored as it was given, read padded
          if (row[at].is_null()) continue;
          const auto text = row[at].get<std::string>();
          row[at] = Value(text.substr(0, text.find_last_not_of(' ') + 1));
        }
      }
      const DeltaBench writer(disk);
      ASSERT_TRUE(writer.Write("/t", schema, {data::ChunkFromRows(types, plain)}, SaveMode::kAppend, table->partition_columns()).ok());
      const auto ours = Newest(disk, "/t")->files()->live();
      ASSERT_EQ(ours.size(), 1u);
      EXPECT_EQ(*ours[0]->stats, *add->stats) << add->path;
      std::map<std::string, std::optional<std::string>> our_values(ours[0]->partition_values.begin(), ours[0]->partition_values.end());
      std::map<std::string, std::optional<std::string>> spark_values(add->partition_values.begin(), add->partition_values.end());
      EXPECT_EQ(our_values, spark_values);
      EXPECT_EQ(data::ParentPath(ours[0]->path), data::ParentPath(add->path));
      ASSERT_TRUE(local.RemoveTree(one).ok());
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(Tables, DeltaSameAsSparkTest,
                         ::testing::Values("types", "partitioned", "plain", "timestamp_ntz", "checkpoint_classic", "streaming_txn/target"),
                         [](const auto& info) { return data::ParentPath(info.param) == "." ? std::string(info.param) : std::string("streaming"); });

TEST(DeltaWriteTest, RandomTablesComeBackAlsoPartitioned) {
  Random random(11);
  for (int round = 0; round < 25; ++round) {
    Schema schema;
    while (schema.size() < 4) {
      const DataType type = data::RandomType(random, static_cast<int>(random.NextBelow(3)));
      const std::string text = type.Sql();
      if (text.find("INTERVAL") != std::string::npos || text.find("VOID") != std::string::npos || text.find("TIME(") != std::string::npos ||
          text.find("VARIANT") != std::string::npos || text.find("STRUCT<>") != std::string::npos || text.find("TIMESTAMP") != std::string::npos) {
        continue;
      }
      schema.push_back({.name = "c" + std::to_string(schema.size()), .type = type});
    }
    std::vector<std::string> partitions;
    const DataType keys[] = {DataType::Integer(), DataType::String(), DataType::Date(), DataType::Decimal(10, 2), DataType::Boolean()};
    if (random.NextBool()) {
      schema.push_back({.name = "p", .type = keys[random.NextBelow(5)]});
      partitions = {"p"};
    }
    MemoryFileSystem disk;
    const DeltaBench bench(disk);
    std::vector<ValueList> all;
    std::vector<DataType> types;
    for (const auto& field : schema) types.push_back(field.type);
    for (int batch = 0; batch < 3; ++batch) {
      std::vector<ValueList> rows;
      for (int row = 0; row < 20; ++row) {
        ValueList values;
        for (const auto& field : schema) values.push_back(data::RandomValue(random, field.type, 0.2));
        if (!partitions.empty() && types.back().Is(TypeKind::kString) && !values.back().is_null()) {
          // Partition values are text: invalid UTF-8 and what JSON cannot hold are not the point here.
          values.back() = Value("v" + std::to_string(random.NextBelow(4)) + " %/:=ü");
        }
        if (!partitions.empty() && types.back().Is(TypeKind::kDate) && !values.back().is_null()) values.back() = Value(static_cast<int32_t>(random.NextBelow(4)));
        if (!partitions.empty() && types.back().Is(TypeKind::kInteger) && !values.back().is_null()) values.back() = Value(static_cast<int32_t>(random.NextBelow(4)));
        rows.push_back(std::move(values));
      }
      all.insert(all.end(), rows.begin(), rows.end());
      const auto written = bench.Write("/t", schema, {data::ChunkFromRows(types, rows)}, SaveMode::kAppend, partitions);
      ASSERT_TRUE(written.ok()) << written.status().message();
    }
    const auto read = bench.Rows("/t");
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(Texts(*read, schema), Texts(all, schema)) << DataType::Struct(schema).Sql();
  }
}

sql::ExprPtr Compare(const char* op, const sql::AttributePtr& column, Value value) {
  sql::ExprList arguments = {column, sql::Literal::Make(std::move(value), column->type())};
  static const sql::EvalConfig config;
  return sql::BindBuiltin(op, std::move(arguments), {.config = config}).ValueOrDie();
}

TEST(DeltaWriteTest, TheNameOfTheNullPartitionIsNull) {
  // Real Spark 4.2.0 with Delta 4.4.0 writes {"p":null} for all three, since it reads the values back from the directory's name.
  MemoryFileSystem disk;
  const DeltaBench bench(disk);
  const data::Schema schema = {{.name = "id", .type = DataType::Long()}, {.name = "p", .type = DataType::String()}};
  const data::Chunk chunk = data::ChunkFromRows({schema[0].type, schema[1].type}, {{Value(int64_t{0}), Value(std::string("__HIVE_DEFAULT_PARTITION__"))},
                                                                                  {Value(int64_t{1}), Value()},
                                                                                  {Value(int64_t{2}), Value(std::string())},
                                                                                  {Value(int64_t{3}), Value(std::string("x"))}});
  ASSERT_TRUE(bench.Write("/t", schema, {chunk}, SaveMode::kAppend, {"p"}).ValueOrDie());
  for (const ValueList& row : bench.Rows("/t").ValueOrDie()) EXPECT_EQ(row[1].is_null(), row[0].AsInt64() < 3);
  for (const auto& line : LogLines(disk, "/t", 0)) {
    if (!line.contains("add")) continue;
    const auto& value = line["add"]["partitionValues"]["p"];
    EXPECT_TRUE(value.is_null() || value == "x") << value;
  }
}

TEST(DeltaWriteTest, FiltersSkipFilesByStatisticsAndPartitions) {
  MemoryFileSystem disk;
  const DeltaBench bench(disk);
  for (int64_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(bench.Write("/t", kIdName, {IdNames(i * 10, i * 10 + 10)}, SaveMode::kAppend, {"name"}).ok());
  }
  const auto table = bench.Load("/t").ValueOrDie();
  const auto id = sql::Attribute::Make("id", DataType::Long(), true);
  const auto name = sql::Attribute::Make("name", DataType::String(), true);
  const auto rows = bench.Rows(table, {"id", "name"}, {Compare(">=", id, Value(int64_t{95}))}).ValueOrDie();
  EXPECT_EQ(rows.size(), 10u);  // the files of the last write: three partitions
  const auto one = bench.Rows(table, {"id"}, {Compare("==", name, Value(std::string("n1"))), Compare("<", id, Value(int64_t{10}))}).ValueOrDie();
  EXPECT_EQ(one.size(), 3u);    // 1, 4, 7
  EXPECT_EQ(bench.Rows(table, {"name"}, {Compare(">", id, Value(int64_t{1000}))}).ValueOrDie().size(), 0u);
}

// As a Kafka value cast to STRING may be. Real Spark writes such a table too; what the log says must stay UTF-8.
TEST(DeltaWriteTest, BytesThatAreNotUtf8DoNotDamageTheLog) {
  MemoryFileSystem disk;
  const DeltaBench bench(disk);
  const std::string bytes = "\xFF" "A";
  const Chunk rows = data::ChunkFromRows({DataType::Long(), DataType::String()},
                                         {{Value(int64_t{1}), Value(bytes)}, {Value(int64_t{2}), Value(std::string("b"))}});
  ASSERT_TRUE(bench.Write("/t", kIdName, {rows}, SaveMode::kAppend).ok());
  EXPECT_TRUE(data::IsValidUtf8(disk.ReadWhole("/t/_delta_log/00000000000000000000.json").ValueOrDie()));
  const auto table = bench.Load("/t").ValueOrDie();
  const auto name = sql::Attribute::Make("name", DataType::String(), true);
  const auto found = bench.Rows(table, {"id"}, {Compare("==", name, Value(bytes))}).ValueOrDie();
  EXPECT_EQ(found.size(), 2u);  // the one file; rows are filtered by the query
  // Partition values stand in the log: refused there, as by real Spark for a BINARY of these bytes.
  EXPECT_EQ(bench.Write("/p", kIdName, {rows}, SaveMode::kAppend, {"name"}).status().condition(), "TASK_WRITE_FAILED");
}

TEST(DeltaWriteTest, SchemasAreEnforced) {
  MemoryFileSystem disk;
  const DeltaBench bench(disk);
  ASSERT_TRUE(bench.Write("/t", kIdName, {IdNames(0, 2)}, SaveMode::kAppend).ok());
  const Schema wrong_type = {{.name = "id", .type = DataType::Integer()}};
  const Chunk ints = data::ChunkFromRows({DataType::Integer()}, {{Value(int32_t{7})}});
  EXPECT_EQ(bench.Write("/t", wrong_type, {ints}, SaveMode::kAppend).status().condition(), "DELTA_FAILED_TO_MERGE_FIELDS");
  const Schema extra = {{.name = "ID", .type = DataType::Long()}, {.name = "x", .type = DataType::Double()}};
  const Chunk with_extra = data::ChunkFromRows({DataType::Long(), DataType::Double()}, {{Value(int64_t{7}), Value(0.5)}});
  EXPECT_EQ(bench.Write("/t", extra, {with_extra}, SaveMode::kAppend).status().condition(), "DELTA_METADATA_MISMATCH");
  EXPECT_EQ(bench.Write("/t", kIdName, {IdNames(0, 1)}, SaveMode::kAppend, {"id"}).status().condition(), "DELTA_METADATA_MISMATCH");
  sql::OptionMap merge;
  merge.Set("mergeSchema", "true");
  ASSERT_TRUE(bench.Write("/t", extra, {with_extra}, SaveMode::kAppend, {}, merge).ok());
  const auto table = bench.Load("/t").ValueOrDie();
  ASSERT_EQ(table->schema().size(), 3u);
  EXPECT_EQ(Texts(bench.Rows(table).ValueOrDie(), table->schema()), (std::vector<std::string>{"0|n0|NULL|", "1|n1|NULL|", "7|NULL|0.5|"}));
  // The sink casts: an int into the bigint.
  auto sink = bench.Sink("/t", wrong_type, Uuid::MakeRandom()).ValueOrDie();
  ASSERT_TRUE(bench.RunEpoch(*sink, 0, {ints}).ok());
  EXPECT_EQ(Ids(bench, "/t"), (std::vector<int64_t>{0, 1, 7, 7}));
  const Schema all_partition = {{.name = "id", .type = DataType::Long()}};
  const Chunk longs = data::ChunkFromRows({DataType::Long()}, {{Value(int64_t{7})}});
  EXPECT_EQ(bench.Write("/u", all_partition, {longs}, SaveMode::kAppend, {"id"}).status().condition(), "DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION");
  EXPECT_EQ(bench.Write("/u", all_partition, {longs}, SaveMode::kAppend, {"nope"}).status().condition(), "DELTA_PARTITION_COLUMN_NOT_FOUND");
  const Schema bad_name = {{.name = "a b", .type = DataType::Long()}};
  EXPECT_EQ(bench.Write("/u", bad_name, {longs}, SaveMode::kAppend).status().condition(), "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES");
  sql::OptionMap overwrite_schema;
  overwrite_schema.Set("overwriteSchema", "true");
  const std::string id = Newest(disk, "/t")->metadata().id;
  ASSERT_TRUE(bench.Write("/t", wrong_type, {ints}, SaveMode::kOverwrite, {}, overwrite_schema).ok());
  EXPECT_EQ(bench.Load("/t").ValueOrDie()->schema().size(), 1u);
  EXPECT_EQ(Newest(disk, "/t")->metadata().id, id);
}

TEST(DeltaWriteTest, SinkModesAndIdempotence) {
  MemoryFileSystem disk;
  const DeltaBench bench(disk);
  const Uuid query = Uuid::MakeRandom();
  EXPECT_EQ(bench.Sink("/t", kIdName, query, sql::OutputMode::kUpdate).status().condition(), "DELTA_UNSUPPORTED_OUTPUT_MODE");
  auto sink = bench.Sink("/t", kIdName, query).ValueOrDie();
  EXPECT_EQ(sink->LastCommitted().ValueOrDie(), std::nullopt);
  ASSERT_TRUE(bench.RunEpoch(*sink, 0, {IdNames(0, 5)}).ok());
  ASSERT_TRUE(bench.RunEpoch(*sink, 1, {IdNames(5, 7)}).ok());
  // The query died after the commit and runs the epoch again, in another process.
  const DeltaBench other(disk);
  auto again = other.Sink("/t", kIdName, query).ValueOrDie();
  EXPECT_EQ(again->LastCommitted().ValueOrDie(), BatchId(1));
  ASSERT_TRUE(other.RunEpoch(*again, 1, {IdNames(5, 7)}).ok());
  EXPECT_EQ(Ids(other, "/t"), Range(0, 7));
  EXPECT_EQ(Newest(disk, "/t")->version(), 1);
  for (const auto& file : disk.ListTree("/t").ValueOrDie()) {
    if (!file.path.ends_with(".parquet")) continue;  // the second attempt's file is gone
    const auto live = Newest(disk, "/t")->files()->live();
    EXPECT_TRUE(std::any_of(live.begin(), live.end(), [&](const AddFilePtr& add) { return file.path.ends_with(add->path); })) << file.path;
  }
  auto complete = bench.Sink("/c", kIdName, Uuid::MakeRandom(), sql::OutputMode::kComplete).ValueOrDie();
  ASSERT_TRUE(bench.RunEpoch(*complete, 0, {IdNames(0, 3)}).ok());
  ASSERT_TRUE(bench.RunEpoch(*complete, 1, {IdNames(1, 6)}).ok());
  EXPECT_EQ(Ids(bench, "/c"), Range(1, 6));
  EXPECT_EQ(LogLines(disk, "/c", 1)[0]["commitInfo"]["operationParameters"]["outputMode"], "Complete");
  // Idempotent batch writes (foreachBatch).
  sql::OptionMap options;
  options.Set("txnAppId", "app");
  options.Set("txnVersion", "3");
  ASSERT_TRUE(bench.Write("/t", kIdName, {IdNames(7, 8)}, SaveMode::kAppend, {}, options).ValueOrDie());
  EXPECT_FALSE(bench.Write("/t", kIdName, {IdNames(7, 8)}, SaveMode::kAppend, {}, options).ValueOrDie());
  EXPECT_EQ(Ids(bench, "/t"), Range(0, 8));
}

TEST(DeltaWriteTest, CheckpointsStandForTheCommitsBelow) {
  MemoryFileSystem disk;
  const DeltaBench bench(disk);
  for (int64_t i = 0; i < 23; ++i) {
    const SaveMode mode = i == 12 ? SaveMode::kOverwrite : SaveMode::kAppend;
    ASSERT_TRUE(bench.Write("/t", kIdName, {IdNames(i, i + 1)}, mode, {"name"}).ok());
  }
  DeltaLog log(disk, SystemClock::Get(), "/t");
  const auto listing = log.List().ValueOrDie();
  ASSERT_EQ(listing.checkpoints.size(), 2u);
  EXPECT_EQ(listing.checkpoints[0].version, 20);
  EXPECT_EQ(ParseLastCheckpoint(disk.ReadWhole("/t/_delta_log/_last_checkpoint").ValueOrDie()).ValueOrDie(), 20);
  const auto before = log.Update().ValueOrDie();
  for (int64_t version = 0; version < 20; ++version) ASSERT_TRUE(disk.Remove(log.CommitPath(version)).ok());
  DeltaLog fresh(disk, SystemClock::Get(), "/t");
  const auto after = fresh.Update().ValueOrDie();
  EXPECT_EQ(after->version(), 22);
  EXPECT_EQ(after->metadata(), before->metadata());
  EXPECT_EQ(after->protocol(), before->protocol());
  EXPECT_EQ(after->files()->tombstones().size(), before->files()->tombstones().size());
  EXPECT_EQ(Ids(DeltaBench(disk), "/t"), Range(12, 23));
  EXPECT_EQ(fresh.At(5).status().condition(), "DELTA_TRUNCATED_TRANSACTION_LOG");
  ASSERT_TRUE(disk.Remove(log.CommitPath(21)).ok());
  EXPECT_EQ(DeltaLog(disk, SystemClock::Get(), "/t").Update().status().condition(), "DELTA_VERSIONS_NOT_CONTIGUOUS");
}

TEST(DeltaWriteTest, RacingAppendsAreSerialisable) {
  MemoryFileSystem disk;
  ASSERT_TRUE(DeltaBench(disk).Write("/t", kIdName, {IdNames(0, 1)}, SaveMode::kAppend).ok());
  constexpr int kThreads = 6;
  constexpr int kCommits = 12;
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const DeltaBench bench(disk);
      for (int i = 0; i < kCommits; ++i) {
        const int64_t id = 1 + t * kCommits + i;
        const auto written = bench.Write("/t", kIdName, {IdNames(id, id + 1)}, SaveMode::kAppend);
        EXPECT_TRUE(written.ok()) << written.status().message();
      }
    });
  }
  threads.clear();
  EXPECT_EQ(Ids(DeltaBench(disk), "/t"), Range(0, 1 + kThreads * kCommits));
  EXPECT_EQ(Newest(disk, "/t")->version(), kThreads * kCommits);
}

TEST(DeltaWriteTest, LosersOfAConflictHaveDeltasCondition) {
  MemoryFileSystem disk;
  const DeltaBench bench(disk);
  ASSERT_TRUE(bench.Write("/t", kIdName, {IdNames(0, 1)}, SaveMode::kAppend).ok());
  const auto loser = [&](SaveMode mode, const std::function<void()>& winner) {
    const auto table = bench.Load("/t", {}, true).ValueOrDie();
    sql::WriteRequest request;
    request.schema = kIdName;
    request.mode = mode;
    request.config = bench.config();
    const auto write = table->NewBatchWrite(request).ValueOrDie();
    auto writer = write->NewWriter(PartitionId(0)).ValueOrDie();
    EXPECT_TRUE(writer->Write(IdNames(100, 101)).ok());
    const auto message = writer->Finish(nullptr).ValueOrDie();
    winner();
    return write->Commit({message}).condition();
  };
  const auto append = [&] { ASSERT_TRUE(bench.Write("/t", kIdName, {IdNames(1, 2)}, SaveMode::kAppend).ok()); };
  const auto overwrite = [&] { ASSERT_TRUE(bench.Write("/t", kIdName, {}, SaveMode::kOverwrite).ok()); };
  const auto evolve = [&] {
    sql::OptionMap merge;
    merge.Set("mergeSchema", "true");
    Schema schema = kIdName;
    schema.push_back({.name = "more" + std::to_string(Newest(disk, "/t")->version()), .type = DataType::Long()});
    const Chunk chunk = data::ChunkFromRows({DataType::Long(), DataType::String(), DataType::Long()}, {{Value(), Value(), Value()}});
    ASSERT_TRUE(bench.Write("/t", schema, {chunk}, SaveMode::kAppend, {}, merge).ok());
  };
  EXPECT_EQ(loser(SaveMode::kAppend, append), "");
  EXPECT_EQ(loser(SaveMode::kAppend, overwrite), "");
  EXPECT_EQ(loser(SaveMode::kAppend, evolve), "DELTA_METADATA_CHANGED");
  EXPECT_EQ(loser(SaveMode::kOverwrite, append), "DELTA_CONCURRENT_APPEND.WITHOUT_HINT");
  EXPECT_EQ(loser(SaveMode::kOverwrite, overwrite), "DELTA_CONCURRENT_DELETE_READ.WITHOUT_HINT");
}

// A program that makes its table at every start is killed while it does: the next one finds the table, or makes it.
TEST(DeltaWriteTest, ATableThatWasBeingMadeIsMadeAgain) {
  int steps = 0;
  for (int last_step = 0;; ++last_step) {
    MemoryFileSystem disk;
    data::FaultyFileSystem doomed(disk);
    doomed.CutPowerAfter(last_step);
    const bool made = DeltaBench(doomed).source().CreateTable("/t", kIdName, {}, {}, *DeltaBench(disk).config()).ok();
    const DeltaBench next(disk);
    ASSERT_TRUE(next.source().CreateTable("/t", kIdName, {}, {}, *next.config()).ok()) << "killed at durable step " << last_step;
    ASSERT_TRUE(next.Write("/t", kIdName, {IdNames(0, 3)}, SaveMode::kAppend).ok());
    EXPECT_EQ(Ids(next, "/t"), Range(0, 3));
    steps = last_step;
    if (made) break;
  }
  EXPECT_GT(steps, 1);
  MemoryFileSystem disk;
  ASSERT_TRUE(disk.MakeDirectories("/t/_delta_log").ok());
  ASSERT_TRUE((*disk.Create("/t/_delta_log/notes.txt", data::CreateMode::kReplace))->Close().ok());
  const DeltaBench bench(disk);
  EXPECT_EQ(bench.source().CreateTable("/t", kIdName, {}, {}, *bench.config()).condition(), "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION");
}

TEST(DeltaWriteTest, OfSeveralWhoMakeATableOneDoesAndTheOthersFindIt) {
  for (int turn = 0; turn < 30; ++turn) {
    MemoryFileSystem disk;
    std::vector<std::string> conditions(4);
    {
      std::vector<std::jthread> threads;
      for (std::string& condition : conditions) {
        threads.emplace_back([&] {
          const DeltaBench bench(disk);
          condition = bench.source().CreateTable("/t", kIdName, {}, {}, *bench.config()).condition();
        });
      }
    }
    for (const std::string& condition : conditions) EXPECT_TRUE(condition.empty() || condition == "TABLE_OR_VIEW_ALREADY_EXISTS") << condition;
    EXPECT_GE(std::count(conditions.begin(), conditions.end(), ""), 1);
    EXPECT_EQ(Newest(disk, "/t")->version(), 0);
  }
}

TEST(DeltaWriteTest, ATableThatFoundNoRoomLeavesNothing) {
  for (const auto operation : {data::FileOperation::kWrite, data::FileOperation::kSync, data::FileOperation::kRename}) {
    MemoryFileSystem inner;
    data::FaultyFileSystem disk(inner);
    disk.Add({.operation = operation, .error_number = ENOSPC, .path_part = "_delta_log", .lasting = true});
    const DeltaBench bench(disk);
    EXPECT_EQ(bench.source().CreateTable("/t", kIdName, {}, {}, *bench.config()).condition(), "IO_ERROR");
    EXPECT_FALSE(*inner.Exists("/t")) << static_cast<int>(operation);
    ASSERT_TRUE(inner.MakeDirectories("/u").ok());
    EXPECT_EQ(bench.source().CreateTable("/u", kIdName, {}, {}, *bench.config()).condition(), "IO_ERROR");
    EXPECT_TRUE(*inner.Exists("/u"));
    EXPECT_FALSE(*inner.Exists("/u/_delta_log"));
    disk.ClearFaults();
    EXPECT_TRUE(bench.source().CreateTable("/t", kIdName, {}, {}, *bench.config()).ok());
  }
}

// A sink with a crash at each durable step: power is lost, the query starts again from its last logged epoch.
TEST(DeltaWriteTest, CrashAtAnyStepLosesAndDoublesNothing) {
  RecordFaultPoints(true);
  {
    MemoryFileSystem disk;
    const DeltaBench bench(disk);
    const auto sink = bench.Sink("/t", kIdName, Uuid::MakeRandom()).ValueOrDie();
    for (int64_t epoch = 0; epoch < 11; ++epoch) ASSERT_TRUE(bench.RunEpoch(*sink, epoch, {IdNames(epoch * 2, epoch * 2 + 2)}).ok());
  }
  const std::vector<std::string> points = PassedFaultPoints();
  RecordFaultPoints(false);
  DisarmFaultPoints();
  EXPECT_TRUE(std::find(points.begin(), points.end(), "delta commit: log entry written") != points.end());
  EXPECT_TRUE(std::find(points.begin(), points.end(), "delta checkpoint: visible") != points.end());
  Random random(3);
  for (const std::string& point : points) {
    for (const int nth : {1, 2, 7}) {
      MemoryFileSystem disk;
      ASSERT_TRUE(disk.MakeDirectories("/t").ok() && disk.SyncDirectory("/").ok());
      const Uuid query = Uuid::MakeRandom();
      ArmFaultPoint(point, nth, FaultAction::kError);
      int64_t next = 0;
      for (int start = 0; start < 3 && next < 12; ++start) {
        const DeltaBench bench(disk);
        auto sink = bench.Sink("/t", kIdName, query);
        if (!sink.ok()) {
          disk.Crash(&random);
          continue;
        }
        bool crashed = false;
        while (next < 12 && !crashed) {
          crashed = !bench.RunEpoch(**sink, next, {IdNames(next * 2, next * 2 + 2)}).ok();
          if (!crashed) ++next;
        }
        if (crashed) disk.Crash(&random);  // the epoch is not in the commit log: it runs again
      }
      DisarmFaultPoints();
      EXPECT_EQ(Ids(DeltaBench(disk), "/t"), Range(0, 24)) << point << " at passage " << nth;
    }
  }
}

TEST(DeltaWriteTest, ANewTableInNewFoldersSurvivesACrash) {
  MemoryFileSystem disk;
  const DeltaBench bench(disk);
  const auto sink = bench.Sink("/a/b/t", kIdName, Uuid::MakeRandom()).ValueOrDie();
  ASSERT_TRUE(bench.RunEpoch(*sink, 0, {IdNames(0, 3)}).ok());
  disk.Crash();
  EXPECT_EQ(Ids(DeltaBench(disk), "/a/b/t"), Range(0, 3));
}

TEST(DeltaWriteTest, FailingDisksLoseNothingThatWasAcknowledged) {
  for (const auto operation : {data::FileOperation::kCreate, data::FileOperation::kWrite, data::FileOperation::kSync, data::FileOperation::kRename}) {
    for (int nth = 1; nth <= 12; ++nth) {
      MemoryFileSystem inner;
      data::FaultyFileSystem disk(inner);
      disk.Add({.operation = operation, .nth = nth, .error_number = 5});
      const DeltaBench bench(disk);
      std::set<int64_t> acknowledged;
      for (int64_t id = 0; id < 5; ++id) {
        const auto written = bench.Write("/t", kIdName, {IdNames(id, id + 1)}, SaveMode::kAppend);
        if (written.ok()) acknowledged.insert(id);
      }
      disk.ClearFaults();
      EXPECT_GE(acknowledged.size(), 3u);
      const auto ids = Ids(bench, "/t");
      for (const int64_t id : acknowledged) EXPECT_EQ(std::count(ids.begin(), ids.end(), id), 1) << static_cast<int>(operation) << " " << nth;
    }
  }
}

TEST(DeltaWriteTest, StringsOfStatisticsAreCutAsDeltaCutsThem) {
  EXPECT_EQ(TruncateMin("abcdef", 3), "abc");
  EXPECT_EQ(TruncateMin("\xC3\xBC\xC3\xBC", 1), "\xC3\xBC");
  EXPECT_EQ(TruncateMax("abc", 3), "abc");
  EXPECT_EQ(TruncateMax("abcd", 3), "abc\x7F");
  EXPECT_EQ(TruncateMax("abc\xC3\xBC", 3), "abc\xF4\x8F\xBF\xBF");
}

TEST(DeltaWriteTest, DeletionVectorsOfTheProtocol) {
  // Rows {3,4,7,11,18,29} as Delta serialises them, inline.
  const std::string payload = DecodeZ85("^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L").ValueOrDie();
  EXPECT_EQ(payload.size(), 44u);
  EXPECT_EQ(ParseDeletionBitmap(payload, 6).ValueOrDie(), (std::vector<int64_t>{3, 4, 7, 11, 18, 29}));
  for (size_t cut = 0; cut < payload.size(); ++cut) EXPECT_FALSE(ParseDeletionBitmap(std::string_view(payload).substr(0, cut), 6).ok());
  EXPECT_FALSE(DecodeZ85("abcd").ok());
}

TEST(DeltaWriteTest, DamagedLogsAreAStatus) {
  auto& local = data::LocalFileSystem::Get();
  const std::string whole = local.ReadWhole(TW_SOURCE_DIR "/tests/delta/partitioned/_delta_log/00000000000000000001.json").ValueOrDie();
  Random random(5);
  int failures = 0;
  for (int round = 0; round < 500; ++round) {
    std::string bytes = whole;
    if (round % 3 == 0) bytes.resize(random.NextBelow(bytes.size()));
    for (int hit = 0; hit < 3 && !bytes.empty(); ++hit) bytes[random.NextBelow(bytes.size())] = static_cast<char>(random.NextUint64());
    if (!ParseDeltaCommit(bytes, "damaged").ok()) ++failures;
  }
  EXPECT_GT(failures, 200);
}

TEST(DeltaWriteTest, NewestVersionIsSeenAndARemadeTableIsAnother) {
  MemoryFileSystem disk;
  const DeltaBench reader(disk);
  const DeltaBench writer(disk);
  ASSERT_TRUE(writer.Write("/t", kIdName, {IdNames(0, 2)}, SaveMode::kAppend).ok());
  const auto table = reader.Load("/t").ValueOrDie();
  EXPECT_EQ(reader.Rows(table).ValueOrDie().size(), 2u);
  ASSERT_TRUE(writer.Write("/t", kIdName, {IdNames(2, 5)}, SaveMode::kAppend).ok());
  EXPECT_EQ(reader.Rows(table).ValueOrDie().size(), 5u);
  ASSERT_TRUE(disk.RemoveTree("/t").ok());
  EXPECT_FALSE(reader.Load("/t").ok());
  ASSERT_TRUE(DeltaBench(disk).Write("/t", kIdName, {IdNames(0, 1)}, SaveMode::kErrorIfExists).ok());
  EXPECT_EQ(Ids(reader, "/t"), Range(0, 1));
}

// Tables for other engines: tests/streaming/sinks/delta_interop_test.py reads them with delta-rs (and by hand with Spark).
TEST(DeltaInteropTest, WritesTablesForOtherEngines) {
  auto& disk = data::LocalFileSystem::Get();
  const char* wanted = std::getenv("TW_DELTA_OUT");
  const std::string out = wanted != nullptr ? wanted : ::testing::TempDir() + "delta_out_" + Uuid::MakeRandom().ToString();
  const DeltaBench bench(disk);
  // All types, nested ones too, in three files with nulls; partitioned by text that needs every kind of escape.
  const DataType nested = DataType::Struct({{.name = "a", .type = DataType::Integer()},
                                            {.name = "l", .type = DataType::Array(DataType::String())}});
  const Schema schema = {{.name = "id", .type = DataType::Long()},        {.name = "i", .type = DataType::Integer()},
                         {.name = "d", .type = DataType::Double()},       {.name = "dc", .type = DataType::Decimal(20, 3)},
                         {.name = "small", .type = DataType::Decimal(7, 2)}, {.name = "s", .type = DataType::String()},
                         {.name = "b", .type = DataType::Boolean()},      {.name = "bin", .type = DataType::Binary()},
                         {.name = "day", .type = DataType::Date()},       {.name = "ts", .type = DataType::Timestamp()},
                         {.name = "st", .type = nested},                  {.name = "m", .type = DataType::Map(DataType::String(), DataType::Long())},
                         {.name = "p", .type = DataType::String()}};
  std::vector<DataType> types;
  for (const auto& field : schema) types.push_back(field.type);
  const char* partitions[] = {"plain", "a b/c:d%e=f?g#h", "\xC3\xBC"};
  for (int64_t id = 0; id < 3; ++id) {
    std::vector<ValueList> rows;
    for (int64_t row = 0; row < 3; ++row) {
      rows.push_back({Value(id * 3 + row), Value(static_cast<int32_t>(row)), Value(0.5 * static_cast<double>(row)),
                      Value(data::Int128{123456789} * (row + 1)), Value(data::Int128{-105}), Value("text " + std::to_string(row)),
                      Value(row == 1), Value(std::string("\0\xFF", 2)), Value(static_cast<int32_t>(19000 + row)),
                      Value(int64_t{1704164645123456} + row),
                      Value(ValueList{Value(static_cast<int32_t>(row)), Value(ValueList{Value(std::string("x")), Value()})}),
                      Value(ValueList{Value(std::string("k")), Value(row)}), Value(std::string(partitions[id]))});
    }
    ValueList nulls(schema.size());
    nulls[0] = Value(100 + id);
    rows.push_back(std::move(nulls));
    ASSERT_TRUE(bench.Write(out + "/types", schema, {data::ChunkFromRows(types, rows)}, SaveMode::kAppend, {"p"}).ok());
  }
  EXPECT_EQ(bench.Rows(out + "/types").ValueOrDie().size(), 12u);
  // A streaming target past two checkpoints, then an overwrite and another append.
  auto sink = bench.Sink(out + "/stream", kIdName, Uuid::MakeRandom()).ValueOrDie();
  for (int64_t epoch = 0; epoch < 24; ++epoch) ASSERT_TRUE(bench.RunEpoch(*sink, epoch, {IdNames(epoch * 10, epoch * 10 + 10)}).ok());
  EXPECT_EQ(Ids(bench, out + "/stream"), Range(0, 240));
  ASSERT_TRUE(bench.Write(out + "/overwritten", kIdName, {IdNames(0, 10)}, SaveMode::kAppend).ok());
  ASSERT_TRUE(bench.Write(out + "/overwritten", kIdName, {IdNames(10, 12)}, SaveMode::kOverwrite).ok());
  ASSERT_TRUE(bench.Write(out + "/overwritten", kIdName, {IdNames(12, 15)}, SaveMode::kAppend).ok());
  EXPECT_EQ(Ids(bench, out + "/overwritten"), Range(10, 15));
  if (wanted == nullptr) {
    ASSERT_TRUE(disk.RemoveTree(out).ok());
  }
}

}  // namespace
}  // namespace thalweg::connectors
