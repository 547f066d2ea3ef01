#include "engine/state/state_metadata.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "data/io/local_file_system.h"
#include "data/io/memory_file_system.h"
#include "engine/state/java_data.h"

namespace thalweg::engine {
namespace {

const std::string kSamples = "tests/checkpoints/spark-4.2.0/";

std::vector<data::FileInfo> SampleFiles(std::string_view end) {
  std::vector<data::FileInfo> files;
  for (const auto& file : data::LocalFileSystem::Get().ListTree(kSamples).ValueOrDie()) {
    if (file.path.ends_with(end)) files.push_back(file);
  }
  return files;
}

TEST(StateMetadata, OperatorMetadataOfSparkIsWrittenAgainByteForByte) {
  int read = 0;
  for (const char* end : {"_metadata/metadata", "operator_metadata_v2_0"}) {
    for (const auto& file : SampleFiles(end)) {
      const std::string text = data::LocalFileSystem::Get().ReadWhole(file.path).ValueOrDie();
      const auto metadata = ParseOperatorMetadata(text).ValueOrDie();
      EXPECT_EQ(OperatorMetadataText(metadata), text) << file.path;
      ++read;
    }
  }
  EXPECT_GE(read, 10);
}

TEST(StateMetadata, SchemaFilesOfSparkAreWrittenAgainByteForByte) {
  int read = 0;
  for (const char* end : {"_metadata/schema", ".schema", "stateSchema_v3"}) {
    for (const auto& file : SampleFiles(end)) {
      const std::string bytes = data::LocalFileSystem::Get().ReadWhole(file.path).ValueOrDie();
      const auto families = ParseStateSchema(bytes).ValueOrDie();
      EXPECT_EQ(StateSchemaBytes(families, std::string_view(end) == "stateSchema_v3" ? 3 : 2), bytes) << file.path;
      ++read;
    }
  }
  EXPECT_GE(read, 15);
}

TEST(StateMetadata, DamagedFilesAreNamed) {
  EXPECT_EQ(ParseOperatorMetadata("").status().condition(), "MALFORMED_LOG_FILE");
  EXPECT_EQ(ParseOperatorMetadata("v1").status().condition(), "MALFORMED_LOG_FILE");
  EXPECT_EQ(ParseOperatorMetadata("v1\n{}").status().condition(), "MALFORMED_LOG_FILE");
  EXPECT_EQ(ParseOperatorMetadata("v9\n{}").status().condition(), "INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION");
  const std::string good = StateSchemaBytes({{.key = {{.name = "k", .type = data::DataType::String()}}, .value = {}}}, 2);
  Random random(5);
  for (size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(ParseStateSchema(good.substr(0, size)).ok());
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = good;
    damaged[random.NextBelow(damaged.size())] = static_cast<char>(random.NextUint64());
    Ignore(ParseStateSchema(damaged).status(), "any answer will do");
  }
}

TEST(StateMetadata, TheNewestMetadataBeforeABatchIsRead) {
  data::MemoryFileSystem files;
  OperatorStateMetadata metadata{.operator_id = OperatorId(2), .operator_name = "dedupe"};
  metadata.stores.push_back({.store_name = "default", .num_partitions = 16});
  EXPECT_FALSE(ReadOperatorMetadata(files, "/c", OperatorId(2), BatchId(9)).ValueOrDie().has_value());
  ASSERT_TRUE(WriteOperatorMetadata(files, "/c", metadata).ok());
  metadata.operator_name = "other";
  ASSERT_TRUE(WriteOperatorMetadata(files, "/c", metadata).ok());
  EXPECT_EQ(ReadOperatorMetadata(files, "/c", OperatorId(2), BatchId(9)).ValueOrDie()->operator_name, "dedupe")
      << "written once, never changed";
  EXPECT_EQ(ListStateOperators(files, "/c").ValueOrDie(), std::vector<OperatorId>{OperatorId(2)});
}

data::Schema OneColumn(data::DataType type, bool nullable = true) { return {{.name = "c", .type = type, .nullable = nullable}}; }

TEST(StateMetadata, AStoredSchemaDecidesWhatMayContinue) {
  data::MemoryFileSystem files;
  const auto check = [&](const data::Schema& key, const data::Schema& value, bool check_value = true) {
    return WriteOrCheckStateSchema(files, "/c", OperatorId(0), "default", {.key = key, .value = value}, check_value)
        .condition();
  };
  const data::Schema text = OneColumn(data::DataType::String());
  const data::Schema number = OneColumn(data::DataType::Long(), false);
  EXPECT_EQ(check(text, number), "");
  const auto stored = ReadStateSchema(files, "/c", OperatorId(0), "default").ValueOrDie();
  EXPECT_TRUE(stored->value[0].nullable) << "declared nullable: Spark accepts it whatever it infers";
  data::Schema renamed = text;
  renamed[0].name = "other";
  renamed[0].metadata_json = "{\"x\":1}";
  EXPECT_EQ(check(renamed, number), "") << "names and metadata do not count";
  EXPECT_EQ(check(number, number), "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE");
  EXPECT_EQ(check(text, text), "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE");
  EXPECT_EQ(check(text, text, false), "");
  // As Spark recorded it: stored non-null, now nullable is refused.
  ASSERT_TRUE(files.Remove(StateSchemaPath("/c", OperatorId(0), "default")).ok());
  StateSchema strict{.key = OneColumn(data::DataType::String(), false), .value = number};
  const auto file = files.Create(StateSchemaPath("/c", OperatorId(0), "default"), data::CreateMode::kExclusive).ValueOrDie();
  ASSERT_TRUE(file->Append(StateSchemaBytes({strict}, 2)).ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(check(text, number), "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE");
  EXPECT_EQ(check(strict.key, number), "");
}

TEST(JavaData, ModifiedUtf8ComesBack) {
  const std::string text = std::string("nul \0, e-acute \xc3\xa9, euro \xe2\x82\xac, fish \xf0\x9f\x90\x9f", 42);
  JavaDataWriter writer;
  writer.Utf(text);
  EXPECT_NE(writer.bytes().find("\xc0\x80"), std::string::npos);
  EXPECT_NE(writer.bytes().find("\xed\xa0\xbd\xed\xb0\x9f"), std::string::npos);
  EXPECT_EQ(JavaDataReader(writer.bytes()).Utf().ValueOrDie(), text);
  std::string longer;
  while (longer.size() < 200'000) longer += text;
  JavaDataWriter chunked;
  chunked.ChunkedUtf(longer);
  EXPECT_EQ(JavaDataReader(chunked.bytes()).ChunkedUtf().ValueOrDie(), longer);
}

}  // namespace
}  // namespace thalweg::engine
