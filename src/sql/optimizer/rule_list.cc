#include "sql/optimizer/rules.h"
#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {
namespace {

// Rules of sql/stateful_shape under the signature of this list.
Result<PlanPtr> Aliases(const PlanPtr& plan, const OptimizerOptions&) { return EliminateAliases(plan); }
Result<PlanPtr> SetOperations(const PlanPtr& plan, const OptimizerOptions& options) {
  return ReplaceSetOperations(plan, *options.config);
}
Result<PlanPtr> Grouping(const PlanPtr& plan, const OptimizerOptions&) { return SimplifyGrouping(plan); }
Result<PlanPtr> Counts(const PlanPtr& plan, const OptimizerOptions& options) { return CountRows(plan, *options.config); }
Result<PlanPtr> Decimals(const PlanPtr& plan, const OptimizerOptions& options) {
  return RewriteDecimalAggregates(plan, *options.config);
}
Result<PlanPtr> Predicates(const PlanPtr& plan, const OptimizerOptions& options) {
  return PushPredicates(plan, *options.config);
}
Result<PlanPtr> OuterJoins(const PlanPtr& plan, const OptimizerOptions&) { return EliminateOuterJoins(plan); }
Result<PlanPtr> Collapse(const PlanPtr& plan, const OptimizerOptions&) { return CollapseProjects(plan); }
Result<PlanPtr> PythonUdfs(const PlanPtr& plan, const OptimizerOptions& options) {
  return ExtractPythonUdfs(plan, *options.config);
}
Result<PlanPtr> Columns(const PlanPtr& plan, const OptimizerOptions&) { return PruneColumns(plan, true); }

}  // namespace

const RuleList& Rules() {
  static const RuleList* const kRules = new RuleList{
      .first =
          {
              {"EliminateAliases", &Aliases, true},
              {"ReplaceSetOperations", &SetOperations, true},
              {"SimplifyGrouping", &Grouping, false},
          },
      .repeated =
          {
              {"FoldConstants", &FoldConstants, true},
              {"SimplifyExpressions", &SimplifyExpressions, true},
              {"PruneFilters", &PruneFilters, true},
              {"PushPredicates", &Predicates, false},
              {"EliminateOuterJoins", &OuterJoins, false},
              {"PushLimits", &PushLimits, false},
              {"PruneColumns", &Columns, true},
              {"CollapseProjects", &Collapse, false},
              {"CountRows", &Counts, false},
              {"RemoveNoOpProjects", &RemoveNoOpProjects, true},
          },
      .last =
          {
              {"RewriteDecimalAggregates", &Decimals, false},
              {"ExtractPythonUdfs", &PythonUdfs, true},
              {"PruneColumns", &Columns, true},
              {"RemoveNoOpProjects", &RemoveNoOpProjects, true},
              {"PushIntoRelations", &PushIntoRelations, true},
          },
  };
  return *kRules;
}

}  // namespace thalweg::sql
