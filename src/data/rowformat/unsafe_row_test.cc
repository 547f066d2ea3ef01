// Expected bytes: spec of the checkpoint format (sections 9.3 to 9.7) and rows recorded from Spark 4.2.0.

#include "data/rowformat/unsafe_row_writer.h"

#include <gtest/gtest.h>

#include <limits>

#include "data/columnar/builder.h"
#include "data/columnar/chunk.h"
#include "data/columnar/random_column.h"
#include "data/rowformat/unsafe_row_format.h"
#include "data/rowformat/unsafe_row_reader.h"

namespace thalweg::data {
namespace {

Value Int(int32_t v) { return Value(v); }
Value Long(int64_t v) { return Value(v); }
Value Text(std::string v) { return Value(std::move(v)); }
Value List(ValueList v) { return Value(std::move(v)); }

DataType StructOf(std::vector<DataType> types) {
  std::vector<StructField> fields;
  for (size_t i = 0; i < types.size(); ++i) fields.push_back({.name = "f" + std::to_string(i), .type = types[i]});
  return DataType::Struct(std::move(fields));
}

std::string Hex(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0 && i % 8 == 0) text += ' ';
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[static_cast<uint8_t>(bytes[i]) >> 4];
    text += kDigits[static_cast<uint8_t>(bytes[i]) & 15];
  }
  return text;
}

std::string RowHex(const std::vector<DataType>& types, const ValueList& row, bool normalize_zero = false) {
  const Chunk chunk = ChunkFromRows(types, {row});
  RowBatch batch;
  const UnsafeRowWriter writer(types, {.normalize_zero = normalize_zero});
  EXPECT_TRUE(writer.Write(chunk.columns(), 1, nullptr, &batch).ok());
  return Hex(batch.row(0));
}

const DataType kWindow = StructOf({DataType::Timestamp(), DataType::Timestamp()});

Int128 Big(std::string_view digits) {
  Int128 value = 0;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  return value;
}

TEST(UnsafeRow, WorkedExamplesOfTheFormat) {
  EXPECT_EQ(RowHex({DataType::String()}, {Text("apple")}), "0000000000000000 0500000010000000 6170706c65000000");
  EXPECT_EQ(RowHex({DataType::Long()}, {Long(3)}), "0000000000000000 0300000000000000");
  EXPECT_EQ(RowHex({DataType::Long()}, {Value()}), "0100000000000000 0000000000000000");
  EXPECT_EQ(RowHex({kWindow, DataType::String()}, {List({Long(1700000000000000), Long(1700000600000000)}), Text("dog")}),
            "0000000000000000 1800000018000000 0300000030000000 0000000000000000 00401e18240a0600 0086e13b240a0600 "
            "646f670000000000");
  EXPECT_EQ(RowHex({DataType::Decimal(10, 2), DataType::Decimal(38, 0)},
                   {Value(Int128{12345}), Value(Big("1234567890123456789012345"))}),
            "0000000000000000 3930000000000000 0b00000018000000 01056e0f36a6443d e2df790000000000");
  EXPECT_EQ(RowHex({DataType::Decimal(38, 18)}, {Value()}),
            "0100000000000000 0000000010000000 0000000000000000 0000000000000000");
  EXPECT_EQ(RowHex({DataType::Array(DataType::Integer())}, {List({Int(1), Value(), Int(3)})}),
            "0000000000000000 2000000010000000 0300000000000000 0200000000000000 0100000000000000 0300000000000000");
  EXPECT_EQ(RowHex({DataType::Map(DataType::String(), DataType::Integer())}, {List({Text("a"), Int(1), Text("b"), Int(2)})}),
            "0000000000000000 5000000010000000 3000000000000000 0200000000000000 0000000000000000 0100000020000000 "
            "0100000028000000 6100000000000000 6200000000000000 0200000000000000 0000000000000000 0100000002000000");
}

