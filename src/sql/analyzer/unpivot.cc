// UNPIVOT and transpose. Source: Spark's ResolveUnpivot and ResolveTranspose.

#include <algorithm>

#include "data/columnar/builder.h"
#include "sql/analyzer/analyzer_settings.h"
#include "sql/analyzer/resolver.h"
#include "sql/expr/evaluator.h"
#include "sql/expr/type_coercion.h"
#include "sql/plan/reshape.h"

namespace thalweg::sql {
namespace {

struct ResolvedSet {
  ExprList columns;
  std::string name;
};

std::string NameOf(const ExprPtr& column) {
  const auto* attribute = column->As<Attribute>();
  return attribute != nullptr ? attribute->name() : AutoName(column);
}

/// The one type of all values of a column. Errors: UNPIVOT_VALUE_DATA_TYPE_MISMATCH.
Result<DataType> CommonType(const std::vector<ResolvedSet>& sets, size_t at, bool ansi) {
  std::optional<DataType> type;
  for (const ResolvedSet& set : sets) {
    const DataType& one = set.columns[at]->type();
    type = type ? WiderTypeWithoutPromotion(*type, one, ansi) : std::optional(one);
    if (type) continue;
    std::map<std::string, std::vector<std::string>> by_type;
    for (const ResolvedSet& each : sets) by_type[each.columns[at]->type().Sql()].push_back(NameOf(each.columns[at]));
    std::string types;
    for (auto& [text, columns] : by_type) {
      std::sort(columns.begin(), columns.end());
      types += (types.empty() ? "" : ", ") + ("\"" + text + "\"") + " (";
      for (size_t i = 0; i < columns.size() && i < 3; ++i) types += (i == 0 ? "" : ", ") + data::QuoteIdentifier(columns[i]);
      types += columns.size() > 3 ? ", ...)" : ")";
    }
    return Error("UNPIVOT_VALUE_DATA_TYPE_MISMATCH").With("types", types);
  }
  return *type;
}

}  // namespace

Result<PlanPtr> Resolver::ResolveUnpivot(const PlanPtr& plan) {
  const auto& node = static_cast<const UnresolvedUnpivot&>(*plan);
  const PlanPtr child = node.child();
  const Scope scope = ScopeOf(child);
  const auto resolve = [&](const ExprList& given) -> Result<ExprList> {
    ExprList list;
    TW_ASSIGN_OR_RETURN(const ExprList expanded, ExpandStars(given, scope));
    for (const ExprPtr& expr : expanded) {
      TW_ASSIGN_OR_RETURN(ExprPtr resolved, ResolveExpression(expr, scope));
      TW_ASSIGN_OR_RETURN(resolved, TrimAliases(resolved, false));
      if (resolved->kind() != ExprKind::kAttribute) {
        return At(Error("UNPIVOT_REQUIRES_ATTRIBUTES").With("given", "value").With("expressions", QuoteExpression(resolved)).With("empty", "id"), expr);
      }
      list.push_back(std::move(resolved));
    }
    return list;
  };
  const auto rest = [&](const ExprList& taken) {
    ExprList list;
    for (const AttributePtr& attribute : child->output()) {
      const auto same = [&](const ExprPtr& expr) { return expr->Equals(*attribute); };
      if (std::none_of(taken.begin(), taken.end(), same)) list.push_back(attribute);
    }
    return list;
  };
  std::vector<ResolvedSet> sets;
  ExprList valued, ids;
  if (node.sets) {
    for (const UnresolvedUnpivot::Set& set : *node.sets) {
      TW_ASSIGN_OR_RETURN(const ExprList columns, resolve(set.columns));
      valued.insert(valued.end(), columns.begin(), columns.end());
      // Of one value column the set may be a star.
      const size_t width = node.values.size();
      if (columns.empty() || columns.size() % width != 0 || (width > 1 && columns.size() != width)) {
        return Error("UNPIVOT_VALUE_SIZE_MISMATCH").With("names", static_cast<int64_t>(width));
      }
      for (size_t at = 0; at < columns.size(); at += width) {
        ResolvedSet& one = sets.emplace_back();
        one.columns.assign(columns.begin() + static_cast<ptrdiff_t>(at), columns.begin() + static_cast<ptrdiff_t>(at + width));
        for (const ExprPtr& column : one.columns) one.name += (one.name.empty() ? "" : "_") + NameOf(column);
        if (set.alias) one.name = *set.alias;
      }
    }
  }
  if (node.ids) {
    TW_ASSIGN_OR_RETURN(ids, resolve(*node.ids));
  } else {
    ids = rest(valued);
  }
  if (!node.sets) {
    for (const ExprPtr& column : rest(ids)) sets.push_back({{column}, NameOf(column)});
  }
  if (sets.empty()) return Error("UNPIVOT_REQUIRES_VALUE_COLUMNS");
  AttributeList output;
  for (const ExprPtr& id : ids) output.push_back(ToAttribute(id));
  output.push_back(Attribute::Make(node.variable, DataType::String(), false));
  std::vector<ExprList> projections(sets.size());
  for (size_t s = 0; s < sets.size(); ++s) {
    projections[s] = ids;
    projections[s].push_back(Literal::String(sets[s].name));
  }
  ExprList values;
  for (size_t at = 0; at < node.values.size(); ++at) {
    TW_ASSIGN_OR_RETURN(const DataType type, CommonType(sets, at, config_->ansi));
    bool nullable = false;
    for (size_t s = 0; s < sets.size(); ++s) {
      nullable = nullable || sets[s].columns[at]->nullable();
      projections[s].push_back(Coerce(sets[s].columns[at], type, *config_));
    }
    output.push_back(Attribute::Make(node.values[at], type, nullable));
    values.push_back(output.back());
  }
  PlanPtr expanded = std::make_shared<Expand>(std::move(projections), std::move(output), child);
  if (!node.exclude_nulls) return expanded;
  TW_ASSIGN_OR_RETURN(ExprPtr first, values.size() == 1 ? Result<ExprPtr>(values[0]) : Call("coalesce", values));
  TW_ASSIGN_OR_RETURN(ExprPtr present, Call("isnotnull", {std::move(first)}));
  return PlanPtr(std::make_shared<Filter>(std::move(present), std::move(expanded)));
}

Result<PlanPtr> Resolver::ResolveTranspose(const PlanPtr& plan) {
  const auto& node = static_cast<const UnresolvedTranspose&>(*plan);
  const AttributeList input = node.child()->output();
  if (input.empty()) return node.child();
  ExprPtr index = input[0];
  if (node.index != nullptr) {
    TW_ASSIGN_OR_RETURN(index, ResolveExpression(node.index, ScopeOf(node.child())));
    TW_ASSIGN_OR_RETURN(index, TrimAliases(index, false));
  }
  if (index->kind() != ExprKind::kAttribute || !index->type().IsOrderable() || index->type().IsNested()) {
    return Error("TRANSPOSE_INVALID_INDEX_COLUMN")
        .With("reason", index->kind() != ExprKind::kAttribute ? "Index column must be an atomic attribute"
                                                              : "Index column must be of atomic type, but found: " + index->type().SimpleString());
  }
  AttributeList columns;
  std::optional<DataType> type;
  for (const AttributePtr& attribute : input) {
    if (attribute->Equals(*index)) continue;
    const std::optional<DataType> wider =
        type ? WiderTypeWithoutPromotion(*type, attribute->type(), config_->ansi) : std::optional(attribute->type());
    if (!wider) return Error("TRANSPOSE_NO_LEAST_COMMON_TYPE").With("dt1", type->SimpleString()).With("dt2", attribute->type().SimpleString());
    type = wider;
    columns.push_back(attribute);
  }
  if (!type) type = DataType::String();
  TW_ASSIGN_OR_RETURN(const int64_t most, SettingValue(kTransposeMaxValues));
  ExprList list{Alias::Make(Cast::Make(index, DataType::String(), EvalMode::kAnsi), "index")};
  for (const AttributePtr& column : columns) list.push_back(Alias::Make(Coerce(column, *type, *config_), column->name()));
  TW_ASSIGN_OR_RETURN(ExprPtr present, Call("isnotnull", {index}));
  PlanPtr rows = std::make_shared<Filter>(std::move(present), node.child());
  rows = std::make_shared<Sort>(ExprList{SortOrder::Make(index, true, true)}, true, std::move(rows));
  rows = std::make_shared<Limit>(OneMoreThan(most), std::make_shared<Project>(std::move(list), std::move(rows)));
  TW_ASSIGN_OR_RETURN(const std::vector<data::Chunk> chunks, environment_.RunEagerly(rows));
  AttributeList output{Attribute::Make("key", DataType::String(), false)};
  std::vector<DataType> types{DataType::String()};
  std::vector<data::ValueList> transposed(columns.size());
  for (size_t c = 0; c < columns.size(); ++c) transposed[c].push_back(Value(columns[c]->name()));
  for (const data::Chunk& chunk : chunks) {
    const data::Chunk dense = chunk.Dense();
    for (int64_t row = 0; row < dense.num_rows(); ++row) {
      if (static_cast<int64_t>(types.size()) > most) {
        return Error("TRANSPOSE_EXCEED_ROW_LIMIT").With("maxValues", most).With("config", kTransposeMaxValues.key);
      }
      output.push_back(Attribute::Make(dense.column(0)->GetValue(row).get<std::string>(), *type, true));
      types.push_back(*type);
      for (size_t c = 0; c < columns.size(); ++c) transposed[c].push_back(dense.column(static_cast<int>(c) + 1)->GetValue(row));
    }
  }
  std::vector<data::Chunk> result;
  if (!transposed.empty()) result.push_back(data::ChunkFromRows(types, transposed));
  return PlanPtr(std::make_shared<LocalRelation>(std::move(output), std::move(result)));
}

}  // namespace thalweg::sql
