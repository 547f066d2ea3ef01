#include "sql/functions/registry.h"
#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {
namespace {

PlanPtr DistinctRows(const PlanPtr& child) {
  const AttributeList output = child->output();
  const ExprList columns(output.begin(), output.end());
  return std::make_shared<Aggregate>(columns, columns, child);
}

/// EXCEPT ALL and INTERSECT ALL: rows are counted on both sides, and each comes as often as the counts say.
/// Source: Spark's RewriteExceptAll, RewriteIntersectAll.
Result<PlanPtr> ReplaceAllOperation(const Union& node, const EvalConfig& config) {
  const BindContext context{config};
  const AttributeList left = node.child(0)->output();
  TW_ASSIGN_OR_RETURN(const PlanPtr right_plan, WithFreshIds(node.child(1)));
  const AttributeList right = right_plan->output();
  const bool except = node.op == SetOp::kExcept;
  // The rows of both sides, each with a 1 in the column of its side.
  AttributeList columns;
  ExprList left_list, right_list;
  for (size_t i = 0; i < left.size(); ++i) {
    left_list.push_back(left[i]);
    right_list.push_back(right[i]);
    columns.push_back(Attribute::Make(left[i]->name(), left[i]->type(), left[i]->nullable() || right[i]->nullable(), left[i]->id(),
                                      left[i]->qualifier(), left[i]->metadata_json()));
  }
  const auto mark = [](int64_t value, const char* name) { return Alias::Make(Literal::Long(value), name); };
  left_list.push_back(mark(1, "left_count"));
  left_list.push_back(mark(0, "right_count"));
  right_list.push_back(mark(0, "left_count"));
  right_list.push_back(mark(1, "right_count"));
  auto both = std::make_shared<Union>(PlanList{std::make_shared<Project>(std::move(left_list), node.child(0)),
                                               std::make_shared<Project>(std::move(right_list), right_plan)});
  both->attributes = columns;
  const AttributePtr of_left = Attribute::Make("left_count", DataType::Long(), false);
  const AttributePtr of_right = Attribute::Make("right_count", DataType::Long(), false);
  both->attributes.push_back(of_left);
  both->attributes.push_back(of_right);
  const ExprList keys(columns.begin(), columns.end());
  ExprList list = keys;
  TW_ASSIGN_OR_RETURN(ExprPtr left_sum, BindAggregate(*BuiltinFunctions().FindAggregate("sum"), {of_left}, false, nullptr, context));
  TW_ASSIGN_OR_RETURN(ExprPtr right_sum, BindAggregate(*BuiltinFunctions().FindAggregate("sum"), {of_right}, false, nullptr, context));
  const auto left_total = Alias::Make(std::move(left_sum), "left_total");
  const auto right_total = Alias::Make(std::move(right_sum), "right_total");
  list.push_back(left_total);
  list.push_back(right_total);
  PlanPtr counted = std::make_shared<Aggregate>(keys, std::move(list), std::move(both));
  const ExprPtr left_count = left_total->ToAttribute(), right_count = right_total->ToAttribute();
  ExprPtr times;
  if (except) {
    TW_ASSIGN_OR_RETURN(times, BindBuiltin("-", {left_count, right_count}, context));
  } else {
    TW_ASSIGN_OR_RETURN(times, BindBuiltin("least", {left_count, right_count}, context));
  }
  TW_ASSIGN_OR_RETURN(ExprPtr some, BindBuiltin(">", {times, Literal::Long(0)}, context));
  counted = std::make_shared<Filter>(std::move(some), std::move(counted));
  TW_ASSIGN_OR_RETURN(ExprPtr sequence, BindBuiltin("sequence", {Literal::Long(1), times}, context));
  const auto numbers = Alias::Make(std::move(sequence), "numbers");
  ExprList wide = keys;
  wide.push_back(numbers);
  counted = std::make_shared<Project>(std::move(wide), std::move(counted));
  AttributeList generated{Attribute::Make("number", DataType::Long(), true)};
  PlanPtr repeated = std::make_shared<Generate>(numbers->ToAttribute(), false, false, std::move(generated), std::move(counted));
  return PlanPtr(std::make_shared<Project>(keys, std::move(repeated)));
}

Result<PlanPtr> ReplaceSetOperation(const Union& node, const EvalConfig& config) {
  if (node.all) return ReplaceAllOperation(node, config);
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
