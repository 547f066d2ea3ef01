#include "sql/functions/hash/xxhash64.h"

#include <bit>
#include <string>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace thalweg::sql {
namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87ULL;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4FULL;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9ULL;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63ULL;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5ULL;

uint64_t Mix(uint64_t hash) {
  hash ^= hash >> 33;
  hash *= kPrime2;
  hash ^= hash >> 29;
  hash *= kPrime3;
  return hash ^ (hash >> 32);
}

uint64_t XxInt(uint32_t value, uint64_t seed) {
  uint64_t hash = seed + kPrime5 + 4;
  hash ^= value * kPrime1;
  hash = std::rotl(hash, 23) * kPrime2 + kPrime3;
  return Mix(hash);
}

uint64_t XxLong(uint64_t value, uint64_t seed) {
  uint64_t hash = seed + kPrime5 + 8;
  hash ^= std::rotl(value * kPrime2, 31) * kPrime1;
  hash = std::rotl(hash, 27) * kPrime1 + kPrime4;
  return Mix(hash);
}

uint64_t XxBytes(std::string_view bytes, uint64_t seed) { return XXH64(bytes.data(), bytes.size(), seed); }

/// java.math.BigInteger.toByteArray: the fewest big-endian bytes of two's complement.
std::string BigEndianBytes(Int128 value) {
  std::string bytes;
  for (int shift = 120; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(static_cast<unsigned __int128>(value) >> shift));
  size_t first = 0;
  while (first + 1 < bytes.size()) {
    const char lead = bytes[first];
    const bool next_negative = (bytes[first + 1] & 0x80) != 0;
    if ((lead == 0 && !next_negative) || (lead == static_cast<char>(0xFF) && next_negative)) {
      ++first;
    } else {
      break;
    }
  }
  return bytes.substr(first);
}

}  // namespace

uint64_t XxHashRow(const Column& column, int64_t row, uint64_t seed) {
  if (column.IsNull(row)) return seed;
  const auto slot = static_cast<size_t>(SlotOf(column, row));
  switch (column.physical()) {
    case PhysicalType::kNull: return seed;
    case PhysicalType::kBool: return XxInt(column.values<uint8_t>()[slot], seed);
    case PhysicalType::kInt8: return XxInt(static_cast<uint32_t>(column.values<int8_t>()[slot]), seed);
    case PhysicalType::kInt16: return XxInt(static_cast<uint32_t>(column.values<int16_t>()[slot]), seed);
    case PhysicalType::kInt32: return XxInt(static_cast<uint32_t>(column.values<int32_t>()[slot]), seed);
    case PhysicalType::kInt64: return XxLong(static_cast<uint64_t>(column.values<int64_t>()[slot]), seed);
    case PhysicalType::kFloat: {
      const float v = column.values<float>()[slot];
      return XxInt(v == 0 ? 0 : (v != v ? 0x7fc00000U : std::bit_cast<uint32_t>(v)), seed);
    }
    case PhysicalType::kDouble: {
      const double v = column.values<double>()[slot];
      return XxLong(v == 0 ? 0 : (v != v ? 0x7ff8000000000000ULL : std::bit_cast<uint64_t>(v)), seed);
    }
    case PhysicalType::kInt128: {
      const Int128 v = column.values<Int128>()[slot];
      if (column.type().precision() <= 18) return XxLong(static_cast<uint64_t>(v), seed);
      return XxBytes(BigEndianBytes(v), seed);
    }
    case PhysicalType::kText: return XxBytes(column.values<TextView>()[slot].view(), seed);
    case PhysicalType::kInterval: {
      const auto v = column.values<data::CalendarInterval>()[slot];
      return XxInt(static_cast<uint32_t>(v.months),
                   XxInt(static_cast<uint32_t>(v.days), XxLong(static_cast<uint64_t>(v.microseconds), seed)));
    }
    case PhysicalType::kList:
      for (int32_t i = column.offsets()[slot]; i < column.offsets()[slot + 1]; ++i) seed = XxHashRow(*column.child(0), i, seed);
      return seed;
    case PhysicalType::kMap:
      for (int32_t i = column.offsets()[slot]; i < column.offsets()[slot + 1]; ++i) {
        seed = XxHashRow(*column.child(1), i, XxHashRow(*column.child(0), i, seed));
      }
      return seed;
    case PhysicalType::kStruct:
      for (int i = 0; i < column.num_children(); ++i) seed = XxHashRow(*column.child(i), static_cast<int64_t>(slot), seed);
      return seed;
  }
  return seed;
}

}  // namespace thalweg::sql
