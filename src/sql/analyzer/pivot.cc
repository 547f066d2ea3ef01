// PIVOT. Source: Spark's ResolvePivot: an aggregation by groups and pivot columns, whose results a second one spreads over
// columns; aggregates whose results are neither numbers nor booleans instead see only the rows of their value.

#include <algorithm>

#include "sql/analyzer/analyzer_settings.h"
#include "sql/analyzer/resolver.h"
#include "sql/expr/evaluator.h"
#include "sql/expr/type_coercion.h"
#include "sql/plan/reshape.h"

namespace thalweg::sql {
namespace {

ExprPtr Function(const char* name, ExprList arguments) { return UnresolvedFunction::Make({name}, std::move(arguments)); }

/// A value of the pivot columns: one constant per column, and what the columns of the result are called after.
struct PivotValue {
  ExprList parts;
  std::string name;
};

ExprPtr Matches(const ExprList& columns, const PivotValue& value) {
  ExprPtr all;
  for (size_t i = 0; i < columns.size(); ++i) {
    ExprPtr one = Function("<=>", {columns[i], value.parts[i]});
    all = all == nullptr ? std::move(one) : Function("and", {std::move(all), std::move(one)});
  }
  return all;
}

/// Whether Spark spreads results of that type by its PivotFirst.
bool Spreads(const DataType& type) { return type.IsNumeric() || type.Is(data::TypeKind::kBoolean); }

Result<std::string> TextOf(const ExprPtr& value, const EvalConfig& config) {
  TW_ASSIGN_OR_RETURN(const Value text, EvaluateConstant(Cast::Make(value, DataType::String(), EvalMode::kAnsi), config));
  return text.is_null() ? std::string("null") : text.get<std::string>();
}

/// One constant per column; of several columns the value is a row.
Result<ExprList> PartsOf(const ExprPtr& value, const ExprList& columns, const EvalConfig& config) {
  if (!value->foldable()) return At(Error("NON_LITERAL_PIVOT_VALUES").With("expression", QuoteExpression(value)), value);
  DataType wanted = columns[0]->type();
  if (columns.size() > 1) {
    std::vector<data::StructField> fields;
    for (const ExprPtr& column : columns) fields.push_back({"col" + std::to_string(fields.size() + 1), column->type(), true});
    wanted = DataType::Struct(std::move(fields));
  }
  const EvalMode mode = config.ansi ? EvalMode::kAnsi : EvalMode::kLegacy;
  if (!CanCast(value->type(), wanted, mode)) {
    return At(Error("PIVOT_VALUE_DATA_TYPE_MISMATCH")
                  .With("value", QuoteExpression(value))
                  .With("valueType", value->type().SimpleString())
                  .With("pivotType", wanted.SimpleString()),
              value);
  }
  TW_ASSIGN_OR_RETURN(const Value constant, EvaluateConstant(Cast::Make(value, wanted, mode), config));
  if (columns.size() == 1) return ExprList{Literal::Make(constant, wanted)};
  ExprList parts;
  const data::ValueList* row = constant.is_null() ? nullptr : constant.get_if<data::ValueList>();
  for (size_t i = 0; i < columns.size(); ++i) {
    parts.push_back(Literal::Make(row == nullptr ? Value() : (*row)[i], columns[i]->type()));
  }
  return parts;
}

}  // namespace

Result<PlanPtr> Resolver::ResolvePivot(const PlanPtr& plan) {
  const auto& node = static_cast<const UnresolvedPivot&>(*plan);
  const PlanPtr child = node.child();
  const Scope scope = ScopeOf(child);
  const auto resolve = [&](const ExprList& given, bool keep_names) -> Result<ExprList> {
    ExprList list;
    TW_ASSIGN_OR_RETURN(const ExprList expanded, ExpandStars(given, scope));
    for (const ExprPtr& expr : expanded) {
      TW_ASSIGN_OR_RETURN(ExprPtr resolved, ResolveExpression(expr, scope));
      TW_ASSIGN_OR_RETURN(resolved, TrimAliases(resolved, keep_names));
      list.push_back(std::move(resolved));
    }
    return list;
  };
  TW_ASSIGN_OR_RETURN(const ExprList columns, resolve(node.columns, false));
  TW_ASSIGN_OR_RETURN(const ExprList aggregates, resolve(node.aggregates, true));
  for (const ExprPtr& aggregate : aggregates) {
    if (!HasAggregate(aggregate)) return At(Error("_LEGACY_ERROR_TEMP_1006").With("sql", Bare(aggregate)->Sql()), aggregate);
  }
  ExprList grouping;
  if (node.grouping) {
    TW_ASSIGN_OR_RETURN(grouping, resolve(*node.grouping, true));
  } else {
    for (const AttributePtr& attribute : child->output()) {
      const auto names = [&](const ExprPtr& expr) {
        const std::vector<ExprId> ids = References(expr);
        return std::find(ids.begin(), ids.end(), attribute->id()) != ids.end();
      };
      if (std::none_of(columns.begin(), columns.end(), names) && std::none_of(aggregates.begin(), aggregates.end(), names)) {
        grouping.push_back(attribute);
      }
    }
  }
  ExprList given = node.values;
  if (node.find_values) {
    TW_ASSIGN_OR_RETURN(given, FindPivotValues(columns[0], child));
  }
  std::vector<PivotValue> values;
  for (const ExprPtr& one : given) {
    TW_ASSIGN_OR_RETURN(const ExprPtr resolved, ResolveExpression(one, Scope{}));
    PivotValue& value = values.emplace_back();
    TW_ASSIGN_OR_RETURN(value.parts, PartsOf(Bare(resolved), columns, *config_));
    if (const auto* alias = resolved->As<Alias>()) {
      value.name = alias->name();
    } else {
      TW_ASSIGN_OR_RETURN(value.name, TextOf(resolved, *config_));
    }
  }
  const auto name_of = [&](const PivotValue& value, const ExprPtr& aggregate) {
    if (aggregates.size() == 1) return value.name;
    const auto* alias = aggregate->As<Alias>();
    return value.name + "_" + (alias == nullptr ? AutoName(aggregate) : alias->name());
  };
  for (ExprPtr& group : grouping) group = Named(group);
  if (!node.counts_apart && std::all_of(aggregates.begin(), aggregates.end(), [](const ExprPtr& a) { return Spreads(Bare(a)->type()); })) {
    ExprList keys, first_list = grouping, first_keys;
    for (const ExprPtr& group : grouping) keys.push_back(Bare(group));
    for (size_t i = 0; i < columns.size(); ++i) {
      keys.push_back(columns[i]);
      first_list.push_back(Alias::Make(columns[i], "__pivot_col" + std::to_string(i)));
      first_keys.push_back(ToAttribute(first_list.back()));
    }
    ExprList results;
    for (const ExprPtr& aggregate : aggregates) {
      first_list.push_back(Alias::Make(Bare(aggregate), Bare(aggregate)->Sql()));
      results.push_back(ToAttribute(first_list.back()));
    }
    TW_ASSIGN_OR_RETURN(const PlanPtr first, FinishAggregate(std::move(keys), std::move(first_list), child));
    ExprList groups, list;
    for (const ExprPtr& group : grouping) groups.push_back(ToAttribute(group));
    list = groups;
    for (const PivotValue& value : values) {
      for (size_t i = 0; i < aggregates.size(); ++i) {
        ExprPtr found = Function("when", {Matches(first_keys, value), results[i]});
        list.push_back(Alias::Make(Function("first", {std::move(found), Literal::Boolean(true)}), name_of(value, aggregates[i])));
      }
    }
    return ResolveAggregate(std::make_shared<Aggregate>(std::move(groups), std::move(list), first));
  }
  ExprList keys, list = grouping;
  for (const ExprPtr& group : grouping) keys.push_back(Bare(group));
  for (const PivotValue& value : values) {
    TW_ASSIGN_OR_RETURN(const ExprPtr match, ResolveExpression(Matches(columns, value), scope));
    for (const ExprPtr& aggregate : aggregates) {
      TW_ASSIGN_OR_RETURN(ExprPtr of_value, OfMatchingRows(Bare(aggregate), match));
      list.push_back(Alias::Make(std::move(of_value), name_of(value, aggregate)));
    }
  }
  return FinishAggregate(std::move(keys), std::move(list), child);
}

/// The arguments of aggregate functions become null in rows that do not match; first and last pass over nulls.
Result<ExprPtr> Resolver::OfMatchingRows(const ExprPtr& expr, const ExprPtr& match) {
  if (const auto* call = expr->As<AggregateCall>()) {
    ExprList arguments;
    const size_t own = call->children().size() - (call->filter() != nullptr ? 1 : 0);
    const std::string name(call->bound().function->name);
    const bool one = name == "first" || name == "last" || name == "first_value" || name == "last_value" || name == "any_value";
    for (size_t i = 0; i < (one ? 1 : own); ++i) {
      TW_ASSIGN_OR_RETURN(ExprPtr argument, Call("when", {match, call->child(i)}));
      arguments.push_back(std::move(argument));
    }
    if (one) arguments.push_back(Literal::Boolean(true));
    return BindAggregate(*call->bound().function, std::move(arguments), call->distinct(), call->filter(), bind_);
  }
  ExprList children;
  for (const ExprPtr& child : expr->children()) {
    TW_ASSIGN_OR_RETURN(ExprPtr changed, OfMatchingRows(child, match));
    children.push_back(std::move(changed));
  }
  return children.empty() ? expr : expr->WithChildren(std::move(children));
}

Result<int64_t> Resolver::SettingValue(const Setting<int64_t>& setting) const {
  const std::optional<std::string> text = environment_.Setting(std::string(setting.key));
  return text ? ParseSetting(setting, *text) : setting.default_value;
}

ExprPtr Resolver::OneMoreThan(int64_t most) { return Literal::Integer(static_cast<int32_t>(std::min<int64_t>(most + 1, INT32_MAX))); }

Result<ExprList> Resolver::FindPivotValues(const ExprPtr& column, const PlanPtr& child) {
  TW_ASSIGN_OR_RETURN(const int64_t most, SettingValue(kPivotMaxValues));
  const auto named = Alias::Make(column, "value");
  PlanPtr plan = std::make_shared<Project>(ExprList{named}, child);
  plan = std::make_shared<Distinct>(std::move(plan));
  plan = std::make_shared<Limit>(OneMoreThan(most), std::move(plan));
  plan = std::make_shared<Sort>(ExprList{SortOrder::Make(named->ToAttribute(), true, true)}, true, std::move(plan));
  TW_ASSIGN_OR_RETURN(const std::vector<data::Chunk> rows, environment_.RunEagerly(plan));
  ExprList values;
  for (const data::Chunk& chunk : rows) {
    const data::Chunk dense = chunk.Dense();
    for (int64_t row = 0; row < dense.num_rows(); ++row) values.push_back(Literal::Make(dense.column(0)->GetValue(row), column->type()));
  }
  if (static_cast<int64_t>(values.size()) > most) {
    return Error("_LEGACY_ERROR_TEMP_1324").With("pivotColumn", AutoName(column)).With("maxValues", most)
        .With("confKey", kPivotMaxValues.key);
  }
  return values;
}

}  // namespace thalweg::sql
