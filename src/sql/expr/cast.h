#pragma once

// CAST over columns. Source: Spark's Cast; texts by data/text.

#include "sql/expr/kernels.h"

namespace thalweg::sql {

/// The rows of `column` as `to`. Null rows stay null only by the caller's validity: the result's own nulls are rows that
/// cannot be cast (kLegacy, kTry). `column` is flat or constant; rows outside `rows` and rows where `validity` is 0 raise
/// nothing. Errors (kAnsi): CAST_INVALID_INPUT, CAST_OVERFLOW, NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION, ...
Result<ColumnPtr> CastColumn(const ColumnPtr& column, const DataType& to, EvalMode mode, const RowSet& rows,
                             const uint64_t* validity, EvalContext& context);

/// Whether the cast can neither raise an error nor yield a new null, and costs little.
bool CastIsTotal(const DataType& from, const DataType& to);

}  // namespace thalweg::sql
