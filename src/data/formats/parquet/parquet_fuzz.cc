// Parquet files: whatever the bytes, no crash; what opens can be read to its end or to an error.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "data/formats/parquet/parquet_reader.h"
#include "data/io/memory_file_system.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace thalweg::data;  // NOLINT
  MemoryFileSystem disk;
  auto out = disk.Create("/f", CreateMode::kReplace);
  if (!out.ok() || !(*out)->Append({reinterpret_cast<const char*>(bytes), size}).ok() || !(*out)->Close().ok()) std::abort();
  const auto file = ParquetFile::Open(disk, "/f");
  if (!file.ok() || (*file)->num_rows() > 100000) return 0;
  const auto schema = (*file)->ReadSchema();
  if (!schema.ok()) return 0;
  ParquetReadRequest request;
  request.columns = *schema;
  auto reader = (*file)->NewReader(request);
  if (!reader.ok()) return 0;
  for (int step = 0; step < 1000; ++step) {
    const auto next = (*reader)->Next();
    if (!next.ok() || !next->has_value()) break;
  }
  return 0;
}
