#pragma once

#include "sql/functions/registry.h"

namespace thalweg::sql {

void RegisterCase(FunctionLists& lists);
void RegisterCoalesce(FunctionLists& lists);
void RegisterExtremes(FunctionLists& lists);
void RegisterIn(FunctionLists& lists);

/// Casts the arguments in [from, end) step `step` to one type. Errors: DATATYPE_MISMATCH.DATA_DIFF_TYPES.
Result<DataType> UnifyArguments(const ScalarFunction& function, ExprList* arguments, const std::vector<size_t>& which,
                                const BindContext& context);

}  // namespace thalweg::sql
