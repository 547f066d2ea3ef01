#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {
namespace {

Result<PlanPtr> PullOut(const Aggregate& aggregate) {
  ExprList pulled;  // aliases
  ExprList grouping;
  for (const ExprPtr& group : aggregate.grouping) {
    if (group->foldable() || group->children().empty()) {
      grouping.push_back(group);
      continue;
    }
    ExprPtr alias;
    for (const ExprPtr& known : pulled) {
      if (known->child()->Equals(*group)) alias = known;
    }
    if (alias == nullptr) {
      alias = Alias::Make(group, "_groupingexpression");
      pulled.push_back(alias);
    }
    grouping.push_back(ToAttribute(alias));
  }
  if (pulled.empty()) return PlanPtr();
  ExprList aggregates;
  for (const ExprPtr& expr : aggregate.aggregates) {
    // Arguments of aggregate calls are computed from the input, not from the groups.
    TW_ASSIGN_OR_RETURN(ExprPtr rewritten, TransformDown(expr, [&](const ExprPtr& node) -> Result<ExprPtr> {
                          for (const ExprPtr& alias : pulled) {
                            if (alias->child()->Equals(*node)) return ExprPtr(ToAttribute(alias));
                          }
                          return ExprPtr();
                        }));
    // A column that was just the expression keeps its name.
    aggregates.push_back(std::move(rewritten));
  }
  const AttributeList input = aggregate.child()->output();
  ExprList list(input.begin(), input.end());
  list.insert(list.end(), pulled.begin(), pulled.end());
  return PlanPtr(std::make_shared<Aggregate>(std::move(grouping), std::move(aggregates),
                                             std::make_shared<Project>(std::move(list), aggregate.child())));
}

}  // namespace

Result<PlanPtr> PullOutGrouping(const PlanPtr& plan) {
  return TransformUp(plan, [](const PlanPtr& node) -> Result<PlanPtr> {
    const auto* aggregate = node->As<Aggregate>();
    return aggregate == nullptr ? Result<PlanPtr>(PlanPtr()) : PullOut(*aggregate);
  });
}

}  // namespace thalweg::sql
