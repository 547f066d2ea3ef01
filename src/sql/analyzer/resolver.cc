#include "sql/analyzer/resolver.h"

#include <algorithm>

#include "sql/expr/literal_zone.h"
#include "sql/plan/commands.h"
#include "sql/plan/window.h"

namespace thalweg::sql {
namespace {

/// Deeper plans are refused: the analyzer recurses.
constexpr int kMaxPlanDepth = 2000;

bool HoldsAggregates(PlanKind kind) { return kind == PlanKind::kAggregate || kind == PlanKind::kCollectMetrics; }

bool HoldsOrders(PlanKind kind) { return kind == PlanKind::kSort || kind == PlanKind::kRepartition; }

/// Expressions that only some nodes can evaluate must not stand in others: what no rule has put in its place is the user's.
/// Source: CheckAnalysis and PlanHelper.specialExpressionsInUnsupportedOperator; orders are refused later there.
Status CheckPlacesOf(const LogicalPlan& node) {
  if (node.kind() == PlanKind::kWindow) return Status::OK();
  std::string refused;
  ExprPtr first;
  Status alone;
  for (const ExprPtr& expr : node.expressions()) {
    Visit(expr, [&](const ExprPtr& part) {
      const bool aggregate = part->kind() == ExprKind::kAggregate && !HoldsAggregates(node.kind());
      const bool order = part->kind() == ExprKind::kSortOrder && !(part == expr && HoldsOrders(node.kind()));
      if (alone.ok() && AsWindowFunction(*part) != nullptr) {
        alone = At(Error("WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE").With("funcName", QuoteExpression(part)), part);
      }
      if (!aggregate && !order && part->kind() != ExprKind::kWindowCall) return true;
      if (first == nullptr) first = part;
      refused += (refused.empty() ? "" : ", ") + QuoteExpression(part);
      return false;
    });
  }
  if (first == nullptr || !alone.ok()) return alone;
  return At(Error("UNSUPPORTED_EXPR_FOR_OPERATOR").With("invalidExprSqls", refused), first);
}

}  // namespace

Result<PlanPtr> Analyze(const PlanPtr& plan, AnalyzerEnvironment& environment) {
  const ScopedLiteralZone zone(environment.config()->time_zone);
  Resolver resolver(environment);
  TW_ASSIGN_OR_RETURN(PlanPtr resolved, resolver.Resolve(plan));
  TW_RETURN_NOT_OK(CheckPlaces(resolved));
  return resolved;
}

Result<std::vector<data::Chunk>> AnalyzerEnvironment::RunEagerly(const PlanPtr&) { return Unsupported("queries while a plan is analysed"); }
std::optional<std::string> AnalyzerEnvironment::Setting(const std::string&) { return std::nullopt; }

Status CheckPlaces(const PlanPtr& plan) {
  Status status;
  Visit(plan, [&](const PlanPtr& node) {
    if (status.ok()) status = CheckPlacesOf(*node);
    return status.ok();
  });
  return status;
}

Result<ExprPtr> AnalyzeExpression(const ExprPtr& expression, const AttributeList& input,
                                  AnalyzerEnvironment& environment) {
  const ScopedLiteralZone zone(environment.config()->time_zone);
  Resolver resolver(environment);
  Scope scope;
  scope.input = input;
  return resolver.ResolveExpression(expression, scope);
}

Scope Resolver::ScopeOf(const PlanList& children) const {
  Scope scope;
  scope.plans = children;
  for (const PlanPtr& child : children) {
    const AttributeList output = child->output();
    scope.input.insert(scope.input.end(), output.begin(), output.end());
    const AttributeList hidden = HiddenColumns(*child);
    scope.hidden.insert(scope.hidden.end(), hidden.begin(), hidden.end());
  }
  return scope;
}

Result<PlanPtr> Resolver::Resolve(const PlanPtr& plan) {
  if (depth_ >= kMaxPlanDepth) return Unsupported("plans deeper than 2000 nodes");
  ++depth_;
  PlanList children;
  Status failed;
  // These look at their unresolved children first.
  const bool own_children = plan->kind() == PlanKind::kUnresolvedWith || plan->kind() == PlanKind::kCommand;
  if (!own_children) {
    for (const PlanPtr& child : plan->children()) {
      Result<PlanPtr> resolved = Resolve(child);
      if (!resolved.ok()) {
        failed = std::move(resolved).status();
        break;
      }
      children.push_back(*std::move(resolved));
    }
  }
  --depth_;
  TW_RETURN_NOT_OK(failed);
  const PlanPtr node = plan->children().empty() || own_children ? plan : plan->WithChildren(std::move(children));
  TW_ASSIGN_OR_RETURN(PlanPtr resolved, ResolveNode(node));
  if (!plan->plan_id() || resolved->plan_id() == plan->plan_id()) return resolved;
  if (resolved->plan_id()) {
    // The node was nothing but its child (a hint, dropping what is not there): both DataFrames must be found.
    const AttributeList output = resolved->output();
    auto same = std::make_shared<Project>(ExprList(output.begin(), output.end()), resolved);
    same->hidden = HiddenColumns(*resolved);
    resolved = std::move(same);
  }
  return resolved->WithPlanId(*plan->plan_id());
}

Result<PlanPtr> Resolver::ResolveNode(const PlanPtr& plan) {
  switch (plan->kind()) {
    case PlanKind::kUnresolvedRelation: return ResolveRelationName(plan);
    case PlanKind::kUnresolvedDataSource: return ResolveDataSource(plan);
    case PlanKind::kUnresolvedInlineTable: return ResolveInlineTable(plan);
    case PlanKind::kWithColumns: return ResolveWithColumns(plan);
    case PlanKind::kWithColumnsRenamed: return ResolveWithColumnsRenamed(plan);
    case PlanKind::kDropColumns: return ResolveDropColumns(plan);
    case PlanKind::kToDf: return ResolveToDf(plan);
    case PlanKind::kToSchema: return ResolveToSchema(plan);
    case PlanKind::kUnresolvedHaving:
      return ResolveFilter(plan, plan->expressions()[0], plan->As<UnresolvedHaving>()->qualify ? FilterClause::kQualify : FilterClause::kHaving);
    case PlanKind::kUnresolvedWith: return ResolveWith(plan);
    case PlanKind::kUnresolvedPivot: return ResolvePivot(plan);
    case PlanKind::kUnresolvedUnpivot: return ResolveUnpivot(plan);
    case PlanKind::kUnresolvedTranspose: return ResolveTranspose(plan);
    case PlanKind::kProject: return ResolveProject(plan);
    case PlanKind::kWindow: return plan;  // made by the analyzer, of what is resolved
    case PlanKind::kFilter: return ResolveFilter(plan, plan->expressions()[0], FilterClause::kWhere);
    case PlanKind::kAggregate: return ResolveAggregate(plan);
    case PlanKind::kJoin: return ResolveJoin(plan);
    case PlanKind::kUnion: return ResolveUnion(plan);
    case PlanKind::kLimit:
    case PlanKind::kOffset:
    case PlanKind::kTail: return ResolveLimit(plan);
    case PlanKind::kSort: return ResolveSort(plan);
    case PlanKind::kUnresolvedDeduplicate:
    case PlanKind::kDeduplicate: return ResolveDeduplicate(plan);
    case PlanKind::kSubqueryAlias: return ResolveSubqueryAlias(plan);
    case PlanKind::kEventTimeWatermark: return ResolveWatermark(plan);
    case PlanKind::kHint: return plan->child();  // a hint changes no answer
    case PlanKind::kCommand: return ResolveCommand(plan);
    case PlanKind::kRepartition:
    case PlanKind::kCollectMetrics: return ResolveGeneric(plan);
    case PlanKind::kLocalRelation:
    case PlanKind::kOneRow:
    case PlanKind::kRange:
    case PlanKind::kRelation:
    case PlanKind::kDistinct:
    case PlanKind::kSample:
    case PlanKind::kShowString:
    case PlanKind::kExpand:
    case PlanKind::kEvalPython: return plan;
    case PlanKind::kGenerate: return ResolveLateralView(plan);
  }
  return InternalError("the analyzer does not know this node");
}

Result<PlanPtr> Resolver::ResolveWith(const PlanPtr& plan) {
  const auto& with = static_cast<const UnresolvedWith&>(*plan);
  const size_t before = ctes_.size();
  Status failed;
  for (const auto& [name, query] : with.ctes) {
    // A subquery sees those that stand before it.
    Result<PlanPtr> resolved = Resolve(query);
    if (!resolved.ok()) {
      failed = std::move(resolved).status();
      break;
    }
    ctes_.emplace_back(name, *std::move(resolved));
  }
  Result<PlanPtr> body = failed.ok() ? Resolve(with.child()) : Result<PlanPtr>(failed);
  ctes_.resize(before);
  return body;
}

AttributeList HiddenColumns(const LogicalPlan& plan) {
  const LogicalPlan* node = &plan;
  while (node->kind() == PlanKind::kFilter || node->kind() == PlanKind::kSort) node = node->child().get();
  const auto* project = node->As<Project>();
  return project == nullptr ? AttributeList{} : project->hidden;
}

PlanPtr WithHiddenColumns(const PlanPtr& plan, const ExprList& expressions) {
  AttributeList missing;
  const AttributeList hidden = HiddenColumns(*plan);
  if (hidden.empty()) return plan;
  for (const AttributePtr& column : hidden) {
    const bool used = std::any_of(expressions.begin(), expressions.end(), [&](const ExprPtr& expr) {
      const std::vector<ExprId> ids = References(expr);
      return std::find(ids.begin(), ids.end(), column->id()) != ids.end();
    });
    if (used) missing.push_back(column);
  }
  if (missing.empty()) return plan;
  if (const auto* project = plan->As<Project>()) {
    auto wide = std::make_shared<Project>(*project);
    for (const AttributePtr& column : missing) wide->list.push_back(column);
    // A select list above another one that hides the column: both let it through.
    return wide->WithChildren({WithHiddenColumns(project->child(), expressions)});
  }
  return plan->WithChildren({WithHiddenColumns(plan->child(), expressions)});
}

Result<ExprPtr> TrimAliases(const ExprPtr& expr, bool keep_top) {
  const auto strip = [](const ExprPtr& node) -> Result<ExprPtr> {
    const auto* alias = node->As<Alias>();
    return alias == nullptr ? ExprPtr() : alias->child();
  };
  const auto* alias = expr->As<Alias>();
  if (alias == nullptr || !keep_top) return TransformUp(expr, strip);
  TW_ASSIGN_OR_RETURN(ExprPtr child, TransformUp(alias->child(), strip));
  return child == alias->child() ? expr : alias->WithChildren({std::move(child)});
}

Status At(Status status, const ExprPtr& expr) {
  if (status.ok() || expr == nullptr) return status;
  const QueryContext* context = nullptr;
  Visit(expr, [&](const ExprPtr& node) {
    if (context == nullptr && node->origin() != nullptr) context = node->origin().get();
    return context == nullptr;
  });
  return context == nullptr ? status : status.WithQueryContext(*context);
}

}  // namespace thalweg::sql
