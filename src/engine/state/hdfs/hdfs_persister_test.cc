// Files that Spark wrote, and damage of the HDFS format by its name. What every format promises: state_persister_test.cc.

#include "engine/state/hdfs/hdfs_persister.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "data/io/local_file_system.h"
#include "data/io/path.h"
#include "data/rowformat/column_hash.h"
#include "data/rowformat/unsafe_row_reader.h"
#include "data/rowformat/unsafe_row_writer.h"
#include "engine/checkpoint/operator_metadata.h"
#include "engine/checkpoint/state_schema_file.h"
#include "engine/state/persister_test_support.h"
#include "engine/state/store_schema.h"

namespace thalweg::engine {
namespace {

const std::string kSamples = "tests/checkpoints/spark-4.2.0/";

std::vector<data::DataType> TypesOf(const data::Schema& schema) {
  std::vector<data::DataType> types;
  for (const auto& field : schema) types.push_back(field.type);
  return types;
}

// --- Spark's to_json over state rows ---

std::string TimestampText(int64_t micros) {
  int64_t seconds = micros / 1'000'000 - (micros % 1'000'000 < 0);
  const int64_t millis = (micros - seconds * 1'000'000) / 1000;
  const auto time = static_cast<time_t>(seconds);
  tm parts{};
  gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec, millis);
}

std::string Json(const data::Value& value, const data::DataType& type) {
  switch (type.kind()) {
    case data::TypeKind::kStruct: {
      std::string text;
      const auto& fields = value.get<data::ValueList>();
      for (size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].is_null()) continue;
        const auto& field = type.fields()[i];
        text += (text.empty() ? "" : ",") + fmt::format("\"{}\":{}", field.name, Json(fields[i], field.type));
      }
      return "{" + text + "}";
    }
    case data::TypeKind::kTimestamp: return '"' + TimestampText(value.get<int64_t>()) + '"';
    case data::TypeKind::kString: return '"' + value.get<std::string>() + '"';
    case data::TypeKind::kBoolean: return value.get<bool>() ? "true" : "false";
    case data::TypeKind::kDouble: return fmt::format("{:.1f}", value.get<double>());
    default: return std::to_string(value.AsInt64());
  }
}

data::Value RowValue(const data::Schema& schema, std::string_view row) {
  const std::vector<std::string_view> rows = {row};
  const auto columns = data::UnsafeRowReader(TypesOf(schema)).Read(rows).ValueOrDie();
  data::ValueList values;
  for (const auto& column : columns) values.push_back(column->GetValue(0));
  return data::Value(std::move(values));
}

struct ExpectedStore {
  int64_t operator_id = 0;
  std::string store;
  std::vector<std::string> lines;
};

std::vector<ExpectedStore> ReadExpected(const std::string& path) {
  std::vector<ExpectedStore> stores;
  std::string text = data::LocalFileSystem::Get().ReadWhole(path).ValueOrDie();
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("{\"operator\"")) {
      stores.back().lines.push_back(line);
      continue;
    }
    const size_t id = line.find("\"operatorId\": ") + 14;
    const size_t store = line.find("\"store\": \"") + 10;
    stores.push_back({std::stoll(line.substr(id)), line.substr(store, line.find('"', store) - store), {}});
  }
  return stores;
}

class SparkSample : public testing::TestWithParam<const char*> {};

