#include <algorithm>

#include "sql/optimizer/rules.h"

namespace thalweg::sql {
namespace {

int64_t CountOf(const Limit& limit) { return limit.limit->As<Literal>()->value().AsInt64(); }

/// At most how many rows the plan gives, when a limit stands at its top.
std::optional<int64_t> MaxRows(const PlanPtr& plan) {
  if (const auto* limit = plan->As<Limit>(); limit != nullptr && limit->limit->kind() == ExprKind::kLiteral) {
    return CountOf(*limit);
  }
  if (plan->kind() == PlanKind::kProject) return MaxRows(plan->child());
  return std::nullopt;
}

PlanPtr Limited(const Limit& limit, const PlanPtr& plan) {
  const std::optional<int64_t> rows = MaxRows(plan);
  if (rows && *rows <= CountOf(limit)) return plan;
  return std::make_shared<Limit>(limit.limit, plan);
}

Result<PlanPtr> Push(const Limit& limit) {
  if (limit.limit->kind() != ExprKind::kLiteral || limit.child()->is_streaming()) return PlanPtr();
  const PlanPtr& child = limit.child();
  if (const auto* inner = child->As<Limit>(); inner != nullptr && inner->limit->kind() == ExprKind::kLiteral) {
    return PlanPtr(std::make_shared<Limit>(
        Literal::Integer(static_cast<int32_t>(std::min(CountOf(limit), CountOf(*inner)))), inner->child()));
  }
  if (child->kind() == PlanKind::kProject) {
    return child->WithChildren({std::make_shared<Limit>(limit.limit, child->child())});
  }
  if (const auto* node = child->As<Union>(); node != nullptr && node->op == SetOp::kUnion) {
    PlanList children;
    for (const PlanPtr& one : node->children()) children.push_back(Limited(limit, one));
    if (children == node->children()) return PlanPtr();
    return limit.WithChildren({node->WithChildren(std::move(children))});
  }
  if (const auto* join = child->As<Join>()) {
    const bool left = join->type == JoinType::kLeftOuter;
    if (!left && join->type != JoinType::kRightOuter) return PlanPtr();
    PlanList children = join->children();
    PlanPtr& side = children[left ? 0 : 1];
    side = Limited(limit, side);
    if (children == join->children()) return PlanPtr();
    return limit.WithChildren({join->WithChildren(std::move(children))});
  }
  return PlanPtr();
}

}  // namespace

Result<PlanPtr> PushLimits(const PlanPtr& plan, const OptimizerOptions&) {
  return TransformUp(plan, [](const PlanPtr& node) -> Result<PlanPtr> {
    const auto* limit = node->As<Limit>();
    return limit == nullptr ? Result<PlanPtr>(PlanPtr()) : Push(*limit);
  });
}

}  // namespace thalweg::sql
