#include <algorithm>

#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {
namespace {

class Pusher {
 public:
  explicit Pusher(const EvalConfig& config) : config_(config) {}

  /// `plan` filtered by `predicates`, each as deep as it may go; the whole subtree is rewritten.
  Result<PlanPtr> Push(const PlanPtr& plan, ExprList predicates);

 private:
  Result<PlanPtr> Above(PlanPtr plan, const ExprList& predicates) {
    if (predicates.empty()) return plan;
    TW_ASSIGN_OR_RETURN(ExprPtr condition, Conjunction(predicates, config_));
    return PlanPtr(std::make_shared<Filter>(std::move(condition), std::move(plan)));
  }
  /// Predicates that `may_pass` go into the only child, the others stay above.
  template <typename F>
  Result<PlanPtr> Through(const PlanPtr& plan, const ExprList& predicates, F&& may_pass) {
    ExprList below;
    ExprList above;
    for (const ExprPtr& predicate : predicates) (may_pass(predicate) ? below : above).push_back(predicate);
    TW_ASSIGN_OR_RETURN(PlanPtr child, Push(plan->child(), std::move(below)));
    return Above(child == plan->child() ? plan : plan->WithChildren({child}), above);
  }
  Result<PlanPtr> ThroughProject(const PlanPtr& plan, const ExprList& predicates);
  Result<PlanPtr> ThroughAggregate(const PlanPtr& plan, const ExprList& predicates);
  Result<PlanPtr> ThroughUnion(const PlanPtr& plan, const ExprList& predicates);
  Result<PlanPtr> ThroughJoin(const PlanPtr& plan, const ExprList& predicates);

