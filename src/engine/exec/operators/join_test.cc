#include <algorithm>
#include <array>
#include <map>

#include <gtest/gtest.h>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/columnar/random_column.h"
#include "engine/exec/operators/hash_join.h"
#include "engine/exec/operators/nested_loop_join.h"
#include "engine/exec/testing.h"
#include "sql/functions/expression_reader.h"

namespace thalweg::engine {
namespace {

using data::DataType;
using data::Value;
using data::ValueList;

struct Side {
  std::vector<DataType> types;
  std::vector<ValueList> rows;
  std::vector<data::Chunk> chunks;
};

// Columns: key, key, row number. Small domains, so that keys meet; some chunks carry a selection.
Side RandomSide(Random& random, int64_t rows, uint64_t domain) {
  Side side;
  side.types = {DataType::Long(), DataType::String(), DataType::Integer()};
  std::vector<ValueList> part;
  for (int64_t i = 0; i < rows; ++i) {
    ValueList row;
    row.push_back(random.NextBelow(10) == 0 ? Value() : Value(static_cast<int64_t>(random.NextBelow(domain))));
    row.push_back(random.NextBelow(10) == 0 ? Value() : Value(std::string(random.NextBelow(2) == 0 ? "a" : "a longer text of a key")));
    row.push_back(Value(static_cast<int32_t>(i)));
    side.rows.push_back(row);
    part.push_back(row);
    if (part.size() == 200 || i + 1 == rows) {
      data::Chunk chunk = data::ChunkFromRows(side.types, part);
      if (side.chunks.size() % 2 == 1) {  // twice the rows, half of them selected
        const std::array<data::Chunk, 2> twice = {chunk, chunk};
        const int64_t half = chunk.num_rows();
        chunk = data::ConcatChunks(twice, side.types);
        auto selection = std::make_shared<std::vector<int32_t>>();
        for (int64_t row_index = 0; row_index < half; ++row_index) {
          selection->push_back(static_cast<int32_t>(row_index));
        }
        chunk.set_selection(std::move(selection));
      }
      side.chunks.push_back(chunk);
      part.clear();
    }
  }
  return side;
}

std::string RowText(const ValueList& row) {
  std::string out;
  for (const Value& value : row) {
    if (value.is_null()) {
      out += "null|";
    } else if (const auto* text = value.get_if<std::string>()) {
      out += *text + "|";
    } else {
      out += std::to_string(value.AsInt64()) + "|";
    }
  }
  return out;
}

std::vector<std::string> NaiveJoin(const Side& left, const Side& right, JoinKind kind, int keys, const std::vector<bool>& null_safe) {
  std::vector<std::string> out;
  std::vector<bool> right_found(right.rows.size(), false);
  const ValueList nulls(3);
  const auto both = [&](const ValueList& a, const ValueList& b) { out.push_back(RowText(a) + RowText(b)); };
  for (const ValueList& a : left.rows) {
    bool found = false;
    for (size_t j = 0; j < right.rows.size(); ++j) {
      const ValueList& b = right.rows[j];
      bool same = true;
      for (int k = 0; k < keys && same; ++k) {
        same = a[k].is_null() || b[k].is_null() ? null_safe[k] && a[k].is_null() && b[k].is_null() : a[k] == b[k];
      }
      if (!same) continue;
      found = right_found[j] = true;
      if (kind != JoinKind::kLeftSemi && kind != JoinKind::kLeftAnti) both(a, b);
    }
    if (kind == JoinKind::kLeftSemi && found) out.push_back(RowText(a));
    if (kind == JoinKind::kLeftAnti && !found) out.push_back(RowText(a));
    if ((kind == JoinKind::kLeftOuter || kind == JoinKind::kFullOuter) && !found) both(a, nulls);
  }
  for (size_t j = 0; j < right.rows.size(); ++j) {
    if ((kind == JoinKind::kRightOuter || kind == JoinKind::kFullOuter) && !right_found[j]) both(nulls, right.rows[j]);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> Rows(const std::vector<data::Chunk>& chunks) {
  std::vector<std::string> out;
  for (const data::Chunk& chunk : chunks) {
    const data::Chunk dense = chunk.Dense();
    for (int64_t row = 0; row < dense.num_rows(); ++row) {
      ValueList values;
      for (int column = 0; column < dense.num_columns(); ++column) values.push_back(dense.column(column)->GetValue(row));
      out.push_back(RowText(values));
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

PhysicalNodePtr Source(std::vector<data::Chunk> chunks) {
  return testing::Node("Source", {}, 1, [chunks](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<testing::ChunkSource>(chunks);
  });
}

constexpr std::array kAllKinds = {JoinKind::kInner,     JoinKind::kLeftOuter, JoinKind::kRightOuter,
                                  JoinKind::kFullOuter, JoinKind::kLeftSemi,  JoinKind::kLeftAnti};

std::shared_ptr<HashJoinParams> Params(JoinKind kind, int build_port, int keys, std::vector<bool> null_safe, const Side& left, const Side& right) {
  auto params = std::make_shared<HashJoinParams>();
  params->kind = kind;
  params->build_port = build_port;
  std::vector<DataType> key_types;
  for (int k = 0; k < keys; ++k) {
    params->left_keys.push_back(k);
    params->right_keys.push_back(k);
    key_types.push_back(left.types[k]);
  }
  params->null_safe = std::move(null_safe);
  params->layout = std::make_shared<const KeyLayout>(KeyLayout::Make(key_types).ValueOrDie());
  params->left_types = left.types;
  params->right_types = right.types;
  params->left_output = {0, 1, 2};
  if (kind != JoinKind::kLeftSemi && kind != JoinKind::kLeftAnti) params->right_output = {0, 1, 2};
  return params;
}

TEST(HashJoin, AgreesWithANestedLoopForEveryKind) {
  uint64_t seed = 1;
  for (const JoinKind kind : kAllKinds) {
    for (const int build_port : {0, 1}) {
      for (const int keys : {1, 2}) {
        for (const int64_t right_rows : {0, 1, 700}) {
          SCOPED_TRACE(::testing::Message() << "kind " << static_cast<int>(kind) << " build " << build_port << " keys " << keys << " rows " << right_rows);
          Random random(++seed);
          const Side left = RandomSide(random, 900, 300);
          const Side right = RandomSide(random, right_rows, 300);
          std::vector<bool> null_safe(keys, random.NextBelow(2) == 0);
          const auto params = Params(kind, build_port, keys, null_safe, left, right);
          const int partitions = 3;
          std::vector<int> key_columns = params->left_keys;
          const auto join = testing::Node(
              "HashJoin", {{Source(left.chunks), Distribution::kHash, key_columns}, {Source(right.chunks), Distribution::kHash, key_columns}},
              partitions, [params](PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<HashJoin>(params); });
          ASSERT_EQ(Rows(testing::RunPlan(testing::Plan(join)).ValueOrDie()), NaiveJoin(left, right, kind, keys, null_safe));
        }
      }
    }
  }
}

TEST(HashJoin, ManyPartnersComeInChunks) {
  Random random(3);
  const Side left = RandomSide(random, 300, 1);
  const Side right = RandomSide(random, 300, 1);
  const auto params = Params(JoinKind::kInner, 1, 1, {false}, left, right);
  const auto join = testing::Node("HashJoin", {{Source(left.chunks), Distribution::kSame, {}}, {Source(right.chunks), Distribution::kSame, {}}}, 1,
                                  [params](PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<HashJoin>(params); });
  const auto chunks = testing::RunPlan(testing::Plan(join)).ValueOrDie();
  for (const auto& chunk : chunks) EXPECT_LE(chunk.num_rows(), data::kChunkRows);
  EXPECT_EQ(Rows(chunks), NaiveJoin(left, right, JoinKind::kInner, 1, {false}));
}

// Four instances see all build rows; one builds, and the others probe the same table.
TEST(HashJoin, SharedTableOfABroadcast) {
  for (const JoinKind kind : {JoinKind::kInner, JoinKind::kLeftOuter, JoinKind::kLeftSemi, JoinKind::kLeftAnti}) {
    Random random(17);
    const Side left = RandomSide(random, 2000, 300);
    const Side right = RandomSide(random, 500, 300);
    const auto params = Params(kind, 1, 2, {false, true}, left, right);
    params->shared = std::make_shared<SharedJoinTable>();
    const auto join = testing::Node("HashJoin", {{Source(left.chunks), Distribution::kRoundRobin, {}}, {Source(right.chunks), Distribution::kBroadcast, {}}}, 4,
                                    [params](PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<HashJoin>(params); });
    ASSERT_EQ(Rows(testing::RunPlan(testing::Plan(join)).ValueOrDie()), NaiveJoin(left, right, kind, 2, {false, true}));
  }
}

TEST(HashJoin, KeepsTheTableOfAnUnchangedLeaf) {
  Random random(5);
  const Side left = RandomSide(random, 50, 20);
  const Side right = RandomSide(random, 50, 20);
  auto opened = std::make_shared<std::atomic<int>>(0);
  const auto params = Params(JoinKind::kInner, 1, 1, {false}, left, right);
  params->shared = std::make_shared<SharedJoinTable>();
  const auto stream = testing::LeafNode(0, 2, testing::LongOutput());
  const auto fixed = testing::LeafNode(1, 1, testing::LongOutput());
  const auto join = testing::Node("HashJoin", {{stream, Distribution::kSame, {}}, {fixed, Distribution::kBroadcast, {}}}, 2,
                                  [params](PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<HashJoin>(params); });
  std::vector<LeafSlot> leaves(2);
  leaves[0].stream_index = 0;
  leaves[1].scan = testing::FixedScan({});
  testing::Runner runner(testing::Plan(join, leaves));
  for (int epoch = 0; epoch < 4; ++epoch) {
    testing::Collector collector;
    EpochInput input;
    input.leaf_splits = {{testing::ChunksSplit(left.chunks)}, {testing::ChunksSplit(right.chunks, opened)}};
    input.leaf_unchanged = {false, epoch % 3 != 0};
    ASSERT_TRUE(runner.execution->RunEpoch(input, collector.consumer()).ok());
    EXPECT_EQ(Rows(collector.chunks()), NaiveJoin(left, right, JoinKind::kInner, 1, {false}));
  }
  EXPECT_EQ(opened->load(), 2);
}

// A row that stands twice in the selection is two rows, also where a condition decides about its partners.
TEST(HashJoin, RepeatedRowsOfASelectionWithACondition) {
  const sql::EvalConfig config;
  const auto x = sql::Attribute::Make("x", DataType::Integer(), true);
  const auto y = sql::Attribute::Make("y", DataType::Integer(), true);
  const auto greater = sql::ReadExpression("x > y", config, {x, y}).ValueOrDie();
  Side left;
  left.types = {DataType::Long(), DataType::String(), DataType::Integer()};
  Side right;
  right.types = left.types;
  const auto row = [](int64_t key, int32_t number) { return ValueList{Value(key), Value(std::string("s")), Value(number)}; };
  data::Chunk chunk = data::ChunkFromRows(left.types, {row(1, 5), row(2, 0), row(3, 9)});
  chunk.set_selection(std::make_shared<const std::vector<int32_t>>(std::vector<int32_t>{0, 0, 1, 1, 2, 2, 0}));
  left.chunks = {chunk};
  right.chunks = {data::ChunkFromRows(right.types, {row(1, 4), row(1, 6), row(2, 7)})};
  const std::map<JoinKind, size_t> expected = {{JoinKind::kInner, 3}, {JoinKind::kLeftOuter, 7}, {JoinKind::kLeftSemi, 3}, {JoinKind::kLeftAnti, 4}, {JoinKind::kFullOuter, 9}};
  for (const auto& [kind, rows] : expected) {
    const auto params = Params(kind, 1, 1, {false}, left, right);
    params->condition = JoinCondition{sql::Program::Compile({greater}, {x, y}, std::make_shared<const sql::EvalConfig>()).ValueOrDie(), {2}, {2}};
    const auto join = testing::Node("HashJoin", {{Source(left.chunks), Distribution::kSame, {}}, {Source(right.chunks), Distribution::kSame, {}}}, 1,
                                    [params](PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<HashJoin>(params); });
    EXPECT_EQ(Rows(testing::RunPlan(testing::Plan(join)).ValueOrDie()).size(), rows) << static_cast<int>(kind);
  }
}

TEST(NestedLoopJoin, EveryPairWithoutACondition) {
  for (const JoinKind kind : kAllKinds) {
    for (const int64_t right_rows : {0, 1, 300}) {
      Random random(29);
      const Side left = RandomSide(random, 400, 10);
      const Side right = RandomSide(random, right_rows, 10);
      auto params = std::make_shared<NestedLoopJoinParams>();
      params->kind = kind;
      params->left_types = left.types;
      params->right_types = right.types;
      params->left_output = {0, 1, 2};
      if (kind != JoinKind::kLeftSemi && kind != JoinKind::kLeftAnti) params->right_output = {0, 1, 2};
      const auto join = testing::Node("NestedLoopJoin", {{Source(left.chunks), Distribution::kSame, {}}, {Source(right.chunks), Distribution::kBroadcast, {}}}, 1,
                                      [params](PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<NestedLoopJoin>(params); });
      ASSERT_EQ(Rows(testing::RunPlan(testing::Plan(join)).ValueOrDie()), NaiveJoin(left, right, kind, 0, {}));
    }
  }
}

}  // namespace
}  // namespace thalweg::engine