// The last state of every store, as Spark's own state reader printed it; and each key in its partition.
TEST_P(SparkSample, LastStateIsWhatSparkReads) {
  auto& files = data::LocalFileSystem::Get();
  const std::string root = kSamples + GetParam() + "/checkpoint";
  for (const ExpectedStore& expected : ReadExpected(kSamples + GetParam() + "/state.jsonl")) {
    const OperatorId operator_id(expected.operator_id);
    const CheckpointLayout layout(root);
    const auto schema = *ReadStoreSchema(files, layout, operator_id, expected.store).ValueOrDie();
    const auto metadata = *ReadOperatorMetadata(files, layout, operator_id, BatchId(0)).ValueOrDie();
    const bool partitioned_by_key = metadata.operator_name == "stateStoreSave" || metadata.operator_name == "dedupe";
    StateRowTypes types{TypesOf(schema.key), TypesOf(schema.value), metadata.operator_name != "dedupe"};
    std::vector<std::string> lines;
    for (int partition = 0; partition < 2; ++partition) {
      StateOptions options;
      if (std::string(GetParam()).ends_with("rocksdb")) options.provider_class = kRocksDbProviderClass;
      const auto persister = OpenPersister(files, {root, operator_id, PartitionId(partition), expected.store}, options, types);
      const auto rows = LoadAll(*persister, persister->NewestVersion().ValueOrDie()).ValueOrDie();
      for (const auto& [key, value] : rows) {
        lines.push_back(fmt::format("{{\"key\":{},\"value\":{},\"partition_id\":{}}}",
                                    Json(RowValue(schema.key, key), data::DataType::Struct(schema.key)),
                                    Json(RowValue(schema.value, value), data::DataType::Struct(schema.value)), partition));
        const std::vector<std::string_view> key_rows = {key};
        const auto columns = data::UnsafeRowReader(types.key).Read(key_rows).ValueOrDie();
        int32_t hash = 0;
        data::HashColumns(columns, nullptr, {&hash, 1});
        if (partitioned_by_key) {
          EXPECT_EQ(data::PartitionOf(hash, 2), partition);
        }
      }
    }
    std::sort(lines.begin(), lines.end());
    EXPECT_EQ(lines, expected.lines) << expected.store;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SparkSample,
                         testing::Values("count", "window-append", "chained-windows", "session", "dedup",
                                         "dedup-watermark", "dedup-within-watermark", "join-inner", "join-left-outer",
                                         "limit", "pandas-with-state", "window-append-rocksdb"));

// Reading a delta and writing its changes gives the same records; read again they are the same state.
TEST(HdfsPersister, WhatSparkWroteIsWrittenAgainAlike) {
  auto& files = data::LocalFileSystem::Get();
  for (const char* name : {"count", "window-append", "session", "join-left-outer"}) {
    const std::string root = kSamples + name + std::string("/checkpoint");
    for (const auto& file : files.ListTree(root + "/state").ValueOrDie()) {
      if (!file.path.ends_with(".delta") || file.name().starts_with(".")) continue;
      const std::string bytes = files.ReadWhole(file.path).ValueOrDie();
      StateFileEncoder encoder(StateCodecKind::kLz4, false);
      std::vector<std::string> records;
      const auto note = [](std::vector<std::string>& to, const StateChange& change) {
        to.push_back(std::string(change.key) + (change.removed ? "-" : "+") + std::string(change.value));
      };
      ASSERT_TRUE(DecodeStateFile({}, bytes, [&](std::span<const StateChange> changes) {
                    for (const StateChange& change : changes) note(records, change);
                    return encoder.Append(changes);
                  }).ok());
      ASSERT_TRUE(encoder.Finish().ok());
      std::vector<std::string> again;
      ASSERT_TRUE(DecodeStateFile({}, encoder.bytes(), [&](std::span<const StateChange> changes) {
                    for (const StateChange& change : changes) note(again, change);
                    return Status::OK();
                  }).ok());
      EXPECT_EQ(again, records) << file.path;
      EXPECT_EQ(encoder.bytes().size(), bytes.size()) << "our lz4 finds the same matches: " << file.path;
    }
  }
}

TEST(HdfsPersister, ReadsSnapshotsAndRowChecksumsOfSpark) {
  auto& files = data::LocalFileSystem::Get();
  const std::string vectors = kSamples + "vectors/";
  // window_count_append has a snapshot at version 3: with and without it the state is the same.
  for (int partition = 0; partition < 5; ++partition) {
    const auto persister = OpenPersister(files, {vectors + "window_count_append", OperatorId(0), PartitionId(partition)});
    const Rows rows = LoadAll(*persister, StateVersion(3)).ValueOrDie();
    Rows replayed;
    for (int version = 1; version <= 3; ++version) {
      ASSERT_TRUE(ReplayChanges(*persister, StateVersion(version), &replayed).ok());
    }
    EXPECT_EQ(rows, replayed);
  }
  for (const char* name : {"2.delta", "3.snapshot"}) {
    std::string bytes = files.ReadWhole(vectors + "rowchecksum/" + name).ValueOrDie();
    const StateFileSource source{.path = name, .snapshot = name[0] == '3', .row_checksum = true};
    int64_t rows = 0;
    const auto count = [&](std::span<const StateChange> changes) {
      for (const auto& change : changes) rows += change.removed ? 0 : 1;
      return Status::OK();
    };
    ASSERT_TRUE(DecodeStateFile(source, bytes, count).ok()) << name;
    EXPECT_GT(rows, 0);
  }
}

TEST(HdfsPersister, EveryAggregateOfSparkIsReadable) {
  auto& files = data::LocalFileSystem::Get();
  const std::string folder = kSamples + "vectors/aggregates/";
  int read = 0;
  for (const auto& file : files.List(folder).ValueOrDie()) {
    if (!file.path.ends_with(".delta")) continue;
    const std::string bytes = files.ReadWhole(file.path).ValueOrDie();
    const std::string stem(file.name().substr(0, file.name().find('.')));
    const bool has_schema = files.Exists(folder + stem + ".schema").ValueOrDie();
    const Status status = DecodeStateFile({}, bytes, [&](std::span<const StateChange> changes) -> Status {
      if (!has_schema) return Status::OK();
      const auto file = ParseStateSchemaFile(files.ReadWhole(folder + stem + ".schema").ValueOrDie()).ValueOrDie();
      TW_ASSIGN_OR_RETURN(const data::DataType value_type, data::ParseTypeJson(file.families[0].value_json));
      for (const auto& change : changes) {
        const auto types = TypesOf(value_type.fields());
        const auto fault = data::FindRowFault(types, change.value);
        EXPECT_FALSE(fault) << stem << ": " << *fault;
        const std::vector<std::string_view> rows = {change.value};
        TW_ASSIGN_OR_RETURN(const auto columns, data::UnsafeRowReader(types).Read(rows));
        // Written again, byte for byte.
        data::RowBatch batch;
        TW_RETURN_NOT_OK(data::UnsafeRowWriter(types).Write(columns, 1, nullptr, &batch));
        EXPECT_EQ(batch.row(0), change.value) << stem;
      }
      return Status::OK();
    });
    EXPECT_TRUE(status.ok()) << file.path << status.message();
    ++read;
  }
  EXPECT_GE(read, 10);
}

// --- damage ---

TEST(HdfsPersister, DamageIsNamedAsSparkNamesIt) {
  data::MemoryFileSystem files;
  const auto persister = OpenPersister(files);
  RandomHistory history(11);
  for (int i = 0; i < 6; ++i) history.Step(files, *persister);
  const std::string delta = "/ckpt/state/0/0/3.delta";
  const std::string good = files.ReadWhole(delta).ValueOrDie();
  const auto condition = [&] { return LoadAll(*persister, StateVersion(6)).status().condition(); };
  const auto with_records = [&](const std::string& records) {
    std::string bytes;
    const auto compressor = StateCompressor::Make(StateCodecKind::kLz4);
    EXPECT_TRUE(compressor->Append(records, &bytes).ok());
    EXPECT_TRUE(compressor->Finish(&bytes).ok());
    Overwrite(files, delta, bytes);
  };
  ASSERT_TRUE(files.Remove(delta).ok());
  EXPECT_EQ(condition(), "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS");
  Overwrite(files, delta, good.substr(0, good.size() / 2));
  EXPECT_EQ(condition(), "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED");
  with_records("");
  EXPECT_EQ(condition(), "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED") << "no end mark of the records";
  with_records(std::string("\xff\xff\xff\xfe", 4));
  EXPECT_EQ(condition(), "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_KEY_SIZE");
  with_records(std::string("\0\0\0\1k\xff\xff\xff\xff\xff\xff\xff\xff", 13));
  EXPECT_TRUE(condition().empty()) << "removal of a key that is not there";
  Overwrite(files, delta, good);
  for (const char* stray : {"1.foo", "x.delta", ".3.delta.crc", "_metadata"}) {
    Overwrite(files, std::string("/ckpt/state/0/0/") + stray, "stray");
  }
  EXPECT_EQ(LoadAll(*persister, StateVersion(6)).ValueOrDie(), history.expected[6]);
  EXPECT_EQ(LoadAll(*persister, StateVersion(-1)).status().condition(), "CANNOT_LOAD_STATE_STORE.UNEXPECTED_VERSION");
}

TEST(HdfsPersister, TheFirstRowIsCheckedAgainstTheSchema) {
  auto& files = data::LocalFileSystem::Get();
  const StateStoreId id{kSamples + "count/checkpoint", OperatorId(0), PartitionId(0)};
  const auto load = [&](StateRowTypes types) {
    return LoadAll(*OpenPersister(files, id, {}, std::move(types)), StateVersion(2)).status().condition();
  };
  EXPECT_EQ(load({{data::DataType::String()}, {data::DataType::Long()}}), "");
  EXPECT_EQ(load({{data::DataType::String(), data::DataType::Long(), data::DataType::Long()}, {data::DataType::Long()}}),
            "CANNOT_LOAD_STATE_STORE.KEY_ROW_FORMAT_VALIDATION_FAILURE");
  EXPECT_EQ(load({{data::DataType::String()}, {data::DataType::Long(), data::DataType::Long()}}),
            "CANNOT_LOAD_STATE_STORE.VALUE_ROW_FORMAT_VALIDATION_FAILURE");
  EXPECT_EQ(load({{data::DataType::String()}, {data::DataType::Long(), data::DataType::Long()}, false}), "");
}

}  // namespace
}  // namespace thalweg::engine
