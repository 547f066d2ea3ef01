// GROUP BY, HAVING, WHERE and ORDER BY: what may be referred to where.

#include <algorithm>

#include "sql/analyzer/resolver.h"
#include "sql/plan/window.h"

namespace thalweg::sql {
namespace {

/// The number of an integer literal, or nullopt: GROUP BY 1, ORDER BY 2.
std::optional<int32_t> Position(const ExprPtr& expr) {
  const auto* literal = expr->As<Literal>();
  if (literal == nullptr || !literal->type().Is(data::TypeKind::kInteger)) return std::nullopt;
  const auto* value = literal->value().get_if<int32_t>();
  return value == nullptr ? std::nullopt : std::optional<int32_t>(*value);
}

bool Holds(const AttributeList& attributes, ExprId id) {
  return std::any_of(attributes.begin(), attributes.end(), [&](const AttributePtr& a) { return a->id() == id; });
}

bool OverWindow(const LogicalPlan& project) { return project.child()->kind() == PlanKind::kWindow; }

/// The Aggregate that HAVING or ORDER BY above `plan` may look through to; `path` gets the nodes between.
const Aggregate* AggregateBelow(const PlanPtr& plan, std::vector<PlanPtr>* path) {
  if (plan->kind() == PlanKind::kProject) {
    const ExprList list = plan->expressions();
    const bool picks = std::all_of(list.begin(), list.end(), [](const ExprPtr& e) { return e->kind() == ExprKind::kAttribute; });
    if (!picks) return nullptr;
  }
  PlanPtr node = plan;
  for (;;) {
    if (const auto* aggregate = node->As<Aggregate>()) return aggregate;
    // HAVING over columns that the list does not show ends in a Project that takes them away again.
    // So does what shows windows over groups.
    const bool narrows = node->kind() == PlanKind::kProject && (node->child()->kind() == PlanKind::kFilter || OverWindow(*node));
    if (node->kind() != PlanKind::kFilter && node->kind() != PlanKind::kWindow && !narrows) return nullptr;
    path->push_back(node);
    node = node->child();
  }
}

Status RefuseWindow(const ExprPtr& expr, const char* clause) {
  return At(Error("WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE").With("clauseName", clause), expr);
}

Status MissingAggregation(const ExprPtr& expr, bool grouped) {
  if (!grouped) return At(Error("MISSING_GROUP_BY"), expr);
  const std::string text = AutoName(expr);
  return At(Error("MISSING_AGGREGATION")
                .With("expression", "\"" + text + "\"")
                .With("expressionAnyValue", "\"any_value(" + text + ")\""),
            expr);
}

/// Source: CheckAnalysis.checkValidAggregateExpression.
Status CheckOverGroups(const ExprPtr& expr, const ExprList& grouping) {
  if (expr->kind() == ExprKind::kAggregate) {
    const auto& call = *expr->As<AggregateCall>();
    for (const ExprPtr& child : call.children()) {
      if (HasAggregate(child)) return At(Error("NESTED_AGGREGATE_FUNCTION"), expr);
      if (!child->deterministic()) {
        return At(Error("AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION").With("sqlExpr", QuoteExpression(expr)),
                  expr);
      }
    }
    return Status::OK();
  }
  for (const ExprPtr& group : grouping) {
    if (Bare(group)->Equals(*expr)) return Status::OK();
  }
  if (expr->kind() == ExprKind::kAttribute) return MissingAggregation(expr, !grouping.empty());
  for (const ExprPtr& child : expr->children()) TW_RETURN_NOT_OK(CheckOverGroups(child, grouping));
  return Status::OK();
}

}  // namespace

ExprPtr Bare(const ExprPtr& expr) {
  const auto* alias = expr->As<Alias>();
  return alias == nullptr ? expr : alias->child();
}

Status Resolver::CheckAggregate(const Aggregate& aggregate) {
  for (const ExprPtr& group : aggregate.grouping) {
    if (HasAggregate(group)) return At(Error("GROUP_BY_AGGREGATE").With("sqlExpr", AutoName(Bare(group))), group);
    if (!group->type().IsOrderable() && !group->type().Is(data::TypeKind::kMap)) {
      return At(Error("GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE")
                    .With("sqlExpr", QuoteExpression(group))
                    .With("dataType", QuoteType(group->type())),
                group);
    }
  }
  for (const ExprPtr& expr : aggregate.aggregates) TW_RETURN_NOT_OK(CheckOverGroups(Bare(expr), aggregate.grouping));
  return Status::OK();
}

Result<PlanPtr> Resolver::FinishAggregate(ExprList grouping, ExprList list, PlanPtr child) {
  ExprList above;
  TW_ASSIGN_OR_RETURN(const bool generates, SplitGenerators(&list, &above));
  ExprList over;
  TW_ASSIGN_OR_RETURN(const bool windows, SplitWindowCalls(&list, &over));
  auto aggregate = std::make_shared<Aggregate>(std::move(grouping), std::move(list), std::move(child));
  TW_RETURN_NOT_OK(RefuseGrouping(aggregate->expressions()));
  TW_RETURN_NOT_OK(CheckAggregate(*aggregate));
  TW_RETURN_NOT_OK(RefuseGenerators(*aggregate));
  PlanPtr below = std::move(aggregate);
  if (windows) {
    TW_ASSIGN_OR_RETURN(below, ProjectOver(std::move(over), std::move(below)));
  }
  if (!generates) return below;
  TW_RETURN_NOT_OK(ExtractGenerators(*this, &above, &below));
  return PlanPtr(std::make_shared<Project>(std::move(above), std::move(below)));
}

Result<PlanPtr> Resolver::ResolveAggregate(const PlanPtr& plan) {
  const auto& node = static_cast<const Aggregate&>(*plan);
  PlanPtr child = node.child();
  ExprList given_groups = node.grouping;
  ExprList given_list = node.aggregates;
  TW_RETURN_NOT_OK(ExtractWindows({&given_groups, &given_list}, &child));
  const Scope scope = ScopeOf(child);
  TW_ASSIGN_OR_RETURN(ExprList list, ResolveSelectList(given_list, scope, nullptr));
  ExprList grouping;
  if (node.group_all) {
    for (const ExprPtr& expr : list) {
      if (!HasAggregate(expr)) grouping.push_back(Bare(expr));
    }
  }
  TW_ASSIGN_OR_RETURN(const ExprList given, ExpandStars(given_groups, scope));
  const auto resolve_group = [&](const ExprPtr& expr) -> Result<ExprPtr> {
    if (const std::optional<int32_t> position = Position(expr)) {
      if (*position < 1 || *position > static_cast<int32_t>(list.size())) {
        return At(Error("GROUP_BY_POS_OUT_OF_RANGE").With("index", *position).With("size", static_cast<int64_t>(list.size())),
                  expr);
      }
      const ExprPtr& column = list[static_cast<size_t>(*position) - 1];
      if (HasAggregate(column)) {
        return At(Error("GROUP_BY_POS_AGGREGATE").With("index", *position).With("aggExpr", column->Sql()), expr);
      }
      return Bare(column);
    }
    Scope lenient = scope;
    lenient.lenient = true;
    TW_ASSIGN_OR_RETURN(ExprPtr resolved, ResolveExpression(expr, lenient));
    if (const auto* name = resolved->As<UnresolvedAttribute>(); name != nullptr && name->name_parts().size() == 1) {
      // Not a column of the input: an alias of the select list.
      for (const ExprPtr& column : list) {
        const auto* alias = column->As<Alias>();
        if (alias != nullptr && SameName(alias->name(), name->name_parts()[0], config_->case_sensitive)) {
          resolved = alias->child();
          break;
        }
      }
    }
    if (!resolved->resolved()) {
      TW_ASSIGN_OR_RETURN(resolved, ResolveExpression(resolved, scope));
    }
    return resolved;
  };
  for (const ExprPtr& expr : given) {
    TW_ASSIGN_OR_RETURN(ExprPtr group, resolve_group(expr));
    grouping.push_back(std::move(group));
  }
  for (ExprPtr& expr : grouping) {
    TW_ASSIGN_OR_RETURN(expr, TrimAliases(expr, false));
  }
  for (ExprPtr& expr : list) {
    expr = Named(expr);
    TW_ASSIGN_OR_RETURN(expr, TrimAliases(expr, true));
  }
  child = WithHiddenColumns(WithHiddenColumns(child, list), grouping);
  if (node.grouping_kind != Aggregate::Grouping::kPlain) {
    std::vector<ExprList> sets;
    for (const ExprList& set : node.grouping_sets) {
      ExprList resolved;
      for (const ExprPtr& expr : set) {
        TW_ASSIGN_OR_RETURN(ExprPtr one, resolve_group(expr));
        TW_ASSIGN_OR_RETURN(one, TrimAliases(one, false));
        resolved.push_back(std::move(one));
      }
      sets.push_back(std::move(resolved));
    }
    TW_RETURN_NOT_OK(ExpandGroupingSets(node.grouping_kind, sets, &grouping, &list, &child));
  }
  return FinishAggregate(std::move(grouping), std::move(list), std::move(child));
}

/// What HAVING and ORDER BY may name beside the output: of grouping sets the rows as they were before.
Scope Resolver::ScopeBelow(const Aggregate& aggregate) const {
  const bool sets = GroupingColumnsOf(aggregate).has_value();
  if (!sets) return ScopeOf(aggregate.child());
  Scope scope = ScopeOf(aggregate.child()->child()->child());
  scope.plans = {aggregate.child()};
  return scope;
}

/// Expressions of HAVING or ORDER BY over an Aggregate `child`: aggregate calls and grouping expressions in them become
/// columns, which the Aggregate puts out in addition when it does not yet. `widened` is the child with those columns, or the
/// child itself. Source: Spark's ResolveAggregateFunctions.
Result<ExprList> Resolver::OverAggregate(const ExprList& expressions, const PlanPtr& child, PlanPtr* widened) {
  std::vector<PlanPtr> path;
  const Aggregate* aggregate = AggregateBelow(child, &path);
  const AttributeList output = aggregate->output();
  const std::optional<GroupingColumns> sets = GroupingColumnsOf(*aggregate);
  ExprList added;
  const auto column_of = [&](const ExprPtr& expr) -> ExprPtr {
    for (const ExprList* list : {&aggregate->aggregates, &static_cast<const ExprList&>(added)}) {
      for (const ExprPtr& named : *list) {
        if (Bare(named)->Equals(*expr)) return ToAttribute(named);
      }
    }
    if (expr->kind() == ExprKind::kAttribute) {
      added.push_back(expr);
      return expr;
    }
    added.push_back(Named(expr));
    return ToAttribute(added.back());
  };
  std::function<Result<ExprPtr>(const ExprPtr&, bool)> rewrite = [&](const ExprPtr& expr, bool in_window) -> Result<ExprPtr> {
    if (const auto* attribute = expr->As<Attribute>(); attribute != nullptr && Holds(output, attribute->id())) {
      return expr;
    }
    if (expr->kind() == ExprKind::kAggregate && !in_window) return column_of(expr);
    for (const ExprPtr& group : aggregate->grouping) {
      if (group->Equals(*expr)) return column_of(group);
    }
    if (expr->kind() == ExprKind::kAttribute) return MissingAggregation(expr, !aggregate->grouping.empty());
    ExprList children;
    for (const ExprPtr& below : expr->children()) {
      // The function that a window is of is not one of the groups; its arguments are.
      TW_ASSIGN_OR_RETURN(ExprPtr rewritten, rewrite(below, expr->kind() == ExprKind::kWindowCall && children.empty()));
      children.push_back(std::move(rewritten));
    }
    return expr->children().empty() ? expr : expr->WithChildren(std::move(children));
  };
  ExprList out;
  for (const ExprPtr& expr : expressions) {
    ExprPtr given = expr;
    if (sets) {
      // The output's own columns stand for what they show.
      TW_ASSIGN_OR_RETURN(given, TransformUp(given, [&](const ExprPtr& node) -> Result<ExprPtr> {
                            const auto* attribute = node->As<Attribute>();
                            for (const ExprPtr& named : aggregate->aggregates) {
                              const auto* alias = attribute == nullptr ? nullptr : named->As<Alias>();
                              if (alias != nullptr && alias->id() == attribute->id() &&
                                  alias->child()->kind() == ExprKind::kAttribute) {
                                return alias->child();
                              }
                            }
                            return ExprPtr();
                          }));
      TW_ASSIGN_OR_RETURN(given, sets->Rewrite(*this, given));
    }
    TW_ASSIGN_OR_RETURN(ExprPtr rewritten, rewrite(given, false));
    out.push_back(std::move(rewritten));
  }
  *widened = child;
  const bool narrowed = std::any_of(path.begin(), path.end(), [](const PlanPtr& node) { return node->kind() == PlanKind::kProject; });
  if (added.empty() && !narrowed) return out;
  ExprList list = aggregate->aggregates;
  list.insert(list.end(), added.begin(), added.end());
  TW_ASSIGN_OR_RETURN(PlanPtr plan, FinishAggregate(aggregate->grouping, std::move(list), aggregate->child()));
  for (auto node = path.rbegin(); node != path.rend(); ++node) {
    if ((*node)->kind() != PlanKind::kProject) plan = (*node)->WithChildren({plan});
  }
  *widened = std::move(plan);
  return out;
}

/// Names that `child` does not put out, but nodes below it do: those nodes put them out as well. Source: Spark's
/// resolveExprsAndAddMissingAttrs.
Result<ExprList> Resolver::AddMissing(const ExprList& expressions, const PlanPtr& child, PlanPtr* widened) {
  *widened = child;
  ExprList pending = expressions;
  // The chain of nodes that may be looked through, top first.
  std::vector<PlanPtr> chain = {child};
  for (PlanPtr node = child;;) {
    const PlanKind kind = node->kind();
    const bool transparent = kind == PlanKind::kProject || kind == PlanKind::kFilter || kind == PlanKind::kSort ||
                             kind == PlanKind::kWindow || kind == PlanKind::kSubqueryAlias || kind == PlanKind::kEventTimeWatermark;
    if (!transparent || kind == PlanKind::kSubqueryAlias) break;
    node = node->child();
    chain.push_back(node);
    Scope scope = ScopeOf(node);
    scope.lenient = true;
    bool all = true;
    for (ExprPtr& expr : pending) {
      if (!expr->resolved()) {
        TW_ASSIGN_OR_RETURN(expr, ResolveExpression(expr, scope));
      }
      all = all && expr->resolved();
    }
    if (all) break;
  }
  const AttributeList visible = child->output();
  AttributeList missing;
  const AttributeList deepest = chain.back()->output();
  for (const ExprPtr& expr : pending) {
    if (!expr->resolved()) return pending;
    for (const ExprId id : References(expr)) {
      if (Holds(visible, id) || Holds(missing, id)) continue;
      for (const AttributePtr& attribute : deepest) {
        if (attribute->id() == id) missing.push_back(attribute);
      }
    }
  }
  if (missing.empty()) return pending;
  PlanPtr plan = chain.back();
  for (size_t i = chain.size() - 1; i-- > 0;) {
    if (const auto* project = chain[i]->As<Project>()) {
      ExprList list = project->list;
      const AttributeList have = project->output();
      for (const AttributePtr& attribute : missing) {
        if (!Holds(have, attribute->id())) list.push_back(attribute);
      }
      plan = std::make_shared<Project>(std::move(list), plan);
    } else {
      plan = chain[i]->WithChildren({plan});
    }
  }
  *widened = std::move(plan);
  return pending;
}

Result<PlanPtr> Resolver::ResolveFilter(const PlanPtr& plan, const ExprPtr& condition, FilterClause clause) {
  const bool having = clause == FilterClause::kHaving;
  PlanPtr child = plan->child();
  if (having && child->kind() == PlanKind::kProject && OverWindow(*child)) {
    // Windows over groups see the groups that are left.
    std::vector<PlanPtr> windows = {child};
    for (PlanPtr node = child->child(); node->kind() == PlanKind::kWindow; node = node->child()) windows.push_back(node);
    const PlanPtr groups = windows.back()->child();
    if (groups->kind() == PlanKind::kAggregate) {
      TW_ASSIGN_OR_RETURN(PlanPtr filtered, ResolveFilter(plan->WithChildren({groups}), condition, clause));
      for (auto node = windows.rbegin(); node != windows.rend(); ++node) filtered = (*node)->WithChildren({filtered});
      return filtered;
    }
  }
  const AttributeList output = child->output();
  std::vector<PlanPtr> path;
  const Aggregate* aggregate = AggregateBelow(child, &path);
  if (having && aggregate == nullptr) {
    // HAVING without GROUP BY makes the select list one group.
    const auto* project = child->As<Project>();
    if (project == nullptr) return InternalError("HAVING over a plan that is no select list");
    TW_ASSIGN_OR_RETURN(child, FinishAggregate({}, project->list, project->child()));
    aggregate = AggregateBelow(child, &path);
  }
  Scope scope = ScopeOf(child);
  Scope below;
  if (aggregate != nullptr) {
    below = ScopeBelow(*aggregate);
    scope.fallback = &below;
    scope.fallback_first_in_aggregates = true;
  }
  scope.lenient = aggregate == nullptr;
  TW_ASSIGN_OR_RETURN(ExprPtr resolved, ResolveExpression(condition, scope));
  PlanPtr widened = child;
  ExprList conditions = {resolved};
  if (!resolved->resolved()) {
    TW_ASSIGN_OR_RETURN(conditions, AddMissing(conditions, child, &widened));
    if (!conditions[0]->resolved()) {
      scope.lenient = false;
      TW_ASSIGN_OR_RETURN(conditions[0], ResolveExpression(conditions[0], scope));
    }
  } else if (aggregate != nullptr) {
    bool through = HasAggregate(resolved) || !RefuseGrouping({resolved}).ok();
    for (const ExprId id : References(resolved)) through = through || !Holds(output, id);
    if (through) {
      TW_ASSIGN_OR_RETURN(conditions, OverAggregate(conditions, child, &widened));
    }
  }
  TW_RETURN_NOT_OK(RewriteTimeWindows(*this, &conditions, &widened));
  TW_ASSIGN_OR_RETURN(conditions[0], TrimAliases(conditions[0], false));
  widened = WithHiddenColumns(widened, conditions);
  if (clause == FilterClause::kQualify) {
    const bool selects = child->kind() == PlanKind::kWindow || (child->kind() == PlanKind::kProject && OverWindow(*child));
    if (!selects && !HasWindow(conditions[0])) return Error("QUALIFY_REQUIRES_WINDOW_FUNCTION");
    TW_RETURN_NOT_OK(ExtractWindowCalls(&conditions, &widened));
  } else if (HasWindow(conditions[0])) {
    return RefuseWindow(conditions[0], having ? "HAVING" : "WHERE");
  }
  if (conditions[0]->type().Is(data::TypeKind::kNull)) {
    conditions[0] = Cast::Make(conditions[0], DataType::Boolean(), EvalMode::kAnsi);
  }
  TW_RETURN_NOT_OK(RefuseGenerators(Filter(conditions[0], widened)));
  TW_RETURN_NOT_OK(RefuseGrouping(conditions));
  TW_RETURN_NOT_OK(At(CheckFilterCondition(conditions[0]), condition));
  PlanPtr filter = std::make_shared<Filter>(conditions[0], widened);
  if (filter->output().size() == output.size()) return filter;
  auto narrow = std::make_shared<Project>(ExprList(output.begin(), output.end()), filter);
  narrow->hidden = HiddenColumns(*child);
  return PlanPtr(std::move(narrow));
}

Result<PlanPtr> Resolver::ResolveSort(const PlanPtr& plan) {
  const auto& sort = static_cast<const Sort&>(*plan);
  const PlanPtr& child = sort.child();
  const AttributeList output = child->output();
  ExprList orders;
  if (sort.order_by_all) {
    const SortOrder* how = sort.orders.empty() ? nullptr : sort.orders[0]->As<SortOrder>();
    for (const AttributePtr& column : output) {
      orders.push_back(SortOrder::Make(column, how == nullptr || how->ascending(), how == nullptr || how->nulls_first()));
    }
  }
  std::vector<PlanPtr> path;
  const Aggregate* aggregate = AggregateBelow(child, &path);
  Scope scope = ScopeOf(child);
  Scope below;
  if (aggregate != nullptr) {
    below = ScopeBelow(*aggregate);
    scope.fallback = &below;
  }
  scope.lenient = aggregate == nullptr;
  bool all = true;
  bool through = false;
  for (const ExprPtr& given : sort.order_by_all ? ExprList{} : sort.orders) {
    const auto& order = *given->As<SortOrder>();
    if (const std::optional<int32_t> position = Position(order.child())) {
      if (*position < 1 || *position > static_cast<int32_t>(output.size())) {
        return At(Error("ORDER_BY_POS_OUT_OF_RANGE").With("index", *position).With("size", static_cast<int64_t>(output.size())),
                  given);
      }
      orders.push_back(given->WithChildren({output[static_cast<size_t>(*position) - 1]}));
      continue;
    }
    TW_ASSIGN_OR_RETURN(ExprPtr resolved, ResolveExpression(given, scope));
    all = all && resolved->resolved();
    if (aggregate != nullptr) {
      through = through || HasAggregate(resolved) || !RefuseGrouping({resolved}).ok();
      for (const ExprId id : References(resolved)) through = through || !Holds(output, id);
    }
    orders.push_back(std::move(resolved));
  }
  PlanPtr widened = child;
  if (!all) {
    TW_ASSIGN_OR_RETURN(orders, AddMissing(orders, child, &widened));
    scope.lenient = false;
    for (ExprPtr& order : orders) {
      if (!order->resolved()) {
        TW_ASSIGN_OR_RETURN(order, ResolveExpression(order, scope));
      }
    }
  } else if (through) {
    TW_ASSIGN_OR_RETURN(orders, OverAggregate(orders, child, &widened));
  }
  TW_RETURN_NOT_OK(RewriteTimeWindows(*this, &orders, &widened));
  for (ExprPtr& order : orders) {
    TW_ASSIGN_OR_RETURN(order, TrimAliases(order, false));
  }
  TW_RETURN_NOT_OK(RefuseGenerators(Sort(orders, sort.global, widened)));
  TW_RETURN_NOT_OK(RefuseGrouping(orders));
  widened = WithHiddenColumns(widened, orders);
  for (const ExprPtr& order : orders) {
    if (order->type().IsOrderable()) continue;
    return At(Error("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE")
                  .With("functionName", "`sortorder`")
                  .With("dataType", QuoteType(order->type()))
                  .With("sqlExpr", "\"" + AutoName(order) + "\""),
              order);
  }
  auto sorted = std::make_shared<Sort>(std::move(orders), sort.global, widened);
  if (sorted->output().size() == output.size()) return PlanPtr(std::move(sorted));
  auto narrow = std::make_shared<Project>(ExprList(output.begin(), output.end()), std::move(sorted));
  narrow->hidden = HiddenColumns(*child);
  return PlanPtr(std::move(narrow));
}

}  // namespace thalweg::sql
