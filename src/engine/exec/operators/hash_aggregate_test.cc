#include "engine/exec/operators/hash_aggregate.h"

#include <algorithm>
#include <array>
#include <map>

#include <gtest/gtest.h>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/columnar/random_column.h"
#include "engine/exec/testing.h"

namespace thalweg::engine {
namespace {

using data::ColumnPtr;
using data::DataType;
using data::Value;

// sum(BIGINT) over rows that are not null, and how many those were; wraps. Its buffers are the two numbers.
struct SumCount {
  int64_t sum = 0;
  int64_t count = 0;
};

Status Update(const sql::BoundAggregate&, std::span<const ColumnPtr> arguments, int64_t rows, uint8_t* const* accumulators, sql::EvalContext&) {
  const ColumnPtr flat = data::Flatten(arguments[0]);
  const auto values = flat->values<int64_t>();
  for (int64_t row = 0; row < rows; ++row) {
    if (flat->IsNull(row)) continue;
    auto& into = *reinterpret_cast<SumCount*>(accumulators[row]);
    into.sum = static_cast<int64_t>(static_cast<uint64_t>(into.sum) + static_cast<uint64_t>(values[row]));
    ++into.count;
  }
  return Status::OK();
}

Status Merge(const sql::BoundAggregate&, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators, sql::EvalContext&) {
  for (int64_t row = 0; row < rows; ++row) {
    auto& into = *reinterpret_cast<SumCount*>(accumulators[row]);
    into.sum = static_cast<int64_t>(static_cast<uint64_t>(into.sum) + static_cast<uint64_t>(buffers[0]->GetValue(row).AsInt64()));
    into.count += buffers[1]->GetValue(row).AsInt64();
  }
  return Status::OK();
}

Status Export(const sql::BoundAggregate&, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  data::FixedBuilder<int64_t> sums(DataType::Long());
  data::FixedBuilder<int64_t> counts(DataType::Long());
  for (const uint8_t* accumulator : accumulators) {
    sums.Append(reinterpret_cast<const SumCount*>(accumulator)->sum);
    counts.Append(reinterpret_cast<const SumCount*>(accumulator)->count);
  }
  out->push_back(sums.Finish());
  out->push_back(counts.Finish());
  return Status::OK();
}

Result<ColumnPtr> Finish(const sql::BoundAggregate&, std::span<uint8_t* const> accumulators, sql::EvalContext&) {
  data::FixedBuilder<int64_t> sums(DataType::Long());
  for (const uint8_t* accumulator : accumulators) {
    const auto& from = *reinterpret_cast<const SumCount*>(accumulator);
    if (from.count == 0) {
      sums.AppendNull();
    } else {
      sums.Append(from.sum);
    }
  }
  return sums.Finish();
}

std::shared_ptr<const sql::BoundAggregate> SumOfLongs() {
  static const sql::AggregateKernels kKernels{.size = sizeof(SumCount), .update = &Update, .merge = &Merge, .export_buffers = &Export, .finish = &Finish};
  auto bound = std::make_shared<sql::BoundAggregate>();
  bound->type = DataType::Long();
  bound->kernels = &kKernels;
  return bound;
}


PhysicalNodePtr Aggregation(PhysicalInput input, int partitions, std::shared_ptr<const AggregationSpec> spec, bool partial) {
  auto params = std::make_shared<HashAggregateParams>();
  params->spec = std::move(spec);
  params->buffers = params->repeats = partial;
  return testing::Node("HashAggregate", {std::move(input)}, partitions, [params](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<HashAggregate>(params);
  });
}

PhysicalNodePtr Source(std::vector<std::vector<data::Chunk>> chunks) {
  const int partitions = static_cast<int>(chunks.size());
  return testing::Node("Source", {}, partitions, [chunks](PartitionId p) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<testing::ChunkSource>(chunks[p.value()]);
  });
}

// Partial in three instances, exchange by keys, final in four; against a map. Column 2 is the filter of the second sum.
void CheckGroupBy(uint64_t seed, int64_t rows_per_chunk, uint64_t domain) {
  Random random(seed);
  const std::vector<DataType> types = {DataType::Long(), DataType::String(), DataType::Boolean(), DataType::Long()};
  std::map<std::string, std::array<SumCount, 2>> expected;
  std::vector<std::vector<data::Chunk>> chunks(3);
  for (int c = 0; c < 9; ++c) {
    std::vector<data::ValueList> rows;
    for (int64_t i = 0; i < rows_per_chunk; ++i) {
      data::ValueList row;
      row.push_back(random.NextBelow(20) == 0 ? Value() : Value(static_cast<int64_t>(random.NextBelow(domain))));
      row.push_back(random.NextBelow(20) == 0 ? Value() : Value("key number " + std::to_string(random.NextBelow(3))));
      row.push_back(random.NextBelow(3) == 0 ? Value() : Value(random.NextBelow(2) == 0));
      row.push_back(random.NextBelow(5) == 0 ? Value() : Value(static_cast<int64_t>(random.NextBelow(1000))));
      const std::string key = (row[0].is_null() ? "null" : std::to_string(row[0].AsInt64())) + "/" + (row[1].is_null() ? "null" : row[1].get<std::string>());
      auto& sums = expected[key];
      for (int a = 0; a < 2; ++a) {
        if (a == 1 && (row[2].is_null() || !row[2].get<bool>())) continue;
        if (row[3].is_null()) continue;
        sums[a].sum += row[3].AsInt64();
        ++sums[a].count;
      }
      rows.push_back(std::move(row));
    }
    chunks[c % 3].push_back(data::ChunkFromRows(types, rows));
  }
  AggregateSpec plain{SumOfLongs(), {3}, {}, false};
  AggregateSpec filtered{SumOfLongs(), {3}, 2, false};
  AggregateSpec merge_plain{SumOfLongs(), {2, 3}, {}, true};
  AggregateSpec merge_filtered{SumOfLongs(), {4, 5}, {}, true};
  const std::vector<DataType> keys = {types[0], types[1]};
  const auto partial = Aggregation({Source(chunks), Distribution::kSame, {}}, 3, MakeAggregationSpec({0, 1}, keys, {plain, filtered}).ValueOrDie(), true);
  const auto final_node = Aggregation({partial, Distribution::kHash, {0, 1}}, 4, MakeAggregationSpec({0, 1}, keys, {merge_plain, merge_filtered}).ValueOrDie(), false);
  size_t groups = 0;
  for (const auto& chunk : testing::RunPlan(testing::Plan(final_node)).ValueOrDie()) {
    for (int64_t row = 0; row < chunk.num_rows(); ++row, ++groups) {
      const Value number = chunk.column(0)->GetValue(row);
      const Value text = chunk.column(1)->GetValue(row);
      const std::string key = (number.is_null() ? "null" : std::to_string(number.AsInt64())) + "/" + (text.is_null() ? "null" : text.get<std::string>());
      ASSERT_TRUE(expected.contains(key)) << key;
      for (int a = 0; a < 2; ++a) {
        const Value sum = chunk.column(2 + a)->GetValue(row);
        if (expected[key][a].count == 0) {
          ASSERT_TRUE(sum.is_null());
        } else {
          ASSERT_EQ(sum.AsInt64(), expected[key][a].sum);
        }
      }
    }
  }
  EXPECT_EQ(groups, expected.size());
}

TEST(HashAggregate, AgreesWithAMap) {
  CheckGroupBy(1, 1, 10);
  CheckGroupBy(2, 500, 10);
  CheckGroupBy(3, 3000, 100'000);
}

TEST(HashAggregate, WithoutKeysOneRowAlsoFromNothing) {
  for (const int64_t rows : {0, 5}) {
    std::vector<data::Chunk> chunks;
    if (rows > 0) chunks.push_back(testing::LongChunk({1, 2, 3, 4, 5}));
    const auto partial = Aggregation({Source({chunks, {}}), Distribution::kSame, {}}, 2, MakeAggregationSpec({}, {}, {{SumOfLongs(), {0}, {}, false}}).ValueOrDie(), true);
    const auto root = Aggregation({partial, Distribution::kSingle, {}}, 1, MakeAggregationSpec({}, {}, {{SumOfLongs(), {0, 1}, {}, true}}).ValueOrDie(), false);
    const auto out = testing::RunPlan(testing::Plan(root)).ValueOrDie();
    ASSERT_EQ(out.size(), 1U);
    ASSERT_EQ(out[0].num_rows(), 1);
    EXPECT_EQ(out[0].column(0)->GetValue(0), rows == 0 ? Value() : Value(int64_t{15}));
  }
}

TEST(HashAggregate, DistinctKeepsTheOrderOfFirstAppearance) {
  const auto root = Aggregation({Source({{testing::LongChunk({5, 3, 5, 9, 3}), testing::LongChunk({9, 1})}}), Distribution::kSame, {}}, 1, MakeAggregationSpec({0}, {DataType::Long()}, {}).ValueOrDie(), false);
  std::vector<int64_t> values;
  for (const auto& chunk : testing::RunPlan(testing::Plan(root)).ValueOrDie()) {
    for (const int64_t value : testing::Longs(chunk)) values.push_back(value);
  }
  EXPECT_EQ(values, (std::vector<int64_t>{5, 3, 9, 1}));
}

TEST(HashAggregate, PartialHandsOnWhenItGetsLarge) {
  std::vector<data::Chunk> chunks;
  constexpr int64_t kGroups = 1'500'000;
  for (int64_t first = 0; first < kGroups; first += 5000) {
    std::vector<int64_t> values(5000);
    for (int64_t i = 0; i < 5000; ++i) values[i] = first + i;
    chunks.push_back(testing::LongChunk(values));
  }
  const auto partial = Aggregation({Source({chunks}), Distribution::kSame, {}}, 1, MakeAggregationSpec({0}, {DataType::Long()}, {{SumOfLongs(), {0}, {}, false}}).ValueOrDie(), true);
  testing::Runner runner(testing::Plan(partial));
  testing::Collector collector;
  ASSERT_TRUE(runner.execution->RunEpoch({}, collector.consumer()).ok());
  EXPECT_EQ(collector.num_rows(), kGroups);
  EXPECT_LT(runner.account.peak_bytes(), 50 << 20);
  EXPECT_EQ(runner.account.used_bytes(), 0);
}

}  // namespace
}  // namespace thalweg::engine
