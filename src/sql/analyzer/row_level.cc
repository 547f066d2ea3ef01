#include "sql/analyzer/row_level.h"

#include <algorithm>
#include <optional>

#include "sql/analyzer/resolver.h"
#include "sql/expr/extract.h"
#include "sql/expr/table_write_cast.h"

namespace thalweg::sql {
namespace {

using data::StructField;
using data::TypeKind;

std::string ColumnsText(const AttributeList& columns) {
  std::string text;
  for (const AttributePtr& column : columns) text += (text.empty() ? "" : ", ") + column->Sql();
  return text;
}

std::string Dotted(const std::vector<std::string>& path) {
  std::string text;
  for (const std::string& part : path) text += (text.empty() ? "" : ".") + part;
  return data::QuoteIdentifier(text);
}

std::string Parameter(const Status& status, std::string_view name) {
  for (const auto& [key, value] : status.parameters()) {
    if (key == name) return value;
  }
  return "";
}

Error Unresolved(std::string_view what, std::string_view clause, const AttributeList& columns) {
  return Error("DELTA_MERGE_UNRESOLVED_EXPRESSION").With("sqlExpr", what).With("clause", clause).With("cols", "columns " + ColumnsText(columns));
}

Result<std::shared_ptr<const Relation>> TargetOf(const PlanPtr& analyzed, std::string_view operation) {
  PlanPtr node = analyzed;
  const auto passes_all = [](const LogicalPlan& plan) {  // the SELECT * of a view
    const auto* project = plan.As<Project>();
    if (project == nullptr) return false;
    const AttributeList below = plan.child()->output();
    return std::equal(project->list.begin(), project->list.end(), below.begin(), below.end(),
                      [](const ExprPtr& a, const AttributePtr& b) {
                        const auto* attribute = a->As<Attribute>();
                        return attribute != nullptr && attribute->id() == b->id();
                      });
  };
  while (node->kind() == PlanKind::kSubqueryAlias || passes_all(*node)) node = node->child();
  if (node->kind() != PlanKind::kRelation) {
    return Error("DELTA_TABLE_ONLY_OPERATION").With("tableName", node->NodeText()).With("operation", operation);
  }
  return std::static_pointer_cast<const Relation>(node);
}

// Delta parses the name anew: a dot in it parts fields, too.
std::string QuotePath(std::string_view path) {
  std::string text;
  while (true) {
    const size_t dot = path.find('.');
    text += data::QuoteIdentifier(std::string(path.substr(0, dot)));
    if (dot == std::string_view::npos) return text;
    text += ".";
    path.remove_prefix(dot + 1);
  }
}

/// What one statement's expressions are resolved against. Thread: confined.
class Statement {
 public:
  Statement(AnalyzerEnvironment& environment, std::string operation) : resolver_(environment), operation_(std::move(operation)) {}

  Result<PlanPtr> ResolvePlan(const PlanPtr& plan) { return resolver_.Resolve(plan); }
  Status SetTarget(const PlanPtr& unresolved);
  Status SetSource(const PlanPtr& unresolved);
  const AttributeList& target_columns() const { return target_columns_; }
  const AttributeList& source_columns() const { return source_columns_; }
  AttributeList both() const;

  enum class Sides : uint8_t { kTarget, kSource, kBoth };
  Result<ExprPtr> Resolve(const ExprPtr& expr, Sides sides, std::string_view clause);
  /// A boolean; null stays null. Errors: those of Resolve, DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN.
  Result<ExprPtr> Condition(const ExprPtr& expr, Sides sides, std::string_view clause);
  Status AddEvolved(const std::vector<MergeAction>& clauses);
  Status AddAllOfSource();
  Result<RowLevelClause> Clause(const MergeAction& action, Sides sides, std::string_view clause);
  Result<ExprPtr> Acts(const std::vector<RowLevelClause>& clauses);
  Result<std::vector<RowLevelClause>> Clauses(const std::vector<MergeAction>& actions, Sides sides, std::string_view clause);

  std::shared_ptr<const Relation> target;
  PlanPtr source;
  data::Schema written;
  bool evolve = false;

