// Expected hashes: spec of the checkpoint format, section 10, and keys recorded from Spark 4.2.0.

#include "data/rowformat/column_hash.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "data/columnar/builder.h"
#include "data/columnar/chunk.h"
#include "data/columnar/random_column.h"

namespace thalweg::data {
namespace {

DataType StructOf(std::vector<DataType> types) {
  std::vector<StructField> fields;
  for (size_t i = 0; i < types.size(); ++i) fields.push_back({.name = "f" + std::to_string(i), .type = types[i]});
  return DataType::Struct(std::move(fields));
}

int32_t Hash(const std::vector<DataType>& types, const ValueList& row) {
  const Chunk chunk = ChunkFromRows(types, {row});
  int32_t hash = 0;
  HashColumns(chunk.columns(), nullptr, {&hash, 1});
  return hash;
}

int32_t Hash(const DataType& type, Value value) { return Hash(std::vector<DataType>{type}, ValueList{std::move(value)}); }

Value Text(std::string v) { return Value(std::move(v)); }
Value List(ValueList v) { return Value(std::move(v)); }
Int128 Big(std::string_view digits) {
  Int128 value = 0;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  return value;
}

TEST(ColumnHash, ScalarsAsSpark) {
  EXPECT_EQ(Hash(DataType::Long(), Value(int64_t{1})), -1712319331);
  EXPECT_EQ(Hash(DataType::Integer(), Value(int32_t{1})), -559580957);
  EXPECT_EQ(Hash(DataType::Boolean(), Value(true)), -559580957);
  EXPECT_EQ(Hash(DataType::Boolean(), Value(false)), 933211791);
  EXPECT_EQ(Hash(DataType::Long(), Value(int64_t{-1})), -939490007);
  EXPECT_EQ(Hash(DataType::Long(), Value(int64_t{7})), 1293116811);
  EXPECT_EQ(Hash(DataType::Long(), Value(int64_t{100})), 1114849490);
  EXPECT_EQ(Hash(DataType::Byte(), Value(int8_t{-1})), -1604776387);
  EXPECT_EQ(Hash(DataType::Short(), Value(int16_t{-1})), -1604776387);
  EXPECT_EQ(Hash(DataType::Integer(), Value(int32_t{-1})), -1604776387);
  EXPECT_EQ(Hash(DataType::Byte(), Value(int8_t{123})), 85273170);
  EXPECT_EQ(Hash(DataType::Timestamp(), Value(int64_t{1700000000000000})), -872124635);
  EXPECT_EQ(Hash(DataType::Date(), Value(int32_t{19675})), -1359032128);
  EXPECT_EQ(Hash(DataType::Date(), Value(int32_t{19676})), 887661055);
  EXPECT_EQ(Hash(DataType::YearMonthInterval(), Value(int32_t{15})), -1041903523);
  EXPECT_EQ(Hash(DataType::DayTimeInterval(), Value(int64_t{1'000'000})), -1715802514);
  EXPECT_EQ(Hash(DataType::Long(), Value()), 42);
  EXPECT_EQ(Hash(DataType::Null(), Value()), 42);
}

TEST(ColumnHash, FloatsAsSpark) {
  EXPECT_EQ(Hash(DataType::Double(), Value(1.5)), 1290763749);
  EXPECT_EQ(Hash(DataType::Double(), Value(-0.0)), -1670924195);
  EXPECT_EQ(Hash(DataType::Double(), Value(0.0)), -1670924195);
  EXPECT_EQ(Hash(DataType::Double(), Value(std::nan(""))), -1281358385);
  EXPECT_EQ(Hash(DataType::Double(), Value(-std::nan(""))), -1281358385);
  EXPECT_EQ(Hash(DataType::Double(), Value(-1.0)), 332927831);
  EXPECT_EQ(Hash(DataType::Double(), Value(std::numeric_limits<double>::infinity())), 833680482);
  EXPECT_EQ(Hash(DataType::Double(), Value(123.45)), 579400833);
  EXPECT_EQ(Hash(DataType::Float(), Value(std::nanf(""))), -349261430);
  EXPECT_EQ(Hash(DataType::Float(), Value(-0.0F)), 933211791);
  EXPECT_EQ(Hash(DataType::Float(), Value(1.5F)), -221251528);
}

TEST(ColumnHash, TextAndDecimalsAsSpark) {
  EXPECT_EQ(Hash(DataType::String(), Text("a")), 1485273170);
  EXPECT_EQ(Hash(DataType::String(), Text("apple")), 329715231);
  EXPECT_EQ(Hash(DataType::String(), Text("")), 142593372);
  EXPECT_EQ(Hash(DataType::String(), Text("\xc3\xa9")), 2119106806);
  EXPECT_EQ(Hash(DataType::Binary(), Text("-0.0")), -1306038144);
  EXPECT_EQ(Hash(DataType::String(), Text("NaN")), 1487369137);
  EXPECT_EQ(Hash(DataType::Decimal(10, 2), Value(Int128{12345})), 1416086240);
  EXPECT_EQ(Hash(DataType::Decimal(10, 2), Value(Int128{-100})), 904948192);
  EXPECT_EQ(Hash(DataType::Decimal(38, 0), Value(Big("1234567890123456789012345"))), 992557280);
  EXPECT_EQ(Hash(DataType::Decimal(38, 0), Value(Int128{123})), -1536290115);
  EXPECT_EQ(Hash(DataType::Decimal(38, 0), Value(Int128{-1})), 1398487324);
  EXPECT_EQ(Hash(DataType::Decimal(38, 0), Value(Int128{0})), -783713497);
  EXPECT_EQ(Hash(DataType::Decimal(38, 18), Value(Big("123450000000000000000"))), 765749700);
}

TEST(ColumnHash, NestedAndSeveralColumnsAsSpark) {
  EXPECT_EQ(Hash({DataType::String(), DataType::Array(DataType::Integer()), DataType::Integer()},
                 {Text("Spark"), List({Value(int32_t{123})}), Value(int32_t{2})}),
            -1321691492);
  EXPECT_EQ(Hash({DataType::Long(), DataType::String()}, {Value(int64_t{1}), Text("a")}), 573093329);
  EXPECT_EQ(Hash({DataType::Long(), DataType::String()}, {Value(), Text("a")}), 1485273170);
  const DataType window = StructOf({DataType::Timestamp(), DataType::Timestamp()});
  EXPECT_EQ(Hash({window, DataType::String()},
                 {List({Value(int64_t{1700000000000000}), Value(int64_t{1700000600000000})}), Text("dog")}),
            -1930091761);
  EXPECT_EQ(Hash(StructOf({DataType::String(), DataType::Integer()}), List({Text("127"), Value(int32_t{127})})), 1419232825);
  EXPECT_EQ(Hash(StructOf({DataType::String(), DataType::Long()}), List({Value(), Value()})), 42);
  EXPECT_EQ(Hash(DataType::Array(DataType::String()), List({Text("1.5"), Value(), Text("x")})), -1325191695);
  EXPECT_EQ(Hash({DataType::Long(), DataType::String()}, {Value(int64_t{123}), Text("123.45")}), -1742199515);
  EXPECT_EQ(Hash({DataType::Long(), DataType::Boolean()}, {Value(int64_t{0}), Value(true)}), 352697503);
}

TEST(ColumnHash, PartitionsAreNonNegative) {
  EXPECT_EQ(PartitionOf(-1712319331, 200), 69);
  EXPECT_EQ(PartitionOf(-1712319331, 5), 4);
  EXPECT_EQ(PartitionOf(329715231, 5), 1);
  EXPECT_EQ(PartitionOf(-1930091761, 200), 39);
}

TEST(ColumnHash, EveryEncodingAndSelectionHashesAlike) {
  for (uint64_t seed = 1; seed < 30; ++seed) {
    Random random(seed);
    std::vector<ColumnPtr> columns;
    for (int i = 0; i < 4; ++i) {
      DataType type = RandomType(random, 2);
      while (!CheckHashable({&type, 1}).ok()) type = RandomType(random, 2);
      columns.push_back(RandomColumn(random, type, 70));
    }
    std::vector<int32_t> rows(50);
    for (int32_t& row : rows) row = static_cast<int32_t>(random.NextBelow(70));
    std::vector<int32_t> hashes(50);
    HashColumns(columns, &rows, hashes);
    for (size_t i = 0; i < rows.size(); ++i) {
      // One row at a time, one column at a time.
      int32_t chained = static_cast<int32_t>(kMurmur3Seed);
      for (const auto& column : columns) {
        const ColumnPtr one = Slice(column, rows[i], 1);
        HashColumns({&one, 1}, nullptr, {&chained, 1}, static_cast<uint32_t>(chained));
      }
      ASSERT_EQ(hashes[i], chained);
    }
  }
}

TEST(ColumnHash, WhatIsNotHashedIsNamed) {
  const std::vector<DataType> variant = {DataType::Variant()};
  EXPECT_EQ(CheckHashable(variant).condition(), "UNSUPPORTED_FEATURE.THALWEG");
  const std::vector<DataType> collated = {DataType::Array(DataType::String("UTF8_LCASE"))};
  EXPECT_EQ(CheckHashable(collated).condition(), "UNSUPPORTED_FEATURE.THALWEG");
}

}  // namespace
}  // namespace thalweg::data
