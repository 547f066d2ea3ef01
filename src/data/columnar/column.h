#pragma once

// Contract: a column of values. Arrow's layouts but for two: booleans are one byte each, text views hold a pointer
// (docs/decisions). Invariants:
// - immutable once built; shared by reference count;
// - the value slot of a null row is defined memory, but any value (text slots of null rows are empty views);
// - validity absent = no nulls; a validity bitmap is LSB first, bit 1 = valid, starts at bit 0, padded with zero to 8 bytes;
// - offsets of lists and maps start at offsets[0] (not necessarily 0) and have length + 1 entries.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "data/columnar/buffer.h"
#include "data/types/data_type.h"
#include "data/types/value.h"

namespace thalweg::data {

enum class Encoding : uint8_t {
  kFlat,
  kConstant,    ///< one slot (row 0) stands for all rows; `length` is still the number of rows
  kDictionary,  ///< int32 indices into a flat dictionary column; nulls are in this column's own validity
};

class Column;
using ColumnPtr = std::shared_ptr<const Column>;

/// Thread: immutable.
class Column {
 public:
  /// Everything a column consists of; used by builders and readers.
  struct Parts {
    DataType type;
    Encoding encoding = Encoding::kFlat;
    int64_t length = 0;
    int64_t null_count = 0;           ///< exact
    BufferPtr validity;               ///< absent when null_count is 0; constants: null_count is 0 or length, validity absent
    BufferPtr values;                 ///< values, or offsets (lists, maps), or indices (dictionary)
    std::vector<BufferPtr> text;      ///< what text views point into
    std::vector<ColumnPtr> children;  ///< element; key, value; struct fields; the dictionary
  };
  static ColumnPtr Make(Parts parts);
  /// `value` in every row.
  static ColumnPtr Constant(const DataType& type, const Value& value, int64_t length);
  static ColumnPtr Nulls(const DataType& type, int64_t length);

  const DataType& type() const { return parts_.type; }
  PhysicalType physical() const { return physical_; }
  Encoding encoding() const { return parts_.encoding; }
  bool is_constant() const { return parts_.encoding == Encoding::kConstant; }
  int64_t length() const { return parts_.length; }
  int64_t null_count() const { return parts_.null_count; }
  bool has_nulls() const { return parts_.null_count != 0; }
  const Parts& parts() const { return parts_; }

  /// Bitmap words, or null when there are none (flat and dictionary only).
  const uint64_t* validity_words() const {
    return parts_.validity ? reinterpret_cast<const uint64_t*>(parts_.validity->data()) : nullptr;
  }
  /// Any encoding.
  bool IsNull(int64_t row) const {
    if (parts_.null_count == 0) return false;
    if (parts_.null_count == parts_.length) return true;
    return (validity_words()[row >> 6] >> (row & 63) & 1) == 0;
  }
  /// Slots in memory: length, or one for a constant. T must match physical(): uint8_t for kBool, int8_t ..., TextView.
  template <typename T>
  std::span<const T> values() const {
    return {reinterpret_cast<const T*>(parts_.values ? parts_.values->data() : nullptr),
            static_cast<size_t>(is_constant() ? 1 : parts_.length)};
  }
  std::span<const int32_t> offsets() const {
    return {reinterpret_cast<const int32_t*>(parts_.values->data()),
            static_cast<size_t>(is_constant() ? 2 : parts_.length + 1)};
  }
  const ColumnPtr& child(int i) const { return parts_.children[i]; }
  int num_children() const { return static_cast<int>(parts_.children.size()); }
  std::span<const int32_t> indices() const { return values<int32_t>(); }
  const ColumnPtr& dictionary() const { return parts_.children[0]; }

  /// One row as a Value; any encoding. Slow: tests, literals, show().
  Value GetValue(int64_t row) const;

  /// Approximate bytes held alive, shared buffers counted in full.
  int64_t bytes() const;

  explicit Column(Parts parts);

 private:
  Parts parts_;
  PhysicalType physical_;
};

/// The same rows with encoding kFlat (returns itself when it is). Text bytes are not copied. Nested children are flattened too.
ColumnPtr Flatten(const ColumnPtr& column);
/// Rows `rows[0], rows[1], ...` in that order. Result flat (or constant for constants). Text bytes shared. Index -1 gives null.
ColumnPtr Take(const ColumnPtr& column, std::span<const int32_t> rows);
/// Rows [offset, offset + length). May share buffers.
ColumnPtr Slice(const ColumnPtr& column, int64_t offset, int64_t length);
/// All rows of the columns, one after the other; equal types (SameType). Result flat. Text bytes shared.
ColumnPtr Concat(std::span<const ColumnPtr> columns);
/// Copies text, and values that are a slice of a larger block, so that the column holds no more than it needs, when less than half of what it
/// references is live; else returns the column itself. Call at every boundary that keeps rows.
ColumnPtr Compact(const ColumnPtr& column);
/// The same rows and buffers under another type of the same physical type.
ColumnPtr WithType(const ColumnPtr& column, const DataType& type);
/// The same rows with more nulls: row i is null where `column` is null or bit i of `words` is 0. `words` has length bits.
ColumnPtr WithValidity(const ColumnPtr& column, BufferPtr validity, int64_t null_count);

}  // namespace thalweg::data
