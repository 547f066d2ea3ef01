// Updates of a counted table with a durable changelog, and its restore. Shape of the bars: 8-byte key, 8-byte value.

#include <benchmark/benchmark.h>

#include <unistd.h>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/io/local_file_system.h"
#include "data/rowformat/unsafe_row_format.h"
#include "engine/state/state_table.h"

namespace thalweg::engine {
namespace {

// A bigint as it lies; encoded without a detour over columns.
class BigintPayload final : public StatePayload {
 public:
  int size() const override { return 8; }
  Status Encode(std::span<uint8_t* const> payloads, data::RowBatch* values) override {
    values->bytes.assign(16 * payloads.size(), 0);
    values->offsets.resize(payloads.size() + 1);
    for (size_t i = 0; i < payloads.size(); ++i) {
      values->offsets[i + 1] = static_cast<int64_t>(16 * (i + 1));
      data::StoreAs(values->bytes.data() + 16 * i + 8, data::LoadAs<int64_t>(payloads[i]));
    }
    return Status::OK();
  }
  Status Decode(std::span<const std::string_view> values, std::span<uint8_t* const> payloads) override {
    for (size_t i = 0; i < payloads.size(); ++i) {
      data::StoreAs(payloads[i], data::LoadAs<int64_t>(reinterpret_cast<const uint8_t*>(values[i].data()) + 8));
    }
    return Status::OK();
  }
};

struct Bench {
  explicit Bench(StateOptions given = {}) : options(std::move(given)) {}
  StateOptions options;
  std::string root = "/tmp/thalweg-state-benchmark-" + std::to_string(::getpid());
  data::FileSystem& files = data::LocalFileSystem::Get();
  StateServices services{files};
  std::shared_ptr<QueryState> query =
      std::move(services.OpenQuery(RunId(Uuid::MakeRandom()), root, options)).ValueOrDie();
  std::unique_ptr<StateTable> table = Open();
  ~Bench() {
    table.reset();
    Ignore(files.RemoveTree(root), "a temporary folder");
  }
  std::unique_ptr<StateTable> Open() {
    return StateTable::Open(query, OperatorId(0), PartitionId(0), {.key_types = {data::DataType::Long()}},
                            std::make_unique<BigintPayload>())
        .ValueOrDie();
  }
  void Add(const data::ColumnPtr& keys) {
    Ignore(table->FindOrInsert({&keys, 1}, keys->length(), nullptr, &slots), "no budget");
    for (const StateTable::Slot slot : slots) ++*reinterpret_cast<int64_t*>(table->payload(slot));
    table->MarkChanged(slots);
  }
  void Commit(int64_t version) {
    while (!table->Commit(StateVersion(version)).ValueOrDie()) table->commit_signal()->Wait({});
  }
  std::vector<StateTable::Slot> slots;
};

data::ColumnPtr RandomKeys(Random& random, int64_t rows, uint64_t distinct) {
  data::FixedBuilder<int64_t> builder(data::DataType::Long());
  for (int64_t i = 0; i < rows; ++i) builder.Append(static_cast<int64_t>(random.NextBelow(distinct) * 7919));
  return builder.Finish();
}

// range(0): distinct keys; 100,000 rows a micro-batch.
void UpdatesWithChangelog(benchmark::State& state) {
  Bench bench;
  Random random(1);
  std::vector<data::ColumnPtr> chunks;
  for (int i = 0; i < 400; ++i) chunks.push_back(RandomKeys(random, 4096, static_cast<uint64_t>(state.range(0))));
  Ignore(bench.table->BeginVersion(StateVersion(0)), "empty");
  int64_t version = 0;
  size_t next = 0;
  for (auto _ : state) {
    Ignore(bench.table->BeginVersion(StateVersion(version)), "held");
    for (int i = 0; i < 25; ++i) bench.Add(chunks[next++ % chunks.size()]);
    bench.Commit(++version);
  }
  state.SetItemsProcessed(state.iterations() * 25 * 4096);
  state.counters["bytes/entry"] =
      static_cast<double>(bench.table->memory_bytes()) / static_cast<double>(bench.table->num_entries());
}
BENCHMARK(UpdatesWithChangelog)->Arg(10'000)->Arg(1'000'000)->Arg(4'000'000)->Unit(benchmark::kMillisecond);

StateOptions FormatOf(int64_t format) {
  if (format == 0) return {};
  return {.provider_class = kRocksDbProviderClass, .rocksdb_changelog = format == 1};
}

void Fill(Bench& bench, int64_t entries) {
  Ignore(bench.table->BeginVersion(StateVersion(0)), "empty");
  for (int64_t begin = 0; begin < entries; begin += 4096) {
    data::FixedBuilder<int64_t> builder(data::DataType::Long());
    for (int64_t i = begin; i < begin + 4096; ++i) builder.Append(i * 7919);
    bench.Add(builder.Finish());
  }
  bench.Commit(1);
}

// range(0): entries; from one snapshot and a small delta. range(1): 0 HDFS, 1 RocksDB with changelogs, 2 without.
void Restore(benchmark::State& state) {
  Bench bench(FormatOf(state.range(1)));
  Fill(bench, state.range(0));
  Ignore(bench.table->BeginVersion(StateVersion(1)), "held");
  bench.Commit(2);
  Ignore(bench.services.MaintainAll(true), "a snapshot");
  for (auto _ : state) {
    bench.table->Abort();
    const Status status = bench.table->BeginVersion(StateVersion(2));
    if (!status.ok()) state.SkipWithError(status.message().c_str());
  }
  state.SetItemsProcessed(state.iterations() * bench.table->num_entries());
}
BENCHMARK(Restore)->ArgsProduct({{100'000, 1'000'000}, {0, 1, 2}})->Unit(benchmark::kMillisecond);

// range(0): keys that change in a micro-batch, of a million. range(1): as Restore's.
void SmallCommit(benchmark::State& state) {
  Bench bench(FormatOf(state.range(1)));
  Fill(bench, 1'000'000);
  Random random(1);
  int64_t version = 1;
  for (auto _ : state) {
    state.PauseTiming();
    Ignore(bench.table->BeginVersion(StateVersion(version)), "held");
    bench.Add(RandomKeys(random, state.range(0), 1'000'000));
    state.ResumeTiming();
    bench.Commit(++version);
  }
}
BENCHMARK(SmallCommit)->ArgsProduct({{1'000}, {0, 1, 2}})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace thalweg::engine
