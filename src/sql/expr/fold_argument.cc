#include "sql/expr/fold_argument.h"

namespace thalweg::sql {

Result<Value> FoldArgumentAs(std::string_view name, const ExprList& arguments, size_t index, std::string_view input_name,
                             const DataType& target, const BindContext& context) {
  ExprList coerced = arguments;
  TW_RETURN_NOT_OK(CoerceArgument(name, &coerced, index, target, context));
  return FoldArgument(name, coerced, index, input_name, context);
}

}  // namespace thalweg::sql
