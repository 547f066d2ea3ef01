#include "sql/optimizer/rules.h"

namespace thalweg::sql {
namespace {

Result<PlanPtr> Prune(const Filter& filter) {
  const auto* literal = filter.condition->As<Literal>();
  if (literal == nullptr) return PlanPtr();
  const bool* value = literal->value().get_if<bool>();
  if (value != nullptr && *value) return filter.child();
  // A stream's operators below keep state: they must run even when nothing passes.
  if (filter.is_streaming()) return PlanPtr();
  return PlanPtr(std::make_shared<LocalRelation>(filter.output(), std::vector<data::Chunk>{}));
}

}  // namespace

Result<PlanPtr> PruneFilters(const PlanPtr& plan, const OptimizerOptions&) {
  return TransformUp(plan, [](const PlanPtr& node) -> Result<PlanPtr> {
    const auto* filter = node->As<Filter>();
    return filter == nullptr ? Result<PlanPtr>(PlanPtr()) : Prune(*filter);
  });
}

}  // namespace thalweg::sql
