#include "sql/optimizer/rules.h"
#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {
namespace {

Result<PlanPtr> Push(const Filter& filter) {
  const auto* relation = filter.child()->As<Relation>();
  if (relation == nullptr) return PlanPtr();
  ExprList pushed;
  for (const ExprPtr& conjunct : SplitConjunction(filter.condition)) {
    if (conjunct->deterministic() && !References(conjunct).empty() && RefersOnlyTo(conjunct, relation->attributes)) {
      pushed.push_back(conjunct);
    }
  }
  if (pushed.empty() || EqualLists(pushed, relation->pushed_filters)) return PlanPtr();
  auto copy = std::make_shared<Relation>(*relation);
  copy->pushed_filters = std::move(pushed);
  return filter.WithChildren({std::move(copy)});
}

}  // namespace

Result<PlanPtr> PushIntoRelations(const PlanPtr& plan, const OptimizerOptions&) {
  return TransformUp(plan, [](const PlanPtr& node) -> Result<PlanPtr> {
    const auto* filter = node->As<Filter>();
    return filter == nullptr ? Result<PlanPtr>(PlanPtr()) : Push(*filter);
  });
}

}  // namespace thalweg::sql
