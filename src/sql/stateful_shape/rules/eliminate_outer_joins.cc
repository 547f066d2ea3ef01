#include <algorithm>

#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {
namespace {

/// Whether the expression is null whenever the column is: casts, arithmetic and comparisons over it.
bool NullWhere(const ExprPtr& expr, const AttributeList& side) {
  if (const auto* attribute = expr->As<Attribute>()) {
    return std::any_of(side.begin(), side.end(), [&](const AttributePtr& a) { return a->id() == attribute->id(); });
  }
  static const char* const kStrict[] = {"==", "=", "<", "<=", ">", ">=", "between", "+", "-", "*", "%"};
  const auto* call = expr->As<Call>();
  const bool strict = call != nullptr && std::any_of(std::begin(kStrict), std::end(kStrict), [&](const char* name) {
                        return call->function_name() == name;
                      });
  if (!strict && expr->kind() != ExprKind::kCast) return false;
  return std::any_of(expr->children().begin(), expr->children().end(),
                     [&](const ExprPtr& child) { return NullWhere(child, side); });
}

/// Whether no row with nulls for the whole side passes.
bool RejectsNulls(const ExprList& conjuncts, const AttributeList& side) {
  return std::any_of(conjuncts.begin(), conjuncts.end(), [&](const ExprPtr& conjunct) {
    const auto* call = conjunct->As<Call>();
    if (call != nullptr && call->function_name() == "isnotnull") return NullWhere(call->child(), side);
    return NullWhere(conjunct, side);
  });
}

JoinType Narrower(JoinType type, bool left_rejected, bool right_rejected) {
  switch (type) {
    case JoinType::kLeftOuter: return right_rejected ? JoinType::kInner : type;
    case JoinType::kRightOuter: return left_rejected ? JoinType::kInner : type;
    case JoinType::kFullOuter:
      if (left_rejected && right_rejected) return JoinType::kInner;
      if (left_rejected) return JoinType::kLeftOuter;
      return right_rejected ? JoinType::kRightOuter : type;
    default: return type;
  }
}

Result<PlanPtr> Eliminate(const Filter& filter) {
  const auto* join = filter.child()->As<Join>();
  if (join == nullptr) return PlanPtr();
  const ExprList conjuncts = SplitConjunction(filter.condition);
  const JoinType type = Narrower(join->type, RejectsNulls(conjuncts, join->child(0)->output()),
                                 RejectsNulls(conjuncts, join->child(1)->output()));
  if (type == join->type) return PlanPtr();
  auto narrower = std::make_shared<Join>(*join);
  narrower->type = type;
  return filter.WithChildren({std::move(narrower)});
}

}  // namespace

Result<PlanPtr> EliminateOuterJoins(const PlanPtr& plan) {
  return TransformUp(plan, [](const PlanPtr& node) -> Result<PlanPtr> {
    const auto* filter = node->As<Filter>();
    return filter == nullptr ? Result<PlanPtr>(PlanPtr()) : Eliminate(*filter);
  });
}

}  // namespace thalweg::sql
