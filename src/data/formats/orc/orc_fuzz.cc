// ORC files: whatever the bytes, no crash; what opens can be read to its end or to an error.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "data/formats/orc/orc_file_reader.h"
#include "data/io/memory_file_system.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace thalweg::data;  // NOLINT
  MemoryFileSystem disk;
  auto out = disk.Create("/f", CreateMode::kReplace);
  if (!out.ok() || !(*out)->Append({reinterpret_cast<const char*>(bytes), size}).ok() || !(*out)->Close().ok()) std::abort();
  const auto schema = ReadOrcSchema(disk, "/f");
  if (!schema.ok()) return 0;
  const auto reader = MakeOrcFileReader({.columns = *schema, .table = *schema});
  if (!reader->Open(disk, {.path = "/f", .file_size = static_cast<int64_t>(size)}).ok()) return 0;
  for (int step = 0; step < 100; ++step) {
    const auto more = reader->Read(1024);
    if (!more.ok() || !*more || !reader->Finish().ok()) break;
  }
  return 0;
}
