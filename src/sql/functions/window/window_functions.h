#pragma once

#include <vector>

#include "sql/expr/window_call.h"

namespace thalweg::sql {

struct FunctionLists;
void RegisterWindow(FunctionLists& lists);

/// The functions that only a window computes, by the name of SQL and Spark Connect (any case); null for other names.
const ScalarFunction* FindWindowFunction(std::string_view name);
const std::vector<const ScalarFunction*>& WindowFunctions();

/// A call of it, for WindowCall. Errors: those of its arguments; INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX for
/// `ignore_nulls` where the function has no use for it.
Result<ExprPtr> BindWindowFunction(const ScalarFunction& function, ExprList arguments, bool ignore_nulls, const BindContext& context);

/// The value that lies `step` behind `order` (before it when negative), in the order's type: where a frame of RANGE ends. A decimal may
/// have one digit more than its type. `step` has a type that the analyzer lets stand beside the order's. Errors: those of "+".
Result<ExprPtr> RangeBound(const ExprPtr& order, const ExprPtr& step, const BindContext& context);

}  // namespace thalweg::sql
