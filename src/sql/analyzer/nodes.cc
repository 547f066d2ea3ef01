// The remaining nodes: limits, deduplication, watermarks, repartitioning, commands.

#include <algorithm>

#include "data/text/interval.h"
#include "sql/analyzer/resolver.h"
#include "sql/expr/evaluator.h"
#include "sql/plan/commands.h"

namespace thalweg::sql {
namespace {

/// Days of a month in the length of a delay, as Spark counts it.
constexpr int kDaysPerMonth = 31;

}  // namespace

Status CheckFilterCondition(const ExprPtr& condition) {
  if (!condition->type().Is(data::TypeKind::kBoolean)) {
    const std::string text = QuoteExpression(condition);
    return Error("DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN")
        .With("sqlExpr", text)
        .With("filter", text)
        .With("type", QuoteType(condition->type()));
  }
  std::string aggregates;
  Visit(condition, [&](const ExprPtr& node) {
    if (node->kind() == ExprKind::kAggregate) aggregates += (aggregates.empty() ? "" : ", ") + AutoName(node);
    return true;
  });
  if (aggregates.empty()) return Status::OK();
  return Error("INVALID_WHERE_CONDITION")
      .With("condition", QuoteExpression(condition))
      .With("expressionList", aggregates);
}

/// LIMIT, OFFSET and TAIL. Source: CheckAnalysis.checkLimitLikeClause.
Result<PlanPtr> Resolver::ResolveLimit(const PlanPtr& plan) {
  const ExprPtr given = plan->expressions()[0];
  TW_ASSIGN_OR_RETURN(ExprPtr limit, ResolveExpression(given, ScopeOf(plan->child())));
  const std::string text = QuoteExpression(limit);
  TW_RETURN_NOT_OK(RefuseGenerators(*plan->WithExpressions({limit})));
  const std::string name = plan->kind() == PlanKind::kOffset ? "offset" : "limit";
  if (!References(limit).empty() || !limit->deterministic()) {
    return At(Error("INVALID_LIMIT_LIKE_EXPRESSION.IS_UNFOLDABLE").With("name", name).With("expr", text), given);
  }
  if (!limit->type().Is(data::TypeKind::kInteger)) {
    return At(Error("INVALID_LIMIT_LIKE_EXPRESSION.DATA_TYPE")
                  .With("name", name)
                  .With("expr", text)
                  .With("dataType", QuoteType(limit->type())),
              given);
  }
  TW_ASSIGN_OR_RETURN(const Value value, EvaluateConstant(limit, *config_));
  if (value.is_null()) {
    return At(Error("INVALID_LIMIT_LIKE_EXPRESSION.IS_NULL").With("name", name).With("expr", text), given);
  }
  if (value.AsInt64() < 0) {
    return At(Error("INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE")
                  .With("name", name)
                  .With("expr", text)
                  .With("v", value.AsInt64()),
              given);
  }
  return plan->WithExpressions({Literal::Integer(static_cast<int32_t>(value.AsInt64()))});
}

Result<PlanPtr> Resolver::ResolveDeduplicate(const PlanPtr& plan) {
  const auto& node = static_cast<const Deduplicate&>(*plan);
  if (node.keys_resolved) return plan;
  const AttributeList input = node.child()->output();
  auto resolved = std::make_shared<Deduplicate>(node);
  if (node.all_columns || node.column_names.empty()) resolved->keys = input;
  std::vector<std::string> names;
  for (const std::string& name : node.all_columns ? std::vector<std::string>{} : node.column_names) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  for (const std::string& name : names) {
    bool found = false;
    for (const AttributePtr& attribute : input) {
      if (!SameName(attribute->name(), name, config_->case_sensitive)) continue;
      resolved->keys.push_back(attribute);
      found = true;
    }
    if (found) continue;
    std::string all;
    for (const AttributePtr& attribute : input) all += (all.empty() ? "" : ", ") + attribute->name();
    return Error("UNRESOLVED_COLUMN_AMONG_FIELD_NAMES").With("colName", name).With("fieldNames", all);
  }
  for (const AttributePtr& key : resolved->keys) {
    if (key->type().Is(data::TypeKind::kMap) || key->type().Is(data::TypeKind::kVariant)) {
      return Error(key->type().Is(data::TypeKind::kMap) ? "UNSUPPORTED_FEATURE.SET_OPERATION_ON_MAP_TYPE"
                                                        : "UNSUPPORTED_FEATURE.SET_OPERATION_ON_VARIANT_TYPE")
          .With("colName", data::QuoteIdentifier(key->name()))
          .With("dataType", QuoteType(key->type()));
    }
  }
  resolved->keys_resolved = true;
  return PlanPtr(std::move(resolved));
}

Result<PlanPtr> Resolver::ResolveWatermark(const PlanPtr& plan) {
  const auto& node = static_cast<const EventTimeWatermark&>(*plan);
  data::CalendarInterval interval;
  int64_t delay_ms = 0;
  if (!data::ParseCalendarInterval(node.delay_text, &interval) ||
      !data::IntervalMillis(interval, kDaysPerMonth, &delay_ms)) {
    return Error("CANNOT_PARSE_INTERVAL").With("intervalString", "'" + node.delay_text + "'");
  }
  if (data::IsNegativeInterval(interval)) return 
    Error("ILLEGAL_ARGUMENT")
        .With("message", "requirement failed: delay threshold (" + node.delay_text + ") should not be negative.");
  TW_ASSIGN_OR_RETURN(ExprPtr event, ResolveExpression(node.event_time, ScopeOf(node.child())));
  if (event->kind() != ExprKind::kAttribute) {
    std::string path;
    if (const auto* name = node.event_time->As<UnresolvedAttribute>()) {
      for (const std::string& part : name->name_parts()) path += (path.empty() ? "" : ".") + part;
    } else {
      path = AutoName(event);
    }
    return Error("EVENT_TIME_MUST_BE_TOP_LEVEL_COLUMN").With("eventExpr", path);
  }
  // A watermark says nothing about rows that are all there.
  if (!node.child()->is_streaming()) return node.child();
  const DataType& type = event->type();
  const bool window = type.Is(data::TypeKind::kStruct) &&
                      std::any_of(type.fields().begin(), type.fields().end(), [](const data::StructField& field) {
                        return field.name == "end" && field.type.Is(data::TypeKind::kTimestamp);
                      });
  if (!type.Is(data::TypeKind::kTimestamp) && !window) {
    return Error("EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE")
        .With("eventName", data::QuoteIdentifier(event->As<Attribute>()->name()))
        .With("eventType", QuoteType(type));
  }
  auto resolved = std::make_shared<EventTimeWatermark>(event, node.delay_text, node.child());
  resolved->delay_ms = delay_ms;
  resolved->delay_resolved = true;
  return PlanPtr(std::move(resolved));
}

namespace {

/// A metric is made of aggregates and constants. Source: CheckAnalysis, CollectMetrics.
Status CheckMetric(const ExprPtr& metric) {
  Status status;
  Visit(metric, [&](const ExprPtr& part) {
    if (part->kind() == ExprKind::kAggregate) return false;
    if (status.ok() && part->kind() == ExprKind::kAttribute) {
      status = At(Error("INVALID_OBSERVED_METRICS.NON_AGGREGATE_FUNC_ARG_IS_ATTRIBUTE").With("expr", QuoteExpression(part)), part);
    } else if (status.ok() && part->children().empty() && !part->deterministic()) {
      status = At(Error("INVALID_OBSERVED_METRICS.NON_AGGREGATE_FUNC_ARG_IS_NON_DETERMINISTIC")
                      .With("expr", QuoteExpression(part)), part);
    }
    return status.ok();
  });
  return status;
}

}  // namespace

Result<PlanPtr> Resolver::ResolveGeneric(const PlanPtr& plan) {
  const Scope scope = ScopeOf(plan->children());
  TW_ASSIGN_OR_RETURN(const ExprList given, ExpandStars(plan->expressions(), scope));
  ExprList expressions;
  for (const ExprPtr& expr : given) {
    TW_ASSIGN_OR_RETURN(ExprPtr resolved, ResolveExpression(expr, scope));
    if (plan->kind() == PlanKind::kCollectMetrics) {
      TW_RETURN_NOT_OK(CheckMetric(resolved));
      resolved = Named(resolved);
    }
    TW_ASSIGN_OR_RETURN(resolved, TrimAliases(resolved, plan->kind() == PlanKind::kCollectMetrics));
    expressions.push_back(std::move(resolved));
  }
  if (expressions.empty()) return plan;
  return plan->WithExpressions(std::move(expressions));
}

namespace {

/// The plan inside a command that must be resolved before it runs; null when there is none.
PlanPtr* QueryOf(CommandBody* body) {
  return std::visit(
      [](auto& command) -> PlanPtr* {
        using T = std::decay_t<decltype(command)>;
        if constexpr (std::is_same_v<T, WriteDataFrame>) {
          return &command.input;
        } else if constexpr (std::is_same_v<T, DescribeQuery> || std::is_same_v<T, CreateTable> ||
                             std::is_same_v<T, CreateView> || std::is_same_v<T, InsertInto> ||
                             std::is_same_v<T, ExplainCommand> || std::is_same_v<T, CacheTable> ||
                             std::is_same_v<T, CreateTempViewFromPlan>) {
          return &command.query;
        } else {
          return nullptr;
        }
      },
      *body);
}

}  // namespace

Result<PlanPtr> Resolver::ResolveCommand(const PlanPtr& plan) {
  auto command = std::make_shared<Command>(static_cast<const Command&>(*plan));
  PlanPtr* const query = QueryOf(&command->body);
  if (query == nullptr || *query == nullptr) return plan;
  // EXPLAIN of a statement that is no query shows it as it is.
  TW_ASSIGN_OR_RETURN(*query, Resolve(*query));
  TW_RETURN_NOT_OK(CheckPlaces(*query));
  if (auto* insert = std::get_if<InsertInto>(&command->body); insert != nullptr && insert->table != nullptr) {
    TW_ASSIGN_OR_RETURN(insert->table, Resolve(insert->table));
  }
  return PlanPtr(std::move(command));
}

}  // namespace thalweg::sql
