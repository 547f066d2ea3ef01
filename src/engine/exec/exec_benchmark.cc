// Group by, join probe, exchange and the smallest epoch. One core each unless said; rows from columnar memory.

#include <benchmark/benchmark.h>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "engine/exec/aggregator.h"
#include "engine/exec/operators/hash_join.h"
#include "engine/exec/sorter.h"
#include "engine/exec/testing.h"
#include "sql/functions/registry.h"

namespace thalweg::engine {
namespace {

using data::DataType;

std::shared_ptr<const sql::BoundAggregate> Bound(std::string_view name, const sql::ExprList& arguments) {
  const sql::EvalConfig config;
  const sql::AggregateFunction* function = sql::BuiltinFunctions().FindAggregate(name);
  auto bound = sql::BindAggregate(*function, arguments, false, nullptr, {config}).ValueOrDie();
  return bound->As<sql::AggregateCall>()->bound_ptr();
}

// Two BIGINT columns: a key below `keys` and a small number.
std::vector<data::Chunk> KeyedChunks(int64_t rows, int64_t keys, uint64_t seed = 1) {
  Random random(seed);
  std::vector<data::Chunk> chunks;
  for (int64_t first = 0; first < rows; first += data::kChunkRows) {
    const int64_t count = std::min(data::kChunkRows, rows - first);
    data::FixedBuilder<int64_t> key(DataType::Long());
    data::FixedBuilder<int64_t> value(DataType::Long());
    for (int64_t i = 0; i < count; ++i) {
      key.Append(static_cast<int64_t>(random.NextBelow(static_cast<uint64_t>(keys))));
      value.Append(static_cast<int64_t>(random.NextBelow(1000)));
    }
    chunks.push_back(data::Chunk({key.Finish(), value.Finish()}, count));
  }
  return chunks;
}

void GroupBy(benchmark::State& state) {
  constexpr int64_t kRows = 4'000'000;
  const std::vector<data::Chunk> chunks = KeyedChunks(kRows, state.range(0));
  const sql::ExprPtr column = sql::Attribute::Make("v", DataType::Long(), false);
  std::vector<AggregateSpec> aggregates;
  if (state.range(1) != 0) aggregates.push_back({Bound("sum", {column}), {1}, {}, false});
  aggregates.push_back({Bound("count", {sql::Literal::Integer(1)}), {}, {}, false});
  if (aggregates.back().bound->argument_types.size() == 1) aggregates.back().arguments = {1};
  const auto spec = MakeAggregationSpec({0}, {DataType::Long()}, aggregates).ValueOrDie();
  const sql::EvalConfig config;
  const sql::EpochContext epoch;
  sql::EvalContext context{&config, &epoch, 0, 0};
  for (auto _ : state) {
    Aggregator aggregator(spec);
    for (const data::Chunk& chunk : chunks) TW_CHECK(aggregator.Add(chunk, context).ok());
    benchmark::DoNotOptimize(aggregator.groups());
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(GroupBy)->ArgNames({"keys", "sum"})->Args({100, 0})->Args({100, 1})->Args({1'000'000, 0})->Args({1'000'000, 1})->Unit(benchmark::kMillisecond);

PhysicalNodePtr Source(std::vector<std::vector<data::Chunk>> chunks) {
  auto shared = std::make_shared<std::vector<std::vector<data::Chunk>>>(std::move(chunks));
  auto node = testing::Node("Source", {}, static_cast<int>(shared->size()), [shared](PartitionId p) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<testing::ChunkSource>((*shared)[p.value()]);
  });
  node->output = {sql::Attribute::Make("k", DataType::Long(), false), sql::Attribute::Make("v", DataType::Long(), false)};
  return node;
}

PhysicalNodePtr Pass(PhysicalInput input, int partitions) {
  return testing::Node("Pass", {std::move(input)}, partitions, [](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<testing::FlatMap>([](data::Chunk chunk) -> Result<std::vector<data::Chunk>> { return std::vector<data::Chunk>{std::move(chunk)}; });
  });
}

void JoinProbe(benchmark::State& state) {
  constexpr int64_t kRows = 10'000'000;
  const int64_t keys = state.range(0);
  const std::vector<data::Chunk> probe = KeyedChunks(kRows, keys);
  std::vector<data::Chunk> build;
  for (int64_t first = 0; first < keys; first += data::kChunkRows) {
    data::FixedBuilder<int64_t> key(DataType::Long());
    data::FixedBuilder<int64_t> value(DataType::Long());
    for (int64_t i = first; i < std::min(keys, first + data::kChunkRows); ++i) {
      key.Append((i * 7919) % keys);
      value.Append(i);
    }
    const int64_t count = key.length();
    build.push_back(data::Chunk({key.Finish(), value.Finish()}, count));
  }
  auto params = std::make_shared<HashJoinParams>();
  params->left_keys = params->right_keys = {0};
  params->null_safe = {false};
  params->layout = std::make_shared<const KeyLayout>(KeyLayout::Make({DataType::Long()}).ValueOrDie());
  params->left_types = params->right_types = {DataType::Long(), DataType::Long()};
  params->left_output = {0, 1};
  params->right_output = {1};
  MemoryAccount account("benchmark", nullptr);
  MemoryReservation memory(account);
  TaskContext context;
  context.memory = &memory;
  context.config = std::make_shared<const sql::EvalConfig>();
  HashJoin join(params);
  TW_CHECK(join.Open(context).ok());
  const sql::EpochContext epoch;
  TW_CHECK(join.BeginEpoch(epoch).ok());
  for (const auto& chunk : build) TW_CHECK(join.Push(1, chunk).ok());
  TW_CHECK(join.EndInput(1).ok());
  int64_t rows = 0;
  for (auto _ : state) {
    for (const data::Chunk& chunk : probe) {
      OperatorState next = join.Push(0, chunk).ValueOrDie();
      while (next == OperatorState::kHaveOutput) {
        auto out = join.Pull(&next).ValueOrDie();
        if (out) rows += out->num_rows();
      }
    }
  }
  TW_CHECK(rows == state.iterations() * kRows);
  state.SetItemsProcessed(rows);
  join.Close();
}
BENCHMARK(JoinProbe)->ArgName("keys")->Arg(1000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void JoinBuild(benchmark::State& state) {
  const std::vector<data::Chunk> build = KeyedChunks(state.range(0), state.range(0));
  const auto layout = std::make_shared<const KeyLayout>(KeyLayout::Make({DataType::Long()}).ValueOrDie());
  for (auto _ : state) {
    JoinTable table(layout, {0}, {false}, {DataType::Long(), DataType::Long()}, {});
    for (const auto& chunk : build) TW_CHECK(table.Add(chunk).ok());
    TW_CHECK(table.Finish().ok());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(JoinBuild)->ArgName("rows")->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void SortLongs(benchmark::State& state) {
  constexpr int64_t kRows = 1'000'000;
  const std::vector<data::Chunk> chunks = KeyedChunks(kRows, 1'000'000'000);
  for (auto _ : state) {
    Sorter sorter({{0, DataType::Long(), true, true}}, {DataType::Long(), DataType::Long()}, INT64_MAX, {});
    for (const auto& chunk : chunks) TW_CHECK(sorter.Add(chunk).ok());
    TW_CHECK(sorter.Finish().ok());
    while (auto chunk = sorter.Next()) benchmark::DoNotOptimize(chunk->num_rows());
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(SortLongs)->Unit(benchmark::kMillisecond);

// Rows through a hash exchange into `partitions`, two workers.
void ExchangeRows(benchmark::State& state) {
  constexpr int64_t kRows = 4'000'000;
  const int partitions = static_cast<int>(state.range(0));
  const auto source = Source({KeyedChunks(kRows / 2, 1'000'000, 1), KeyedChunks(kRows / 2, 1'000'000, 2)});
  testing::Runner runner(testing::Plan(Pass({source, Distribution::kHash, {0}}, partitions)), 2);
  for (auto _ : state) TW_CHECK(runner.execution->RunEpoch({}, nullptr).ok());
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(ExchangeRows)->ArgName("partitions")->Arg(2)->Arg(16)->Unit(benchmark::kMillisecond)->UseRealTime();

// One row through an exchange of 16 (200) partitions: what a micro-batch pays for the machinery.
void TinyEpoch(benchmark::State& state) {
  const int partitions = static_cast<int>(state.range(0));
  const auto leaf = testing::LeafNode(0, 2, testing::LongOutput());
  const auto root = Pass({Pass({leaf, Distribution::kSame, {}}, 2), Distribution::kHash, {0}}, partitions);
  LeafSlot slot;
  slot.stream_index = 0;
  testing::Runner runner(testing::Plan(root, {slot}), static_cast<int>(state.range(1)));
  EpochInput input;
  input.leaf_splits = {{testing::ChunksSplit({testing::LongChunk({1})})}};
  const RootConsumer consumer = [](PartitionId, data::Chunk, std::shared_ptr<Signal>*) -> Result<bool> { return true; };
  for (auto _ : state) {
    TW_CHECK(runner.execution->RunEpoch(input, consumer).ok());
    TW_CHECK(runner.execution->Prepare().ok());
    TW_CHECK(runner.execution->Committed().ok());
  }
}
BENCHMARK(TinyEpoch)->ArgNames({"partitions", "workers"})->Args({16, 2})->Args({16, 1})->Args({200, 2})->Unit(benchmark::kMicrosecond)->UseRealTime();

// The same from a plan to its result: what `select 1` pays.
void TinyBatch(benchmark::State& state) {
  Scheduler scheduler(Scheduler::Options{2, 2});
  MemoryAccount account("benchmark", nullptr);
  MemoryReservation memory(account);
  const auto config = std::make_shared<const sql::EvalConfig>();
  const auto plan = testing::Plan(Pass({Source({{testing::LongChunk({1})}}), Distribution::kHash, {0}}, 2));
  for (auto _ : state) TW_CHECK(RunBatch(scheduler, plan, config, &memory, nullptr, {}).ok());
}
BENCHMARK(TinyBatch)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
}  // namespace thalweg::engine
