#include <algorithm>

#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {
namespace {

Result<PlanPtr> Simplify(const Aggregate& aggregate) {
  ExprList grouping;
  for (const ExprPtr& group : aggregate.grouping) {
    const bool known = std::any_of(grouping.begin(), grouping.end(), [&](const ExprPtr& g) { return g->Equals(*group); });
    if (!group->foldable() && !known) grouping.push_back(group);
  }
  if (grouping.size() == aggregate.grouping.size()) return PlanPtr();
  // A grouped aggregation without input has no row, a global one has: one literal must stay.
  if (grouping.empty()) grouping.push_back(Literal::Integer(0));
  if (EqualLists(grouping, aggregate.grouping)) return PlanPtr();
  return PlanPtr(std::make_shared<Aggregate>(std::move(grouping), aggregate.aggregates, aggregate.child()));
}

}  // namespace

Result<PlanPtr> SimplifyGrouping(const PlanPtr& plan) {
  return TransformUp(plan, [](const PlanPtr& node) -> Result<PlanPtr> {
    const auto* aggregate = node->As<Aggregate>();
    return aggregate == nullptr ? Result<PlanPtr>(PlanPtr()) : Simplify(*aggregate);
  });
}

}  // namespace thalweg::sql
