// Tables written by Spark 4.2.0 with Delta 4.4.0 (tests/delta): every version reads as Spark read it, or is refused by name.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "connectors/delta/delta_testing.h"
#include "data/io/local_file_system.h"
#include "data/io/path.h"
#include "data/text/datetime.h"
#include "data/text/numbers.h"

namespace thalweg::connectors {
namespace {

using data::DataType;
using data::TypeKind;
using data::Value;
using data::ValueList;
using nlohmann::json;

const std::string kSamples = TW_SOURCE_DIR "/tests/delta/";

std::string Base64(const std::string& bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t block = 0;
    for (size_t i = 0; i < 3; ++i) block = block << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0);
    for (size_t i = 0; i < 4; ++i) out += at + i <= bytes.size() ? kDigits[block >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

std::string SixDigits(int64_t micros, const char* zone) {
  std::string text;
  data::AppendTimestampNtz(micros, &text);
  text[text.find(' ')] = 'T';
  const size_t dot = text.find('.');
  if (dot == std::string::npos) {
    text += ".000000";
  } else {
    text.append(6 - (text.size() - dot - 1), '0');
  }
  return text + zone;
}

json Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

// As tools of the recording wrote it.
json ToJson(const Value& value, const DataType& type) {
  if (value.is_null()) return nullptr;
  switch (type.kind()) {
    case TypeKind::kBoolean: return value.get<bool>();
    case TypeKind::kByte:
    case TypeKind::kShort:
    case TypeKind::kInteger:
    case TypeKind::kLong: return value.AsInt64();
    case TypeKind::kFloat: {
      if (!std::isfinite(value.get<float>())) return Number(value.get<float>());
      std::string text;
      data::AppendFloat(value.get<float>(), &text);
      return std::stod(text);
    }
    case TypeKind::kDouble: return Number(value.get<double>());
    case TypeKind::kDecimal: {
      std::string text;
      data::AppendDecimal(value.get<data::Int128>(), type.scale(), &text);
      return text;
    }
    case TypeKind::kString: return value.get<std::string>();
    case TypeKind::kBinary: return Base64(value.get<std::string>());
    case TypeKind::kDate: {
      std::string text;
      data::AppendDate(value.get<int32_t>(), &text);
      return text;
    }
    case TypeKind::kTimestamp: return SixDigits(value.get<int64_t>(), "Z");
    case TypeKind::kTimestampNtz: return SixDigits(value.get<int64_t>(), "");
    case TypeKind::kArray: {
      json out = json::array();
      for (const Value& element : value.get<ValueList>()) out.push_back(ToJson(element, type.element()));
      return out;
    }
    case TypeKind::kMap: {
      json out = json::object();
      const auto& list = value.get<ValueList>();
      for (size_t i = 0; i < list.size(); i += 2) {
        const json key = ToJson(list[i], type.key());
        out[key.is_string() ? key.get<std::string>() : key.dump()] = ToJson(list[i + 1], type.value());
      }
      return out;
    }
    case TypeKind::kStruct: {
      json out = json::object();
      for (size_t i = 0; i < type.fields().size(); ++i) {
        out[type.fields()[i].name] = ToJson(value.get<ValueList>()[i], type.fields()[i].type);
      }
      return out;
    }
    default: return "some value";  // variants: their decoding is not this room's
  }
}

std::vector<std::string> Sorted(const json& rows) {
  std::vector<std::string> out;
  for (const json& row : rows) out.push_back(row.dump());
  std::sort(out.begin(), out.end());
  return out;
}

json ReadExpected(const std::string& name) {
  std::ifstream file(kSamples + name + "/expected.json");
  return json::parse(file);
}

std::vector<std::string> ReadVersion(const DeltaBench& bench, const std::string& path, int64_t version) {
  sql::OptionMap options;
  options.Set("versionAsOf", std::to_string(version));
  const auto table = bench.Load(path, options);
  if (!table.ok()) return {table.status().message()};
  const auto rows = bench.Rows(*table);
  if (!rows.ok()) return {rows.status().message()};
  const data::Schema schema = (*table)->schema();
  json out = json::array();
  for (const ValueList& row : *rows) {
    json object = json::object();
    for (size_t i = 0; i < schema.size(); ++i) object[schema[i].name] = ToJson(row[i], schema[i].type);
    out.push_back(std::move(object));
  }
  return Sorted(out);
}

// Variants count as present or not; a map's keys are texts in JSON.
void Normalise(json* row, const data::Schema& schema) {
  for (const auto& field : schema) {
    if (field.type.Is(TypeKind::kVariant) && row->contains(field.name) && !(*row)[field.name].is_null()) (*row)[field.name] = "some value";
    if (field.type.Is(TypeKind::kDecimal) && (*row)[field.name].is_number()) {
      std::string text = (*row)[field.name].dump();
      data::Int128 unscaled = 0;
      data::ParseDecimal(text, field.type.precision(), field.type.scale(), &unscaled);
      text.clear();
      data::AppendDecimal(unscaled, field.type.scale(), &text);
      (*row)[field.name] = text;
    }
  }
}

void CheckSample(const std::string& name, const std::string& table_path) {
  const DeltaBench bench(data::LocalFileSystem::Get());
  const json expected = ReadExpected(name);
  int checked = 0;
  for (const json& version : expected["versions"]) {
    if (!version.contains("rows")) continue;
    const int64_t number = version["version"].get<int64_t>();
    sql::OptionMap options;
    options.Set("versionAsOf", std::to_string(number));
    const auto table = bench.Load(table_path, options);
    ASSERT_TRUE(table.ok()) << name << " version " << number << ": " << table.status().message();
    json rows = version["rows"];
    for (json& row : rows) Normalise(&row, (*table)->schema());
    EXPECT_EQ(ReadVersion(bench, table_path, number), Sorted(rows)) << name << " version " << number;
    ++checked;
  }
  EXPECT_GT(checked, 0) << name;
  const auto newest = bench.Load(table_path);
  ASSERT_TRUE(newest.ok()) << newest.status().message();
}

class DeltaSampleTest : public ::testing::TestWithParam<const char*> {};

TEST_P(DeltaSampleTest, EveryVersionReadsAsSparkReadIt) { CheckSample(GetParam(), kSamples + GetParam()); }

INSTANTIATE_TEST_SUITE_P(Tables, DeltaSampleTest,
                         ::testing::Values("plain", "types", "partitioned", "dv", "dv_inline", "colmap_name", "colmap_id",
                                           "checkpoint_classic", "checkpoint_multipart", "checkpoint_v2", "cdf", "cdf_dv",
                                           "row_tracking", "in_commit_timestamps", "identity", "generated", "constraints",
                                           "timestamp_ntz", "void", "type_widening", "variant", "clustered", "converted",
                                           "log_compaction"),
                         [](const auto& info) { return std::string(info.param); });

TEST(DeltaSamplesTest, StreamingTargetReads) { CheckSample("streaming_txn", kSamples + "streaming_txn/target"); }

TEST(DeltaSamplesTest, ShallowCloneReadsFilesByAbsolutePath) {
  // The recording has @ROOT@ for the samples' URI: a copy of the log gets the real one.
  auto& disk = data::LocalFileSystem::Get();
  const std::string copy = ::testing::TempDir() + "delta_clone_" + Uuid::MakeRandom().ToString();
  const std::string source = kSamples + "shallow_clone";
  for (const auto& info : disk.ListTree(source).ValueOrDie()) {
    const std::string target = copy + info.path.substr(source.size());
    ASSERT_TRUE(disk.MakeDirectories(target.substr(0, target.rfind('/'))).ok());
    std::string bytes = disk.ReadWhole(info.path).ValueOrDie();
    if (target.ends_with(".parquet") && target.find("_delta_log") != std::string::npos) continue;  // checkpoint: the JSON is enough
    for (size_t at = bytes.find("@ROOT@"); target.ends_with(".json") && at != std::string::npos; at = bytes.find("@ROOT@")) {
      bytes.replace(at, 6, data::UriFromPath(data::AbsolutePath(kSamples)));
    }
    auto file = disk.Create(target, data::CreateMode::kReplace).ValueOrDie();
    ASSERT_TRUE(file->Append(bytes).ok() && file->Close().ok());
  }
  CheckSample("shallow_clone", copy);
  ASSERT_TRUE(disk.RemoveTree(copy).ok());
}

TEST(DeltaSamplesTest, WhatWeCannotReadOrWriteIsRefusedByDeltasConditions) {
  const DeltaBench bench(data::LocalFileSystem::Get());
  const std::pair<const char*, const char*> refused[] = {
      {"refuse_reader_version", "DELTA_INVALID_PROTOCOL_VERSION"},
      {"refuse_reader_feature", "DELTA_UNSUPPORTED_FEATURES_FOR_READ"},
      {"variant_shredded", "DELTA_UNSUPPORTED_FEATURES_FOR_READ"}};
  for (const auto& [name, condition] : refused) {
    EXPECT_EQ(bench.Load(kSamples + name).status().condition(), condition) << name;
  }
  const auto readable = bench.Rows(kSamples + "refuse_writer_feature");
  ASSERT_TRUE(readable.ok()) << readable.status().message();
  EXPECT_EQ(readable->size(), 1u);
  const data::Schema schema = {{.name = "id", .type = DataType::Long()}};
  const data::Chunk chunk = data::ChunkFromRows({DataType::Long()}, {{Value(int64_t{1})}});
  for (const char* name : {"refuse_writer_feature", "row_tracking", "identity", "generated", "constraints", "colmap_name"}) {
    const auto written = bench.Write(kSamples + name, schema, {chunk}, sql::SaveMode::kAppend);
    EXPECT_EQ(written.status().condition(), "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE") << name;
  }
}

TEST(DeltaSamplesTest, MissingTablesAndVersions) {
  const DeltaBench bench(data::LocalFileSystem::Get());
  EXPECT_EQ(bench.Load(kSamples + "nothing_here").status().condition(), "PATH_NOT_FOUND");
  EXPECT_EQ(bench.Load(kSamples + "plain/_delta_log").status().condition(), "DELTA_TABLE_NOT_FOUND");
  sql::OptionMap options;
  options.Set("versionAsOf", "999");
  EXPECT_EQ(bench.Load(kSamples + "plain", options).status().condition(), "DELTA_VERSION_NOT_FOUND");
  options.Set("timestampAsOf", "2026-01-01");
  EXPECT_EQ(bench.Load(kSamples + "plain", options).status().condition(), "DELTA_ONEOF_IN_TIMETRAVEL");
  EXPECT_TRUE(bench.Load(kSamples + "plain@v1").ok());
  EXPECT_EQ(bench.Rows(kSamples + "plain@v1").ValueOrDie().size(), 5u);
}

}  // namespace
}  // namespace thalweg::connectors
