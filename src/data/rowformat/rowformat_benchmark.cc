#include <benchmark/benchmark.h>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/columnar/chunk.h"
#include "data/rowformat/column_hash.h"
#include "data/rowformat/unsafe_row_reader.h"
#include "data/rowformat/unsafe_row_writer.h"

namespace thalweg::data {
namespace {

struct Keys {
  std::vector<DataType> types;
  Chunk chunk;
};

// A window of ten seconds and a text of 36 bytes: the key of the Yahoo streaming benchmark.
Keys WindowAndText() {
  const DataType window =
      DataType::Struct({{.name = "start", .type = DataType::Timestamp()}, {.name = "end", .type = DataType::Timestamp()}});
  Random random(1);
  std::vector<ValueList> rows;
  for (int64_t i = 0; i < kChunkRows; ++i) {
    const auto start = static_cast<int64_t>(random.NextBelow(100)) * 10'000'000;
    std::string text(36, 'x');
    for (char& c : text) c = static_cast<char>('a' + random.NextBelow(26));
    rows.push_back({Value(ValueList{Value(start), Value(start + 10'000'000)}), Value(text)});
  }
  return {{window, DataType::String()}, ChunkFromRows({window, DataType::String()}, rows)};
}

Keys Longs() {
  Random random(2);
  FixedBuilder<int64_t> builder(DataType::Long());
  for (int64_t i = 0; i < kChunkRows; ++i) builder.Append(static_cast<int64_t>(random.NextUint64()));
  return {{DataType::Long()}, Chunk({builder.Finish()}, kChunkRows)};
}

void Write(benchmark::State& state, const Keys& keys) {
  const UnsafeRowWriter writer(keys.types, {.normalize_zero = true});
  RowBatch batch;
  for (auto _ : state) Ignore(writer.Write(keys.chunk.columns(), kChunkRows, nullptr, &batch), "no row is too long");
  state.SetItemsProcessed(state.iterations() * kChunkRows);
}
void Read(benchmark::State& state, const Keys& keys) {
  const UnsafeRowWriter writer(keys.types);
  RowBatch batch;
  Ignore(writer.Write(keys.chunk.columns(), kChunkRows, nullptr, &batch), "no row is too long");
  const UnsafeRowReader reader(keys.types);
  for (auto _ : state) benchmark::DoNotOptimize(reader.Read(batch).ok());
  state.SetItemsProcessed(state.iterations() * kChunkRows);
}
void Hash(benchmark::State& state, const Keys& keys) {
  std::vector<int32_t> hashes(kChunkRows);
  for (auto _ : state) {
    HashColumns(keys.chunk.columns(), nullptr, hashes);
    benchmark::DoNotOptimize(hashes.data());
  }
  state.SetItemsProcessed(state.iterations() * kChunkRows);
}
void GatherRows(benchmark::State& state, const Keys& keys) {
  Random random(3);
  std::vector<int32_t> rows(kChunkRows);
  for (int32_t& row : rows) row = static_cast<int32_t>(random.NextBelow(kChunkRows));
  for (auto _ : state) {
    for (const auto& column : keys.chunk.columns()) benchmark::DoNotOptimize(Take(column, rows));
  }
  state.SetItemsProcessed(state.iterations() * kChunkRows);
}

BENCHMARK_CAPTURE(Write, window_and_text, WindowAndText());
BENCHMARK_CAPTURE(Write, bigint, Longs());
BENCHMARK_CAPTURE(Read, window_and_text, WindowAndText());
BENCHMARK_CAPTURE(Read, bigint, Longs());
BENCHMARK_CAPTURE(Hash, window_and_text, WindowAndText());
BENCHMARK_CAPTURE(Hash, bigint, Longs());
BENCHMARK_CAPTURE(GatherRows, window_and_text, WindowAndText());
BENCHMARK_CAPTURE(GatherRows, bigint, Longs());

}  // namespace
}  // namespace thalweg::data
