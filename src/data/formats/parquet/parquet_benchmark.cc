// Rows per second of one core: 7 columns (two keys, a measure, two texts, a timestamp, a flag), snappy.

#include <benchmark/benchmark.h>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/formats/parquet/parquet_reader.h"
#include "data/formats/parquet/parquet_writer.h"
#include "data/io/memory_file_system.h"

namespace thalweg::data {
namespace {

constexpr int64_t kChunks = 256;

Schema SevenColumns() {
  return {{.name = "id", .type = DataType::Long()},     {.name = "user", .type = DataType::Integer()},
          {.name = "amount", .type = DataType::Double()}, {.name = "page", .type = DataType::String()},
          {.name = "agent", .type = DataType::String()},  {.name = "ts", .type = DataType::Timestamp()},
          {.name = "flag", .type = DataType::Boolean()}};
}

std::vector<Chunk> MakeRows() {
  Random random(1);
  std::vector<Chunk> chunks;
  for (int64_t c = 0; c < kChunks; ++c) {
    FixedBuilder<int64_t> id(DataType::Long());
    FixedBuilder<int32_t> user(DataType::Integer());
    FixedBuilder<double> amount(DataType::Double());
    TextBuilder page(DataType::String());
    TextBuilder agent(DataType::String());
    FixedBuilder<int64_t> ts(DataType::Timestamp());
    FixedBuilder<uint8_t> flag(DataType::Boolean());
    for (int64_t i = 0; i < kChunkRows; ++i) {
      const int64_t row = c * kChunkRows + i;
      id.Append(row);
      user.Append(static_cast<int32_t>(random.NextBelow(100000)));
      amount.Append(static_cast<double>(random.NextBelow(10000)) / 100);
      page.Append("page-" + std::to_string(random.NextBelow(1000)));
      agent.Append("agent/" + std::to_string(random.NextBelow(50)) + " of a browser");
      ts.Append(1700000000000000 + row * 1000);
      flag.Append(random.NextBool() ? 1 : 0);
    }
    chunks.emplace_back(std::vector<ColumnPtr>{id.Finish(), user.Finish(), amount.Finish(), page.Finish(), agent.Finish(),
                                               ts.Finish(), flag.Finish()},
                        kChunkRows);
  }
  return chunks;
}

void BM_WriteSevenColumns(benchmark::State& state) {
  const auto chunks = MakeRows();
  for (auto _ : state) {
    MemoryFileSystem disk;
    auto writer = ParquetWriter::Make(disk, "/f", SevenColumns()).ValueOrDie();
    for (const Chunk& chunk : chunks) {
      if (!writer->Write(chunk).ok()) state.SkipWithError("write");
    }
    benchmark::DoNotOptimize(writer->Close().ValueOrDie().bytes);
  }
  state.SetItemsProcessed(state.iterations() * kChunks * kChunkRows);
}
BENCHMARK(BM_WriteSevenColumns)->Unit(benchmark::kMillisecond);

void BM_ReadSevenColumns(benchmark::State& state) {
  MemoryFileSystem disk;
  auto writer = ParquetWriter::Make(disk, "/f", SevenColumns()).ValueOrDie();
  for (const Chunk& chunk : MakeRows()) {
    if (!writer->Write(chunk).ok()) state.SkipWithError("write");
  }
  writer->Close().ValueOrDie();
  ParquetReadRequest request;
  request.columns = SevenColumns();
  for (auto _ : state) {
    auto reader = ParquetFile::Open(disk, "/f").ValueOrDie()->NewReader(request).ValueOrDie();
    int64_t rows = 0;
    while (auto next = reader->Next().ValueOrDie()) rows += next->chunk.num_rows();
    benchmark::DoNotOptimize(rows);
  }
  state.SetItemsProcessed(state.iterations() * kChunks * kChunkRows);
}
BENCHMARK(BM_ReadSevenColumns)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace thalweg::data
