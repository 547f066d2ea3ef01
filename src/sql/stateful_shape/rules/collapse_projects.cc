#include <algorithm>
#include <map>

#include "sql/expr/extract.h"
#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {
namespace {

/// Costs next to nothing when computed twice.
bool IsCheap(const ExprPtr& expr) {
  switch (expr->kind()) {
    case ExprKind::kAttribute:
    case ExprKind::kLiteral: return true;
    case ExprKind::kAlias: return IsCheap(expr->child());
    default: return StructFieldOrdinal(*expr) >= 0 && IsCheap(expr->child(0));
  }
}

/// Whether `consumers` may be written over what `producers` compute.
bool MayCollapse(const ExprList& consumers, const ExprList& producers) {
  std::map<ExprId, int> uses;
  for (const ExprPtr& consumer : consumers) {
    Visit(consumer, [&](const ExprPtr& node) {
      if (const auto* attribute = node->As<Attribute>()) ++uses[attribute->id()];
      return true;
    });
  }
  return std::all_of(producers.begin(), producers.end(), [&](const ExprPtr& producer) {
    const auto* alias = producer->As<Alias>();
    if (alias == nullptr) return true;
    const auto used = uses.find(alias->id());
    if (used == uses.end()) return true;
    return producer->deterministic() && (used->second == 1 || IsCheap(alias->child()));
  });
}

/// The upper expression over the lower ones' inputs; name, id and metadata stay.
Result<ExprPtr> Merge(const ExprPtr& upper, const ExprList& lower) {
  if (const auto* attribute = upper->As<Attribute>()) {
    for (const ExprPtr& named : lower) {
      if (ToAttribute(named)->id() == attribute->id()) return named;
    }
    return upper;
  }
  const auto& alias = static_cast<const Alias&>(*upper);
  TW_ASSIGN_OR_RETURN(ExprPtr child, Substitute(alias.child(), lower));
  if (child == alias.child()) return upper;
  std::optional<std::string> metadata = alias.explicit_metadata();
  if (!metadata && alias.metadata_json() != "{}") metadata = alias.metadata_json();
  return ExprPtr(Alias::Make(std::move(child), alias.name(), alias.id(), std::move(metadata), alias.automatic()));
}

Result<PlanPtr> Collapse(const Project& project) {
  const auto* below = project.child()->As<Project>();
  const auto* aggregate = project.child()->As<Aggregate>();
  if (below == nullptr && aggregate == nullptr) return PlanPtr();
  const ExprList& producers = below != nullptr ? below->list : aggregate->aggregates;
  if (!MayCollapse(project.list, producers)) return PlanPtr();
  ExprList merged;
  for (const ExprPtr& expr : project.list) {
    TW_ASSIGN_OR_RETURN(ExprPtr one, Merge(expr, producers));
    merged.push_back(std::move(one));
  }
  if (below != nullptr) return PlanPtr(std::make_shared<Project>(std::move(merged), below->child()));
  return PlanPtr(std::make_shared<Aggregate>(aggregate->grouping, std::move(merged), aggregate->child()));
}

}  // namespace

Result<PlanPtr> CollapseProjects(const PlanPtr& plan) {
  return TransformUp(plan, [](const PlanPtr& node) -> Result<PlanPtr> {
    const auto* project = node->As<Project>();
    return project == nullptr ? Result<PlanPtr>(PlanPtr()) : Collapse(*project);
  });
}

}  // namespace thalweg::sql
