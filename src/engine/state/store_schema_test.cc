#include "engine/state/store_schema.h"

#include <gtest/gtest.h>

#include "data/io/local_file_system.h"
#include "data/io/memory_file_system.h"

namespace thalweg::engine {
namespace {

data::Schema OneColumn(data::DataType type, bool nullable = true) {
  return {{.name = "c", .type = std::move(type), .nullable = nullable}};
}

TEST(StoreSchema, AStoredSchemaDecidesWhatMayContinue) {
  data::MemoryFileSystem files;
  const CheckpointLayout layout("/c");
  const auto check = [&](const data::Schema& key, const data::Schema& value, bool check_value = true) {
    return WriteOrCheckStoreSchema(files, layout, OperatorId(0), "default", {key, value}, check_value).condition();
  };
  const data::Schema text = OneColumn(data::DataType::String());
  const data::Schema number = OneColumn(data::DataType::Long(), false);
  EXPECT_EQ(check(text, number), "");
  const auto stored = ReadStoreSchema(files, layout, OperatorId(0), "default").ValueOrDie();
  EXPECT_FALSE(stored->value[0].nullable) << "as declared: Spark compares nullability";
  data::Schema renamed = text;
  renamed[0].name = "other";
  renamed[0].metadata_json = "{\"x\":1}";
  EXPECT_EQ(check(renamed, number), "") << "names and metadata do not count";
  EXPECT_EQ(check(number, number), "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE");
  EXPECT_EQ(check(text, text), "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE");
  EXPECT_EQ(check(text, text, false), "");
  const StoreSchema other{{{.name = "k", .type = data::DataType::Integer()},
                           {.name = "s", .type = data::DataType::Struct({{.name = "d", .type = data::DataType::Decimal(10, 2), .nullable = false}})}}, number};
  const Status refused = WriteOrCheckStoreSchema(files, layout, OperatorId(0), "default", other);
  EXPECT_NE(refused.message().find("new key_schema=StructType(StructField(k,IntegerType,true),"
                                   "StructField(s,StructType(StructField(d,DecimalType(10,2),false)),true))."),
            std::string::npos) << refused.message();
}

// As Spark recorded it (damage.jsonl): a column that was stored as non-null may not become nullable.
TEST(StoreSchema, ANonNullColumnStaysSo) {
  auto& disk = data::LocalFileSystem::Get();
  const CheckpointLayout sample("tests/checkpoints/spark-4.2.0/count/checkpoint");
  const StoreSchema spark = *ReadStoreSchema(disk, sample, OperatorId(0), "default").ValueOrDie();
  EXPECT_FALSE(spark.value[0].nullable) << "count is stored as non-null by Spark";
  const StoreSchema nullable_count{spark.key, OneColumn(data::DataType::Long(), true)};
  EXPECT_EQ(WriteOrCheckStoreSchema(disk, sample, OperatorId(0), "default", nullable_count).condition(),
            "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE");
  EXPECT_EQ(WriteOrCheckStoreSchema(disk, sample, OperatorId(0), "default", spark).condition(), "");
}

}  // namespace
}  // namespace thalweg::engine
