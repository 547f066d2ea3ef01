#pragma once

// Contract: building columns. Typed builders for loops (no virtual call a row), ColumnBuilder for everything else.

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "data/columnar/buffer_builder.h"
#include "data/columnar/column.h"

namespace thalweg::data {

/// Grows a validity bitmap. Allocates nothing until the first null.
class ValidityBuilder {
 public:
  void AppendValid() { ++length_; }
  void AppendNull();
  void AppendValid(int64_t count) { length_ += count; }
  void AppendNulls(int64_t count);
  int64_t length() const { return length_; }
  int64_t null_count() const { return null_count_; }
  /// The bitmap for length() rows (absent without nulls); resets the builder.
  BufferPtr Finish();

 private:
  std::vector<uint64_t> null_bits_;  // bit 1 = null, grown lazily
  int64_t length_ = 0;
  int64_t null_count_ = 0;
};

/// Fixed-width values: T is uint8_t (bool), int8_t ... int64_t, float, double, Int128, CalendarInterval.
template <typename T>
class FixedBuilder {
 public:
  explicit FixedBuilder(DataType type) : type_(std::move(type)) {}
  void Reserve(int64_t rows) { values_.Reserve(rows); }
  void Append(T value) {
    values_.Append(value);
    validity_.AppendValid();
  }
  void AppendMany(const T* values, int64_t count) {
    values_.AppendMany(values, count);
    validity_.AppendValid(count);
  }
  void AppendNull() {
    values_.Append(T{});
    validity_.AppendNull();
  }
  int64_t length() const { return validity_.length(); }
  /// Resets the builder.
  ColumnPtr Finish();

 private:
  DataType type_;
  BufferBuilder<T> values_;
  ValidityBuilder validity_;
};

/// Strings and binaries. Append copies the bytes into the builder's own blocks; AppendView refers to bytes that
/// buffers given to AddTextBuffer hold.
class TextBuilder {
 public:
  explicit TextBuilder(DataType type);
  ~TextBuilder();
  TextBuilder(TextBuilder&&) noexcept;
  void Reserve(int64_t rows);
  void Append(std::string_view text);
  void AppendView(TextView view);
  void AppendNull();
  void AddTextBuffer(BufferPtr buffer);
  /// Room for `size` bytes that the caller fills before the next call; AppendView over them is then legal.
  char* AllocateText(int64_t size);
  int64_t length() const;
  ColumnPtr Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Any type, by virtual call: for readers of nested data, literals and tests. Nested builders expose their children:
/// a list row is: append its elements to child(0), then AppendList(); a map row likewise with child(0) keys and
/// child(1) values; a struct row: append one value to each child, then AppendStruct().
class ColumnBuilder {
 public:
  static std::unique_ptr<ColumnBuilder> Make(const DataType& type);
  virtual ~ColumnBuilder() = default;
  virtual void Reserve(int64_t /*rows*/) {}
  /// Also appends nulls to struct children as needed.
  virtual void AppendNull() = 0;
  /// TW_DCHECKs that the value fits the type.
  virtual void AppendValue(const Value& value) = 0;
  /// Copies one row of a column of the same type; any encoding.
  virtual void AppendFrom(const Column& column, int64_t row) = 0;
  virtual ColumnBuilder* child(int /*i*/) { return nullptr; }
  virtual void AppendList() {}    ///< arrays and maps: closes a row
  virtual void AppendStruct() {}  ///< structs and variants: closes a row
  virtual int64_t length() const = 0;
  virtual ColumnPtr Finish() = 0;
};

/// The rows of literal values, for tests and local relations; `rows[i][j]` is row i, column j.
class Chunk;
Chunk ChunkFromRows(const std::vector<DataType>& types, const std::vector<ValueList>& rows);

}  // namespace thalweg::data
