// Appends (5 M rows of 7 columns) and snapshots (20,000 files, from JSON commits and from a checkpoint). CPU time counts.

#include <benchmark/benchmark.h>

#include "connectors/delta/delta_log.h"
#include "connectors/delta/delta_testing.h"
#include "data/io/memory_file_system.h"

namespace thalweg::connectors {
namespace {

using data::Chunk;
using data::DataType;

constexpr int64_t kRows = 5000000;
constexpr int64_t kFiles = 20000;

data::Schema SevenColumns() {
  return {{.name = "id", .type = DataType::Long()},       {.name = "user", .type = DataType::Integer()},
          {.name = "amount", .type = DataType::Double()}, {.name = "page", .type = DataType::String()},
          {.name = "agent", .type = DataType::String()},  {.name = "ts", .type = DataType::Timestamp()},
          {.name = "flag", .type = DataType::Boolean()}};
}

std::vector<Chunk> MakeRows() {
  Random random(1);
  std::vector<Chunk> chunks;
  for (int64_t from = 0; from < kRows; from += data::kChunkRows) {
    const int64_t rows = std::min(data::kChunkRows, kRows - from);
    data::FixedBuilder<int64_t> id(DataType::Long());
    data::FixedBuilder<int32_t> user(DataType::Integer());
    data::FixedBuilder<double> amount(DataType::Double());
    data::TextBuilder page(DataType::String());
    data::TextBuilder agent(DataType::String());
    data::FixedBuilder<int64_t> ts(DataType::Timestamp());
    data::FixedBuilder<uint8_t> flag(DataType::Boolean());
    for (int64_t i = 0; i < rows; ++i) {
      id.Append(from + i);
      user.Append(static_cast<int32_t>(random.NextBelow(100000)));
      amount.Append(static_cast<double>(random.NextBelow(10000)) / 100);
      page.Append("page-" + std::to_string(random.NextBelow(1000)));
      agent.Append("agent/" + std::to_string(random.NextBelow(50)) + " of a browser");
      ts.Append(1700000000000000 + (from + i) * 1000);
      flag.Append(random.NextBool() ? 1 : 0);
    }
    chunks.emplace_back(std::vector<data::ColumnPtr>{id.Finish(), user.Finish(), amount.Finish(), page.Finish(), agent.Finish(),
                                                     ts.Finish(), flag.Finish()},
                        rows);
  }
  return chunks;
}

void BM_AppendFiveMillionRows(benchmark::State& state) {
  const auto chunks = MakeRows();
  for (auto _ : state) {
    data::MemoryFileSystem disk;
    const DeltaBench bench(disk);
    if (!bench.Write("/t", SevenColumns(), chunks, sql::SaveMode::kAppend).ok()) state.SkipWithError("append");
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(BM_AppendFiveMillionRows)->Unit(benchmark::kMillisecond)->Iterations(1);

std::string AddLine(int64_t i) {
  AddFile add;
  add.path = "part-00000-" + std::to_string(i) + "-7d2f0803-ad10-4e60-8cd4-feeb9d629876-c000.snappy.parquet";
  add.size = 1000000 + i;
  add.modification_time = 1700000000000 + i;
  add.stats = "{\"numRecords\":1000,\"minValues\":{\"id\":" + std::to_string(i) + ",\"s\":\"aaaaaaaaaaaaaaaa\"},\"maxValues\":{\"id\":" +
              std::to_string(i + 1000) + ",\"s\":\"zzzzzzzzzzzzzzzz\"},\"nullCount\":{\"id\":0,\"s\":0}}";
  return ActionLine(add) + "\n";
}

void Put(data::FileSystem& disk, const std::string& path, const std::string& bytes) {
  auto file = disk.Create(path, data::CreateMode::kReplace).ValueOrDie();
  if (!file->Append(bytes).ok() || !file->Close().ok()) std::abort();
}

void MakeLog(data::FileSystem& disk) {
  if (!disk.MakeDirectories("/t/_delta_log").ok()) std::abort();
  DeltaMetadata metadata;
  metadata.id = "x";
  metadata.schema_string = R"({"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]})";
  DeltaLog log(disk, SystemClock::Get(), "/t");
  Put(disk, log.CommitPath(0), ActionLine(DeltaProtocol{}) + "\n" + ActionLine(metadata) + "\n");
  for (int64_t version = 1; version <= 200; ++version) {
    std::string lines;
    for (int64_t i = 0; i < kFiles / 200; ++i) lines += AddLine(version * 1000 + i);
    Put(disk, log.CommitPath(version), lines);
  }
}

void BM_SnapshotFromJson(benchmark::State& state) {
  data::MemoryFileSystem disk;
  MakeLog(disk);
  for (auto _ : state) {
    DeltaLog log(disk, SystemClock::Get(), "/t");
    if (log.Update().ValueOrDie()->files()->num_live() != kFiles) state.SkipWithError("files");
  }
}
BENCHMARK(BM_SnapshotFromJson)->Unit(benchmark::kMillisecond);

void BM_SnapshotFromCheckpoint(benchmark::State& state) {
  data::MemoryFileSystem disk;
  MakeLog(disk);
  DeltaLog writer(disk, SystemClock::Get(), "/t");
  if (!WriteDeltaCheckpoint(writer, *writer.Update().ValueOrDie()).ok()) state.SkipWithError("checkpoint");
  for (auto _ : state) {
    DeltaLog log(disk, SystemClock::Get(), "/t");
    if (log.Update().ValueOrDie()->files()->num_live() != kFiles) state.SkipWithError("files");
  }
}
BENCHMARK(BM_SnapshotFromCheckpoint)->Unit(benchmark::kMillisecond);

void BM_WriteCheckpoint(benchmark::State& state) {
  data::MemoryFileSystem disk;
  MakeLog(disk);
  DeltaLog log(disk, SystemClock::Get(), "/t");
  const auto snapshot = log.Update().ValueOrDie();
  for (auto _ : state) {
    if (!WriteDeltaCheckpoint(log, *snapshot).ok()) state.SkipWithError("checkpoint");
  }
}
BENCHMARK(BM_WriteCheckpoint)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace thalweg::connectors
