#pragma once

// Contract: one SQL value outside of columns: literals, partition values, statistics, options, test data. Not for row loops.

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "data/types/data_type.h"

namespace thalweg::data {

using Int128 = __int128;

/// Spark's CALENDAR INTERVAL. 16 bytes, as it lies in columns.
struct CalendarInterval {
  int32_t months = 0;
  int32_t days = 0;
  int64_t microseconds = 0;
  bool operator==(const CalendarInterval&) const = default;
};

/// A value whose type is known from elsewhere. The alternative follows the physical type:
/// null, bool, int8..int64 (also dates, timestamps, intervals), float, double, Int128 (unscaled decimal),
/// std::string (strings and binaries), CalendarInterval, ValueList (array elements, struct fields, a map as
/// key, value, key, value, ...; a variant as {value, metadata}).
class Value;
using ValueList = std::vector<Value>;

class Value {
 public:
  using Variant = std::variant<std::monostate, bool, int8_t, int16_t, int32_t, int64_t, float, double, Int128,
                               std::string, CalendarInterval, ValueList>;
  Value() = default;  ///< null
  template <typename T>
    requires std::is_constructible_v<Variant, T> && (!std::is_same_v<std::decay_t<T>, Value>)
  explicit Value(T value) : variant_(std::move(value)) {}
  static Value Null() { return {}; }

  bool is_null() const { return std::holds_alternative<std::monostate>(variant_); }
  template <typename T>
  const T& get() const {
    return std::get<T>(variant_);
  }
  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&variant_);
  }
  const Variant& variant() const { return variant_; }
  /// Integers of any width widened; TW_DCHECKs that it is one.
  int64_t AsInt64() const;

  /// Exact equality; NaN equals NaN, 0.0 and -0.0 differ (for constant folding and plans, not SQL `=`).
  bool operator==(const Value& other) const;

 private:
  Variant variant_;
};

// Values as text (LiteralSql, LiteralPlanText, ValueText): data/text/literal.h.

}  // namespace thalweg::data
