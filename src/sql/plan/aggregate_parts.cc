#include "sql/plan/aggregate_parts.h"

#include "sql/expr/function.h"

namespace thalweg::sql {
namespace {

/// The aggregate that Spark plans a function as: several names share one buffer.
std::string_view PlannedName(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kSame[] = {
      {"any_value", "first"}, {"first_value", "first"}, {"last_value", "last"}, {"mean", "avg"},
      {"bool_and", "min"},    {"every", "min"},         {"bool_or", "max"},     {"some", "max"},
      {"any", "max"},         {"std", "stddev_samp"},   {"stddev", "stddev_samp"}, {"variance", "var_samp"}};
  for (const auto& [from, to] : kSame) {
    if (name == from) return to;
  }
  return name;
}

bool SamePlannedCall(const AggregateCall& a, const AggregateCall& b) {
  return PlannedName(a.bound().function->name) == PlannedName(b.bound().function->name) &&
         a.bound().mode == b.bound().mode && a.distinct() == b.distinct() && a.has_filter() == b.has_filter() &&
         a.type() == b.type() && EqualLists(a.children(), b.children());
}

}  // namespace

AttributeList AggregateParts::KeyAttributes() const {
  AttributeList attributes;
  for (const ExprPtr& key : keys) attributes.push_back(ToAttribute(key));
  return attributes;
}

Result<AggregateParts> SplitAggregate(const Aggregate& aggregate) {
  AggregateParts parts;
  for (const ExprPtr& group : aggregate.grouping) {
    if (IsNamed(group)) {
      parts.keys.push_back(group);
      continue;
    }
    // The name of an output column that is just this expression, else its text.
    std::string name = group->PlanText();
    for (const ExprPtr& expr : aggregate.aggregates) {
      const auto* alias = expr->As<Alias>();
      if (alias != nullptr && alias->child()->Equals(*group)) {
        name = alias->name();
        break;
      }
    }
    parts.keys.push_back(Alias::Make(group, name));
  }
  const AttributeList key_attributes = parts.KeyAttributes();
  for (const ExprPtr& expr : aggregate.aggregates) {
    TW_ASSIGN_OR_RETURN(ExprPtr rewritten, TransformDown(expr, [&](const ExprPtr& node) -> Result<ExprPtr> {
      for (size_t i = 0; i < aggregate.grouping.size(); ++i) {
        if (node->kind() != ExprKind::kAttribute && aggregate.grouping[i]->Equals(*node)) return ExprPtr(key_attributes[i]);
      }
      const auto* call = node->As<AggregateCall>();
      if (call == nullptr) return ExprPtr();
      for (size_t i = 0; i < parts.calls.size(); ++i) {
        if (SamePlannedCall(*parts.calls[i], *call)) return ExprPtr(parts.results[i]);
      }
      parts.calls.push_back(std::static_pointer_cast<const AggregateCall>(node));
      parts.results.push_back(Attribute::Make(node->PlanText(), node->type(), node->nullable()));
      return ExprPtr(parts.results.back());
    }));
    parts.output.push_back(std::move(rewritten));
  }
  return parts;
}

}  // namespace thalweg::sql
