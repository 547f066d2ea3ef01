#pragma once

// What kernels are written with: readers of arguments, outputs, and loops over the rows of a KernelInput.
// Physical types: bool lies as uint8_t; strings and binaries are read as std::string_view, which points into the column.
// Thread: everything here is confined to one evaluation.

#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/invariant.h"
#include "data/columnar/bitmap.h"
#include "data/columnar/column.h"
#include "data/columnar/fixed_width.h"
#include "sql/expr/function.h"

namespace thalweg::sql {

using data::BitAt;
using data::Column;
using data::ColumnPtr;
using data::Int128;
using data::PhysicalType;
using data::StructField;
using data::TextView;
using data::TypeKind;
using data::ValueList;

/// How a C++ type of a kernel lies in a values buffer.
template <typename T>
struct Stored {
  using type = T;
};
template <>
struct Stored<bool> {
  using type = uint8_t;
};
template <>
struct Stored<std::string_view> {
  using type = TextView;
};

/// Values of a flat or constant column by row. Borrowed: the column must outlive it.
template <typename T>
class Reader {
  using S = typename Stored<T>::type;

 public:
  explicit Reader(const Column& column) : values_(column.values<S>().data()), step_(column.is_constant() ? 0 : 1) {}
  explicit Reader(const ColumnPtr& column) : Reader(*column) {}
  T operator[](int64_t row) const {
    if constexpr (std::is_same_v<T, std::string_view>) {
      return values_[row * step_].view();
    } else if constexpr (std::is_same_v<T, bool>) {
      return values_[row * step_] != 0;
    } else {
      return values_[row * step_];
    }
  }
  const S* data() const { return values_; }
  bool constant() const { return step_ == 0; }

 private:
  const S* values_;
  int64_t step_;
};

/// A validity bitmap that is allocated at the first null.
class NullMarks {
 public:
  explicit NullMarks(int64_t length) : length_(length) {}
  void SetNull(int64_t row) {
    if (words_ == nullptr) [[unlikely]] Allocate();
    words_[row >> 6] &= ~(uint64_t{1} << (row & 63));
  }
  bool any() const { return words_ != nullptr; }
  bool IsNull(int64_t row) const { return words_ != nullptr && !BitAt(words_, row); }
  /// Fills validity and null_count.
  void Finish(Column::Parts* parts);

 private:
  void Allocate();
  int64_t length_;
  std::shared_ptr<data::Buffer> buffer_;
  uint64_t* words_ = nullptr;
};

/// A column of fixed-width values in the making; any row may be written at any time.
template <typename T>
class FixedOutput {
  using S = typename Stored<T>::type;

 public:
  /// `zeroed`: rows that nobody writes hold zero; ask for it unless every row is written.
  FixedOutput(const DataType& type, int64_t length, bool zeroed = true)
      : type_(type),
        length_(length),
        buffer_(zeroed ? data::Buffer::AllocateZeroed(length * static_cast<int64_t>(sizeof(S)))
                       : data::Buffer::Allocate(length * static_cast<int64_t>(sizeof(S)))),
        values_(reinterpret_cast<S*>(buffer_->mutable_data())),
        nulls_(length) {
    TW_DCHECK(type.byte_width() == static_cast<int>(sizeof(S)));
  }
  S* values() { return values_; }
  void Set(int64_t row, T value) { values_[row] = static_cast<S>(value); }
  void SetNull(int64_t row) { nulls_.SetNull(row); }
  ColumnPtr Finish() {
    Column::Parts parts;
    parts.type = type_;
    parts.length = length_;
    parts.values = std::move(buffer_);
    nulls_.Finish(&parts);
    return Column::Make(std::move(parts));
  }

 private:
  DataType type_;
  int64_t length_;
  std::shared_ptr<data::Buffer> buffer_;
  S* values_;
  NullMarks nulls_;
};

/// A column of strings or binaries in the making; rows that nobody writes are empty.
class TextOutput {
 public:
  TextOutput(const DataType& type, int64_t length);
  /// Copies the bytes.
  void Set(int64_t row, std::string_view text) {
    if (text.size() <= TextView::kInline) {
      SetView(row, text);
    } else {
      SetLong(row, text);
    }
  }
  /// Refers to bytes that a buffer given to Share holds. An empty text may lie nowhere.
  void SetView(int64_t row, std::string_view text) {
    views_[row] = text.empty() ? TextView() : TextView(text.data(), static_cast<uint32_t>(text.size()));
  }
  void SetNull(int64_t row) { nulls_.SetNull(row); }
  /// Keeps what the text of this column points into.
  void Share(const Column& column);
  /// Room for `size` bytes, to be filled and given to SetView.
  char* Room(int64_t size);
  ColumnPtr Finish();

