#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace thalweg {

/// A decimal as text, "12.30".
struct DecimalText {
  std::string text;
  bool operator==(const DecimalText&) const = default;
};
/// Microseconds since 1970-01-01 UTC; for TIMESTAMP_NTZ of the wall clock.
struct TimestampMicros {
  int64_t micros = 0;
  bool operator==(const TimestampMicros&) const = default;
};
/// Days since 1970-01-01.
struct DateDays {
  int32_t days = 0;
  bool operator==(const DateDays&) const = default;
};

struct Cell;
/// Elements of an array, fields of a struct, or key, value, key, value, ... of a map.
using CellList = std::vector<Cell>;

/// One value of a row. Integers of all widths are int64_t, FLOAT is double, BINARY is std::string; types without a member here
/// (intervals) come as SQL text.
struct Cell {
  std::variant<std::monostate, bool, int64_t, double, std::string, DecimalText, TimestampMicros, DateDays, CellList> value;

  Cell() = default;  ///< null
  // NOLINTBEGIN(google-explicit-constructor): rows are written as {1, "home", nullptr}
  Cell(std::nullptr_t) {}
  Cell(bool plain) : value(plain) {}
  Cell(int plain) : value(int64_t{plain}) {}
  Cell(int64_t plain) : value(plain) {}
  Cell(double plain) : value(plain) {}
  Cell(const char* text) : value(std::string(text)) {}
  Cell(std::string_view text) : value(std::string(text)) {}
  Cell(std::string text) : value(std::move(text)) {}
  Cell(DecimalText decimal) : value(std::move(decimal)) {}
  Cell(TimestampMicros time) : value(time) {}
  Cell(DateDays date) : value(date) {}
  Cell(CellList cells) : value(std::move(cells)) {}
  // NOLINTEND(google-explicit-constructor)

  bool is_null() const { return value.index() == 0; }
  /// The value when it is of this type, else null: cell.Get<int64_t>().
  template <typename T>
  const T* Get() const {
    return std::get_if<T>(&value);
  }
  bool operator==(const Cell&) const = default;
};
using Row = std::vector<Cell>;

}  // namespace thalweg
