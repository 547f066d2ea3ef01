// PIVOT and UNPIVOT behind a relation.

#include "sql/parser/parser_state.h"
#include "sql/plan/reshape.h"

namespace thalweg::sql {

bool ParserState::AtReshape() const {
  return (IsWord("PIVOT") && IsSymbol("(", 1)) ||
         (IsWord("UNPIVOT") && (IsSymbol("(", 1) || IsWord("INCLUDE", 1) || IsWord("EXCLUDE", 1)));
}

Result<PlanPtr> ParserState::Reshaped(PlanPtr plan) {
  for (int clauses = 0; AtReshape(); ++clauses) {
    if (clauses > kMaxDepth) return TooComplex();
    Result<PlanPtr> reshaped = IsWord("PIVOT") ? PivotClause(std::move(plan)) : UnpivotClause(std::move(plan));
    TW_ASSIGN_OR_RETURN(plan, std::move(reshaped));
  }
  return plan;
}

/// PIVOT (aggregate [AS name], ... FOR column | (columns) IN (value [AS name], ...)).
Result<PlanPtr> ParserState::PivotClause(PlanPtr child) {
  Advance();
  Advance();
  auto pivot = std::make_shared<UnresolvedPivot>(std::move(child));
  do {
    TW_ASSIGN_OR_RETURN(ExprPtr aggregate, NamedExpression());
    pivot->aggregates.push_back(std::move(aggregate));
  } while (TakeSymbol(","));
  TW_RETURN_NOT_OK(ExpectWord("FOR"));
  const bool several = TakeSymbol("(");
  do {
    const int begin = static_cast<int>(at_);
    TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
    pivot->columns.push_back(Located(UnresolvedAttribute::Make(std::move(name)), begin));
  } while (several && TakeSymbol(","));
  if (several) TW_RETURN_NOT_OK(ExpectSymbol(")"));
  TW_RETURN_NOT_OK(ExpectWord("IN"));
  TW_RETURN_NOT_OK(ExpectSymbol("("));
  do {
    TW_ASSIGN_OR_RETURN(ExprPtr value, Expression());
    if (TakeWord("AS") || AtAliasName()) {
      TW_ASSIGN_OR_RETURN(std::string name, Name());
      value = Alias::Make(std::move(value), std::move(name));
    }
    pivot->values.push_back(std::move(value));
  } while (TakeSymbol(","));
  TW_RETURN_NOT_OK(ExpectSymbol(")"));
  TW_RETURN_NOT_OK(ExpectSymbol(")"));
  return PlanPtr(std::move(pivot));
}

/// UNPIVOT [INCLUDE | EXCLUDE NULLS] (value FOR name IN (column [AS 'text'], ...)) [alias]; of several values ((a, b) FOR ... IN ((c, d), ...)).
Result<PlanPtr> ParserState::UnpivotClause(PlanPtr child) {
  Advance();
  auto unpivot = std::make_shared<UnresolvedUnpivot>(std::move(child));
  unpivot->exclude_nulls = true;
  if (TakeWords({"INCLUDE", "NULLS"})) {
    unpivot->exclude_nulls = false;
  } else {
    TakeWords({"EXCLUDE", "NULLS"});
  }
  TW_RETURN_NOT_OK(ExpectSymbol("("));
  const bool several = TakeSymbol("(");
  do {
    TW_ASSIGN_OR_RETURN(std::string name, Name());
    unpivot->values.push_back(std::move(name));
  } while (several && TakeSymbol(","));
  if (several) TW_RETURN_NOT_OK(ExpectSymbol(")"));
  TW_RETURN_NOT_OK(ExpectWord("FOR"));
  TW_ASSIGN_OR_RETURN(unpivot->variable, Name());
  TW_RETURN_NOT_OK(ExpectWord("IN"));
  TW_RETURN_NOT_OK(ExpectSymbol("("));
  auto& sets = unpivot->sets.emplace();
  do {
    UnresolvedUnpivot::Set& set = sets.emplace_back();
    if (several) TW_RETURN_NOT_OK(ExpectSymbol("("));
    do {
      const int begin = static_cast<int>(at_);
      TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
      set.columns.push_back(Located(UnresolvedAttribute::Make(std::move(name)), begin));
    } while (several && TakeSymbol(","));
    if (several) TW_RETURN_NOT_OK(ExpectSymbol(")"));
    if (TakeWord("AS") || AtAliasName()) {
      TW_ASSIGN_OR_RETURN(set.alias, Name());
    }
  } while (TakeSymbol(","));
  TW_RETURN_NOT_OK(ExpectSymbol(")"));
  TW_RETURN_NOT_OK(ExpectSymbol(")"));
  PlanPtr plan = std::move(unpivot);
  if (!TakeWord("AS") && !AtAliasName()) return plan;
  TW_ASSIGN_OR_RETURN(std::string alias, Name());
  return PlanPtr(std::make_shared<SubqueryAlias>(std::vector<std::string>{std::move(alias)}, std::move(plan)));
}

}  // namespace thalweg::sql
