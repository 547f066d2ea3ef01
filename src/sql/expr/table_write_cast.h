#pragma once

#include <string>

#include "sql/expr/expression.h"

namespace thalweg::sql {

enum class TableWrite : uint8_t { kInsert, kUpdate };  ///< kUpdate: MERGE as well

/// A value in the type of the column that it is written to. `value` is resolved, and can be cast to `to` under ANSI rules. `column`: its parts,
/// quoted. Errors of the rows: those of the cast, but where it overflows CAST_OVERFLOW_IN_TABLE_INSERT, DELTA_CAST_OVERFLOW_IN_TABLE_WRITE.
/// Source: Spark's CheckOverflowInTableInsert, Delta's CheckOverflowInTableWrite.
ExprPtr TableWriteCast(ExprPtr value, DataType to, std::string column, TableWrite write);

}  // namespace thalweg::sql
