// Deduplication with a durable changelog over many live keys: rows per second of one core.

#include <benchmark/benchmark.h>

#include <unistd.h>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/io/local_file_system.h"
#include "engine/stateful/deduplicate.h"

namespace thalweg::engine {
namespace {

constexpr int64_t kChunks = 25;  // of a micro-batch
constexpr int64_t kSecond = 1'000'000;

/// A key per row and its event time; `key_of(i)` of row i.
template <typename KeyOf>
data::Chunk Rows(int64_t first, KeyOf key_of) {
  data::FixedBuilder<int64_t> keys(data::DataType::Long());
  data::FixedBuilder<int64_t> times(data::DataType::Timestamp());
  for (int64_t i = first; i < first + data::kChunkRows; ++i) {
    keys.Append(key_of(i));
    times.Append(i);
  }
  return data::Chunk({keys.Finish(), times.Finish()}, data::kChunkRows);
}

struct Bench {
  explicit Bench(std::optional<int64_t> within_us) {
    DeduplicateSpec spec;
    spec.key_columns = {0};
    spec.key_types = {data::DataType::Long()};
    if (within_us) {
      spec.late_by = KeyEventTime{1, false};
      spec.within_us = within_us;
    }
    spec.state = query;
    rows = MakeDeduplicate(std::move(spec))(PartitionId(0)).ValueOrDie();
    Ignore(rows->Open({}), "a fresh folder");
  }
  ~Bench() {
    rows.reset();
    Ignore(files.RemoveTree(root), "a temporary folder");
  }
  /// One micro-batch of these chunks; answers the rows that came through.
  template <typename Next>
  int64_t MicroBatch(Next next, int64_t watermark_ms) {
    sql::EpochContext epoch;
    epoch.batch_id = BatchId(batch++);
    epoch.late_watermark_ms = epoch.eviction_watermark_ms = watermark_ms;
    Ignore(rows->BeginEpoch(epoch), "held");
    int64_t out = 0;
    for (int64_t i = 0; i < kChunks; ++i) {
      OperatorState state = rows->Push(0, next()).ValueOrDie();
      while (state == OperatorState::kHaveOutput) out += rows->Pull(&state).ValueOrDie()->num_rows();
    }
    Ignore(rows->Seal().status(), "ends");
    while (!rows->Prepare(epoch).ValueOrDie()) rows->blocked_on()->Wait({});
    return out;
  }
  std::string root = "/tmp/thalweg-deduplicate-benchmark-" + std::to_string(::getpid());
  data::FileSystem& files = data::LocalFileSystem::Get();
  StateServices services{files};
  std::shared_ptr<QueryState> query = std::move(services.OpenQuery(RunId(Uuid::MakeRandom()), root, {})).ValueOrDie();
  std::unique_ptr<Operator> rows;
  int64_t batch = 0;
};

// range(0): live keys. Half of the rows are new, the others repeat any of the live ones.
void DropDuplicates(benchmark::State& state) {
  Bench bench(std::nullopt);
  int64_t next = 0;
  while (next < state.range(0)) {
    bench.MicroBatch([&] {
      next += data::kChunkRows;
      return Rows(next, [](int64_t i) { return i * 7919; });
    }, 0);
  }
  Random random(1);
  std::vector<data::Chunk> chunks;
  for (int i = 0; i < 1000; ++i) {
    chunks.push_back(Rows(0, [&](int64_t j) {
      return j % 2 == 0 ? (++next + data::kChunkRows) * 7919 : static_cast<int64_t>(random.NextBelow(static_cast<uint64_t>(state.range(0)))) * 7919;
    }));
  }
  size_t at = 0;
  for (auto _ : state) bench.MicroBatch([&] { return chunks[at++ % chunks.size()]; }, 0);
  state.SetItemsProcessed(state.iterations() * kChunks * data::kChunkRows);
}
BENCHMARK(DropDuplicates)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMillisecond)->Iterations(38);

// range(0): live keys. All rows are new; as many keys expire as come.
void WithinWatermark(benchmark::State& state) {
  const int64_t live = state.range(0);
  Bench bench(live);  // a row every microsecond
  int64_t next = kSecond;
  const auto chunk = [&] {
    next += data::kChunkRows;
    return Rows(next, [](int64_t i) { return i * 7919; });
  };
  while (next < kSecond + live) bench.MicroBatch(chunk, 0);
  for (auto _ : state) bench.MicroBatch(chunk, (next - kChunks * data::kChunkRows) / 1000);
  state.SetItemsProcessed(state.iterations() * kChunks * data::kChunkRows);
}
BENCHMARK(WithinWatermark)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMillisecond)->Iterations(38);

}  // namespace
}  // namespace thalweg::engine
