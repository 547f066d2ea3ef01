// Leaves: tables by name, data sources, VALUES; and the alias of a subquery.

#include "sql/analyzer/resolver.h"
#include "data/columnar/builder.h"
#include "sql/expr/evaluator.h"
#include "sql/expr/type_coercion.h"

namespace thalweg::sql {

Result<PlanPtr> Resolver::ResolveRelationName(const PlanPtr& plan) {
  const auto& relation = static_cast<const UnresolvedRelation&>(*plan);
  if (relation.name_parts.size() == 1) {
    for (auto cte = ctes_.rbegin(); cte != ctes_.rend(); ++cte) {
      if (!SameName(cte->first, relation.name_parts[0], config_->case_sensitive)) continue;
      TW_RETURN_NOT_OK(TakeNodes(cte->second));
      TW_ASSIGN_OR_RETURN(PlanPtr fresh, WithFreshIds(cte->second));
      return PlanPtr(std::make_shared<SubqueryAlias>(std::vector<std::string>{cte->first}, std::move(fresh)));
    }
  }
  Result<PlanPtr> found = environment_.ResolveRelation(relation);
  if (!found.ok() && relation.origin != nullptr) return found.status().WithQueryContext(*relation.origin);
  if (found.ok()) TW_RETURN_NOT_OK(TakeNodes(*found));
  return found;
}

Status Resolver::TakeNodes(const PlanPtr& of_name) {
  constexpr int64_t kMostNodes = 200'000;
  Visit(of_name, [&](const PlanPtr&) { return ++nodes_of_names_ <= kMostNodes; });
  if (nodes_of_names_ <= kMostNodes) return Status::OK();
  return Unsupported("a plan of more than " + std::to_string(kMostNodes) +
                     " nodes: its views and named subqueries use each other too often; save what comes between as a table");
}

Result<PlanPtr> Resolver::ResolveDataSource(const PlanPtr& plan) {
  const auto& source = static_cast<const UnresolvedDataSource&>(*plan);
  TW_ASSIGN_OR_RETURN(TablePtr table, environment_.LoadDataSource(source));
  if (source.streaming && !table->capabilities().micro_batch_read) {
    return Error("_LEGACY_ERROR_TEMP_2049").With("className", source.format).With("operator", "reading");
  }
  AttributeList attributes;
  for (const data::StructField& field : table->schema()) {
    attributes.push_back(
        Attribute::Make(field.name, field.type, field.nullable, NewExprId(), {}, field.metadata_json));
  }
  // Columns that only come when they are named, as Spark marks them.
  AttributeList hidden;
  ExprList shown;
  for (const AttributePtr& attribute : attributes) {
    if (HasMetadataFlag(attribute->metadata_json(), "__metadata_col")) {
      hidden.push_back(attribute);
    } else {
      shown.push_back(attribute);
    }
  }
  auto relation = std::make_shared<Relation>(std::move(table), std::move(attributes), source.streaming);
  relation->format = source.format;
  if (hidden.empty()) return PlanPtr(std::move(relation));
  auto project = std::make_shared<Project>(std::move(shown), std::move(relation));
  project->hidden = std::move(hidden);
  return PlanPtr(std::move(project));
}

Result<PlanPtr> Resolver::ResolveInlineTable(const PlanPtr& plan) {
  const auto& table = static_cast<const UnresolvedInlineTable&>(*plan);
  std::vector<std::string> names = table.names;
  if (names.empty() && !table.rows.empty()) {
    for (size_t c = 1; c <= table.rows[0].size(); ++c) names.push_back("col" + std::to_string(c));
  }
  const size_t width = names.size();
  std::vector<ExprList> rows;
  const Scope scope;
  for (size_t r = 0; r < table.rows.size(); ++r) {
    const ExprList& given = table.rows[r];
    if (given.size() != width) {
      return Error("INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH")
          .With("expectedNumCols", static_cast<int64_t>(width))
          .With("actualNumCols", static_cast<int64_t>(given.size()))
          .With("rowIndex", static_cast<int64_t>(r));
    }
    ExprList row;
    for (const ExprPtr& expr : given) {
      TW_ASSIGN_OR_RETURN(ExprPtr cell, ResolveExpression(expr, scope));
      if (const auto* alias = cell->As<Alias>()) cell = alias->child();
      if (!References(cell).empty() || HasAggregate(cell) || !cell->deterministic()) {
        return At(Error("INVALID_INLINE_TABLE.CANNOT_EVALUATE_EXPRESSION_IN_INLINE_TABLE")
                      .With("expr", QuoteExpression(cell)),
                  expr);
      }
      row.push_back(std::move(cell));
    }
    rows.push_back(std::move(row));
  }
  std::vector<DataType> types;
  AttributeList attributes;
  for (size_t c = 0; c < width; ++c) {
    std::vector<DataType> column;
    bool nullable = false;
    for (const ExprList& row : rows) {
      column.push_back(row[c]->type());
      nullable = nullable || row[c]->nullable();
    }
    const std::optional<DataType> type = WiderTypeOf(column, config_->ansi);
    if (!type) {
      return Error("INVALID_INLINE_TABLE.INCOMPATIBLE_TYPES_IN_INLINE_TABLE")
          .With("colName", data::QuoteIdentifier(names[c]));
    }
    types.push_back(*type);
    attributes.push_back(Attribute::Make(names[c], *type, nullable));
  }
  std::vector<data::ValueList> values;
  for (const ExprList& row : rows) {
    data::ValueList cells;
    for (size_t c = 0; c < width; ++c) {
      TW_ASSIGN_OR_RETURN(Value value, EvaluateConstant(Coerce(row[c], types[c], *config_), *config_));
      cells.push_back(std::move(value));
    }
    values.push_back(std::move(cells));
  }
  return PlanPtr(std::make_shared<LocalRelation>(
      std::move(attributes), std::vector<data::Chunk>{data::ChunkFromRows(types, values)}));
}

Result<PlanPtr> Resolver::ResolveSubqueryAlias(const PlanPtr& plan) {
  const auto& alias = static_cast<const SubqueryAlias&>(*plan);
  if (alias.column_names.empty()) return plan;
  const AttributeList input = alias.child()->output();
  if (input.size() != alias.column_names.size()) {
    return Error("ASSIGNMENT_ARITY_MISMATCH")
        .With("numExpr", static_cast<int64_t>(alias.column_names.size()))
        .With("numTarget", static_cast<int64_t>(input.size()));
  }
  ExprList list;
  for (size_t i = 0; i < input.size(); ++i) list.push_back(Alias::Make(input[i], alias.column_names[i]));
  auto named = std::make_shared<SubqueryAlias>(alias.name_parts,
                                               std::make_shared<Project>(std::move(list), alias.child()));
  named->is_view = alias.is_view;
  return PlanPtr(std::move(named));
}

}  // namespace thalweg::sql
