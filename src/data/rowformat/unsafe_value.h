#pragma once

// Private to the writer: one variable value at a time, for what lies inside arrays, maps and nested structs.

#include <cstdint>

#include "data/columnar/column.h"
#include "data/rowformat/unsafe_row_format.h"

namespace thalweg::data {

inline constexpr uint32_t kCanonicalNanFloat = 0x7fc00000;
inline constexpr uint64_t kCanonicalNanDouble = 0x7ff8000000000000;

/// Bits as they are stored: NaN canonical, and -0.0 as 0.0 on request.
inline uint32_t StoredFloat(float value, bool normalize_zero) {
  if (value != value) return kCanonicalNanFloat;
  if (normalize_zero && value == 0) return 0;
  return std::bit_cast<uint32_t>(value);
}
inline uint64_t StoredDouble(double value, bool normalize_zero) {
  if (value != value) return kCanonicalNanDouble;
  if (normalize_zero && value == 0) return 0;
  return std::bit_cast<uint64_t>(value);
}

/// Writes values of flat columns into memory that is zero. Sizes exclude the padding of the value itself.
class UnsafeValue {
 public:
  explicit UnsafeValue(bool normalize_zero) : normalize_zero_(normalize_zero) {}
  /// Bytes of the variable value at `row`, which is not null.
  int64_t Size(const Column& column, int64_t row) const;
  /// Writes it and answers its size.
  int64_t Write(const Column& column, int64_t row, uint8_t* to) const;
  /// A fixed-width value into its slot or element; false when it is a decimal out of range.
  bool WriteFixed(const Column& column, int64_t row, uint8_t* to) const;

 private:
  int64_t ArraySize(const Column& elements, int64_t begin, int64_t end) const;
  int64_t WriteArray(const Column& elements, int64_t begin, int64_t end, uint8_t* to) const;
  int64_t StructSize(const Column& column, int64_t row) const;
  int64_t WriteStruct(const Column& column, int64_t row, uint8_t* to) const;

  bool normalize_zero_;
};

/// Whether the value at `row` is stored as null: null, or a decimal out of range.
bool StoredAsNull(const Column& column, int64_t row);

}  // namespace thalweg::data
