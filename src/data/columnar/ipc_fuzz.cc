// Arrow streams of clients: no crash; what was understood can be written.

#include <cstdint>
#include <cstdlib>

#include "base/process_memory.h"
#include "data/columnar/arrow_bridge.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace thalweg;        // NOLINT
  using namespace thalweg::data;  // NOLINT
  // A message may claim to hold gigabytes, for which the sanitizer would fill its tables.
  [[maybe_unused]] static const bool limited = (SetProcessMemoryLimit(int64_t{1} << 30), true);
  const auto stream = ReadIpcStream({reinterpret_cast<const char*>(bytes), size});
  if (!stream.ok()) return 0;
  const auto written = WriteIpcStream(stream->chunks, stream->schema, {});
  if (written.ok() && !ReadIpcStream(*written).ok()) std::abort();
  return 0;
}
