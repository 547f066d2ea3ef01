#pragma once

#include "sql/expr/function.h"
#include "sql/expr/kernels.h"

namespace thalweg::sql {

/// Spark's result type of a op b over decimals; op is one of + - * / % d (div) p (pmod).
DataType DecimalResultType(char op, const DataType& left, const DataType& right);
/// The kernel for two decimal arguments of these types. Results out of the result type are NULL, or
/// NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION in ANSI mode.
ScalarKernel DecimalKernel(char op, const DataType& left, const DataType& right);

}  // namespace thalweg::sql
