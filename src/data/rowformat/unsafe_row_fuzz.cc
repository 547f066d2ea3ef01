// Damaged rows: no crash; what was understood survives being written again.

#include <cstdint>
#include <cstdlib>

#include "data/columnar/random_column.h"
#include "data/rowformat/unsafe_row_reader.h"
#include "data/rowformat/unsafe_row_writer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace thalweg;        // NOLINT
  using namespace thalweg::data;  // NOLINT
  if (size < 2) return 0;
  Random random(bytes[0] | static_cast<uint64_t>(bytes[1]) << 8);
  std::vector<DataType> types;
  for (uint64_t i = 1 + random.NextBelow(4); i > 0; --i) types.push_back(RandomType(random, 3));
  const std::vector<std::string_view> rows = {{reinterpret_cast<const char*>(bytes) + 2, size - 2}};
  FindRowFault(types, rows[0]);
  std::string prefix;
  RowPrefix(types, 1, rows[0], &prefix);
  const auto columns = UnsafeRowReader(types).Read(rows);
  if (!columns.ok()) return 0;
  RowBatch written;
  if (!UnsafeRowWriter(types).Write(*columns, 1, nullptr, &written).ok()) return 0;
  if (FindRowFault(types, written.row(0))) std::abort();
  const auto again = UnsafeRowReader(types).Read(written);
  RowBatch twice;
  if (!again.ok() || !UnsafeRowWriter(types).Write(*again, 1, nullptr, &twice).ok()) std::abort();
  if (written.bytes != twice.bytes) std::abort();
  return 0;
}