 private:
  void SetLong(int64_t row, std::string_view text);
  DataType type_;
  int64_t length_;
  std::shared_ptr<data::Buffer> buffer_;
  TextView* views_;
  NullMarks nulls_;
  std::vector<data::BufferPtr> text_;
  char* next_ = nullptr;
  int64_t left_ = 0;
  int64_t block_ = 0;
};

/// Calls f(row) for every selected row whose arguments are not null.
template <typename F>
void ForEachValid(const KernelInput& input, F&& f) {
  if (input.validity == nullptr) {
    input.rows.ForEach(f);
  } else {
    const uint64_t* words = input.validity;
    input.rows.ForEach([&](int64_t row) {
      if (BitAt(words, row)) f(row);
    });
  }
}

/// As ForEachValid; stops at the first error. f(row) -> Status.
template <typename F>
Status TryForEachValid(const KernelInput& input, F&& f) {
  const int64_t count = input.rows.count();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = input.rows.rows ? (*input.rows.rows)[static_cast<size_t>(i)] : i;
    if (input.validity != nullptr && !BitAt(input.validity, row)) continue;
    TW_RETURN_NOT_OK(f(row));
  }
  return {};
}

namespace internal {
template <typename... In, typename F, size_t... I>
auto WithReaders(const KernelInput& input, F&& f, std::index_sequence<I...>) {
  return f(Reader<In>(*input.arguments[I])...);
}
}  // namespace internal

/// out = f(in...); f is defined for every input, null slots included: a plain loop the compiler can vectorise.
template <typename Out, typename A, typename F>
Result<ColumnPtr> MapTotal1(const BoundScalar& call, const KernelInput& input, F f) {
  const bool all = input.rows.rows == nullptr;
  FixedOutput<Out> out(call.type, input.rows.length, !all);
  auto* values = out.values();
  const Reader<A> a(*input.arguments[0]);
  if (all && !a.constant()) {
    const int64_t length = input.rows.length;
    for (int64_t row = 0; row < length; ++row) {
      if constexpr (std::is_same_v<A, std::string_view>) {
        values[row] = f(a.data()[row].view());
      } else {
        values[row] = f(static_cast<A>(a.data()[row]));
      }
    }
  } else {
    input.rows.ForEach([&](int64_t row) { values[row] = f(a[row]); });
  }
  return out.Finish();
}

template <typename Out, typename A, typename B, typename F>
Result<ColumnPtr> MapTotal2(const BoundScalar& call, const KernelInput& input, F f) {
  const bool all = input.rows.rows == nullptr;
  FixedOutput<Out> out(call.type, input.rows.length, !all);
  auto* values = out.values();
  const Reader<A> a(*input.arguments[0]);
  const Reader<B> b(*input.arguments[1]);
  const int64_t length = input.rows.length;
  if (!all) {
    input.rows.ForEach([&](int64_t row) { values[row] = f(a[row], b[row]); });
  } else if (!a.constant() && !b.constant()) {
    const auto* left = a.data();
    const auto* right = b.data();
    for (int64_t row = 0; row < length; ++row) values[row] = f(static_cast<A>(left[row]), static_cast<B>(right[row]));
  } else if (!a.constant()) {
    const auto* left = a.data();
    const B right = b[0];
    for (int64_t row = 0; row < length; ++row) values[row] = f(static_cast<A>(left[row]), right);
  } else {
    const A left = a[0];
    const auto* right = b.data();
    for (int64_t row = 0; row < length; ++row) values[row] = f(left, static_cast<B>(right[b.constant() ? 0 : row]));
  }
  return out.Finish();
}

/// out = f(in...) for rows without nulls.
template <typename Out, typename... In, typename F>
Result<ColumnPtr> MapValues(const BoundScalar& call, const KernelInput& input, F f) {
  return internal::WithReaders<In...>(
      input,
      [&](auto... readers) -> Result<ColumnPtr> {
        FixedOutput<Out> out(call.type, input.rows.length);
        ForEachValid(input, [&](int64_t row) { out.Set(row, f(readers[row]...)); });
        return out.Finish();
      },
      std::index_sequence_for<In...>{});
}

