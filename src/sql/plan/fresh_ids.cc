// New ids for everything a plan puts out: the right side of a self join.

#include <unordered_map>

#include "sql/plan/commands.h"
#include "sql/plan/eval_python.h"
#include "sql/plan/logical_plan.h"

namespace thalweg::sql {
namespace {

using IdMap = std::unordered_map<ExprId, ExprId>;

AttributePtr Renamed(const AttributePtr& attribute, const IdMap& ids) {
  const auto found = ids.find(attribute->id());
  return found == ids.end() ? attribute : attribute->WithId(found->second);
}

AttributeList Fresh(const AttributeList& attributes, IdMap* ids) {
  AttributeList out;
  for (const AttributePtr& attribute : attributes) {
    const auto [entry, added] = ids->emplace(attribute->id(), ExprId());
    if (added) entry->second = NewExprId();
    out.push_back(attribute->WithId(entry->second));
  }
  return out;
}

/// The expression over renamed columns; aliases get ids of their own.
Result<ExprPtr> Rewrite(const ExprPtr& expr, IdMap* ids) {
  return TransformUp(expr, [&](const ExprPtr& node) -> Result<ExprPtr> {
    if (node->kind() == ExprKind::kAttribute) {
      return ExprPtr(Renamed(std::static_pointer_cast<const Attribute>(node), *ids));
    }
    if (const auto* alias = node->As<Alias>(); alias != nullptr && alias->names().empty()) {
      const auto [entry, added] = ids->emplace(alias->id(), ExprId());
      if (added) entry->second = NewExprId();
      return ExprPtr(Alias::Make(alias->child(), alias->name(), entry->second, alias->explicit_metadata(),
                                 alias->automatic()));
    }
    return ExprPtr();
  });
}

/// The node's own attributes: leaves make them, other nodes refer to those below.
template <typename T>
PlanPtr Changed(const LogicalPlan& plan, void (*change)(T*, IdMap*), IdMap* ids) {
  auto copy = std::make_shared<T>(static_cast<const T&>(plan));
  change(copy.get(), ids);
  return copy;
}

PlanPtr RenewAttributes(const PlanPtr& plan, IdMap* ids) {
  switch (plan->kind()) {
    case PlanKind::kLocalRelation:
      return Changed<LocalRelation>(*plan, +[](LocalRelation* n, IdMap* m) { n->attributes = Fresh(n->attributes, m); }, ids);
    case PlanKind::kRelation:
      return Changed<Relation>(*plan, +[](Relation* n, IdMap* m) { n->attributes = Fresh(n->attributes, m); }, ids);
    case PlanKind::kRange:
      return Changed<Range>(*plan, +[](Range* n, IdMap* m) { n->id = Fresh({n->id}, m)[0]; }, ids);
    case PlanKind::kShowString:
      return Changed<ShowString>(*plan, +[](ShowString* n, IdMap* m) { n->text = Fresh({n->text}, m)[0]; }, ids);
    case PlanKind::kUnion:
      return Changed<Union>(*plan, +[](Union* n, IdMap* m) { n->attributes = Fresh(n->attributes, m); }, ids);
    case PlanKind::kGenerate:
      return Changed<Generate>(*plan, +[](Generate* n, IdMap* m) { n->generated = Fresh(n->generated, m); }, ids);
    case PlanKind::kExpand:
      return Changed<Expand>(*plan, +[](Expand* n, IdMap* m) { n->attributes = Fresh(n->attributes, m); }, ids);
    case PlanKind::kEvalPython:
      return Changed<EvalPython>(*plan, +[](EvalPython* n, IdMap* m) { n->results = Fresh(n->results, m); }, ids);
    case PlanKind::kDeduplicate:
      return Changed<Deduplicate>(*plan, +[](Deduplicate* n, IdMap* m) {
        for (AttributePtr& key : n->keys) key = Renamed(key, *m);
      }, ids);
    default:
      return plan;
  }
}

}  // namespace

Result<PlanPtr> WithFreshIds(const PlanPtr& plan) {
  IdMap ids;
  return TransformUp(plan, [&](const PlanPtr& node) -> Result<PlanPtr> {
    PlanPtr renewed = node;
    ExprList expressions = node->expressions();
    bool changed = false;
    for (ExprPtr& expr : expressions) {
      TW_ASSIGN_OR_RETURN(ExprPtr rewritten, Rewrite(expr, &ids));
      changed = changed || rewritten != expr;
      expr = std::move(rewritten);
    }
    if (changed) renewed = node->WithExpressions(std::move(expressions));
    return RenewAttributes(renewed, &ids);
  });
}

}  // namespace thalweg::sql
