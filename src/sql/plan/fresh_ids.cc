// New ids for everything a plan puts out: the right side of a self join.

#include <unordered_map>
#include <unordered_set>

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

Result<PlanPtr> Renew(const PlanPtr& plan, IdMap* ids) {
  return TransformUp(plan, [&](const PlanPtr& node) -> Result<PlanPtr> {
    PlanPtr renewed = node;
    ExprList expressions = node->expressions();
    bool changed = false;
    for (ExprPtr& expr : expressions) {
      TW_ASSIGN_OR_RETURN(ExprPtr rewritten, Rewrite(expr, ids));
      changed = changed || rewritten != expr;
      expr = std::move(rewritten);
    }
    if (changed) renewed = node->WithExpressions(std::move(expressions));
    const AttributeList made = renewed->produced();
    return made.empty() ? renewed : renewed->WithProduced(Fresh(made, ids));
  });
}

}  // namespace

Result<PlanPtr> WithFreshIds(const PlanPtr& plan) {
  IdMap ids;
  TW_ASSIGN_OR_RETURN(PlanPtr fresh, Renew(plan, &ids));
  if (!fresh->resolved()) return fresh;
  std::unordered_set<ExprId> made;
  for (const auto& [old_id, new_id] : ids) made.insert(new_id);
  for (const AttributePtr& column : fresh->output()) {
    if (made.count(column->id()) == 0) return InternalError("a node makes " + column->PlanText() + " and does not tell");
  }
  return fresh;
}

}  // namespace thalweg::sql
