#include "sql/functions/registry.h"

#include "sql/functions/window/window_functions.h"

namespace thalweg::sql {

const FunctionRegistry& BuiltinFunctions() {
  static const FunctionRegistry* const registry = [] {
    FunctionLists lists;
    RegisterOperators(lists);
    RegisterConditional(lists);
    RegisterCollection(lists);
    RegisterString(lists);
    RegisterJson(lists);
    RegisterMath(lists);
    RegisterDatetime(lists);
    RegisterHash(lists);
    RegisterMisc(lists);
    RegisterAggregate(lists);
    RegisterWindow(lists);
    return new FunctionRegistry(std::move(lists.scalars), std::move(lists.aggregates));
  }();
  return *registry;
}

Result<ExprPtr> BindBuiltin(std::string_view name, ExprList arguments, const BindContext& context) {
  const ScalarFunction* function = BuiltinFunctions().FindScalar(name);
  if (function == nullptr) return InternalError("no built-in function " + std::string(name));
  return BindScalar(*function, std::move(arguments), context);
}

}  // namespace thalweg::sql
