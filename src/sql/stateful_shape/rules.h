#pragma once

// The rewrites that Spark's state layout depends on. The optimizer uses the general ones as well. Each is pure: a resolved
// plan to an equal one.

#include <functional>
#include <set>

#include "base/status.h"
#include "sql/expr/eval_context.h"
#include "sql/expr/function.h"
#include "sql/plan/logical_plan.h"

namespace thalweg::sql {

// --- general ---

/// Without SubqueryAlias nodes; qualifiers have done their work.
Result<PlanPtr> EliminateAliases(const PlanPtr& plan);
/// Distinct becomes an Aggregate over all columns; EXCEPT and INTERSECT become anti and semi joins below one, with ALL counts
/// of both sides and as many copies as those say.
Result<PlanPtr> ReplaceSetOperations(const PlanPtr& plan, const EvalConfig& config);
/// Conjuncts of filters and of join conditions go as far down as they may: through projects, watermarks they do not use,
/// aggregates by their keys, unions, sorts, joins; adjacent filters are merged.
/// Source: PushDownPredicates, PushPredicateThroughNonJoin, PushPredicateThroughJoin.
Result<PlanPtr> PushPredicates(const PlanPtr& plan, const EvalConfig& config);
/// A Project over a Project or an Aggregate becomes one node where no work is done twice. Source: CollapseProject.
Result<PlanPtr> CollapseProjects(const PlanPtr& plan);
/// Columns that nobody above needs are not computed, aggregates included. Leaves keep theirs unless `leaves`.
/// Source: ColumnPruning.
Result<PlanPtr> PruneColumns(const PlanPtr& plan, bool leaves);

// --- of aggregates ---

/// GROUP BY without literals and repetitions. Source: RemoveLiteralFromGroupExpressions, RemoveRepetitionFromGroupExpressions.
Result<PlanPtr> SimplifyGrouping(const PlanPtr& plan);
/// Grouping expressions that are more than a column are computed by a Project below, as "_groupingexpression".
/// Source: PullOutGroupingExpressions.
Result<PlanPtr> PullOutGrouping(const PlanPtr& plan);
/// count(x) of what is never null is count(1). Source: NullPropagation.
Result<PlanPtr> CountRows(const PlanPtr& plan, const EvalConfig& config);
/// sum and avg of short decimals work on the unscaled number. Source: DecimalAggregates.
Result<PlanPtr> RewriteDecimalAggregates(const PlanPtr& plan, const EvalConfig& config);

/// Outer joins whose null rows a filter above drops are narrower joins. Source: EliminateOuterJoin.
Result<PlanPtr> EliminateOuterJoins(const PlanPtr& plan);

/// Calls of Python functions become columns that EvalPython nodes below compute: what the client wrote once is called once per row.
/// Source: ExtractPythonUDFs and kin. Errors: UNSUPPORTED_FEATURE.PYTHON_UDF_IN_ON_CLAUSE.
Result<PlanPtr> ExtractPythonUdfs(const PlanPtr& plan, const EvalConfig& config);

// --- of stream-stream joins ---

/// Fields of which only a part is wanted above a join become columns of its sides, "_extract_<field>".
/// Source: NestedColumnAliasing.
Result<PlanPtr> AliasNestedColumns(const PlanPtr& plan);

/// Rows whose join key is null never match: a filter drops them where they are not kept for an outer join.
/// Source: InferFiltersFromConstraints.
Result<PlanPtr> InferJoinFilters(const PlanPtr& plan, const EvalConfig& config);

// --- helpers of rules ---

/// All conjuncts in one condition; null for none.
Result<ExprPtr> Conjunction(const ExprList& conjuncts, const EvalConfig& config);
/// `expr` with attributes replaced by what `list` (named expressions) defines them as.
Result<ExprPtr> Substitute(const ExprPtr& expr, const ExprList& list);

}  // namespace thalweg::sql
