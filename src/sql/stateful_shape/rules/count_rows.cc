#include <algorithm>

#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {

Result<PlanPtr> CountRows(const PlanPtr& plan, const EvalConfig& config) {
  const auto rule = [&](const ExprPtr& expr) -> Result<ExprPtr> {
    const auto* call = expr->As<AggregateCall>();
    if (call == nullptr || call->bound().function->name != "count" || call->distinct()) return ExprPtr();
    const ExprList arguments = call->arguments();
    const bool present = std::none_of(arguments.begin(), arguments.end(), [](const ExprPtr& a) { return a->nullable(); });
    if (!present || arguments.empty()) return ExprPtr();
    if (arguments.size() == 1 && arguments[0]->Equals(*Literal::Integer(1))) return ExprPtr();
    return BindAggregate(*call->bound().function, {Literal::Integer(1)}, false, call->filter(), BindContext{config});
  };
  return TransformUp(plan, [&](const PlanPtr& node) -> Result<PlanPtr> {
    if (node->kind() != PlanKind::kAggregate) return PlanPtr();
    TW_ASSIGN_OR_RETURN(PlanPtr rewritten, TransformExpressions(node, rule));
    return rewritten == node ? PlanPtr() : rewritten;
  });
}

}  // namespace thalweg::sql
