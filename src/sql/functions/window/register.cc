#include "base/string_case.h"
#include "sql/functions/registry.h"
#include "sql/functions/window/window_binding.h"

namespace thalweg::sql {

const std::vector<const ScalarFunction*>& WindowFunctions() {
  static const auto* const kFunctions = [] {
    auto* functions = new std::vector<const ScalarFunction*>();
    RegisterRankFunctions(functions);
    RegisterOffsetFunctions(functions);
    return functions;
  }();
  return *kFunctions;
}

void RegisterWindow(FunctionLists& lists) {
  for (const ScalarFunction* function : WindowFunctions()) lists.Add(*function);
}

const ScalarFunction* FindWindowFunction(std::string_view name) {
  for (const ScalarFunction* function : WindowFunctions()) {
    if (EqualsIgnoreCase(function->name, name)) return function;
  }
  return nullptr;
}

std::string CallText(const Call& call, bool plan_text) {
  std::string text = std::string(call.bound().function->name) + "(";
  for (const ExprPtr& child : call.children()) text += (text.back() == '(' ? "" : ", ") + TextOf(child, plan_text);
  return text + ")";
}

Result<ExprPtr> BindWindowFunction(const ScalarFunction& function, ExprList arguments, bool ignore_nulls, const BindContext& context) {
  TW_ASSIGN_OR_RETURN(BoundCall call, function.bind(function, std::move(arguments), context));
  const auto& data = static_cast<const WindowFunctionData&>(*call.bound->data);
  if (!ignore_nulls || data.ignore_nulls) return Call::Make(call.bound, std::move(call.arguments));
  const WindowFunctionKind kind = data.kind;
  if (kind != WindowFunctionKind::kLag && kind != WindowFunctionKind::kLead && kind != WindowFunctionKind::kNthValue) {
    return Error("INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX")
        .With("prettyName", QuoteFunctionName(function.name))
        .With("syntax", "IGNORE NULLS");
  }
  auto ignoring = std::make_shared<WindowFunctionData>(data);
  ignoring->ignore_nulls = true;
  auto bound = std::make_shared<BoundScalar>(*call.bound);
  bound->data = std::move(ignoring);
  return Call::Make(std::move(bound), std::move(call.arguments));
}

}  // namespace thalweg::sql
