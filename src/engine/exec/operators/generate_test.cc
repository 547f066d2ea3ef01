// explode and kin against a naive evaluator, over random arrays in every encoding, and one row with a million elements.

#include "engine/exec/operators/generate.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/columnar/random_column.h"
#include "engine/exec/testing.h"
#include "sql/functions/expression_reader.h"

namespace thalweg::engine {
namespace {

using data::DataType;
using data::Value;
using data::ValueList;
using Kind = GeneratedColumn::Kind;

std::shared_ptr<const sql::Program> ColumnProgram(const sql::AttributeList& input, int column) {
  static const auto config = std::make_shared<const sql::EvalConfig>();
  return sql::Program::Compile({input[static_cast<size_t>(column)]}, input, config).ValueOrDie();
}

Result<std::vector<data::Chunk>> RunGenerate(const std::shared_ptr<GenerateParams>& params, std::vector<data::Chunk> chunks) {
  const auto source = testing::Node("Source", {}, 1, [chunks](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<testing::ChunkSource>(chunks);
  });
  return testing::RunPlan(testing::Plan(
      testing::Node("Generate", {{source, Distribution::kSame, {}}}, 1, [params](PartitionId) -> Result<std::unique_ptr<Operator>> {
        return std::make_unique<Generate>(params);
      })));
}

std::vector<ValueList> Rows(const std::vector<data::Chunk>& chunks) {
  std::vector<ValueList> rows;
  for (const data::Chunk& chunk : chunks) {
    EXPECT_LE(chunk.num_rows(), data::kChunkRows);
    const data::Chunk dense = chunk.Dense();
    for (int64_t row = 0; row < dense.num_rows(); ++row) {
      ValueList values;
      for (int column = 0; column < dense.num_columns(); ++column) values.push_back(dense.column(column)->GetValue(row));
      rows.push_back(std::move(values));
    }
  }
  return rows;
}

// Position, then what the generator makes of one element or entry.
std::vector<ValueList> NaiveElements(const Value& list, const DataType& type, bool outer, bool fields) {
  const bool map = type.Is(data::TypeKind::kMap);
  const size_t width = map ? 2 : fields ? type.element().fields().size() : 1;
  std::vector<ValueList> rows;
  if (map && !list.is_null()) {
    const auto& entries = list.get<ValueList>();
    for (size_t i = 0; i < entries.size(); i += 2) {
      rows.push_back({Value(static_cast<int32_t>(rows.size())), entries[i], entries[i + 1]});
    }
  } else if (!list.is_null()) {
    for (const Value& element : list.get<ValueList>()) {
      ValueList row{Value(static_cast<int32_t>(rows.size()))};
      if (!fields) {
        row.push_back(element);
      } else if (element.is_null()) {
        row.resize(1 + width);
      } else {
        for (const Value& field : element.get<ValueList>()) row.push_back(field);
      }
      rows.push_back(std::move(row));
    }
  }
  if (rows.empty() && outer) rows.emplace_back(1 + width);
  return rows;
}

TEST(Generate, AgreesWithNaiveEvaluation) {
  const DataType fields = DataType::Struct({{"a", DataType::Integer(), true}, {"b", DataType::String(), true}});
  const std::vector<DataType> lists = {
      DataType::Array(DataType::Long(), true), DataType::Array(DataType::String(), true),
      DataType::Array(DataType::Array(DataType::Integer(), true), true), DataType::Array(fields, true),
      DataType::Map(DataType::String(), DataType::Double(), true)};
  Random random(17);
  for (int round = 0; round < 200; ++round) {
    const DataType& type = lists[random.NextBelow(lists.size())];
    const DataType carried = random.NextBelow(2) == 0 ? type : DataType::String();
    const int64_t length = 1 + static_cast<int64_t>(random.NextBelow(300));
    data::Chunk chunk({data::RandomColumn(random, type, length), data::RandomColumn(random, carried, length)}, length);
    if (random.NextBelow(2) == 0) {
      auto selection = std::make_shared<std::vector<int32_t>>();
      for (int32_t row = 0; row < length; ++row) {
        if (random.NextBelow(3) != 0) selection->push_back(row);
      }
      chunk.set_selection(std::move(selection));
    }
    const sql::AttributeList input = {sql::Attribute::Make("l", type, true), sql::Attribute::Make("c", carried, true)};
    auto params = std::make_shared<GenerateParams>();
    params->input = ColumnProgram(input, 0);
    params->computes = random.NextBelow(2) == 0;
    params->outer = random.NextBelow(2) == 0;
    params->carried = {1};
    params->columns = {{Kind::kPosition, 0}};
    const bool inline_fields = type.Is(data::TypeKind::kArray) && type.element().Is(data::TypeKind::kStruct);
    const bool two = inline_fields || type.Is(data::TypeKind::kMap);
    for (int i = 0; i < (two ? 2 : 1); ++i) params->columns.push_back({inline_fields ? Kind::kField : Kind::kChild, i});
    std::vector<ValueList> expected;
    const data::Chunk dense = chunk.Dense();
    for (int64_t row = 0; row < dense.num_rows(); ++row) {
      for (ValueList made : NaiveElements(dense.column(0)->GetValue(row), type, params->outer, inline_fields)) {
        made.insert(made.begin(), dense.column(1)->GetValue(row));
        expected.push_back(std::move(made));
      }
    }
    EXPECT_TRUE(Rows(RunGenerate(params, {chunk}).ValueOrDie()) == expected) << type.Sql() << " round " << round;
  }
}

TEST(Generate, AMillionElementsComeInChunks) {
  constexpr int64_t kMany = 1'000'000;
  ValueList elements;
  for (int64_t i = 0; i < kMany; ++i) elements.emplace_back(i);
  const DataType type = DataType::Array(DataType::Long(), false);
  const data::Chunk chunk = data::ChunkFromRows({type, DataType::String()}, {{Value(ValueList{}), Value(std::string("none"))},
                                                                            {Value(std::move(elements)), Value(std::string("many"))}});
  const sql::AttributeList input = {sql::Attribute::Make("l", type, true), sql::Attribute::Make("c", DataType::String(), true)};
  auto params = std::make_shared<GenerateParams>();
  params->input = ColumnProgram(input, 0);
  params->columns = {{Kind::kChild, 0}};
  int64_t next = 0;
  for (const data::Chunk& out : RunGenerate(params, {chunk}).ValueOrDie()) {
    ASSERT_LE(out.num_rows(), data::kChunkRows);
    for (const int64_t value : testing::Longs(out)) ASSERT_EQ(value, next++);
  }
  EXPECT_EQ(next, kMany);
  // Repeated beside its own elements the array would be 10^12 of them: each chunk holds few rows then.
  params->carried = {0};
  params->columns.clear();
  const auto source = std::make_unique<Generate>(params);
  TaskContext context;
  ASSERT_TRUE(source->Open(context).ok());
  ASSERT_TRUE(source->BeginEpoch(sql::EpochContext()).ok());
  ASSERT_EQ(source->Push(0, chunk).ValueOrDie(), OperatorState::kHaveOutput);
  OperatorState state = OperatorState::kHaveOutput;
  EXPECT_EQ(source->Pull(&state).ValueOrDie()->num_rows(), 1);
  EXPECT_EQ(state, OperatorState::kHaveOutput);
}

TEST(Generate, WithoutColumnsItCountsRows) {
  const DataType type = DataType::Array(DataType::Integer(), true);
  const data::Chunk chunk = data::ChunkFromRows(
      {type}, {{Value(ValueList{Value(1), Value()})}, {Value()}, {Value(ValueList{Value(3)})}});
  auto params = std::make_shared<GenerateParams>();
  params->input = ColumnProgram({sql::Attribute::Make("l", type, true)}, 0);
  const auto out = RunGenerate(params, {chunk, chunk}).ValueOrDie();
  int64_t rows = 0;
  for (const data::Chunk& one : out) rows += one.num_rows();
  EXPECT_EQ(rows, 6);
}

}  // namespace
}  // namespace thalweg::engine
