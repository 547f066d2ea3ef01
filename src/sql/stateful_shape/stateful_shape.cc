#include "sql/stateful_shape/stateful_shape.h"

#include "sql/stateful_shape/rules.h"
#include "sql/stateful_shape/state_layout.h"

namespace thalweg::sql {
namespace {

/// Rounds of the general rules; they settle after two or three.
constexpr int kMaxRounds = 10;

}  // namespace

Result<ShapedPlan> ShapeForState(const PlanPtr& plan, OutputMode mode, const EvalConfig& config) {
  TW_ASSIGN_OR_RETURN(PlanPtr shaped, EliminateAliases(plan));
  TW_ASSIGN_OR_RETURN(shaped, PullOutGrouping(shaped));
  TW_ASSIGN_OR_RETURN(shaped, ReplaceSetOperations(shaped, config));
  TW_ASSIGN_OR_RETURN(shaped, SimplifyGrouping(shaped));
  for (int round = 0; round < kMaxRounds; ++round) {
    const PlanPtr before = shaped;
    TW_ASSIGN_OR_RETURN(shaped, PushPredicates(shaped, config));
    TW_ASSIGN_OR_RETURN(shaped, EliminateOuterJoins(shaped));
    if (shaped == before) break;
  }
  TW_ASSIGN_OR_RETURN(shaped, InferJoinFilters(shaped, config));
  for (int round = 0; round < kMaxRounds; ++round) {
    const PlanPtr before = shaped;
    TW_ASSIGN_OR_RETURN(shaped, PushPredicates(shaped, config));
    TW_ASSIGN_OR_RETURN(shaped, PruneColumns(shaped, false));
    TW_ASSIGN_OR_RETURN(shaped, CollapseProjects(shaped));
    TW_ASSIGN_OR_RETURN(shaped, AliasNestedColumns(shaped));
    TW_ASSIGN_OR_RETURN(shaped, CountRows(shaped, config));
    if (shaped == before) break;
  }
  TW_ASSIGN_OR_RETURN(shaped, RewriteDecimalAggregates(shaped, config));
  TW_ASSIGN_OR_RETURN(shaped, ExtractPythonUdfs(shaped, config));
  ShapedPlan result{shaped, {}};
  TW_ASSIGN_OR_RETURN(result.layout, LayoutOf(shaped, mode, config));
  return result;
}

}  // namespace thalweg::sql
