#pragma once

// What the binders of window functions share.

#include "sql/expr/binding.h"
#include "sql/expr/evaluator.h"
#include "sql/functions/window/window_functions.h"

namespace thalweg::sql {

inline const WindowFunctionData& WindowDataOf(const Call& call) { return static_cast<const WindowFunctionData&>(*call.bound().data); }
/// name(argument, ...).
std::string CallText(const Call& call, bool plan_text);

void RegisterOffsetFunctions(std::vector<const ScalarFunction*>* functions);
void RegisterRankFunctions(std::vector<const ScalarFunction*>* functions);

}  // namespace thalweg::sql
