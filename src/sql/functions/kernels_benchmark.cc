// Rates of the hot kernels, in rows a second.

#include <benchmark/benchmark.h>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/columnar/random_column.h"
#include "sql/expr/evaluator.h"
#include "sql/functions/registry.h"

namespace thalweg::sql {
namespace {

constexpr int64_t kRows = data::kChunkRows;

data::ColumnPtr Longs(uint64_t seed) {
  Random random(seed);
  data::FixedBuilder<int64_t> builder(DataType::Long());
  for (int64_t i = 0; i < kRows; ++i) builder.Append(static_cast<int64_t>(random.NextBelow(1000000)));
  return builder.Finish();
}

void RunProgram(benchmark::State& state, const ExprPtr& expression, const AttributeList& input, const data::Chunk& chunk,
                bool filter = false) {
  auto config = std::make_shared<EvalConfig>();
  const auto program = Program::Compile({expression}, input, config).ValueOrDie();
  EvalContext context;
  for (auto _ : state) {
    auto result = filter ? program->Filter(chunk, context) : program->Run(chunk, context);
    benchmark::DoNotOptimize(result);
  }
  state.SetItemsProcessed(state.iterations() * chunk.physical_rows());
}

const AttributeList kInput{Attribute::Make("a", DataType::Long(), false), Attribute::Make("b", DataType::Long(), false)};
const EvalConfig kConfig;

ExprPtr Bind(std::string_view name, ExprList arguments) {
  return BindBuiltin(name, std::move(arguments), BindContext{kConfig}).ValueOrDie();
}

void BM_AddLongsAnsi(benchmark::State& state) {
  RunProgram(state, Bind("+", {kInput[0], kInput[1]}), kInput, data::Chunk({Longs(1), Longs(2)}, kRows));
}
BENCHMARK(BM_AddLongsAnsi);

void BM_CompareLongs(benchmark::State& state) {
  RunProgram(state, Bind("<", {kInput[0], Literal::Long(500000)}), kInput, data::Chunk({Longs(1), Longs(2)}, kRows));
}
BENCHMARK(BM_CompareLongs);

void BM_FilterLongs(benchmark::State& state) {
  const ExprPtr condition =
      Bind("and", {Bind("<", {kInput[0], Literal::Long(500000)}), Bind(">", {kInput[1], Literal::Long(250000)})});
  RunProgram(state, condition, kInput, data::Chunk({Longs(1), Longs(2)}, kRows), true);
}
BENCHMARK(BM_FilterLongs);

void BM_CastLongToInt(benchmark::State& state) {
  RunProgram(state, Cast::Make(kInput[0], DataType::Integer(), EvalMode::kAnsi), kInput,
             data::Chunk({Longs(1), Longs(2)}, kRows));
}
BENCHMARK(BM_CastLongToInt);

void BM_CastLongToString(benchmark::State& state) {
  RunProgram(state, Cast::Make(kInput[0], DataType::String(), EvalMode::kAnsi), kInput,
             data::Chunk({Longs(1), Longs(2)}, kRows));
}
BENCHMARK(BM_CastLongToString);

void BM_OneRow(benchmark::State& state) {
  RunProgram(state, Bind("+", {kInput[0], kInput[1]}), kInput,
             data::Chunk({data::Slice(Longs(1), 0, 1), data::Slice(Longs(2), 0, 1)}, 1));
}
BENCHMARK(BM_OneRow);

void UpdateGroups(benchmark::State& state, std::string_view name) {
  auto bound = BindAggregate(*BuiltinFunctions().FindAggregate(name), {kInput[0]}, false, nullptr, BindContext{kConfig})
                   .ValueOrDie();
  const BoundAggregate& call = bound->As<AggregateCall>()->bound();
  const auto words = static_cast<size_t>(call.kernels->size + 7) / 8;
  std::vector<uint64_t> memory(words * 100, 0);
  Random random(7);
  std::vector<uint8_t*> accumulators;
  for (int64_t i = 0; i < kRows; ++i) {
    accumulators.push_back(reinterpret_cast<uint8_t*>(memory.data() + words * random.NextBelow(100)));
  }
  const data::ColumnPtr column = Longs(1);
  EvalContext context;
  for (auto _ : state) {
    Ignore(call.kernels->update(call, std::span(&column, 1), kRows, accumulators.data(), context), "measured only");
    for (size_t i = 0; call.kernels->destroy != nullptr && i < 100; ++i) {
      call.kernels->destroy(call, reinterpret_cast<uint8_t*>(memory.data() + words * i));
    }
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
void BM_CountGroups(benchmark::State& state) { UpdateGroups(state, "count"); }
BENCHMARK(BM_CountGroups);
void BM_SumGroups(benchmark::State& state) { UpdateGroups(state, "sum"); }
BENCHMARK(BM_SumGroups);
void BM_MaxGroups(benchmark::State& state) { UpdateGroups(state, "max"); }
BENCHMARK(BM_MaxGroups);
void BM_CollectListGroups(benchmark::State& state) { UpdateGroups(state, "collect_list"); }
BENCHMARK(BM_CollectListGroups);

}  // namespace
}  // namespace thalweg::sql
