#pragma once

// The numbers of Spark's UnsafeRow. Do not change: these bytes lie in checkpoints.
//
//   row    null bits, 8 * ceil(columns / 64) bytes | one 8-byte slot per column | variable part
//   array  int64 count | null bits, 8 * ceil(count / 64) bytes | elements, padded to 8 | variable
//   part map    int64 bytes of the key array | key array | value array
//
// All integers are little endian. A variable value's slot is (offset << 32) | size; the offset
// counts from the start of its row or array, the size excludes the padding to 8 bytes. Source:
// docs/internals/state.md.

#include <cstdint>
#include <cstring>

#include "data/text/decimal128.h"
#include "data/types/data_type.h"
#include "data/types/value.h"

namespace thalweg::data {

inline constexpr int kMaxLongDigits = 18;  ///< decimals of so many digits are an int64
inline constexpr int kReservedBytes =
    16;  ///< of a larger decimal or an interval in a row, null or not

constexpr int64_t RoundUp8(int64_t bytes) { return (bytes + 7) & ~int64_t{7}; }
constexpr int64_t NullBitsBytes(int64_t count) { return ((count + 63) >> 6) * 8; }
/// Null bits and slots of a row.
constexpr int64_t RowFixedBytes(int64_t columns) { return NullBitsBytes(columns) + 8 * columns; }

/// Bytes of a value inside a slot or as an array element; 0 for void, -1 for variable values.
int UnsafeFixedWidth(const DataType& type);
inline bool IsVariable(const DataType& type) { return UnsafeFixedWidth(type) < 0; }
inline bool IsLargeDecimal(const DataType& type) {
  return type.Is(TypeKind::kDecimal) && type.precision() > kMaxLongDigits;
}

inline void SetNullBit(uint8_t* bits, int64_t i) {
  bits[i >> 3] |= static_cast<uint8_t>(1U << (i & 7));
}
inline bool NullBit(const uint8_t* bits, int64_t i) { return (bits[i >> 3] >> (i & 7) & 1) != 0; }

template <typename T>
T LoadAs(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}
template <typename T>
void StoreAs(uint8_t* bytes, T value) {
  std::memcpy(bytes, &value, sizeof(T));
}
inline void StoreSlot(uint8_t* slot, int64_t offset, int64_t size) {
  StoreAs<int64_t>(slot, (offset << 32) | size);
}

/// Minimal big-endian two's complement of `value`, 1 to 16 bytes; answers how many.
int BigEndianBytes(Int128 value, uint8_t* bytes);
/// The inverse; at most 16 bytes.
Int128 FromBigEndian(const uint8_t* bytes, int size);
/// Whether the unscaled value has at most `precision` digits.
inline bool FitsPrecision(Int128 value, int precision) { return DecimalFits(value, precision); }

}  // namespace thalweg::data
