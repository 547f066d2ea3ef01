#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {

Result<PlanPtr> EliminateAliases(const PlanPtr& plan) {
  return TransformUp(plan, [](const PlanPtr& node) -> Result<PlanPtr> {
    return node->kind() == PlanKind::kSubqueryAlias ? node->child() : PlanPtr();
  });
}

}  // namespace thalweg::sql
