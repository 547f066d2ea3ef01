#pragma once

#include "sql/functions/registry.h"

namespace thalweg::sql {

void RegisterConstructors(FunctionLists& lists);
void RegisterMapParts(FunctionLists& lists);
void RegisterElementAt(FunctionLists& lists);
void RegisterArrays(FunctionLists& lists);
void RegisterSetOperations(FunctionLists& lists);

/// reverse(array), for the binder of reverse.
Result<BoundCall> BindReverseArray(const ScalarFunction& function, ExprList arguments, const BindContext& context);

}  // namespace thalweg::sql
