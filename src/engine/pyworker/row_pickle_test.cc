// What is pickled is read back by the system's Python with pyspark's converters acted by a few lines.
#include "engine/pyworker/row_pickle.h"

#include <gtest/gtest.h>

#include "data/columnar/builder.h"
#include "engine/pyworker/java_data.h"

namespace thalweg::engine {
namespace {

using data::DataType;
using data::Value;
using data::ValueList;
using std::string_literals::operator""s;

data::Chunk OneRow(const data::Schema& schema, const ValueList& values) {
  std::vector<data::ColumnPtr> columns;
  for (size_t i = 0; i < schema.size(); ++i) columns.push_back(data::Column::Constant(schema[i].type, values[i], 1));
  return {columns, 1};
}

std::string Pickle(const data::Schema& schema, const ValueList& values, PickledRow row, bool as_bytes = true) {
  std::string out;
  EXPECT_TRUE(RowPickler::Make(schema, row, as_bytes).ValueOrDie().Append(OneRow(schema, values), &out).ok());
  EXPECT_EQ(static_cast<size_t>(ReadJavaInt(out.data())), out.size() - 4);
  return out.substr(4);
}

TEST(RowPickle, ATupleOfPlainValues) {
  const data::Schema schema{{"a", DataType::Integer()}, {"b", DataType::String()}, {"c", DataType::Boolean()}, {"d", DataType::Long()}};
  const std::string bytes =
      Pickle(schema, {Value(int32_t{7}), Value(std::string("x")), Value(true), Value()}, PickledRow::kTuple);
  EXPECT_EQ(bytes, "\x80\x03]((K\x07X\x01\0\0\0x\x88Nte."s);
}

TEST(RowPickle, DatesMakeARowThatIsConverted) {
  const std::string bytes = Pickle({{"d", DataType::Date()}}, {Value(int32_t{1000})}, PickledRow::kTuple);
  EXPECT_NE(bytes.find("cpyspark.sql.types\n_create_row_inbound_converter\n"), std::string::npos);
  EXPECT_TRUE(bytes.ends_with("](h\0(J\xe8\x03\0\0tRe."s)) << bytes;
}

TEST(RowPickle, WidthsOfIntegers) {
  const data::Schema schema{{"a", DataType::Long()}};
  EXPECT_EQ(Pickle(schema, {Value(int64_t{-1})}, PickledRow::kTuple), "\x80\x03]((J\xff\xff\xff\xffte."s);
  EXPECT_EQ(Pickle(schema, {Value(int64_t{1} << 40)}, PickledRow::kTuple),
            "\x80\x03]((\x8a\x08\0\0\0\0\0\x01\0\0te."s);
}

TEST(RowPickle, BinaryAsBytesOrByteArray) {
  const data::Schema schema{{"a", DataType::Binary()}};
  EXPECT_EQ(Pickle(schema, {Value(std::string("\xff"))}, PickledRow::kTuple), "\x80\x03]((B\x01\0\0\0\xffte."s);
  EXPECT_NE(Pickle(schema, {Value(std::string("\xff"))}, PickledRow::kTuple, false).find("cbuiltins\nbytearray\n"), std::string::npos);
}

TEST(RowPickle, CalendarIntervalsAreRefused) {
  EXPECT_EQ(RowPickler::Make({{"a", DataType::Array(DataType::CalendarInterval())}}, PickledRow::kRow, true).status().condition(),
            "UNSUPPORTED_FEATURE.THALWEG");
}

}  // namespace
}  // namespace thalweg::engine