TEST(UnsafeRow, KeysRecordedFromSpark) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(RowHex({DataType::Double()}, {Value(nan)}), "0000000000000000 000000000000f87f");
  EXPECT_EQ(RowHex({DataType::Double()}, {Value(-nan)}), "0000000000000000 000000000000f87f");
  EXPECT_EQ(RowHex({DataType::Double()}, {Value(-0.0)}, true), "0000000000000000 0000000000000000");
  EXPECT_EQ(RowHex({DataType::Double()}, {Value(-0.0)}), "0000000000000000 0000000000000080");
  EXPECT_EQ(RowHex({DataType::Float()}, {Value(std::numeric_limits<float>::quiet_NaN())}),
            "0000000000000000 0000c07f00000000");
  EXPECT_EQ(RowHex({DataType::Byte()}, {Value(int8_t{-1})}), "0000000000000000 ff00000000000000");
  EXPECT_EQ(RowHex({DataType::Short()}, {Value(int16_t{-1})}), "0000000000000000 ffff000000000000");
  EXPECT_EQ(RowHex({DataType::Integer()}, {Int(-1)}), "0000000000000000 ffffffff00000000");
  EXPECT_EQ(RowHex({DataType::Decimal(10, 2)}, {Value(Int128{-100})}), "0000000000000000 9cffffffffffffff");
  EXPECT_EQ(RowHex({DataType::Decimal(38, 0)}, {Value(Int128{-1})}),
            "0000000000000000 0100000010000000 ff00000000000000 0000000000000000");
  EXPECT_EQ(RowHex({DataType::Decimal(38, 18)}, {Value(Big("123450000000000000000"))}),
            "0000000000000000 0900000010000000 06b13680ef11f900 0000000000000000");
  EXPECT_EQ(RowHex({StructOf({DataType::String(), DataType::Long()})}, {List({Text("127"), Long(127)})}),
            "0000000000000000 2000000010000000 0000000000000000 0300000018000000 7f00000000000000 3132370000000000");
  EXPECT_EQ(RowHex({StructOf({DataType::String(), DataType::Long()})}, {List({Value(), Value()})}),
            "0000000000000000 1800000010000000 0300000000000000 0000000000000000 0000000000000000");
  EXPECT_EQ(RowHex({DataType::Array(DataType::String())}, {List({Text("1.5"), Value(), Text("x")})}),
            "0000000000000000 3800000010000000 0300000000000000 0200000000000000 0300000028000000 0000000000000000 "
            "0100000030000000 312e350000000000 7800000000000000");
  EXPECT_EQ(RowHex({StructOf({DataType::Double()})}, {List({Value(-0.0)})}, true),
            "0000000000000000 1000000010000000 0000000000000000 0000000000000000");
}

TEST(UnsafeRow, ValuesRecordedFromSpark) {
  // The void value of deduplication, and an empty array.
  EXPECT_EQ(RowHex({DataType::Null()}, {Value()}), "0100000000000000 0000000000000000");
  EXPECT_EQ(RowHex({DataType::Array(DataType::String())}, {List({})}),
            "0000000000000000 0800000010000000 0000000000000000");
  // first(...) of a map, an interval, a variant, a null interval and arrays, each followed by its valueSet.
  const std::vector<DataType> types = {DataType::Map(DataType::String(), DataType::Integer()), DataType::Boolean(),
                                       DataType::CalendarInterval(),                           DataType::Boolean(),
                                       DataType::Variant(),                                    DataType::Boolean(),
                                       DataType::CalendarInterval(),                           DataType::Boolean(),
                                       DataType::Array(DataType::Decimal(38, 2)),              DataType::Boolean(),
                                       DataType::Array(DataType::Boolean()),                   DataType::Boolean(),
                                       DataType::Short(),                                      DataType::Boolean()};
  const Value yes(true);
  const std::string variant_value("\x02\x01\x00\x00\x02\x0c\x01", 7);
  const std::string variant_metadata("\x01\x01\x00\x01\x61", 5);
  const ValueList row = {List({Text("x"), Int(1), Text("q"), Int(7)}), yes,
                         Value(CalendarInterval{1, 2, 3'500'000}), yes,
                         List({Value(variant_value), Value(variant_metadata)}), yes,
                         Value(), yes,
                         List({Value(Int128{150}), Value()}), yes,
                         List({Value(true), Value(false), Value()}), yes,
                         Value(int16_t{1}), yes};
  EXPECT_EQ(RowHex(types, row),
            "4000000000000000 5000000078000000 0100000000000000 10000000c8000000 0100000000000000 10000000d8000000 "
            "0100000000000000 10000000e8000000 0100000000000000 28000000f8000000 0100000000000000 1800000020010000 "
            "0100000000000000 0100000000000000 0100000000000000 "
            "3000000000000000 0200000000000000 0000000000000000 0100000020000000 0100000028000000 7800000000000000 "
            "7100000000000000 0200000000000000 0000000000000000 0100000007000000 "
            "0100000002000000 e067350000000000 "
            "0700000002010000 020c010101000161 "
            "0000000000000000 0000000000000000 "
            "0200000000000000 0200000000000000 0200000020000000 0000000000000000 0096000000000000 "
            "0300000000000000 0400000000000000 0100000000000000");
}