 private:
  bool Same(std::string_view a, std::string_view b) const { return SameName(a, b, resolver_.config().case_sensitive); }
  std::optional<size_t> WrittenColumn(std::string_view name) const;
  const AttributePtr* SourceColumn(std::string_view name) const;
  std::vector<std::string> WithoutQualifier(const std::vector<std::string>& name) const;
  ExprPtr Current(size_t column) const;
  Result<ExprPtr> Store(const ExprPtr& value, const DataType& to, const std::string& path);
  Result<ExprPtr> StoreStruct(const ExprPtr& value, const DataType& to, const std::string& path);
  struct Target {
    std::vector<std::string> path;   ///< column, then fields
    ExprPtr value;                   ///< resolved
    ExprPtr origin;
  };
  Result<ExprPtr> Assemble(const ExprPtr& current, const DataType& type, const std::string& path, size_t depth,
                           const std::vector<const Target*>& targets);
  Result<ExprList> AllFromSource(bool update, std::string_view clause);
  Result<ExprList> Assigned(const std::vector<Assignment>& assignments, bool update, Sides sides, std::string_view clause);

  Resolver resolver_;
  const std::string operation_;
  AttributeList target_columns_, source_columns_;
  PlanPtr target_plan_;
};

Status Statement::SetTarget(const PlanPtr& unresolved) {
  TW_ASSIGN_OR_RETURN(target_plan_, resolver_.Resolve(unresolved));
  TW_ASSIGN_OR_RETURN(target, TargetOf(target_plan_, operation_));
  target_columns_ = target_plan_->output();
  for (const AttributePtr& column : target->attributes) written.push_back(column->ToField());
  return Status::OK();
}

Status Statement::SetSource(const PlanPtr& unresolved) {
  source = unresolved;
  if (!source->resolved()) {
    TW_ASSIGN_OR_RETURN(source, resolver_.Resolve(unresolved));
  }
  source_columns_ = source->output();
  const auto clash = [&](const AttributePtr& column) {
    return std::any_of(target_columns_.begin(), target_columns_.end(),
                       [&](const AttributePtr& other) { return other->id() == column->id(); });
  };
  if (std::none_of(source_columns_.begin(), source_columns_.end(), clash)) return Status::OK();
  const std::optional<int64_t> plan_id = source->plan_id();
  TW_ASSIGN_OR_RETURN(source, WithFreshIds(source));
  if (plan_id && !source->plan_id()) source = source->WithPlanId(*plan_id);
  source_columns_ = source->output();
  return Status::OK();
}

AttributeList Statement::both() const {
  AttributeList columns = target_columns_;
  columns.insert(columns.end(), source_columns_.begin(), source_columns_.end());
  return columns;
}

Result<ExprPtr> Statement::Resolve(const ExprPtr& expr, Sides sides, std::string_view clause) {
  Scope scope;
  scope.input = sides == Sides::kBoth ? both() : sides == Sides::kTarget ? target_columns_ : source_columns_;
  if (sides != Sides::kSource) scope.plans.push_back(target_plan_);
  if (sides != Sides::kTarget) scope.plans.push_back(source);
  const Result<ExprPtr> found = resolver_.ResolveExpression(expr, scope);
  if (!found.ok() && operation_ == "MERGE" && found.status().condition().starts_with("UNRESOLVED_COLUMN")) {
    return Unresolved(Parameter(found.status(), "objectName"), clause, scope.input);
  }
  TW_RETURN_NOT_OK(found.status());
  TW_ASSIGN_OR_RETURN(ExprPtr resolved, TrimAliases(*found, false));
  if (Contains(resolved, ExprKind::kSubquery)) {
    return Error("DELTA_UNSUPPORTED_SUBQUERY").With("operation", operation_).With("cond", resolved->Sql());
  }
  if (HasAggregate(resolved)) {
    return Error("DELTA_AGGREGATION_NOT_SUPPORTED").With("operation", std::string(clause) + " of " + operation_ + " operation")
        .With("predicate", "(condition = " + resolved->Sql() + ")");
  }
  return resolved;
}

Result<ExprPtr> Statement::Condition(const ExprPtr& expr, Sides sides, std::string_view clause) {
  if (expr == nullptr) return ExprPtr();
  TW_ASSIGN_OR_RETURN(ExprPtr resolved, Resolve(expr, sides, clause));
  TW_RETURN_NOT_OK(At(CheckFilterCondition(resolved), expr));
  if (!resolved->deterministic() && operation_ != "MERGE") {
    return At(Error("INVALID_NON_DETERMINISTIC_EXPRESSIONS").With("sqlExprs", "\"" + resolved->Sql() + "\""), expr);
  }
  if (!resolved->deterministic()) {
    return Error("DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED")
        .With("operation", std::string(clause) + " of " + operation_ + " operation")
        .With("expression", "(condition = " + resolved->Sql() + ")");
  }
  return resolved;
}

std::optional<size_t> Statement::WrittenColumn(std::string_view name) const {
  for (size_t i = 0; i < written.size(); ++i) {
    if (Same(written[i].name, name)) return i;
  }
  return std::nullopt;
}

const AttributePtr* Statement::SourceColumn(std::string_view name) const {
  const auto found = std::find_if(source_columns_.begin(), source_columns_.end(),
                                  [&](const AttributePtr& column) { return Same(column->name(), name); });
  return found == source_columns_.end() ? nullptr : &*found;
}

// "t.v" of a target known as t, or by its whole name, is "v".
std::vector<std::string> Statement::WithoutQualifier(const std::vector<std::string>& name) const {
  if (target_columns_.empty()) return name;
  const std::vector<std::string>& qualifier = target_columns_[0]->qualifier();
  for (size_t count = std::min(qualifier.size(), name.size() - 1); count > 0; --count) {
    bool same = true;
    for (size_t i = 0; i < count; ++i) same = same && Same(qualifier[qualifier.size() - count + i], name[i]);
    if (same && WrittenColumn(name[count])) return {name.begin() + static_cast<ptrdiff_t>(count), name.end()};
    if (same && !WrittenColumn(name[0])) return {name.begin() + static_cast<ptrdiff_t>(count), name.end()};
  }
  return name;
}

// What the target's row has in a column of those written; null where the table has no such column.
ExprPtr Statement::Current(size_t column) const {
  if (column < target_columns_.size()) return target_columns_[column];
  return Literal::Null(written[column].type);
}

/// Columns that clauses assign and only the source has.
Status Statement::AddEvolved(const std::vector<MergeAction>& clauses) {
  for (const MergeAction& action : clauses) {
    if (action.kind == MergeAction::Kind::kUpdateAll || action.kind == MergeAction::Kind::kInsertAll) {
      TW_RETURN_NOT_OK(AddAllOfSource());
    }
    for (const Assignment& assignment : action.assignments) {
      const auto* name = assignment.column->As<UnresolvedAttribute>();
      if (name == nullptr) continue;
      const std::vector<std::string> path = WithoutQualifier(name->name_parts());
      const AttributePtr* from = path.size() == 1 && !WrittenColumn(path[0]) ? SourceColumn(path[0]) : nullptr;
      if (from == nullptr) continue;
      written.push_back({.name = (*from)->name(), .type = (*from)->type().AsNullable()});
    }
  }
  return Status::OK();
}

Status Statement::AddAllOfSource() {
  for (const AttributePtr& column : source_columns_) {
    if (WrittenColumn(column->name())) continue;
    written.push_back({.name = column->name(), .type = column->type().AsNullable()});
  }
  return Status::OK();
}

// By name: fields that the value lacks are an error, as are those that the target lacks.
Result<ExprPtr> Statement::StoreStruct(const ExprPtr& value, const DataType& to, const std::string& path) {
  const auto& from_fields = value->type().fields();
  ExprList parts;
  std::vector<bool> taken(from_fields.size());
  for (const StructField& field : to.fields()) {
    const auto found = std::find_if(from_fields.begin(), from_fields.end(),
                                    [&](const StructField& candidate) { return Same(candidate.name, field.name); });
    parts.push_back(Literal::String(field.name));
    if (found == from_fields.end()) {
      if (!evolve) break;
      parts.push_back(Literal::Null(field.type));
      continue;
    }
    const auto at = static_cast<size_t>(found - from_fields.begin());
    taken[at] = true;
    TW_ASSIGN_OR_RETURN(ExprPtr part, Store(MakeStructField(value, at), field.type, path + "." + field.name));
    parts.push_back(std::move(part));
  }
  if (parts.size() != 2 * to.fields().size() || std::find(taken.begin(), taken.end(), false) != taken.end()) {
    return Error("DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION").With("fromCatalog", value->type().SimpleString()).With("toCatalog", to.SimpleString());
  }
  TW_ASSIGN_OR_RETURN(ExprPtr made, resolver_.Call("named_struct", std::move(parts)));
  if (value->nullable()) {
    TW_ASSIGN_OR_RETURN(ExprPtr is_null, resolver_.Call("isnull", {value}));
    TW_ASSIGN_OR_RETURN(made, resolver_.Call("if", {is_null, Literal::Null(made->type()), made}));
  }
  return made->type().SameType(to) ? made : Cast::Make(std::move(made), to, EvalMode::kAnsi);
}

// Casts as Spark's ANSI store assignment of MERGE and UPDATE does. Errors: DATATYPE_MISMATCH.*.
Result<ExprPtr> Statement::Store(const ExprPtr& value, const DataType& to, const std::string& path) {
  const DataType& from = value->type();
  if (from.SameType(to)) return value;
  if (from.Is(TypeKind::kNull)) return Literal::Null(to);
  if (from.Is(TypeKind::kStruct) && to.Is(TypeKind::kStruct)) return StoreStruct(value, to, path);
  TW_ASSIGN_OR_RETURN(const ExprPtr cast, resolver_.ResolveExpression(Cast::Make(value, to, EvalMode::kAnsi), Scope{}));
  return cast->As<Cast>() == nullptr ? cast : TableWriteCast(value, to, QuotePath(path), TableWrite::kUpdate);
}

// A column some of whose fields are assigned: all fields side by side.
Result<ExprPtr> Statement::Assemble(const ExprPtr& current, const DataType& type, const std::string& path, size_t depth,
                                    const std::vector<const Target*>& targets) {
  if (targets.size() == 1 && targets[0]->path.size() == depth) return Store(targets[0]->value, type, path);
  for (const Target* one : targets) {
    if (one->path.size() != depth) continue;
    return Error("DELTA_CONFLICT_SET_COLUMN").With("columnList", "[" + data::QuoteIdentifier(path) + "]");
  }
  if (!type.Is(TypeKind::kStruct)) {
    return At(Error("DELTA_UNSUPPORTED_FIELD_UPDATE_NON_STRUCT").With("columnName", path).With("dataType", type.Sql()), targets[0]->origin);
  }
  ExprList parts;
  size_t used = 0;
  for (size_t i = 0; i < type.fields().size(); ++i) {
    const StructField& field = type.fields()[i];
    std::vector<const Target*> below;
    for (const Target* one : targets) {
      if (Same(one->path[depth], field.name)) below.push_back(one);
    }
    used += below.size();
    const ExprPtr part = MakeStructField(current, i);
    parts.push_back(Literal::String(field.name));
    if (below.empty()) {
      parts.push_back(part);
      continue;
    }
    TW_ASSIGN_OR_RETURN(ExprPtr value, Assemble(part, field.type, path + "." + field.name, depth + 1, below));
    parts.push_back(std::move(value));
  }
  if (used != targets.size()) {
    for (const Target* one : targets) {
      const bool known = std::any_of(type.fields().begin(), type.fields().end(),
                                     [&](const StructField& field) { return Same(field.name, one->path[depth]); });
      if (known) continue;
      std::string fields;
      for (const StructField& field : type.fields()) fields += (fields.empty() ? "" : ", ") + data::QuoteIdentifier(field.name);
      return At(Error("FIELD_NOT_FOUND").With("fieldName", data::QuoteIdentifier(one->path[depth])).With("fields", fields), one->origin);
    }
  }
  TW_ASSIGN_OR_RETURN(ExprPtr made, resolver_.Call("named_struct", std::move(parts)));
  return made->type().SameType(type) ? made : Cast::Make(std::move(made), type, EvalMode::kAnsi);
}

// UPDATE SET *, INSERT *.
Result<ExprList> Statement::AllFromSource(bool update, std::string_view clause) {
  ExprList values;
  for (size_t i = 0; i < written.size(); ++i) {
    const AttributePtr* from = SourceColumn(written[i].name);
    if (from == nullptr && !evolve) {
      return Unresolved(data::QuoteIdentifier(written[i].name), std::string(clause) + " clause", source_columns_);
    }
    if (from == nullptr) {
      values.push_back(update ? Current(i) : Literal::Null(written[i].type));
      continue;
    }
    TW_ASSIGN_OR_RETURN(ExprPtr value, Store(*from, written[i].type, written[i].name));
    values.push_back(std::move(value));
  }
  return values;
}

Result<ExprList> Statement::Assigned(const std::vector<Assignment>& assignments, bool update, Sides sides, std::string_view clause) {
  std::vector<Target> targets;
  for (const Assignment& assignment : assignments) {
    const auto* name = assignment.column->As<UnresolvedAttribute>();
    if (name == nullptr) {
      return Error("DELTA_UNSUPPORTED_FIELD_UPDATE_NON_STRUCT").With("columnName", assignment.column->Sql()).With("dataType", "an expression");
    }
    Target one{.path = WithoutQualifier(name->name_parts()), .value = nullptr, .origin = assignment.column};
    const std::optional<size_t> column = WrittenColumn(one.path[0]);
    if (!column && operation_ == "MERGE") return Unresolved(QuoteParts(name->name_parts()), std::string(clause) + " clause", target_columns_);
    if (!column) {
      return At(Error("UNRESOLVED_COLUMN.WITH_SUGGESTION").With("objectName", QuoteParts(name->name_parts()))
                    .With("proposal", Suggestions(name->name_parts(), target_columns_)), assignment.column);
    }
    const auto* word = assignment.value->As<UnresolvedAttribute>();
    if (word != nullptr && word->name_parts().size() == 1 && LowerCase(word->name_parts()[0]) == "default") {
      one.value = Literal::Null();  // tables with column defaults are not written
    } else {
      TW_ASSIGN_OR_RETURN(one.value, Resolve(assignment.value, sides, std::string(clause) + " clause"));
    }
    targets.push_back(std::move(one));
  }
  ExprList values;
  for (size_t i = 0; i < written.size(); ++i) {
    std::vector<const Target*> own;
    for (const Target& one : targets) {
      if (Same(one.path[0], written[i].name)) own.push_back(&one);
    }
    if (own.empty()) {
      values.push_back(update ? Current(i) : Literal::Null(written[i].type));
      continue;
    }
    for (size_t a = 0; a < own.size(); ++a) {
      for (size_t b = a + 1; b < own.size(); ++b) {
        const size_t shared = std::min(own[a]->path.size(), own[b]->path.size());
        bool same = true;
        for (size_t part = 0; part < shared; ++part) same = same && Same(own[a]->path[part], own[b]->path[part]);
        if (same && !update) return Error("DELTA_DUPLICATE_COLUMNS_ON_INSERT");
        if (same) return Error("DELTA_CONFLICT_SET_COLUMN").With("columnList", "[" + Dotted(own[a]->path) + ", " + Dotted(own[b]->path) + "]");
      }
    }
    TW_ASSIGN_OR_RETURN(ExprPtr value, Assemble(update ? Current(i) : Literal::Null(written[i].type), written[i].type, written[i].name, 1, own));
    values.push_back(std::move(value));
  }
  return values;
}

Result<RowLevelClause> Statement::Clause(const MergeAction& action, Sides sides, std::string_view clause) {
  RowLevelClause out;
  TW_ASSIGN_OR_RETURN(out.condition, Condition(action.condition, sides, std::string(clause) + " condition"));
  switch (action.kind) {
    case MergeAction::Kind::kDelete: out.kind = RowLevelClause::Kind::kDelete; return out;
    case MergeAction::Kind::kInsertAll:
    case MergeAction::Kind::kUpdateAll: {
      const bool update = action.kind == MergeAction::Kind::kUpdateAll;
      out.kind = update ? RowLevelClause::Kind::kUpdate : RowLevelClause::Kind::kInsert;
      TW_ASSIGN_OR_RETURN(out.values, AllFromSource(update, clause));
      return out;
    }
    case MergeAction::Kind::kInsert:
    case MergeAction::Kind::kUpdate: {
      const bool update = action.kind == MergeAction::Kind::kUpdate;
      out.kind = update ? RowLevelClause::Kind::kUpdate : RowLevelClause::Kind::kInsert;
      TW_ASSIGN_OR_RETURN(out.values, Assigned(action.assignments, update, sides, clause));
      return out;
    }
  }
  return InternalError("an unknown action of MERGE");
}

Result<std::vector<RowLevelClause>> Statement::Clauses(const std::vector<MergeAction>& actions, Sides sides, std::string_view clause) {
  std::vector<RowLevelClause> out;
  for (const MergeAction& action : actions) {
    TW_ASSIGN_OR_RETURN(RowLevelClause resolved, Clause(action, sides, clause));
    out.push_back(std::move(resolved));
  }
  return out;
}

// The conditions joined by OR; null when one is missing.
Result<ExprPtr> Statement::Acts(const std::vector<RowLevelClause>& clauses) {
  ExprPtr any;
  for (const RowLevelClause& clause : clauses) {
    if (clause.condition == nullptr) return ExprPtr();
    if (any == nullptr) {
      any = clause.condition;
    } else {
      TW_ASSIGN_OR_RETURN(any, resolver_.Call("or", {any, clause.condition}));
    }
  }
  return any;
}

Status CheckLastMayOmit(const std::vector<MergeAction>& clauses, std::string_view condition) {
  for (size_t i = 0; i + 1 < clauses.size(); ++i) {
    if (clauses[i].condition == nullptr) return Error(condition);
  }
  return Status::OK();
}

}  // namespace

Result<RowLevelStatement> AnalyzeMerge(const MergeIntoTable& merge, bool evolve, AnalyzerEnvironment& environment) {
  if (merge.matched.empty() && merge.not_matched.empty() && merge.not_matched_by_source.empty()) return Error("DELTA_MERGE_MISSING_WHEN");
  TW_RETURN_NOT_OK(CheckLastMayOmit(merge.matched, "DELTA_NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION"));
  TW_RETURN_NOT_OK(CheckLastMayOmit(merge.not_matched, "DELTA_NON_LAST_NOT_MATCHED_CLAUSE_OMIT_CONDITION"));
  TW_RETURN_NOT_OK(CheckLastMayOmit(merge.not_matched_by_source, "DELTA_NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION"));
  Statement statement(environment, "MERGE");
  statement.evolve = evolve || merge.with_schema_evolution;
  TW_RETURN_NOT_OK(statement.SetTarget(merge.target));
  TW_RETURN_NOT_OK(statement.SetSource(merge.source));
  RowLevelStatement out;
  using Sides = Statement::Sides;
  TW_ASSIGN_OR_RETURN(out.condition, statement.Condition(merge.condition, Sides::kBoth, "search condition"));
  if (statement.evolve) {
    TW_RETURN_NOT_OK(statement.AddEvolved(merge.matched));
    TW_RETURN_NOT_OK(statement.AddEvolved(merge.not_matched));
  }
  TW_ASSIGN_OR_RETURN(out.matched, statement.Clauses(merge.matched, Sides::kBoth, "UPDATE"));
  TW_ASSIGN_OR_RETURN(out.not_matched, statement.Clauses(merge.not_matched, Sides::kSource, "INSERT"));
  TW_ASSIGN_OR_RETURN(out.not_matched_by_source, statement.Clauses(merge.not_matched_by_source, Sides::kTarget, "UPDATE"));
  TW_ASSIGN_OR_RETURN(out.matched_acts, statement.Acts(out.matched));
  TW_ASSIGN_OR_RETURN(out.by_source_acts, statement.Acts(out.not_matched_by_source));
  out.target = statement.target;
  out.source = statement.source;
  out.written = std::move(statement.written);
  return out;
}

Result<RowLevelStatement> AnalyzeUpdate(const UpdateTable& update, AnalyzerEnvironment& environment) {
  Statement statement(environment, "UPDATE");
  TW_RETURN_NOT_OK(statement.SetTarget(update.target));
  MergeAction action;
  action.assignments = update.assignments;
  TW_ASSIGN_OR_RETURN(RowLevelClause clause, statement.Clause(action, Statement::Sides::kTarget, "UPDATE"));
  RowLevelStatement out;
  TW_ASSIGN_OR_RETURN(out.condition, statement.Condition(update.condition, Statement::Sides::kTarget, "condition"));
  clause.condition = out.by_source_acts = out.condition;
  out.not_matched_by_source.push_back(std::move(clause));
  out.target = statement.target;
  out.written = std::move(statement.written);
  return out;
}

Result<RowLevelStatement> AnalyzeDelete(const DeleteFromTable& del, AnalyzerEnvironment& environment) {
  Statement statement(environment, "DELETE");
  TW_RETURN_NOT_OK(statement.SetTarget(del.target));
  RowLevelStatement out;
  TW_ASSIGN_OR_RETURN(out.condition, statement.Condition(del.condition, Statement::Sides::kTarget, "condition"));
  out.by_source_acts = out.condition;
  out.not_matched_by_source.push_back({.kind = RowLevelClause::Kind::kDelete, .condition = out.condition, .values = {}});
  out.target = statement.target;
  out.written = std::move(statement.written);
  return out;
}

}  // namespace thalweg::sql