  const EvalConfig& config_;
};

bool AllDeterministic(const LogicalPlan& plan) {
  const ExprList expressions = plan.expressions();
  return std::all_of(expressions.begin(), expressions.end(), [](const ExprPtr& e) { return e->deterministic(); });
}

Result<PlanPtr> Pusher::ThroughProject(const PlanPtr& plan, const ExprList& predicates) {
  const auto& project = static_cast<const Project&>(*plan);
  // The columns that a generator's rows carry along: PruneColumns puts this Project there, it stays.
  const bool only_picks = std::all_of(project.list.begin(), project.list.end(),
                                      [](const ExprPtr& e) { return e->kind() == ExprKind::kAttribute; });
  if (plan->child()->kind() == PlanKind::kGenerate && only_picks) {
    return Through(plan, predicates, [&](const ExprPtr& predicate) {
      return predicate->deterministic() && RefersOnlyTo(predicate, plan->child()->child()->output());
    });
  }
  if (!AllDeterministic(project)) return Through(plan, predicates, [](const ExprPtr&) { return false; });
  ExprList below;
  ExprList above;
  for (const ExprPtr& predicate : predicates) {
    if (!predicate->deterministic()) {
      above.push_back(predicate);
      continue;
    }
    TW_ASSIGN_OR_RETURN(ExprPtr rewritten, Substitute(predicate, project.list));
    below.push_back(std::move(rewritten));
  }
  TW_ASSIGN_OR_RETURN(PlanPtr child, Push(plan->child(), std::move(below)));
  return Above(child == plan->child() ? plan : plan->WithChildren({child}), above);
}

Result<PlanPtr> Pusher::ThroughAggregate(const PlanPtr& plan, const ExprList& predicates) {
  const auto& aggregate = static_cast<const Aggregate&>(*plan);
  const bool movable = !aggregate.grouping.empty() && AllDeterministic(aggregate);
  ExprList below;
  ExprList above;
  for (const ExprPtr& predicate : predicates) {
    TW_ASSIGN_OR_RETURN(ExprPtr rewritten, Substitute(predicate, aggregate.aggregates));
    const bool passes = movable && predicate->deterministic() && !References(predicate).empty() &&
                        !Contains(rewritten, ExprKind::kAggregate);
    (passes ? below : above).push_back(passes ? rewritten : predicate);
  }
  TW_ASSIGN_OR_RETURN(PlanPtr child, Push(plan->child(), std::move(below)));
  return Above(child == plan->child() ? plan : plan->WithChildren({child}), above);
}

Result<PlanPtr> Pusher::ThroughUnion(const PlanPtr& plan, const ExprList& predicates) {
  const auto& node = static_cast<const Union&>(*plan);
  ExprList above;
  PlanList children;
  bool changed = false;
  for (const ExprPtr& predicate : predicates) {
    if (!predicate->deterministic() || node.op != SetOp::kUnion) above.push_back(predicate);
  }
  for (const PlanPtr& child : node.children()) {
    const AttributeList output = child->output();
    ExprList own;
    for (const ExprPtr& predicate : predicates) {
      if (!predicate->deterministic() || node.op != SetOp::kUnion) continue;
      TW_ASSIGN_OR_RETURN(ExprPtr rewritten, TransformUp(predicate, [&](const ExprPtr& e) -> Result<ExprPtr> {
                            const auto* attribute = e->As<Attribute>();
                            if (attribute == nullptr) return ExprPtr();
                            for (size_t i = 0; i < node.attributes.size(); ++i) {
                              if (node.attributes[i]->id() == attribute->id()) return ExprPtr(output[i]);
                            }
                            return ExprPtr();
                          }));
      own.push_back(std::move(rewritten));
    }
    TW_ASSIGN_OR_RETURN(PlanPtr pushed, Push(child, std::move(own)));
    changed = changed || pushed != child;
    children.push_back(std::move(pushed));
  }
  return Above(changed ? plan->WithChildren(std::move(children)) : plan, above);
}

/// What may go to a side from above the join and from its condition. Source: PushPredicateThroughJoin.
struct JoinSides {
  bool where_left, where_right, on_left, on_right;
};

JoinSides SidesOf(JoinType type) {
  switch (type) {
    case JoinType::kInner:
    case JoinType::kCross: return {true, true, true, true};
    case JoinType::kLeftSemi: return {true, false, true, true};
    case JoinType::kLeftAnti: return {true, false, false, true};
    case JoinType::kLeftOuter: return {true, false, false, true};
    case JoinType::kRightOuter: return {false, true, true, false};
    default: return {false, false, false, false};
  }
}

Result<PlanPtr> Pusher::ThroughJoin(const PlanPtr& plan, const ExprList& predicates) {
  const auto& join = static_cast<const Join&>(*plan);
  const AttributeList left_output = join.child(0)->output();
  const AttributeList right_output = join.child(1)->output();
  const JoinSides sides = SidesOf(join.type);
  const bool inner = join.type == JoinType::kInner || join.type == JoinType::kCross;
  ExprList left;
  ExprList right;
  ExprList condition;
  ExprList above;
  const auto place = [&](const ExprPtr& predicate, bool to_left, bool to_right, ExprList* rest) {
    const bool movable = predicate->deterministic() && !References(predicate).empty();
    if (movable && to_left && RefersOnlyTo(predicate, left_output)) {
      left.push_back(predicate);
    } else if (movable && to_right && RefersOnlyTo(predicate, right_output)) {
      right.push_back(predicate);
    } else {
      rest->push_back(predicate);
    }
  };
  if (join.condition != nullptr) {
    for (const ExprPtr& conjunct : SplitConjunction(join.condition)) {
      place(conjunct, sides.on_left, sides.on_right, &condition);
    }
  }
  for (const ExprPtr& predicate : predicates) {
    // Above an inner join a predicate over both sides is as good as one more condition.
    ExprList* rest = inner && predicate->deterministic() ? &condition : &above;
    place(predicate, sides.where_left, sides.where_right, rest);
  }
  TW_ASSIGN_OR_RETURN(PlanPtr new_left, Push(join.child(0), std::move(left)));
  TW_ASSIGN_OR_RETURN(PlanPtr new_right, Push(join.child(1), std::move(right)));
  TW_ASSIGN_OR_RETURN(ExprPtr joined, Conjunction(condition, config_));
  const bool same_condition = (joined == nullptr) == (join.condition == nullptr) &&
                              (joined == nullptr || joined->Equals(*join.condition));
  if (same_condition && new_left == join.child(0) && new_right == join.child(1)) return Above(plan, above);
  auto copy = std::make_shared<Join>(join);
  copy->condition = same_condition ? join.condition : joined;
  if (copy->type == JoinType::kCross && copy->condition != nullptr) copy->type = JoinType::kInner;
  return Above(copy->WithChildren({std::move(new_left), std::move(new_right)}), above);
}

Result<PlanPtr> Pusher::Push(const PlanPtr& plan, ExprList predicates) {
  switch (plan->kind()) {
    case PlanKind::kFilter: {
      const auto& filter = static_cast<const Filter&>(*plan);
      ExprList own = SplitConjunction(filter.condition);
      if (predicates.empty() && own.size() == 1 && !own[0]->deterministic()) {
        return Through(plan, {}, [](const ExprPtr&) { return false; });
      }
      // The lower filter's conjuncts come first: they ran first.
      for (ExprPtr& predicate : predicates) {
        const bool known = std::any_of(own.begin(), own.end(), [&](const ExprPtr& e) { return e->Equals(*predicate); });
        if (!known) own.push_back(std::move(predicate));
      }
      TW_ASSIGN_OR_RETURN(PlanPtr pushed, Push(filter.child(), std::move(own)));
      const auto* same = pushed->As<Filter>();
      if (same != nullptr && same->child() == filter.child() && same->condition->Equals(*filter.condition)) return plan;
      return pushed;
    }
    case PlanKind::kProject: return ThroughProject(plan, predicates);
    case PlanKind::kAggregate: return ThroughAggregate(plan, predicates);
    case PlanKind::kUnion: return ThroughUnion(plan, predicates);
    case PlanKind::kJoin: return ThroughJoin(plan, predicates);
    default: {
      if (plan->children().size() == 1) {
        return Through(plan, predicates, [&](const ExprPtr& predicate) { return plan->passes_predicate(predicate); });
      }
      PlanList children;
      bool changed = false;
      for (const PlanPtr& child : plan->children()) {
        TW_ASSIGN_OR_RETURN(PlanPtr pushed, Push(child, {}));
        changed = changed || pushed != child;
        children.push_back(std::move(pushed));
      }
      return Above(changed ? plan->WithChildren(std::move(children)) : plan, predicates);
    }
  }
}

}  // namespace

Result<PlanPtr> PushPredicates(const PlanPtr& plan, const EvalConfig& config) { return Pusher(config).Push(plan, {}); }

}  // namespace thalweg::sql
