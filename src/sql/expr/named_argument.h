#pragma once

#include <optional>
#include <string>
#include <utility>

#include "sql/expr/expression.h"

namespace thalweg::sql {

/// `keyword => value` among the arguments of an unresolved function: a call of the name "=>", which no function has.
inline ExprPtr NamedArgument(std::string keyword, ExprPtr value) {
  return UnresolvedFunction::Make({"=>"}, {Literal::String(std::move(keyword)), std::move(value)});
}
/// Keyword and value; nothing for other expressions.
inline std::optional<std::pair<std::string, ExprPtr>> AsNamedArgument(const ExprPtr& expr) {
  const auto* call = expr->As<UnresolvedFunction>();
  if (call == nullptr || call->name_parts().size() != 1 || call->name_parts()[0] != "=>" || call->children().size() != 2) return std::nullopt;
  const auto* keyword = call->child(0)->As<Literal>();
  if (keyword == nullptr) return std::nullopt;
  return std::pair(keyword->value().get<std::string>(), call->child(1));
}

}  // namespace thalweg::sql
