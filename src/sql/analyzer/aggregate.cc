// GROUP BY, HAVING, WHERE and ORDER BY: what may be referred to where.

#include <algorithm>

#include "sql/analyzer/resolver.h"

namespace thalweg::sql {
namespace {

/// The number of an integer literal, or nullopt: GROUP BY 1, ORDER BY 2.
std::optional<int32_t> Position(const ExprPtr& expr) {
  const auto* literal = expr->As<Literal>();
  if (literal == nullptr || !literal->type().Is(data::TypeKind::kInteger)) return std::nullopt;
  const auto* value = literal->value().get_if<int32_t>();
  return value == nullptr ? std::nullopt : std::optional<int32_t>(*value);
}

ExprPtr Bare(const ExprPtr& expr) {
  const auto* alias = expr->As<Alias>();
  return alias == nullptr ? expr : alias->child();
}

bool Holds(const AttributeList& attributes, ExprId id) {
  return std::any_of(attributes.begin(), attributes.end(), [&](const AttributePtr& a) { return a->id() == id; });
}

/// The Aggregate that HAVING or ORDER BY above `plan` may look through to; `path` gets the nodes between.
const Aggregate* AggregateBelow(const PlanPtr& plan, std::vector<PlanPtr>* path) {
  PlanPtr node = plan;
  for (;;) {
    if (const auto* aggregate = node->As<Aggregate>()) return aggregate;
    if (node->kind() != PlanKind::kFilter) return nullptr;
    path->push_back(node);
    node = node->child();
  }
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

/// Which grouping expressions each set keeps; bit i stands for expression i.
Result<std::vector<uint64_t>> SetMasks(Aggregate::Grouping kind, const std::vector<ExprList>& sets, ExprList* grouping) {
  const auto index_of = [&](const ExprPtr& expr) {
    for (size_t i = 0; i < grouping->size(); ++i) {
      if ((*grouping)[i]->Equals(*expr)) return i;
    }
    grouping->push_back(expr);
    return grouping->size() - 1;
  };
  std::vector<uint64_t> masks;
  if (kind == Aggregate::Grouping::kSets) {
    for (const ExprList& set : sets) {
      uint64_t mask = 0;
      for (const ExprPtr& expr : set) mask |= uint64_t{1} << index_of(expr);
      masks.push_back(mask);
    }
  }
  const size_t count = grouping->size();
  if (count > (kind == Aggregate::Grouping::kCube ? 12 : 63)) {
    return Error("GROUPING_SIZE_LIMIT_EXCEEDED").With("maxSize", kind == Aggregate::Grouping::kCube ? 12 : 63);
  }
  if (kind == Aggregate::Grouping::kRollup) {
    for (size_t kept = count + 1; kept-- > 0;) masks.push_back((uint64_t{1} << kept) - 1);
  } else if (kind == Aggregate::Grouping::kCube) {
    for (uint64_t mask = uint64_t{1} << count; mask-- > 0;) masks.push_back(mask);
  }
  return masks;
}

}  // namespace

/// ROLLUP, CUBE and GROUPING SETS: every row once per set, with the columns that the set leaves out null and a number that
/// says which set it is. Source: Spark's ResolveGroupingAnalytics.
Status Resolver::ExpandGroupingSets(Aggregate::Grouping kind, const std::vector<ExprList>& sets, ExprList* grouping,
                                    ExprList* list, PlanPtr* child) {
  TW_ASSIGN_OR_RETURN(const std::vector<uint64_t> masks, SetMasks(kind, sets, grouping));
  for (size_t i = 0; i < masks.size(); ++i) {
    if (std::find(masks.begin(), masks.begin() + static_cast<ptrdiff_t>(i), masks[i]) != masks.begin() + static_cast<ptrdiff_t>(i)) {
      return Unsupported("GROUPING SETS that name one set twice");
    }
  }
  const AttributeList input = (*child)->output();
  ExprList project(input.begin(), input.end());
  ExprList columns;       // what a set groups by, below the Expand
  AttributeList output = input;
  ExprList expanded;      // the same columns above it
  for (const ExprPtr& group : *grouping) {
    const auto* attribute = group->As<Attribute>();
    const auto alias = Alias::Make(group, attribute == nullptr ? AutoName(group) : attribute->name());
    project.push_back(alias);
    columns.push_back(alias->ToAttribute());
    output.push_back(Attribute::Make(alias->name(), alias->type(), true, NewExprId(), {}, alias->metadata_json()));
    expanded.push_back(output.back());
  }
  output.push_back(Attribute::Make("spark_grouping_id", DataType::Long(), false));
  std::vector<ExprList> projections;
  for (const uint64_t mask : masks) {
    ExprList projection(input.begin(), input.end());
    int64_t id = 0;
    for (size_t i = 0; i < columns.size(); ++i) {
      const bool kept = (mask >> i & 1) != 0;
      projection.push_back(kept ? columns[i] : Literal::Null(columns[i]->type()));
      id = id * 2 + (kept ? 0 : 1);
    }
    projection.push_back(Literal::Long(id));
    projections.push_back(std::move(projection));
  }
  *child = std::make_shared<Expand>(std::move(projections), output,
                                    std::make_shared<Project>(std::move(project), *child));
  const std::function<ExprPtr(const ExprPtr&)> rewrite = [&](const ExprPtr& expr) -> ExprPtr {
    if (expr->kind() == ExprKind::kAggregate) return expr;
    for (size_t i = 0; i < grouping->size(); ++i) {
      if ((*grouping)[i]->Equals(*expr)) return expanded[i];
    }
    if (expr->children().empty()) return expr;
    ExprList children;
    for (const ExprPtr& below : expr->children()) children.push_back(rewrite(below));
    return expr->WithChildren(std::move(children));
  };
  for (ExprPtr& expr : *list) {
    if (const auto* attribute = expr->As<Attribute>()) {
      const ExprPtr column = rewrite(expr);
      expr = column == expr ? expr : ExprPtr(Alias::Make(column, attribute->name()));
      continue;
    }
    expr = rewrite(expr);
  }
  *grouping = expanded;
  grouping->push_back(output.back());
  return Status::OK();
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
  TW_RETURN_NOT_OK(RefuseGenerators(grouping, "GROUP BY"));
  TW_RETURN_NOT_OK(RefuseGenerators(list, "AGGREGATE"));
  auto aggregate = std::make_shared<Aggregate>(std::move(grouping), std::move(list), std::move(child));
  TW_RETURN_NOT_OK(CheckAggregate(*aggregate));
  return PlanPtr(std::move(aggregate));
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
  for (const ExprPtr& expr : given) {
    if (const std::optional<int32_t> position = Position(expr)) {
      if (*position < 1 || *position > static_cast<int32_t>(list.size())) {
        return At(Error("GROUP_BY_POS_OUT_OF_RANGE").With("index", *position).With("size", static_cast<int64_t>(list.size())),
                  expr);
      }
      const ExprPtr& column = list[static_cast<size_t>(*position) - 1];
      if (HasAggregate(column)) {
        return At(Error("GROUP_BY_POS_AGGREGATE").With("index", *position).With("aggExpr", column->Sql()), expr);
      }
      grouping.push_back(Bare(column));
      continue;
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
    grouping.push_back(std::move(resolved));
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
        TW_ASSIGN_OR_RETURN(ExprPtr one, ResolveExpression(expr, scope));
        resolved.push_back(Bare(one));
      }
      sets.push_back(std::move(resolved));
    }
    TW_RETURN_NOT_OK(ExpandGroupingSets(node.grouping_kind, sets, &grouping, &list, &child));
  }
  return FinishAggregate(std::move(grouping), std::move(list), std::move(child));
}

/// Expressions of HAVING or ORDER BY over an Aggregate `child`: aggregate calls and grouping expressions in them become
/// columns, which the Aggregate puts out in addition when it does not yet. `widened` is the child with those columns, or the
/// child itself. Source: Spark's ResolveAggregateFunctions.
Result<ExprList> Resolver::OverAggregate(const ExprList& expressions, const PlanPtr& child, PlanPtr* widened) {
  std::vector<PlanPtr> path;
  const Aggregate* aggregate = AggregateBelow(child, &path);
  const AttributeList output = aggregate->output();
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
  std::function<Result<ExprPtr>(const ExprPtr&)> rewrite = [&](const ExprPtr& expr) -> Result<ExprPtr> {
    if (const auto* attribute = expr->As<Attribute>(); attribute != nullptr && Holds(output, attribute->id())) {
      return expr;
    }
    if (expr->kind() == ExprKind::kAggregate) return column_of(expr);
    for (const ExprPtr& group : aggregate->grouping) {
      if (group->Equals(*expr)) return column_of(group);
    }
    if (expr->kind() == ExprKind::kAttribute) return MissingAggregation(expr, !aggregate->grouping.empty());
    ExprList children;
    for (const ExprPtr& below : expr->children()) {
      TW_ASSIGN_OR_RETURN(ExprPtr rewritten, rewrite(below));
      children.push_back(std::move(rewritten));
    }
    return expr->children().empty() ? expr : expr->WithChildren(std::move(children));
  };
  ExprList out;
  for (const ExprPtr& expr : expressions) {
    TW_ASSIGN_OR_RETURN(ExprPtr rewritten, rewrite(expr));
    out.push_back(std::move(rewritten));
  }
  *widened = child;
  if (added.empty()) return out;
  ExprList list = aggregate->aggregates;
  list.insert(list.end(), added.begin(), added.end());
  TW_ASSIGN_OR_RETURN(PlanPtr plan, FinishAggregate(aggregate->grouping, std::move(list), aggregate->child()));
  for (auto node = path.rbegin(); node != path.rend(); ++node) plan = (*node)->WithChildren({plan});
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
                             kind == PlanKind::kSubqueryAlias || kind == PlanKind::kEventTimeWatermark;
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

Result<PlanPtr> Resolver::ResolveFilter(const PlanPtr& plan, const ExprPtr& condition, bool having) {
  PlanPtr child = plan->child();
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
    below = ScopeOf(aggregate->child());
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
    bool through = HasAggregate(resolved);
    for (const ExprId id : References(resolved)) through = through || !Holds(output, id);
    if (through) {
      TW_ASSIGN_OR_RETURN(conditions, OverAggregate(conditions, child, &widened));
    }
  }
  TW_RETURN_NOT_OK(RewriteTimeWindows(*this, &conditions, &widened));
  TW_ASSIGN_OR_RETURN(conditions[0], TrimAliases(conditions[0], false));
  widened = WithHiddenColumns(widened, conditions);
  if (conditions[0]->type().Is(data::TypeKind::kNull)) {
    conditions[0] = Cast::Make(conditions[0], DataType::Boolean(), EvalMode::kAnsi);
  }
  TW_RETURN_NOT_OK(RefuseGenerators(conditions, "WHERE"));
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
    below = ScopeOf(aggregate->child());
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
      through = through || HasAggregate(resolved);
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
  TW_RETURN_NOT_OK(RefuseGenerators(orders, "ORDER BY"));
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
