#include <map>
#include <string>

#include <gtest/gtest.h>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/columnar/random_column.h"
#include "engine/exec/group_table.h"

namespace thalweg::engine {
namespace {

using data::DataType;

/// A value's identity as a key: nulls equal, floats normalised.
std::string KeyText(const data::Value& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "null";
        } else if constexpr (std::is_same_v<T, data::ValueList>) {
          std::string out = "(";
          for (const auto& item : v) out += KeyText(item) + ",";
          return out + ")";
        } else if constexpr (std::is_same_v<T, std::string>) {
          return std::to_string(v.size()) + ":" + v;
        } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
          return v != v ? "nan" : v == 0 ? "0" : std::string(reinterpret_cast<const char*>(&v), sizeof(v));
        } else {
          return std::string(reinterpret_cast<const char*>(&v), sizeof(v)) + ".";
        }
      },
      value.variant());
}

void CheckAgainstMap(uint64_t seed, const std::vector<DataType>& types) {
  Random random(seed);
  auto layout = std::make_shared<const KeyLayout>(KeyLayout::Make(types).ValueOrDie());
  GroupTable table(layout, 8);
  std::map<std::string, std::pair<uint8_t*, int64_t>> expected;
  std::vector<std::string> order;
  for (int chunk = 0; chunk < 8; ++chunk) {
    const int64_t rows = chunk == 0 ? 1 : 700;
    std::vector<data::ColumnPtr> columns;
    std::vector<data::ValueList> values;
    for (const DataType& type : types) {
      columns.push_back(data::RandomColumn(random, type, rows));
      values.push_back(data::ColumnValues(*columns.back()));
    }
    KeyEncoder keys(*layout);
    keys.Encode(columns, rows);
    std::vector<uint8_t*> found(rows);
    table.FindOrAdd(keys, found.data());
    for (int64_t row = 0; row < rows; ++row) {
      std::string key;
      for (const auto& column : values) key += KeyText(column[row]) + "|";
      const auto [at, added] = expected.try_emplace(key, found[row], 0);
      if (added) order.push_back(key);
      ASSERT_EQ(at->second.first, found[row]) << "row " << row << " of chunk " << chunk;
      ++at->second.second;
      ++*reinterpret_cast<int64_t*>(found[row] + table.payload_offset());
    }
    std::vector<uint8_t*> again(rows);
    table.Find(keys, again.data());
    ASSERT_EQ(found, again);
  }
  ASSERT_EQ(table.size(), static_cast<int64_t>(expected.size()));
  std::vector<uint8_t*> rows;
  table.Rows(0, table.size(), &rows);
  const auto decoded = DecodeKeys(*layout, rows, table.null_row());
  for (size_t i = 0; i < rows.size(); ++i) {
    std::string key;
    for (const auto& column : decoded) key += KeyText(column->GetValue(static_cast<int64_t>(i))) + "|";
    ASSERT_EQ(key, order[i]);
    ASSERT_EQ(*reinterpret_cast<int64_t*>(rows[i] + table.payload_offset()), expected[key].second);
  }
  std::vector<uint8_t*> part;
  table.Rows(table.size() / 2, 3, &part);
  for (size_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], rows[rows.size() / 2 + i]);
}

TEST(GroupTable, AgreesWithAMapForEveryScalarType) {
  uint64_t seed = 1;
  for (const DataType& type : data::EveryScalarType()) {
    if (!KeyLayout::Make({type}).ok()) continue;  // collated strings, variants
    SCOPED_TRACE(type.Sql());
    CheckAgainstMap(++seed, {type});
    CheckAgainstMap(++seed, {type, DataType::Integer()});
    CheckAgainstMap(++seed, {DataType::String(), type});
  }
}

TEST(GroupTable, AgreesWithAMapForNestedKeys) {
  const DataType window = DataType::Struct({{"start", DataType::Timestamp(), true, "{}"}, {"end", DataType::Timestamp(), true, "{}"}});
  CheckAgainstMap(100, {window});
  CheckAgainstMap(101, {DataType::String(), window, DataType::Boolean()});
  CheckAgainstMap(102, {DataType::Array(DataType::Double())});
  CheckAgainstMap(103, {DataType::Array(DataType::Array(DataType::String())), DataType::Byte()});
  CheckAgainstMap(104, {DataType::Struct({{"w", window, true, "{}"}, {"t", DataType::String(), true, "{}"}})});
  CheckAgainstMap(105, {DataType::Byte(), DataType::Short(), DataType::Boolean(), DataType::Byte()});
  CheckAgainstMap(106, {DataType::Null(), DataType::Long()});
}

TEST(GroupTable, RefusesTypesWithoutEquality) {
  EXPECT_EQ(KeyLayout::Make({DataType::Map(DataType::Long(), DataType::Long())}).status().condition(), "UNSUPPORTED_FEATURE.THALWEG");
  EXPECT_EQ(KeyLayout::Make({DataType::String("UNICODE_CI")}).status().condition(), "UNSUPPORTED_FEATURE.THALWEG");
}

TEST(GroupTable, OneWordWhereTheBitsFit) {
  EXPECT_EQ(KeyLayout::Make({DataType::Long()})->words(), 1);
  EXPECT_EQ(KeyLayout::Make({DataType::Integer(), DataType::Short(), DataType::Byte()})->words(), 1);
  EXPECT_EQ(KeyLayout::Make({DataType::Long(), DataType::Boolean()})->words(), 3);
}

}  // namespace
}  // namespace thalweg::engine