/// f(in..., Out*) -> bool; false makes the row null.
template <typename Out, typename... In, typename F>
Result<ColumnPtr> MapNullable(const BoundScalar& call, const KernelInput& input, F f) {
  return internal::WithReaders<In...>(
      input,
      [&](auto... readers) -> Result<ColumnPtr> {
        FixedOutput<Out> out(call.type, input.rows.length);
        ForEachValid(input, [&](int64_t row) {
          Out value{};
          if (f(readers[row]..., &value)) {
            out.Set(row, value);
          } else {
            out.SetNull(row);
          }
        });
        return out.Finish();
      },
      std::index_sequence_for<In...>{});
}

/// f(in..., std::optional<Out>*) -> Status; the optional is empty before the call, empty means null.
template <typename Out, typename... In, typename F>
Result<ColumnPtr> MapChecked(const BoundScalar& call, const KernelInput& input, F f) {
  return internal::WithReaders<In...>(
      input,
      [&](auto... readers) -> Result<ColumnPtr> {
        FixedOutput<Out> out(call.type, input.rows.length);
        TW_RETURN_NOT_OK(TryForEachValid(input, [&](int64_t row) -> Status {
          std::optional<Out> value;
          TW_RETURN_NOT_OK(f(readers[row]..., &value));
          if (value) {
            out.Set(row, *value);
          } else {
            out.SetNull(row);
          }
          return {};
        }));
        return out.Finish();
      },
      std::index_sequence_for<In...>{});
}

/// f(in..., std::string*) -> bool: appends to an empty string; false makes the row null.
template <typename... In, typename F>
Result<ColumnPtr> MapText(const BoundScalar& call, const KernelInput& input, F f) {
  return internal::WithReaders<In...>(
      input,
      [&](auto... readers) -> Result<ColumnPtr> {
        TextOutput out(call.type, input.rows.length);
        std::string text;
        ForEachValid(input, [&](int64_t row) {
          text.clear();
          if (f(readers[row]..., &text)) {
            out.Set(row, text);
          } else {
            out.SetNull(row);
          }
        });
        return out.Finish();
      },
      std::index_sequence_for<In...>{});
}

/// f(in..., std::string*, bool* null) -> Status.
template <typename... In, typename F>
Result<ColumnPtr> MapTextChecked(const BoundScalar& call, const KernelInput& input, F f) {
  return internal::WithReaders<In...>(
      input,
      [&](auto... readers) -> Result<ColumnPtr> {
        TextOutput out(call.type, input.rows.length);
        std::string text;
        TW_RETURN_NOT_OK(TryForEachValid(input, [&](int64_t row) -> Status {
          text.clear();
          bool null = false;
          TW_RETURN_NOT_OK(f(readers[row]..., &text, &null));
          if (null) {
            out.SetNull(row);
          } else {
            out.Set(row, text);
          }
          return {};
        }));
        return out.Finish();
      },
      std::index_sequence_for<In...>{});
}

/// f(in...) -> std::string_view of bytes inside one of the arguments: nothing is copied.
template <typename... In, typename F>
Result<ColumnPtr> MapView(const BoundScalar& call, const KernelInput& input, F f) {
  return internal::WithReaders<In...>(
      input,
      [&](auto... readers) -> Result<ColumnPtr> {
        TextOutput out(call.type, input.rows.length);
        for (const ColumnPtr& argument : input.arguments) {
          if (argument->physical() == PhysicalType::kText) out.Share(*argument);
        }
        ForEachValid(input, [&](int64_t row) { out.SetView(row, f(readers[row]...)); });
        return out.Finish();
      },
      std::index_sequence_for<In...>{});
}

/// The value of an argument when it is a literal (after casts of literals), else null pointer.
const Value* LiteralValue(const ExprPtr& expression);

/// The column with nulls where `validity` (a bitmap, null pointer = all valid) has 0 as well.
ColumnPtr AndValidity(const ColumnPtr& column, const uint64_t* validity);
/// The same constant for another number of rows.
ColumnPtr ConstantOfLength(const ColumnPtr& constant, int64_t length);
/// SQL order of two values of one type, any nesting: NaN last and equal to itself, -0.0 equal to 0.0; nulls first inside
/// nested values. Rows must not be null. Columns flat or constant (children flat).
int CompareRows(const Column& a, int64_t a_row, const Column& b, int64_t b_row);
/// A part of a result: `rows` of `column`.
struct Piece {
  ColumnPtr column;
  std::vector<int32_t> rows;
};
/// One column out of pieces with disjoint rows; rows in no piece are null.
ColumnPtr MergePieces(const DataType& type, int64_t length, const std::vector<Piece>& pieces);
/// Rows of a flat or constant column: 0 for constants.
inline int64_t SlotOf(const Column& column, int64_t row) { return column.is_constant() ? 0 : row; }

}  // namespace thalweg::sql
