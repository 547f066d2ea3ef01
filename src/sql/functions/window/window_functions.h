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

}  // namespace thalweg::sql
