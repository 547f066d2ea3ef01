#include "data/formats/parquet/int96_leaf.h"

#include <cstring>

#include "data/columnar/buffer.h"

namespace thalweg::data {

namespace {

constexpr uint64_t kInt96MicrosOfDay = uint64_t{86400} * 1000000;
constexpr int64_t kJulianDayOfEpoch = 2440588;

// Wraps at the ends of int64, as Spark.
int64_t Micros(const parquet::Int96& value) {
  uint64_t nanos = 0;
  std::memcpy(&nanos, &value, sizeof(nanos));
  const int64_t days = static_cast<int64_t>(static_cast<int32_t>(value.value[2])) - kJulianDayOfEpoch;
  return static_cast<int64_t>(static_cast<uint64_t>(days) * kInt96MicrosOfDay + static_cast<uint64_t>(static_cast<int64_t>(nanos) / 1000));
}

}  // namespace

Result<ColumnPtr> Int96Leaf::Next(int64_t rows) {
  auto* reader = static_cast<parquet::Int96Reader*>(reader_.get());
  const int16_t present = reader->descr()->max_definition_level();
  if (static_cast<int64_t>(values_.size()) < rows) {
    values_.resize(static_cast<size_t>(rows));
    levels_.resize(static_cast<size_t>(rows));
  }
  auto micros_buffer = Buffer::AllocateZeroed(rows * static_cast<int64_t>(sizeof(int64_t)));
  auto validity = present > 0 ? Buffer::AllocateZeroed((rows + 63) / 64 * 8) : nullptr;
  const auto micros = micros_buffer->as_mutable<int64_t>();
  int64_t done = 0;
  int64_t nulls = 0;
  while (done < rows) {
    int64_t count = 0;
    const int64_t slots = reader->ReadBatch(rows - done, levels_.data(), nullptr, values_.data(), &count);
    if (slots == 0) return InternalError("an INT96 column with too few values");
    const parquet::Int96* value = values_.data();
    for (int64_t i = 0; i < slots; ++i) {
      const auto row = static_cast<size_t>(done + i);
      if (present > 0 && levels_[static_cast<size_t>(i)] < present) {
        ++nulls;
        continue;
      }
      micros[row] = Micros(*value++);
      if (present > 0) validity->mutable_data()[row >> 3] |= static_cast<uint8_t>(1u << (row & 7));
    }
    done += slots;
  }
  Column::Parts parts;
  parts.type = DataType::Timestamp();
  parts.length = rows;
  parts.null_count = nulls;
  if (nulls > 0) parts.validity = std::move(validity);
  parts.values = std::move(micros_buffer);
  return Column::Make(std::move(parts));
}

}  // namespace thalweg::data
