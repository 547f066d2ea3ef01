#include "sql/expr/evaluator.h"
#include "sql/expr/function.h"
#include "sql/optimizer/rules.h"

namespace thalweg::sql {
namespace {

/// Values that are better computed once per chunk than carried in the plan.
bool TooBig(const Value& value) {
  const auto* list = value.get_if<data::ValueList>();
  return list != nullptr && list->size() > 1000;
}

Result<ExprPtr> Fold(const ExprPtr& expr, const EvalConfig& config) {
  const bool computes = expr->kind() == ExprKind::kCall || expr->kind() == ExprKind::kCast;
  if (!computes || !expr->foldable()) return ExprPtr();
  Result<Value> value = EvaluateConstant(expr, config);
  // Not an error yet: the row that would need the value may never come.
  if (!value.ok() || TooBig(*value)) return ExprPtr();
  return Literal::Make(*std::move(value), expr->type());
}

}  // namespace

Result<PlanPtr> FoldConstants(const PlanPtr& plan, const OptimizerOptions& options) {
  return TransformUp(plan, [&](const PlanPtr& node) -> Result<PlanPtr> {
    if (node->kind() == PlanKind::kCommand) return PlanPtr();
    return TransformExpressions(node, [&](const ExprPtr& expr) { return Fold(expr, *options.config); });
  });
}

}  // namespace thalweg::sql
