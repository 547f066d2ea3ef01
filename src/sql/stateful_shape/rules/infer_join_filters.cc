#include <algorithm>

#include "sql/functions/registry.h"
#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {
namespace {

/// Columns that must not be null for the expression not to be null: those below casts, additions and comparisons.
void NullRejected(const ExprPtr& expr, AttributeList* out) {
  if (expr->kind() == ExprKind::kAttribute) {
    const bool known = std::any_of(out->begin(), out->end(), [&](const AttributePtr& a) { return a->Equals(*expr); });
    if (!known) out->push_back(std::static_pointer_cast<const Attribute>(expr));
    return;
  }
  static const char* const kStrict[] = {"==", "=", "<", "<=", ">", ">=", "between", "+", "-"};
  const auto* call = expr->As<Call>();
  const bool strict = call != nullptr && std::any_of(std::begin(kStrict), std::end(kStrict), [&](const char* name) {
                        return call->function_name() == name;
                      });
  if (!strict && expr->kind() != ExprKind::kCast) return;
  for (const ExprPtr& child : expr->children()) NullRejected(child, out);
}

Result<PlanPtr> WithFilter(const PlanPtr& side, const AttributeList& columns, const EvalConfig& config) {
  ExprList conjuncts;
  for (const AttributePtr& attribute : side->output()) {
    const bool rejected = std::any_of(columns.begin(), columns.end(), [&](const AttributePtr& c) { return c->Equals(*attribute); });
    if (!rejected || !attribute->nullable()) continue;
    TW_ASSIGN_OR_RETURN(ExprPtr present, BindBuiltin("isnotnull", {attribute}, BindContext{config}));
    conjuncts.push_back(std::move(present));
  }
  if (conjuncts.empty()) return side;
  TW_ASSIGN_OR_RETURN(ExprPtr condition, Conjunction(conjuncts, config));
  return PlanPtr(std::make_shared<Filter>(std::move(condition), side));
}

Result<PlanPtr> Infer(const Join& join, const EvalConfig& config) {
  if (join.condition == nullptr || !join.child(0)->is_streaming() || !join.child(1)->is_streaming()) return PlanPtr();
  AttributeList columns;
  for (const ExprPtr& conjunct : SplitConjunction(join.condition)) NullRejected(conjunct, &columns);
  const bool left = join.type == JoinType::kInner || join.type == JoinType::kCross || join.type == JoinType::kLeftSemi ||
                    join.type == JoinType::kRightOuter;
  const bool right = join.type == JoinType::kInner || join.type == JoinType::kCross || join.type == JoinType::kLeftSemi ||
                     join.type == JoinType::kLeftOuter || join.type == JoinType::kLeftAnti;
  PlanPtr new_left = join.child(0);
  PlanPtr new_right = join.child(1);
  if (left) {
    TW_ASSIGN_OR_RETURN(new_left, WithFilter(new_left, columns, config));
  }
  if (right) {
    TW_ASSIGN_OR_RETURN(new_right, WithFilter(new_right, columns, config));
  }
  if (new_left == join.child(0) && new_right == join.child(1)) return PlanPtr();
  return join.WithChildren({std::move(new_left), std::move(new_right)});
}

}  // namespace

Result<PlanPtr> InferJoinFilters(const PlanPtr& plan, const EvalConfig& config) {
  return TransformUp(plan, [&](const PlanPtr& node) -> Result<PlanPtr> {
    const auto* join = node->As<Join>();
    return join == nullptr ? Result<PlanPtr>(PlanPtr()) : Infer(*join, config);
  });
}

}  // namespace thalweg::sql
