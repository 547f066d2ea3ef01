#include "engine/exec/operators/show_string.h"

#include <fstream>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "data/columnar/builder.h"

namespace thalweg::engine {
namespace {

using data::DataType;
using data::StructField;
using data::Value;
using data::ValueList;

struct Frame {
  std::vector<std::string> names;
  std::vector<DataType> types;
  std::vector<ValueList> rows;
};

Value Text(std::string text) { return Value(std::move(text)); }
Value List(ValueList values) { return Value(std::move(values)); }
Value Long(int64_t v) { return Value(v); }
Value Int(int32_t v) { return Value(v); }
Value Decimal(int64_t v) { return Value(static_cast<data::Int128>(v)); }

Frame All() {
  Frame frame;
  frame.names = {"id", "s", "d", "b", "a", "m", "st", "f", "dec", "bo"};
  frame.types = {DataType::Long(),
                 DataType::String(),
                 DataType::Double(),
                 DataType::Binary(),
                 DataType::Array(DataType::Integer()),
                 DataType::Map(DataType::String(), DataType::Integer()),
                 DataType::Struct({StructField{"x", DataType::Integer()}, StructField{"y", DataType::String()}}),
                 DataType::Double(),
                 DataType::Decimal(10, 2),
                 DataType::Boolean()};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  frame.rows = {
      {Long(1), Text("a"), Value(), Text("hel"), List({Int(1), Value(), Int(3)}), List({Text("k"), Value()}), List({Int(1), Value()}), Value(1.5), Decimal(1250), Value(true)},
      {Long(22), Text("line\nbreak\ttab"), Value(3.0), Value(), Value(), Value(), Value(), Value(nan), Value(), Value()},
      {Long(333), Text("\u4f60\u597d wide \uff21"), Value(1e20), Text(""), List({}), List({Text("a"), Int(1), Text("b"), Int(2)}), List({Value(), Text("x")}), Value(-0.0), Decimal(0), Value(false)},
      {Long(4), Text(std::string(30, 'x')), Value(0.1), Text(std::string("\0\xff", 2)), List({Int(4)}), List({}), List({Int(5), Text("\U0001F600 smile \U0001F600\U0001F600 abcdefgh")}), Value(infinity), Decimal(-100), Value(true)}};
  return frame;
}

Frame Types() {
  Frame frame;
  frame.names = {"a\nb", "ts", "d", "y", "i", "n", "v", "ci", "at", "mb", "sf"};
  frame.types = {DataType::Integer(),
                 DataType::Timestamp(),
                 DataType::Date(),
                 DataType::YearMonthInterval(data::YearMonthField::kYear, data::YearMonthField::kYear),
                 DataType::DayTimeInterval(),
                 DataType::TimestampNtz(),
                 DataType::Null(),
                 DataType::CalendarInterval(),
                 DataType::Array(DataType::Timestamp()),
                 DataType::Map(DataType::Integer(), DataType::Binary()),
                 DataType::Struct({StructField{"b", DataType::Boolean()}, StructField{"f", DataType::Float()}})};
  constexpr int64_t kSecond = 1'000'000;
  constexpr int64_t kTime = 1'704'164'645 * kSecond;  // 2024-01-02 03:04:05
  frame.rows = {{Int(1), Long(kTime + 678'000), Int(19'724), Int(12), Long((26 * 3600 + 3 * 60 + 4) * kSecond), Long(kTime), Value(),
                 Value(data::CalendarInterval{14, 25, (5 * 3600 + 6 * 60) * kSecond + 7'500'000}), List({Long(kTime), Value()}),
                 List({Int(1), Text("ab")}), List({Value(true), Value(1.5f)})}};
  return frame;
}

Frame FrameOf(const std::string& name) {
  if (name == "types") return Types();
  Frame frame = All();
  if (name == "empty") frame.rows.clear();
  if (name == "nocols") return {{}, {}, std::vector<ValueList>(3)};
  if (name == "html") {
    Frame html{{"id", "h"}, {DataType::Long(), DataType::String()}, {}};
    for (const ValueList& row : frame.rows) html.rows.push_back({row[0], Text("<b>&\"x\"")});
    return html;
  }
  return frame;
}

// Every recorded text, from rows in two chunks.
TEST(ShowString, PrintsWhatSparkPrints) {
  std::ifstream file(std::string(TW_SOURCE_DIR) + "/src/engine/exec/operators/testdata/show_strings.txt");
  ASSERT_TRUE(file.good());
  std::vector<std::pair<std::string, std::string>> blocks;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("=== ")) {
      blocks.emplace_back(line.substr(4), "");
    } else if (!blocks.empty()) {
      std::string& text = blocks.back().second;
      text += line.ends_with('\\') ? line.substr(0, line.size() - 1) : line + "\n";
    }
  }
  ASSERT_EQ(blocks.size(), 17U);
  for (const auto& [title, expected] : blocks) {
    std::istringstream words(title);
    std::string name;
    std::string layout;
    ShowStringParams params;
    words >> name >> params.num_rows >> params.truncate >> layout;
    params.vertical = layout == "vertical";
    params.html = layout == "html";
    const Frame frame = FrameOf(name);
    params.names = frame.names;
    params.types = frame.types;
    std::vector<data::Chunk> chunks;
    const size_t half = frame.rows.size() / 2;
    for (const auto& part : {std::vector<ValueList>(frame.rows.begin(), frame.rows.begin() + half), std::vector<ValueList>(frame.rows.begin() + half, frame.rows.end())}) {
      if (frame.types.empty()) {
        chunks.emplace_back(std::vector<data::ColumnPtr>{}, static_cast<int64_t>(part.size()));
      } else {
        chunks.push_back(data::ChunkFromRows(frame.types, part));
      }
    }
    EXPECT_EQ(FormatRows(params, chunks, "UTC"), expected) << title;
  }
}

// As pyspark.sql.functions.split documents it.
TEST(ShowString, EmptyTextsAtTheStartOfAnArrayCount) {
  ShowStringParams params;
  params.num_rows = 20;
  params.names = {"p"};
  params.types = {DataType::Array(DataType::String())};
  const data::Chunk rows = data::ChunkFromRows(params.types, {{List({Text(""), Text("A"), Text("B")})}});
  EXPECT_NE(FormatRows(params, {rows}, "UTC").find("|[, A, B]|"), std::string::npos);
}

}  // namespace
}  // namespace thalweg::engine
