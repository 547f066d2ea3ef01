// Rows of JSON lines into five columns: the rate that ingestion can have on one core.

#include <benchmark/benchmark.h>

#include "data/columnar/builder.h"
#include "data/formats/json/json_file_reader.h"
#include "data/io/memory_file_system.h"

namespace thalweg::data {
namespace {

constexpr int kRows = 100'000;

/// `wide`: further members that nobody asks for.
std::string Lines(bool wide) {
  std::string text;
  for (int i = 0; i < kRows; ++i) {
    text += "{\"event_id\":" + std::to_string(1'000'000 + i * 7) + ",\"user\":\"user-" + std::to_string(i % 5000) +
            "-of-a-region\",\"ts\":\"2024-03-01T10:" + std::to_string(10 + i % 50) + ":00.123Z\",\"amount\":" +
            std::to_string(i % 900) + "." + std::to_string(10 + i % 90) + ",\"ok\":" + (i % 3 ? "true" : "false");
    if (wide)
      text += ",\"agent\":\"Mozilla/5.0 (X11; Linux x86_64)\",\"path\":\"/shop/items/" + std::to_string(i % 777) +
              "\",\"tags\":[\"a\",\"b\",\"c\"],\"geo\":{\"lat\":52.5,\"lon\":13.4}";
    text += "}\n";
  }
  return text;
}

void Decode(benchmark::State& state, bool wide, const char* ddl) {
  MemoryFileSystem files;
  const std::string text = Lines(wide);
  auto file = files.Create("/x.json", CreateMode::kReplace).ValueOrDie();
  if (!file->Append(text).ok() || !file->Close().ok()) return state.SkipWithError("no file");
  const Schema columns = ParseSchemaDdl(ddl).ValueOrDie();
  const JsonOptions options = JsonOptions::Make({}, "UTC").ValueOrDie();
  for (auto _ : state) {
    auto reader = MakeJsonFileReader(columns, options).ValueOrDie();
    if (!reader->Open(files, {"/x.json", 0, INT64_MAX, static_cast<int64_t>(text.size())}).ok())
      return state.SkipWithError("cannot open");
    int64_t rows = 0;
    for (bool more = true; more;) {
      more = reader->Read(4096).ValueOrDie();
      rows += reader->length();
      benchmark::DoNotOptimize(reader->Finish().ValueOrDie());
    }
    if (rows != kRows) return state.SkipWithError("wrong count");
  }
  state.SetItemsProcessed(state.iterations() * kRows);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}

BENCHMARK_CAPTURE(Decode, five_of_five, false, "event_id BIGINT, user STRING, ts TIMESTAMP, amount DOUBLE, ok BOOLEAN");
BENCHMARK_CAPTURE(Decode, five_of_nine, true, "event_id BIGINT, user STRING, ts TIMESTAMP, amount DOUBLE, ok BOOLEAN");
BENCHMARK_CAPTURE(Decode, strings_of_nine, true, "event_id BIGINT, user STRING, ts STRING, agent STRING, path STRING");
BENCHMARK_CAPTURE(Decode, two_of_nine, true, "event_id BIGINT, amount DOUBLE");
BENCHMARK_CAPTURE(Decode, nested, true, "event_id BIGINT, tags ARRAY<STRING>, geo STRUCT<lat: DOUBLE, lon: DOUBLE>");

}  // namespace
}  // namespace thalweg::data
