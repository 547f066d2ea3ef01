// Every operation on columns against the same thing done row by row on Values.

#include "data/columnar/column.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/columnar/bitmap.h"
#include "data/columnar/builder.h"
#include "data/columnar/chunk.h"
#include "data/columnar/random_column.h"

namespace thalweg::data {
namespace {

// What column.h promises of every column.
void ExpectInvariants(const Column& column) {
  int64_t nulls = 0;
  for (int64_t i = 0; i < column.length(); ++i) nulls += column.IsNull(i);
  EXPECT_EQ(nulls, column.null_count());
  if (column.encoding() == Encoding::kFlat && column.has_nulls()) {
    ASSERT_NE(column.validity_words(), nullptr);
    EXPECT_EQ(CountBits(column.validity_words(), column.length()), column.length() - nulls);
    if ((column.length() & 63) != 0) {
      EXPECT_EQ(column.validity_words()[column.length() >> 6] >> (column.length() & 63), 0U);
    }
    if (column.physical() == PhysicalType::kText) {
      for (int64_t i = 0; i < column.length(); ++i) {
        EXPECT_TRUE(!column.IsNull(i) || column.values<TextView>()[static_cast<size_t>(i)].size() == 0);
      }
    }
  }
  for (const auto& child : column.parts().children) ExpectInvariants(*child);
}

void ExpectValues(const Column& column, const ValueList& expected, const std::string& what) {
  ASSERT_EQ(column.length(), static_cast<int64_t>(expected.size())) << what;
  ExpectInvariants(column);
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(column.GetValue(static_cast<int64_t>(i)) == expected[i]) << what << ", row " << i << ", "
                                                                         << column.type().SimpleString();
  }
}

std::vector<DataType> TypesToTry(Random& random) {
  auto types = EveryScalarType();
  for (int i = 0; i < 25; ++i) types.push_back(RandomType(random, 3));
  return types;
}

class ColumnProperty : public testing::TestWithParam<uint64_t> {};

TEST_P(ColumnProperty, FlattenKeepsTheRows) {
  Random random(GetParam());
  for (const DataType& type : TypesToTry(random)) {
    const ColumnPtr column = RandomColumn(random, type, static_cast<int64_t>(random.NextBelow(200)));
    const ColumnPtr flat = Flatten(column);
    EXPECT_EQ(flat->encoding(), Encoding::kFlat);
    ExpectValues(*flat, ColumnValues(*column), "flatten");
    EXPECT_EQ(Flatten(flat), flat);
  }
}

TEST_P(ColumnProperty, TakePicksRowsAndNullsForMinusOne) {
  Random random(GetParam());
  for (const DataType& type : TypesToTry(random)) {
    const ColumnPtr column = RandomColumn(random, type, 1 + static_cast<int64_t>(random.NextBelow(150)));
    const bool with_null = random.NextBool();
    std::vector<int32_t> rows(random.NextBelow(300));
    ValueList expected;
    for (int32_t& row : rows) {
      row = static_cast<int32_t>(random.NextBelow(static_cast<uint64_t>(column->length())));
      if (with_null && random.NextBelow(4) == 0) row = -1;
      expected.push_back(row < 0 ? Value() : column->GetValue(row));
    }
    ExpectValues(*Take(column, rows), expected, "take");
  }
}

TEST_P(ColumnProperty, SliceAndConcatAreInverse) {
  Random random(GetParam());
  for (const DataType& type : TypesToTry(random)) {
    std::vector<ColumnPtr> columns;
    ValueList expected;
    for (uint64_t i = 0, count = 1 + random.NextBelow(5); i < count; ++i) {
      const auto length = static_cast<int64_t>(random.NextBelow(i == 1 ? 3000 : 150));
      columns.push_back(RandomColumn(random, type, length, random.NextBool() ? 0 : 0.3));
      const ValueList values = ColumnValues(*columns.back());
      expected.insert(expected.end(), values.begin(), values.end());
    }
    const ColumnPtr whole = Concat(columns);
    EXPECT_EQ(whole->encoding(), Encoding::kFlat);
    ExpectValues(*whole, expected, "concat");
    std::vector<ColumnPtr> slices;
    for (int64_t at = 0; at < whole->length();) {
      const auto most = static_cast<uint64_t>(whole->length() - at);
      const int64_t length = std::min<int64_t>(1 + static_cast<int64_t>(random.NextBelow(most)), whole->length() - at);
      slices.push_back(Slice(whole, at, length));
      ExpectValues(*slices.back(), ValueList(expected.begin() + at, expected.begin() + at + length), "slice");
      at += length;
    }
    if (!slices.empty()) ExpectValues(*Concat(slices), expected, "concat of slices");
  }
}

TEST_P(ColumnProperty, SlicesOfEveryEncodingKeepTheRows) {
  Random random(GetParam());
  for (const DataType& type : TypesToTry(random)) {
    const ColumnPtr column = RandomColumn(random, type, 100);
    const ValueList values = ColumnValues(*column);
    const auto offset = static_cast<int64_t>(random.NextBelow(100));
    const auto length = static_cast<int64_t>(random.NextBelow(static_cast<uint64_t>(101 - offset)));
    const ColumnPtr slice = Slice(column, offset, length);
    const ValueList expected(values.begin() + offset, values.begin() + offset + length);
    ExpectValues(*slice, expected, "slice");
    ExpectValues(*Compact(slice), expected, "compact");
    ExpectValues(*Flatten(slice), expected, "flatten of slice");
    std::vector<int32_t> rows(static_cast<size_t>(length));
    for (int32_t i = 0; i < length; ++i) rows[static_cast<size_t>(i)] = static_cast<int32_t>(length) - 1 - i;
    ExpectValues(*Take(slice, rows), ValueList(expected.rbegin(), expected.rend()), "take of slice");
  }
}

TEST_P(ColumnProperty, WithValidityAddsNulls) {
  Random random(GetParam());
  for (const DataType& type : TypesToTry(random)) {
    const ColumnPtr column = RandomColumn(random, type, 1 + static_cast<int64_t>(random.NextBelow(200)));
    ValueList expected = ColumnValues(*column);
    ValidityBuilder validity;
    for (Value& value : expected) {
      if (random.NextBelow(3) == 0) {
        validity.AppendNull();
        value = Value();
      } else {
        validity.AppendValid();
      }
    }
    const int64_t nulls = validity.null_count();
    ExpectValues(*WithValidity(column, validity.Finish(), nulls), expected, "with validity");
  }
}

TEST_P(ColumnProperty, BuildersCopyRowsOfAnyEncoding) {
  Random random(GetParam());
  for (const DataType& type : TypesToTry(random)) {
    const ColumnPtr column = RandomColumn(random, type, static_cast<int64_t>(random.NextBelow(100)));
    auto builder = ColumnBuilder::Make(type);
    for (int round = 0; round < 2; ++round) {  // a builder can be used again after Finish
      for (int64_t i = 0; i < column->length(); ++i) builder->AppendFrom(*column, i);
      ExpectValues(*builder->Finish(), ColumnValues(*column), "append from");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ColumnProperty, testing::Range<uint64_t>(1, 9));

TEST(Column, ConstantsHoldOneSlot) {
  const ColumnPtr column = Column::Constant(DataType::Long(), Value(int64_t{7}), 1'000'000);
  EXPECT_EQ(column->values<int64_t>().size(), 1U);
  EXPECT_LT(column->bytes(), 1024);
  const ColumnPtr nulls = Column::Nulls(DataType::String(), 5);
  EXPECT_TRUE(nulls->is_constant());
  EXPECT_EQ(nulls->null_count(), 5);
  EXPECT_EQ(nulls->values<TextView>()[0].size(), 0U);
}

TEST(Column, CompactLetsGoOfDeadText) {
  TextBuilder builder(DataType::String());
  const std::string text(100, 'x');
  for (int i = 0; i < 10'000; ++i) builder.Append(text + std::to_string(i));
  const ColumnPtr all = builder.Finish();
  const ColumnPtr few = Slice(all, 5000, 10);
  EXPECT_GT(few->bytes(), 900'000);
  const ColumnPtr compact = Compact(few);
  EXPECT_LT(compact->bytes(), 3000);
  EXPECT_EQ(compact->values<TextView>()[3].view(), text + "5003");
  EXPECT_EQ(Compact(all), all) << "live text is not copied";
}

TEST(Column, CompactLetsGoOfSlicedValues) {
  FixedBuilder<int64_t> builder(DataType::Long());
  for (int64_t i = 0; i < 100'000; ++i) builder.Append(i);
  const ColumnPtr slice = Slice(builder.Finish(), 1000, 1000);
  EXPECT_GT(slice->bytes(), 800'000);
  EXPECT_LT(Compact(slice)->bytes(), 9000);
  EXPECT_EQ(Compact(slice)->values<int64_t>()[5], 1005);
}

TEST(Column, TextViewsCompareBySizePrefixAndRest) {
  const std::string a = "0123456789abcdef";
  const std::string b = "0123456789abcdeg";
  EXPECT_TRUE(TextView(a.data(), 16) == TextView(std::string(a).data(), 16));
  EXPECT_FALSE(TextView(a.data(), 16) == TextView(b.data(), 16));
  EXPECT_TRUE(TextView("abc", 3) == TextView("abcd", 3));
  EXPECT_FALSE(TextView("abcdefg", 7) == TextView("abcdefh", 7));
  EXPECT_LT(TextView("a", 1).Compare(TextView("b", 1)), 0);
  EXPECT_GT(TextView("\xff", 1).Compare(TextView("a", 1)), 0);
}

TEST(Chunk, SelectionGivesTheLogicalRows) {
  Chunk chunk = ChunkFromRows({DataType::Integer(), DataType::String()},
                              {{Value(int32_t{1}), Value(std::string("a"))},
                               {Value(int32_t{2}), Value()},
                               {Value(int32_t{3}), Value(std::string("c"))}});
  chunk.set_change_kinds(std::make_shared<std::vector<ChangeKind>>(
      std::vector{ChangeKind::kInsert, ChangeKind::kDelete, ChangeKind::kUpdateAfter}));
  chunk.set_selection(std::make_shared<std::vector<int32_t>>(std::vector<int32_t>{2, 1}));
  EXPECT_EQ(chunk.num_rows(), 2);
  const Chunk dense = chunk.Dense();
  EXPECT_EQ(dense.physical_rows(), 2);
  EXPECT_TRUE(dense.column(0)->GetValue(0) == Value(int32_t{3}));
  EXPECT_TRUE(dense.column(1)->GetValue(1).is_null());
  EXPECT_EQ((*dense.change_kinds())[1], ChangeKind::kDelete);
  const Chunk last = chunk.Slice(1, 1);
  EXPECT_TRUE(last.Dense().column(0)->GetValue(0) == Value(int32_t{2}));
}

TEST(Chunk, ConcatTakesLogicalRowsAndKinds) {
  const std::vector<DataType> types = {DataType::Long()};
  Chunk first = ChunkFromRows(types, {{Value(int64_t{1})}, {Value(int64_t{2})}});
  first.set_selection(std::make_shared<std::vector<int32_t>>(std::vector<int32_t>{1}));
  Chunk second = ChunkFromRows(types, {{Value(int64_t{3})}});
  second.set_change_kinds(std::make_shared<std::vector<ChangeKind>>(std::vector{ChangeKind::kDelete}));
  const std::vector<Chunk> chunks = {first, second};
  const Chunk all = ConcatChunks(chunks, types);
  EXPECT_EQ(all.num_rows(), 2);
  EXPECT_TRUE(all.column(0)->GetValue(0) == Value(int64_t{2}));
  EXPECT_EQ((*all.change_kinds())[0], ChangeKind::kInsert);
  EXPECT_EQ((*all.change_kinds())[1], ChangeKind::kDelete);
  EXPECT_EQ(ConcatChunks({}, types).num_columns(), 1);
  const Chunk counted({}, 5);
  const std::vector<Chunk> twice = {counted, counted};
  EXPECT_EQ(ConcatChunks(twice, {}).num_rows(), 10);
}

}  // namespace
}  // namespace thalweg::data
