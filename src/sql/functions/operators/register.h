#pragma once

#include "sql/functions/registry.h"

namespace thalweg::sql {

void RegisterArithmetic(FunctionLists& lists);
void RegisterComparison(FunctionLists& lists);
void RegisterBoolean(FunctionLists& lists);
void RegisterBitwise(FunctionLists& lists);

/// What the binary operators do with dates, timestamps and intervals (datetime_arithmetic.cc).
/// nullopt: not a matter of time.
Result<std::optional<BoundCall>> BindDatetimeArithmetic(const ScalarFunction& function, char op, const ExprList& arguments,
                                                        const BindContext& context);

/// ARITHMETIC_OVERFLOW; `alternative` names a try_ function, or is empty.
Status OverflowError(std::string_view message, std::string_view alternative);
/// DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES of "(a op b)".
Status DifferentTypesError(const std::string& sql, const DataType& left, const DataType& right);

}  // namespace thalweg::sql
