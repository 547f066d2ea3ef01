// Inner join of two streams with a range of ten minutes either way, state warm, changelog on disk: rows of both sides per second
// of CPU of the whole process (source chunks, exchange, join, encoding, compression). range(0): rows of state a side.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/io/local_file_system.h"
#include "engine/exec/testing.h"
#include "engine/planner/planner.h"
#include "engine/state/state_services.h"
#include "sql/analyzer/test_environment.h"
#include "sql/optimizer/optimizer.h"
#include "sql/parser/parser.h"

namespace thalweg::engine {
namespace {

constexpr char kSchema[] = "id BIGINT, ts TIMESTAMP, v BIGINT";
constexpr int64_t kRangeS = 600;
constexpr int64_t kRowsOfBatch = 100'000;  // a side
constexpr int kPartitions = 4;

struct Bench {
  Bench() {
    for (const std::string name : {"l", "r"}) {
      environment.AddTable("raw_" + name, kSchema, true);
      const auto relation =
          std::make_shared<sql::UnresolvedRelation>(std::vector<std::string>{"raw_" + name}, sql::OptionMap{}, true);
      const auto watermark =
          std::make_shared<sql::EventTimeWatermark>(sql::UnresolvedAttribute::Make({"ts"}), "0 seconds", relation);
      environment.AddView(name, sql::Analyze(watermark, environment).ValueOrDie());
    }
    const char* const text =
        "SELECT l.id, l.v, r.v FROM l JOIN r ON l.id = r.id AND r.ts BETWEEN l.ts - INTERVAL 10 MINUTES AND l.ts + INTERVAL 10 MINUTES";
    const auto mode = sql::OutputMode::kAppend;
    const sql::PlanPtr analyzed = sql::Analyze(sql::ParsePlan(text, {}).ValueOrDie(), environment).ValueOrDie();
    shaped = sql::ShapeForState(analyzed, mode, *environment.config()).ValueOrDie();
    const sql::PlanPtr optimized = sql::Optimize(shaped.plan, {environment.config(), true}).ValueOrDie();
    StreamPlanOptions options;
    options.config = environment.config();
    options.mode = mode;
    options.shuffle_partitions = kPartitions;
    options.checkpoint_root = root;
    options.state = &services;
    options.run_id = RunId(Uuid::MakeRandom());
    query = services.OpenQuery(options.run_id, root, {}).ValueOrDie();
    plan = PlanStream({optimized, shaped.layout}, options).ValueOrDie();
    runner = std::make_unique<testing::Runner>(plan, 1);
  }
  ~Bench() {
    runner.reset();
    plan.reset();
    query.reset();
    Ignore(files.RemoveTree(root), "a temporary folder");
  }

  /// Rows of one side: every id once, shuffled within the micro-batch; times rise through it.
  std::vector<data::Chunk> Side(int64_t rows_per_second) {
    std::vector<int64_t> ids(kRowsOfBatch);
    for (int64_t i = 0; i < kRowsOfBatch; ++i) ids[static_cast<size_t>(i)] = batch * kRowsOfBatch + i;
    for (size_t i = ids.size() - 1; i > 0; --i) std::swap(ids[i], ids[random.NextBelow(i + 1)]);
    std::vector<data::Chunk> chunks;
    for (int64_t begin = 0; begin < kRowsOfBatch; begin += data::kChunkRows) {
      const int64_t end = std::min(kRowsOfBatch, begin + data::kChunkRows);
      data::FixedBuilder<int64_t> id(data::DataType::Long());
      data::FixedBuilder<int64_t> ts(data::DataType::Timestamp());
      data::FixedBuilder<int64_t> v(data::DataType::Long());
      for (int64_t i = begin; i < end; ++i) {
        id.Append(ids[static_cast<size_t>(i)] * 7919);
        ts.Append((batch * kRowsOfBatch + i) * 1'000'000 / rows_per_second + 1'700'000'000'000'000);
        v.Append(i);
      }
      chunks.push_back(data::Chunk({id.Finish(), ts.Finish(), v.Finish()}, end - begin));
    }
    return chunks;
  }

  void Prepare(int64_t rows_per_second) {
    input = {};
    const int64_t now_ms = batch * kRowsOfBatch * 1000 / rows_per_second + 1'700'000'000'000;
    input.context.batch_id = BatchId(batch);
    input.context.late_watermark_ms = std::exchange(watermark_ms, now_ms - 1);
    input.context.eviction_watermark_ms = watermark_ms;
    input.context.has_watermark = true;
    for (size_t i = 0; i < plan->leaves.size(); ++i) input.leaf_splits.push_back({testing::ChunksSplit(Side(rows_per_second))});
    ++batch;
  }
  int64_t Run() {
    testing::Collector collector;
    if (!runner->execution->RunEpoch(input, collector.consumer()).ok() || !runner->execution->Prepare().ok() ||
        !runner->execution->Committed().ok()) {
      return -1;
    }
    return collector.num_rows();
  }

  std::string root = "/tmp/thalweg-join-benchmark-" + std::to_string(::getpid());
  data::FileSystem& files = data::LocalFileSystem::Get();
  StateServices services{files};
  sql::TestEnvironment environment;
  sql::ShapedPlan shaped;
  std::shared_ptr<QueryState> query;
  std::shared_ptr<const PhysicalPlan> plan;
  std::unique_ptr<testing::Runner> runner;
  Random random{7};
  EpochInput input;
  int64_t batch = 0;
  int64_t watermark_ms = 0;
};

void StreamJoinInner(benchmark::State& state) {
  Bench bench;
  const int64_t rows_per_second = state.range(0) / kRangeS;
  for (int64_t i = 0; i <= state.range(0) / kRowsOfBatch; ++i) {
    bench.Prepare(rows_per_second);
    if (bench.Run() < 0) return state.SkipWithError("a micro-batch failed");
  }
  int64_t pairs = 0;
  for (auto _ : state) {
    state.PauseTiming();
    bench.Prepare(rows_per_second);
    state.ResumeTiming();
    pairs += bench.Run();
  }
  state.SetItemsProcessed(state.iterations() * 2 * kRowsOfBatch);
  state.counters["pairs/batch"] = static_cast<double>(pairs) / static_cast<double>(state.iterations());
  for (const NodeMetrics& node : bench.runner->execution->Metrics()) {
    if (node.node->stateful_id) state.counters["rows"] = static_cast<double>(node.total.custom.at("numRowsTotal"));
  }
}
BENCHMARK(StreamJoinInner)->Arg(500'000)->Arg(5'000'000)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace thalweg::engine
