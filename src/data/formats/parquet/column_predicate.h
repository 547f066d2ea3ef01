#pragma once

// Simple conjuncts over one column, and the question whether a block of rows (a row group, a file of a Delta table) can
// hold a row that satisfies them. Conservative: "may match" whenever anything is unknown.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/types/data_type.h"
#include "data/types/value.h"

namespace thalweg::data {

/// `column <op> value`, or `column IS [NOT] NULL`. A null row satisfies only kIsNull.
struct ColumnPredicate {
  enum class Op : uint8_t { kEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual, kIn, kIsNull, kIsNotNull };
  std::string column;           ///< top-level name
  Op op = Op::kEqual;
  DataType type;                ///< of the column and the values
  std::vector<Value> values;    ///< one, or any number for kIn; never null; of `type`'s physical form
};

/// What is known about the values of one column in a block of rows.
struct ColumnRange {
  std::optional<Value> min;     ///< no value that is not null (and not NaN) is below it
  std::optional<Value> max;     ///< no value that is not null is above it
  std::optional<int64_t> null_count;
  std::optional<int64_t> row_count;
};

/// Whether min and max of that type can be used: booleans, numbers, dates, times, timestamps, intervals of one unit, and
/// strings and binaries compared by bytes (UTF8_BINARY).
bool HasOrderedBounds(const DataType& type);
/// -1, 0, 1 by SQL's order; NaN is above every number and equal to itself, -0.0 equals 0.0. Both values of `type`.
int CompareValues(const Value& a, const Value& b, const DataType& type);
/// False only when no row of the block satisfies the predicate.
bool MayMatch(const ColumnPredicate& predicate, const ColumnRange& range);

}  // namespace thalweg::data
