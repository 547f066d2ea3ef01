#include "sql/functions/registry.h"
#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {
namespace {

PlanPtr DistinctRows(const PlanPtr& child) {
  const AttributeList output = child->output();
  const ExprList columns(output.begin(), output.end());
  return std::make_shared<Aggregate>(columns, columns, child);
}

Result<PlanPtr> ReplaceSetOperation(const Union& node, const EvalConfig& config) {
  if (node.all) return Unsupported(node.op == SetOp::kExcept ? "EXCEPT ALL" : "INTERSECT ALL");
  const AttributeList left = node.child(0)->output();
  PlanPtr right_plan = node.child(1);
  TW_ASSIGN_OR_RETURN(right_plan, WithFreshIds(right_plan));
  const AttributeList right = right_plan->output();
  ExprList conjuncts;
  for (size_t i = 0; i < left.size(); ++i) {
    TW_ASSIGN_OR_RETURN(ExprPtr same, BindBuiltin("<=>", {left[i], right[i]}, BindContext{config}));
    conjuncts.push_back(std::move(same));
  }
  TW_ASSIGN_OR_RETURN(ExprPtr condition, Conjunction(conjuncts, config));
  const JoinType type = node.op == SetOp::kExcept ? JoinType::kLeftAnti : JoinType::kLeftSemi;
  return DistinctRows(std::make_shared<Join>(node.child(0), right_plan, type, std::move(condition)));
}

}  // namespace

Result<PlanPtr> ReplaceSetOperations(const PlanPtr& plan, const EvalConfig& config) {
  return TransformUp(plan, [&](const PlanPtr& node) -> Result<PlanPtr> {
    if (node->kind() == PlanKind::kDistinct) return DistinctRows(node->child());
    const auto* set = node->As<Union>();
    if (set == nullptr || set->op == SetOp::kUnion) return PlanPtr();
    return ReplaceSetOperation(*set, config);
  });
}

}  // namespace thalweg::sql
