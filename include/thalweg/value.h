#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace thalweg {

/// A decimal as text, "12.30".
struct DecimalText {
  std::string text;
  bool operator==(const DecimalText&) const = default;
};
/// Microseconds since 1970-01-01 UTC.
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

/// One value of a result row.
struct Cell {
  std::variant<std::monostate, bool, int64_t, double, std::string, DecimalText, TimestampMicros, DateDays, CellList> value;
  bool is_null() const { return value.index() == 0; }
  bool operator==(const Cell&) const = default;
};
using Row = std::vector<Cell>;

}  // namespace thalweg
