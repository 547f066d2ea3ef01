// Statements that change rows: MERGE INTO, UPDATE, DELETE FROM.

#include <algorithm>

#include "sql/parser/parser_state.h"

namespace thalweg::sql {
namespace {

// Only the last clause of a kind may go without a condition.
bool EarlierWithoutCondition(const std::vector<MergeAction>& clauses) {
  return clauses.size() > 1 && std::any_of(clauses.begin(), clauses.end() - 1,
                                           [](const MergeAction& clause) { return clause.condition == nullptr; });
}

}  // namespace

/// The table of a statement: a name and perhaps an alias, which is none of the words that come next.
Result<PlanPtr> ParserState::TargetTable(std::string_view next_word) {
  const int begin = static_cast<int>(at_);
  TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
  auto relation = std::make_shared<UnresolvedRelation>(std::move(name), OptionMap(), false);
  relation->origin = OriginFrom(begin);
  const bool as = TakeWord("AS");
  if (!as && (IsWord(next_word) || !AtName())) return PlanPtr(std::move(relation));
  TW_ASSIGN_OR_RETURN(std::string alias, Name());
  return PlanPtr(std::make_shared<SubqueryAlias>(std::vector<std::string>{std::move(alias)}, std::move(relation)));
}

Result<std::vector<Assignment>> ParserState::Assignments() {
  std::vector<Assignment> assignments;
  do {
    const int begin = static_cast<int>(at_);
    TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
    ExprPtr column = Located(UnresolvedAttribute::Make(std::move(name)), begin);
    if (!TakeSymbol("=") && !TakeSymbol("==")) return Unexpected();
    TW_ASSIGN_OR_RETURN(ExprPtr value, Expression());
    assignments.push_back({std::move(column), std::move(value)});
  } while (TakeSymbol(","));
  return assignments;
}

Result<PlanPtr> ParserState::UpdateStatement() {
  Advance();
  UpdateTable command;
  TW_ASSIGN_OR_RETURN(command.target, TargetTable("SET"));
  TW_RETURN_NOT_OK(ExpectWord("SET"));
  TW_ASSIGN_OR_RETURN(command.assignments, Assignments());
  if (TakeWord("WHERE")) {
    TW_ASSIGN_OR_RETURN(command.condition, Expression());
  }
  return MakeCommand(std::move(command));
}

Result<PlanPtr> ParserState::DeleteStatement() {
  Advance();
  TW_RETURN_NOT_OK(ExpectWord("FROM"));
  DeleteFromTable command;
  TW_ASSIGN_OR_RETURN(command.target, TargetTable("WHERE"));
  if (TakeWord("WHERE")) {
    TW_ASSIGN_OR_RETURN(command.condition, Expression());
  }
  return MakeCommand(std::move(command));
}

/// INSERT * | INSERT (a, b) VALUES (x, y).
Status ParserState::InsertAction(MergeAction* action) {
  if (TakeSymbol("*")) {
    action->kind = MergeAction::Kind::kInsertAll;
    return Status::OK();
  }
  action->kind = MergeAction::Kind::kInsert;
  TW_RETURN_NOT_OK(ExpectSymbol("("));
  const int place = Peek().begin;
  do {
    const int begin = static_cast<int>(at_);
    TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
    action->assignments.push_back({Located(UnresolvedAttribute::Make(std::move(name)), begin), nullptr});
  } while (TakeSymbol(","));
  TW_RETURN_NOT_OK(ExpectSymbol(")"));
  TW_RETURN_NOT_OK(ExpectWord("VALUES"));
  TW_RETURN_NOT_OK(ExpectSymbol("("));
  TW_ASSIGN_OR_RETURN(ExprList values, ExpressionList(")"));
  if (values.size() != action->assignments.size()) {
    return ParseErrorAt(Error("MERGE_INSERT_VALUE_COUNT_MISMATCH")
                            .With("expectedCount", static_cast<int64_t>(action->assignments.size()))
                            .With("actualCount", static_cast<int64_t>(values.size())),
                        sql_, place);
  }
  for (size_t i = 0; i < values.size(); ++i) action->assignments[i].value = std::move(values[i]);
  return Status::OK();
}

/// One WHEN ... THEN ..., into the list of its kind. Clauses of one kind stand together, in the order matched, not matched,
/// not matched by source.
Status ParserState::MergeClause(MergeIntoTable* merge) {
  TW_RETURN_NOT_OK(ExpectWord("WHEN"));
  MergeAction action;
  const bool matched = TakeWord("MATCHED");
  bool by_source = false;
  if (!matched) {
    TW_RETURN_NOT_OK(ExpectWord("NOT"));
    TW_RETURN_NOT_OK(ExpectWord("MATCHED"));
    by_source = TakeWords({"BY", "SOURCE"});
    if (!by_source && IsWord("BY")) {
      Advance();
      TW_RETURN_NOT_OK(ExpectWord("TARGET"));
    }
  }
  const bool late = (matched && !merge->not_matched.empty()) || (!by_source && !merge->not_matched_by_source.empty());
  if (late) return Unexpected();
  if (TakeWord("AND")) {
    TW_ASSIGN_OR_RETURN(action.condition, Expression());
  }
  TW_RETURN_NOT_OK(ExpectWord("THEN"));
  if (!matched && !by_source) {
    TW_RETURN_NOT_OK(ExpectWord("INSERT"));
    TW_RETURN_NOT_OK(InsertAction(&action));
    merge->not_matched.push_back(std::move(action));
    return Status::OK();
  }
  if (TakeWord("DELETE")) {
    action.kind = MergeAction::Kind::kDelete;
  } else {
    TW_RETURN_NOT_OK(ExpectWord("UPDATE"));
    TW_RETURN_NOT_OK(ExpectWord("SET"));
    if (matched && TakeSymbol("*")) {
      action.kind = MergeAction::Kind::kUpdateAll;
    } else {
      TW_ASSIGN_OR_RETURN(action.assignments, Assignments());
    }
  }
  (matched ? merge->matched : merge->not_matched_by_source).push_back(std::move(action));
  return Status::OK();
}

Result<PlanPtr> ParserState::MergeStatement() {
  const int begin = Peek().begin;
  Advance();
  MergeIntoTable command;
  command.with_schema_evolution = TakeWords({"WITH", "SCHEMA", "EVOLUTION"});
  TW_RETURN_NOT_OK(ExpectWord("INTO"));
  TW_ASSIGN_OR_RETURN(command.target, TargetTable("USING"));
  TW_RETURN_NOT_OK(ExpectWord("USING"));
  if (TakeSymbol("(")) {
    TW_ASSIGN_OR_RETURN(command.source, Query());
    TW_RETURN_NOT_OK(ExpectSymbol(")"));
    const bool as = TakeWord("AS");
    if (as || (!IsWord("ON") && AtName())) {
      TW_ASSIGN_OR_RETURN(std::string alias, Name());
      auto node = std::make_shared<SubqueryAlias>(std::vector<std::string>{std::move(alias)}, std::move(command.source));
      if (TakeSymbol("(")) {
        TW_ASSIGN_OR_RETURN(node->column_names, NameList());
      }
      command.source = std::move(node);
    }
  } else {
    TW_ASSIGN_OR_RETURN(command.source, TargetTable("ON"));
  }
  TW_RETURN_NOT_OK(ExpectWord("ON"));
  TW_ASSIGN_OR_RETURN(command.condition, Expression());
  while (IsWord("WHEN")) TW_RETURN_NOT_OK(MergeClause(&command));
  if (command.matched.empty() && command.not_matched.empty() && command.not_matched_by_source.empty()) {
    return ParseErrorAt(Error("MERGE_WITHOUT_WHEN"), sql_, begin);
  }
  if (EarlierWithoutCondition(command.matched)) {
    return ParseErrorAt(Error("NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION"), sql_, begin);
  }
  if (EarlierWithoutCondition(command.not_matched)) {
    return ParseErrorAt(Error("NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION"), sql_, begin);
  }
  if (EarlierWithoutCondition(command.not_matched_by_source)) {
    return ParseErrorAt(Error("NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION"), sql_, begin);
  }
  return MakeCommand(std::move(command));
}

}  // namespace thalweg::sql
