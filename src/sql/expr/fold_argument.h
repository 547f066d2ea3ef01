#pragma once

#include "sql/expr/binding.h"

namespace thalweg::sql {

/// FoldArgument as a value of `target`: binders must not take the type of a constant for granted.
/// Errors: also UNEXPECTED_INPUT_TYPE when the implicit rules do not lead there.
Result<Value> FoldArgumentAs(std::string_view name, const ExprList& arguments, size_t index, std::string_view input_name,
                             const DataType& target, const BindContext& context);

}  // namespace thalweg::sql
