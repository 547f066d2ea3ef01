#include "data/rowformat/unsafe_row_format.h"

#include <array>

namespace thalweg::data {

int UnsafeFixedWidth(const DataType& type) {
  switch (type.physical()) {
    case PhysicalType::kNull: return 0;
    case PhysicalType::kBool:
    case PhysicalType::kInt8: return 1;
    case PhysicalType::kInt16: return 2;
    case PhysicalType::kInt32:
    case PhysicalType::kFloat: return 4;
    case PhysicalType::kInt64:
    case PhysicalType::kDouble: return 8;
    case PhysicalType::kInt128: return IsLargeDecimal(type) ? -1 : 8;
    default: return -1;
  }
}

int BigEndianBytes(Int128 value, uint8_t* bytes) {
  uint8_t all[16];
  auto rest = static_cast<unsigned __int128>(value);
  for (int i = 15; i >= 0; --i) {
    all[i] = static_cast<uint8_t>(rest);
    rest >>= 8;
  }
  int first = 0;
  const uint8_t sign = value < 0 ? 0xff : 0;
  while (first < 15 && all[first] == sign && (all[first + 1] & 0x80) == (sign & 0x80)) ++first;
  std::memcpy(bytes, all + first, static_cast<size_t>(16 - first));
  return 16 - first;
}

Int128 FromBigEndian(const uint8_t* bytes, int size) {
  unsigned __int128 value = size > 0 && (bytes[0] & 0x80) != 0 ? ~static_cast<unsigned __int128>(0) : 0;
  for (int i = 0; i < size; ++i) value = value << 8 | bytes[i];
  return static_cast<Int128>(value);
}

}  // namespace thalweg::data
