#include <algorithm>

#include "sql/functions/registry.h"
#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {

Result<ExprPtr> Conjunction(const ExprList& conjuncts, const EvalConfig& config) {
  ExprPtr all;
  for (const ExprPtr& conjunct : conjuncts) {
    if (all == nullptr) {
      all = conjunct;
      continue;
    }
    TW_ASSIGN_OR_RETURN(all, BindBuiltin("and", {all, conjunct}, BindContext{config}));
  }
  return all;
}

Result<ExprPtr> Substitute(const ExprPtr& expr, const ExprList& list) {
  return TransformUp(expr, [&](const ExprPtr& node) -> Result<ExprPtr> {
    const auto* attribute = node->As<Attribute>();
    if (attribute == nullptr) return ExprPtr();
    for (const ExprPtr& named : list) {
      const auto* alias = named->As<Alias>();
      if (alias != nullptr && alias->id() == attribute->id()) return alias->child();
    }
    return ExprPtr();
  });
}

}  // namespace thalweg::sql
