#pragma once

// The optimizer's own rules; those that Spark's state layout depends on too are in sql/stateful_shape/rules.h. Each is pure.

#include "base/status.h"
#include "sql/optimizer/optimizer.h"
#include "sql/plan/logical_plan.h"

namespace thalweg::sql {

/// Expressions without columns become literals. What fails to evaluate stays and fails when it runs.
Result<PlanPtr> FoldConstants(const PlanPtr& plan, const OptimizerOptions& options);
/// AND, OR, NOT and null tests of what is known; casts to the type that is there already.
Result<PlanPtr> SimplifyExpressions(const PlanPtr& plan, const OptimizerOptions& options);
/// Filters that are always true go; always false ones become an empty relation (not over streams).
Result<PlanPtr> PruneFilters(const PlanPtr& plan, const OptimizerOptions& options);
/// Limits are merged and repeated below projects, unions and the outer side of joins (not over streams).
Result<PlanPtr> PushLimits(const PlanPtr& plan, const OptimizerOptions& options);
/// Projects that change nothing go.
Result<PlanPtr> RemoveNoOpProjects(const PlanPtr& plan, const OptimizerOptions& options);
/// Conjuncts directly above a Relation are told to it; the filter stays.
Result<PlanPtr> PushIntoRelations(const PlanPtr& plan, const OptimizerOptions& options);

struct Rule {
  const char* name;
  Result<PlanPtr> (*apply)(const PlanPtr& plan, const OptimizerOptions& options);
  bool streaming;  ///< keeps what a StateLayout names
};

/// Rules in order: `first` once, `repeated` until nothing changes, `last` once.
struct RuleList {
  std::vector<Rule> first, repeated, last;
};
const RuleList& Rules();

}  // namespace thalweg::sql