TEST(UnsafeRow, NoColumnsAreNoBytesAndMoreThan64NeedTwoWords) {
  RowBatch batch;
  ASSERT_TRUE(UnsafeRowWriter({}).Write({}, 3, nullptr, &batch).ok());
  EXPECT_EQ(batch.num_rows(), 3);
  EXPECT_TRUE(batch.row(2).empty());
  const std::vector<DataType> types(65, DataType::Boolean());
  const std::string hex = RowHex(types, ValueList(65));
  EXPECT_EQ(hex.size(), (16 + 65 * 8) * 2 + 66);
  EXPECT_EQ(hex.substr(0, 33), "ffffffffffffffff 0100000000000000");
}

TEST(UnsafeRow, DecimalsBeyondTheirPrecisionBecomeNull) {
  EXPECT_EQ(RowHex({DataType::Decimal(4, 2)}, {Value(Int128{10'000})}), "0100000000000000 0000000000000000");
  EXPECT_EQ(RowHex({DataType::Decimal(4, 2)}, {Value(Int128{9'999})}), "0000000000000000 0f27000000000000");
}

class UnsafeRowProperty : public testing::TestWithParam<uint64_t> {};

std::vector<DataType> RandomTypes(Random& random, size_t most) {
  std::vector<DataType> types;
  for (size_t i = 1 + random.NextBelow(most); i > 0; --i) types.push_back(RandomType(random, 3));
  return types;
}

// NaN has one form in rows; everything else comes back as it was.
Value Canonical(Value value) {
  if (const auto* f = value.get_if<float>(); f != nullptr && *f != *f) {
    return Value(std::numeric_limits<float>::quiet_NaN());
  }
  if (const auto* list = value.get_if<ValueList>()) {
    ValueList all;
    for (const Value& item : *list) all.push_back(Canonical(item));
    return Value(std::move(all));
  }
  return value;
}

TEST_P(UnsafeRowProperty, RowsComeBack) {
  Random random(GetParam());
  for (int round = 0; round < 30; ++round) {
    const auto types = RandomTypes(random, 6);
    std::vector<ColumnPtr> columns;
    for (const auto& type : types) columns.push_back(RandomColumn(random, type, 60));
    std::vector<int32_t> rows(random.NextBelow(80));
    for (int32_t& row : rows) row = static_cast<int32_t>(random.NextBelow(60));
    RowBatch batch;
    ASSERT_TRUE(UnsafeRowWriter(types).Write(columns, 60, &rows, &batch).ok());
    ASSERT_EQ(batch.num_rows(), static_cast<int64_t>(rows.size()));
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      ASSERT_EQ(batch.row(i).size() % 8, 0U);
      const auto fault = FindRowFault(types, batch.row(i));
      ASSERT_FALSE(fault) << *fault;
    }
    const auto back = UnsafeRowReader(types).Read(batch).ValueOrDie();
    for (size_t c = 0; c < types.size(); ++c) {
      for (size_t i = 0; i < rows.size(); ++i) {
        ASSERT_TRUE(back[c]->GetValue(static_cast<int64_t>(i)) == Canonical(columns[c]->GetValue(rows[i])))
            << types[c].SimpleString();
      }
    }
    RowBatch again;
    ASSERT_TRUE(UnsafeRowWriter(types).Write(back, batch.num_rows(), nullptr, &again).ok());
    EXPECT_EQ(again.bytes, batch.bytes) << "one form per row";
  }
}

TEST_P(UnsafeRowProperty, DamagedRowsAreAnErrorOrOtherValues) {
  Random random(GetParam());
  for (int round = 0; round < 60; ++round) {
    const auto types = RandomTypes(random, 3);
    std::vector<ColumnPtr> columns;
    for (const auto& type : types) columns.push_back(RandomColumn(random, type, 4));
    RowBatch batch;
    ASSERT_TRUE(UnsafeRowWriter(types).Write(columns, 4, nullptr, &batch).ok());
    for (int hit = 0; hit < 30; ++hit) {
      std::string damaged(batch.row(static_cast<int64_t>(random.NextBelow(4))));
      damaged[random.NextBelow(damaged.size())] = static_cast<char>(random.NextUint64());
      if (random.NextBool()) damaged.resize(random.NextBelow(damaged.size() + 1));
      const std::vector<std::string_view> rows = {damaged};
      const auto read = UnsafeRowReader(types).Read(rows);
      EXPECT_TRUE(read.ok() || read.status().condition() == "MALFORMED_STATE_ROW");
      FindRowFault(types, damaged);
    }
  }
}

TEST_P(UnsafeRowProperty, PrefixesAreRowsOfTheFirstColumns) {
  Random random(GetParam());
  for (int round = 0; round < 40; ++round) {
    const auto types = RandomTypes(random, 5);
    std::vector<ColumnPtr> columns;
    for (const auto& type : types) columns.push_back(RandomColumn(random, type, 10));
    const auto count = random.NextBelow(types.size() + 1);
    RowBatch whole;
    RowBatch prefix;
    ASSERT_TRUE(UnsafeRowWriter(types).Write(columns, 10, nullptr, &whole).ok());
    const std::vector<DataType> first_types(types.begin(), types.begin() + static_cast<ptrdiff_t>(count));
    ASSERT_TRUE(UnsafeRowWriter(first_types).Write({columns.data(), count}, 10, nullptr, &prefix).ok());
    for (int64_t i = 0; i < 10; ++i) {
      std::string made;
      ASSERT_TRUE(RowPrefix(types, static_cast<int>(count), whole.row(i), &made));
      EXPECT_EQ(made, prefix.row(i));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, UnsafeRowProperty, testing::Range<uint64_t>(1, 7));

TEST(UnsafeRow, ValidationFindsWhatSparkRefuses) {
  const std::vector<DataType> types = {DataType::Integer(), DataType::String()};
  const Chunk chunk = ChunkFromRows(types, {{Int(7), Text("apple")}});
  RowBatch batch;
  ASSERT_TRUE(UnsafeRowWriter(types).Write(chunk.columns(), 1, nullptr, &batch).ok());
  const std::string good(batch.row(0));
  EXPECT_FALSE(FindRowFault(types, good));
  const auto fault_with = [&](size_t at, char byte) {
    std::string bad = good;
    bad[at] = byte;
    return FindRowFault(types, bad).has_value();
  };
  EXPECT_TRUE(fault_with(0, 4)) << "a null bit beyond the last column";
  EXPECT_TRUE(fault_with(0, 1)) << "a null slot that is not zero";
  EXPECT_TRUE(fault_with(12, 1)) << "unused bytes of an int slot";
  EXPECT_TRUE(fault_with(20, 8)) << "an offset inside the slots";
  EXPECT_TRUE(fault_with(16, 100)) << "a size beyond the row";
  EXPECT_TRUE(FindRowFault({types.data(), 1}, good.substr(0, 8)).has_value());
}

TEST(UnsafeRow, BigEndianIsMinimal) {
  uint8_t bytes[16];
  const std::vector<std::pair<Int128, int>> sizes = {{0, 1}, {127, 1}, {128, 2}, {-128, 1}, {-129, 2}, {-1, 1}, {255, 2}};
  for (const auto& [value, size] : sizes) {
    EXPECT_EQ(BigEndianBytes(value, bytes), size);
    EXPECT_TRUE(FromBigEndian(bytes, size) == value);
  }
  const Int128 least = static_cast<Int128>(static_cast<unsigned __int128>(1) << 127);
  EXPECT_EQ(BigEndianBytes(least, bytes), 16);
  EXPECT_TRUE(FromBigEndian(bytes, 16) == least);
}

}  // namespace
}  // namespace thalweg::data
