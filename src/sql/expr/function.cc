#include "sql/expr/collated_text.h"
#include "sql/expr/function.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/invariant.h"
#include "sql/expr/binding.h"
#include "sql/expr/type_coercion.h"

namespace thalweg::sql {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

struct FunctionRegistry::Index {
  std::unordered_map<std::string, const ScalarFunction*> scalars;
  std::unordered_map<std::string, const AggregateFunction*> aggregates;
};

FunctionRegistry::FunctionRegistry(std::vector<const ScalarFunction*> scalars,
                                   std::vector<const AggregateFunction*> aggregates)
    : scalars_(std::move(scalars)), aggregates_(std::move(aggregates)) {
  auto index = std::make_shared<Index>();
  for (const auto* function : scalars_) {
    TW_DCHECK(index->scalars.count(Lower(function->name)) == 0);
    index->scalars.emplace(Lower(function->name), function);
    for (const auto alias : function->aliases) index->scalars.emplace(Lower(alias), function);
  }
  for (const auto* function : aggregates_) {
    index->aggregates.emplace(Lower(function->name), function);
    for (const auto alias : function->aliases) index->aggregates.emplace(Lower(alias), function);
  }
  index_ = std::move(index);
}

const ScalarFunction* FunctionRegistry::FindScalar(std::string_view name) const {
  const auto it = index_->scalars.find(Lower(name));
  return it == index_->scalars.end() ? nullptr : it->second;
}

const AggregateFunction* FunctionRegistry::FindAggregate(std::string_view name) const {
  const auto it = index_->aggregates.find(Lower(name));
  return it == index_->aggregates.end() ? nullptr : it->second;
}

std::vector<std::string> FunctionRegistry::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, function] : index_->scalars) {
    if (!function->internal) names.push_back(name);
  }
  for (const auto& [name, function] : index_->aggregates) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> FunctionRegistry::Similar(std::string_view name, size_t count) const {
  const std::string lower = Lower(name);
  std::vector<std::pair<size_t, std::string>> ranked;
  for (auto& candidate : Names()) {
    const size_t distance = EditDistance(lower, candidate);
    ranked.emplace_back(distance, std::move(candidate));
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < ranked.size() && i < count; ++i) names.push_back(ranked[i].second);
  return names;
}

Result<ExprPtr> BindScalar(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckCollations(function.name, arguments));
  const Binder binder = function.bind != nullptr ? function.bind : &BindBySignature;
  TW_ASSIGN_OR_RETURN(BoundCall call, binder(function, std::move(arguments), context));
  if (call.replacement != nullptr) return call.replacement;
  return Call::Make(std::move(call.bound), std::move(call.arguments));
}

Result<ExprPtr> BindAggregate(const AggregateFunction& function, ExprList arguments, bool distinct, ExprPtr filter,
                              const BindContext& context) {
  if (filter != nullptr && !filter->type().Is(data::TypeKind::kBoolean) && !filter->type().Is(data::TypeKind::kNull)) {
    return Error("DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN")
        .With("sqlExpr", QuoteSql(std::string(function.name)))
        .With("filter", QuoteSql(filter->Sql()))
        .With("type", QuoteSql(filter->type().Sql()));
  }
  TW_RETURN_NOT_OK(CheckCollations(function.name, arguments));
  TW_ASSIGN_OR_RETURN(BoundAggregateCall call, function.bind(function, std::move(arguments), distinct, context));
  if (call.replacement != nullptr) return call.replacement;
  return AggregateCall::Make(std::move(call.bound), std::move(call.arguments), distinct, std::move(filter));
}

}  // namespace thalweg::sql
