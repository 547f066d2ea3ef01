// Names, functions, casts, extractions and stars of one expression.

#include <algorithm>

#include "base/string_case.h"
#include "sql/analyzer/resolver.h"
#include "sql/expr/extract.h"
#include "sql/expr/named_argument.h"
#include "sql/expr/type_coercion.h"
#include "sql/expr/window_call.h"
#include "sql/functions/spark_names.h"
#include "sql/functions/string/regex.h"
#include "sql/functions/window/window_functions.h"

namespace thalweg::sql {
namespace {

constexpr int kMaxDepth = 2000;

/// Functions that a bare word may mean when no column has that name.
constexpr std::string_view kWordFunctions[] = {"current_date",   "current_time", "current_timestamp", "current_user",
                                               "localtimestamp", "session_user", "user"};

bool OutputHolds(const LogicalPlan& plan, const ExprPtr& expr) {
  AttributeList output = plan.output();
  const AttributeList hidden = HiddenColumns(plan);
  output.insert(output.end(), hidden.begin(), hidden.end());
  for (const ExprId id : References(expr)) {
    if (std::none_of(output.begin(), output.end(), [&](const AttributePtr& a) { return a->id() == id; })) return false;
  }
  return true;
}

/// Looks for the node with that plan id below `plans`; null when it is not there or does not put the column out (any more).
/// Source: ColumnResolutionHelper.resolveDataFrameColumn.
Result<ExprPtr> FindPinned(const UnresolvedAttribute& name, const PlanList& plans, const BindContext& context,
                           bool* matched) {
  ExprPtr best;
  for (const PlanPtr& plan : plans) {
    ExprPtr found;
    if (plan->plan_id() == name.plan_id()) {
      *matched = true;
      TW_ASSIGN_OR_RETURN(found, FindColumn(name.name_parts(), plan->output(), context));
    } else if (plan->kind() != PlanKind::kUnion) {
      TW_ASSIGN_OR_RETURN(found, FindPinned(name, plan->children(), context, matched));
    }
    // A column that the nodes above do not put out cannot be meant.
    if (found == nullptr || !OutputHolds(*plan, found)) continue;
    if (best != nullptr) {
      std::string path;
      for (const std::string& part : name.name_parts()) path += (path.empty() ? "" : ".") + part;
      return Error("AMBIGUOUS_COLUMN_REFERENCE").With("name", "\"" + path + "\"");
    }
    best = std::move(found);
  }
  return best;
}

ExprPtr WithoutAlias(const ExprPtr& expr) {
  const auto* alias = expr->As<Alias>();
  return alias == nullptr ? expr : alias->child();
}

std::string MinusSql(const sql::Call& call, bool plan_text) {
  return plan_text ? "-" + call.child()->PlanText() : "(- " + call.child()->Sql() + ")";
}

ScalarFunction UnaryMinus(const ScalarFunction& negative) {
  ScalarFunction minus = negative;
  minus.sql = &MinusSql;
  return minus;
}

/// int(x), string(x) and kin are casts.
std::optional<DataType> CastFunctionType(const std::string& name) {
  static const std::pair<const char*, DataType> kTypes[] = {
      {"boolean", DataType::Boolean()}, {"tinyint", DataType::Byte()},   {"smallint", DataType::Short()},
      {"int", DataType::Integer()},     {"bigint", DataType::Long()},    {"float", DataType::Float()},
      {"double", DataType::Double()},   {"decimal", DataType::Decimal(10, 0)}, {"date", DataType::Date()},
      {"timestamp", DataType::Timestamp()}, {"binary", DataType::Binary()}, {"string", DataType::String()}};
  for (const auto& [type_name, type] : kTypes) {
    if (name == type_name) return type;
  }
  return std::nullopt;
}

bool NamesItsFields(const std::string& function) { return function == "struct"; }

/// The registry's name of a possibly qualified one; empty when the qualifier is not one of built-in functions.
std::string BuiltinName(const std::vector<std::string>& parts) {
  std::string name = LowerCase(parts.back());
  if (parts.size() == 1) return name;
  const std::string qualifier = LowerCase(parts[parts.size() - 2]);
  if (parts.size() == 2 && qualifier == "builtin") return name;
  if (parts.size() == 3 && LowerCase(parts[0]) == "system" && (qualifier == "builtin" || qualifier == "session")) {
    return name;
  }
  return "";
}

/// The name that a function registered in the session may have; empty for names of other places.
std::string SessionName(const std::vector<std::string>& parts) {
  const bool qualified = parts.size() == 3 && LowerCase(parts[0]) == "system" && LowerCase(parts[1]) == "session";
  const bool short_form = parts.size() == 2 && LowerCase(parts[0]) == "session";
  return parts.size() == 1 || qualified || short_form ? LowerCase(parts.back()) : std::string();
}

}  // namespace

Result<ExprPtr> Resolver::ResolveExpression(const ExprPtr& expr, const Scope& scope) {
  return ResolveAt(expr, scope, 0, false);
}

namespace {

/// The casts that binding has put around the arguments of a call fail where the call stands.
ExprPtr CastsAtOrigin(const ExprPtr& node, const Origin& origin) {
  if (node->kind() != ExprKind::kCall) return node;
  const auto homeless = [](const ExprPtr& child) {
    const auto* cast = child->As<Cast>();
    return cast != nullptr && !cast->user() && cast->origin() == nullptr;
  };
  if (std::none_of(node->children().begin(), node->children().end(), homeless)) return node;
  ExprList children = node->children();
  for (ExprPtr& child : children) {
    if (homeless(child)) child = child->WithOrigin(origin);
  }
  return node->WithChildren(std::move(children));
}

}  // namespace

Result<ExprPtr> Resolver::ResolveAt(const ExprPtr& expr, const Scope& scope, int depth, bool in_aggregate) {
  if (expr->resolved() && expr->kind() != ExprKind::kCast && expr->children().empty()) return expr;
  if (depth > kMaxDepth) return Unsupported("expressions nested deeper than 2000 levels");
  Result<ExprPtr> resolved = [&]() -> Result<ExprPtr> {
    switch (expr->kind()) {
      case ExprKind::kUnresolvedAttribute:
        return ResolveName(*expr->As<UnresolvedAttribute>(), expr, scope, in_aggregate);
      case ExprKind::kWindowCall: return ResolveWindowCall(expr, scope, depth, in_aggregate);
      case ExprKind::kUnresolvedFunction:
        return ResolveFunction(*expr->As<UnresolvedFunction>(), scope, depth, in_aggregate);
      case ExprKind::kUnresolvedStar:
      case ExprKind::kUnresolvedRegex:
        return Error("INVALID_USAGE_OF_STAR_OR_REGEX")
            .With("elem", expr->kind() == ExprKind::kUnresolvedStar ? "'*'" : "regular expression")
            .With("prettyName", "expression");
      case ExprKind::kUnresolvedExtract: {
        TW_ASSIGN_OR_RETURN(ExprPtr node, ResolveChildren(expr, scope, depth, in_aggregate));
        if (!node->child(0)->resolved() || !node->child(1)->resolved()) return node;
        return MakeExtract(WithoutAlias(node->child(0)), WithoutAlias(node->child(1)), bind_);
      }
      case ExprKind::kCast: {
        TW_ASSIGN_OR_RETURN(ExprPtr node, ResolveChildren(expr, scope, depth, in_aggregate));
        if (!node->resolved()) return node;
        return ResolveCast(*node->As<Cast>());
      }
      case ExprKind::kLambda:
      case ExprKind::kLambdaVariable: return Unsupported("lambda functions (higher-order functions)");
      case ExprKind::kUpdateFields: return Unsupported("Column.withField and Column.dropFields");
      default: {
        TW_ASSIGN_OR_RETURN(ExprPtr node, ResolveChildren(expr, scope, depth, in_aggregate));
        if (node->kind() == ExprKind::kSortOrder || node->kind() == ExprKind::kAlias) {
          return node->WithChildren({WithoutAlias(node->child())});
        }
        return node;
      }
    }
  }();
  if (expr->origin() == nullptr) return resolved;
  if (!resolved.ok()) return resolved.status().WithQueryContext(*expr->origin());
  const ExprPtr node = CastsAtOrigin(*std::move(resolved), expr->origin());
  return node->origin() == nullptr ? node->WithOrigin(expr->origin()) : node;
}

Result<ExprPtr> Resolver::ResolveChildren(const ExprPtr& expr, const Scope& scope, int depth, bool in_aggregate) {
  ExprList children;
  bool changed = false;
  for (const ExprPtr& child : expr->children()) {
    TW_ASSIGN_OR_RETURN(ExprPtr resolved, ResolveAt(child, scope, depth + 1, in_aggregate));
    changed = changed || resolved != child;
    children.push_back(std::move(resolved));
  }
  return changed ? expr->WithChildren(std::move(children)) : expr;
}

// --- names ---

Status Resolver::UnknownColumn(const std::vector<std::string>& name_parts, const AttributeList& input) const {
  const std::string name = QuoteParts(name_parts);
  if (EqualsIgnoreCase(name_parts.front(), "_metadata")) return Unsupported("the column _metadata of files");
  if (input.empty()) return Error("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION").With("objectName", name);
  return Error("UNRESOLVED_COLUMN.WITH_SUGGESTION")
      .With("objectName", name)
      .With("proposal", Suggestions(name_parts, input));
}

Result<ExprPtr> Resolver::ResolvePinnedName(const UnresolvedAttribute& name, const Scope& scope) {
  bool matched = false;
  TW_ASSIGN_OR_RETURN(ExprPtr column, FindPinned(name, scope.plans, bind_, &matched));
  if (column == nullptr && scope.fallback != nullptr) {
    TW_ASSIGN_OR_RETURN(column, FindPinned(name, scope.fallback->plans, bind_, &matched));
  }
  if (const auto* found = column == nullptr ? nullptr : column->As<Attribute>()) {
    // As it is here: a join above may have made it nullable.
    for (const AttributeList* list : {&scope.input, &scope.hidden}) {
      for (const AttributePtr& attribute : *list) {
        if (attribute->id() == found->id() && attribute->nullable() != found->nullable()) {
          return ExprPtr(std::static_pointer_cast<const Attribute>(column)->WithNullable(attribute->nullable()));
        }
      }
    }
  }
  if (column != nullptr) return column;
  // The DataFrame is not there, or it is but no longer puts the column out.
  if (!matched || !scope.lenient) {
    return Error("CANNOT_RESOLVE_DATAFRAME_COLUMN").With("name", QuoteParts(name.name_parts()));
  }
  return ExprPtr();
}

Result<ExprPtr> Resolver::ResolveName(const UnresolvedAttribute& name, const ExprPtr& node, const Scope& scope,
                                      bool in_aggregate) {
  if (name.plan_id()) {
    TW_ASSIGN_OR_RETURN(ExprPtr pinned, ResolvePinnedName(name, scope));
    return pinned == nullptr ? node : pinned;
  }
  std::vector<const AttributeList*> inputs = {&scope.input};
  if (scope.fallback != nullptr) {
    inputs.insert(in_aggregate && scope.fallback_first_in_aggregates ? inputs.begin() : inputs.end(),
                  &scope.fallback->input);
  }
  for (const AttributeList* input : inputs) {
    TW_ASSIGN_OR_RETURN(ExprPtr found, FindColumn(name.name_parts(), *input, bind_));
    if (found != nullptr) return found;
  }
  if (scope.laterals != nullptr) {
    AttributeList laterals;
    for (const auto& alias : *scope.laterals) {
      if (alias->resolved() && SameName(alias->name(), name.name_parts()[0], config_->case_sensitive)) {
        laterals.push_back(alias->ToAttribute());
      }
    }
    if (laterals.size() > 1) {
      return Error("AMBIGUOUS_LATERAL_COLUMN_ALIAS")
          .With("name", QuoteParts(name.name_parts()))
          .With("n", static_cast<int64_t>(laterals.size()));
    }
    if (laterals.size() == 1) return FindColumn(name.name_parts(), laterals, bind_);
  }
  if (name.name_parts().size() == 1) {
    const std::string word = LowerCase(name.name_parts()[0]);
    if (std::find(std::begin(kWordFunctions), std::end(kWordFunctions), word) != std::end(kWordFunctions) &&
        environment_.functions().FindScalar(word) != nullptr) {
      TW_ASSIGN_OR_RETURN(ExprPtr call, Call(word, {}));
      return ExprPtr(Alias::Make(call, AutoName(call), NewExprId(), std::nullopt, true));
    }
  }
  TW_ASSIGN_OR_RETURN(ExprPtr hidden, FindColumn(name.name_parts(), scope.hidden, bind_));
  // What a USING join leaves out wants its table's name; what a source marks as metadata does not.
  const auto* column = hidden == nullptr ? nullptr : hidden->As<Attribute>();
  const bool marked = column != nullptr && HasMetadataFlag(column->metadata_json(), "__metadata_col");
  if (hidden != nullptr && (marked || name.name_parts().size() > 1)) return hidden;
  if (scope.lenient) return node;
  return UnknownColumn(name.name_parts(), scope.input);
}

// --- stars ---

Result<ExprList> Resolver::ExpandStar(const UnresolvedStar& star, const ExprPtr& node, const Scope& scope) {
  if (star.plan_id()) {
    for (const PlanPtr& root : scope.plans) {
      PlanPtr found;
      Visit(root, [&](const PlanPtr& plan) {
        if (found == nullptr && plan->plan_id() == star.plan_id()) found = plan;
        return found == nullptr;
      });
      if (found != nullptr) {
        const AttributeList output = found->output();
        return ExprList(output.begin(), output.end());
      }
    }
    return At(Error("CANNOT_RESOLVE_DATAFRAME_COLUMN").With("name", "*"), node);
  }
  if (star.target().empty()) return ExprList(scope.input.begin(), scope.input.end());
  ExprList columns;
  const std::vector<std::string>& target = star.target();
  AttributeList candidates;  // with the key columns that a USING join leaves out of a bare star
  for (const AttributePtr& attribute : scope.hidden) {
    if (!HasMetadataFlag(attribute->metadata_json(), "__metadata_col")) candidates.push_back(attribute);
  }
  candidates.insert(candidates.end(), scope.input.begin(), scope.input.end());
  for (const AttributePtr& attribute : candidates) {
    const std::vector<std::string>& qualifier = attribute->qualifier();
    if (qualifier.size() < target.size()) continue;
    bool same = true;
    for (size_t i = 0; i < target.size(); ++i) {
      same = same && SameName(qualifier[qualifier.size() - target.size() + i], target[i], config_->case_sensitive);
    }
    if (same) columns.push_back(attribute);
  }
  if (!columns.empty()) return columns;
  TW_ASSIGN_OR_RETURN(ExprPtr base, FindColumn(target, scope.input, bind_));
  if (base == nullptr) {
    std::string names;
    for (const AttributePtr& attribute : scope.input) {
      names += (names.empty() ? "" : ", ") + data::QuoteIdentifier(attribute->name());
    }
    return At(Error("CANNOT_RESOLVE_STAR_EXPAND").With("targetString", QuoteParts(target)).With("columns", names), node);
  }
  base = WithoutAlias(base);
  if (!base->type().Is(data::TypeKind::kStruct)) {
    std::string path;
    for (const std::string& part : target) path += (path.empty() ? "" : ", ") + part;
    return At(Error("_LEGACY_ERROR_TEMP_1050").With("attributes", "List(" + path + ")"), node);
  }
  const auto& fields = base->type().fields();
  for (size_t i = 0; i < fields.size(); ++i) columns.push_back(Alias::Make(MakeStructField(base, i), fields[i].name));
  return columns;
}

Result<ExprList> Resolver::ExpandStars(const ExprList& list, const Scope& scope) {
  ExprList out;
  for (const ExprPtr& expr : list) {
    if (const auto* star = expr->As<UnresolvedStar>()) {
      TW_ASSIGN_OR_RETURN(const ExprList columns, ExpandStar(*star, expr, scope));
      out.insert(out.end(), columns.begin(), columns.end());
    } else if (const auto* regex = expr->As<UnresolvedRegex>()) {
      std::string pattern = regex->pattern();
      if (pattern.size() >= 2 && pattern.front() == '`' && pattern.back() == '`') {
        pattern = pattern.substr(1, pattern.size() - 2);
      }
      const std::string anchored = std::string("\\A") + (config_->case_sensitive ? "" : "(?i)") + "(?:" + pattern + ")\\z";
      Result<Regex> compiled = Regex::Compile(anchored, "colRegex");
      if (!compiled.ok()) return At(compiled.status(), expr);
      for (const AttributePtr& attribute : scope.input) {
        const Result<bool> found = compiled->Match(attribute->name(), 0);
        if (!found.ok()) return At(found.status(), expr);
        if (*found) out.push_back(attribute);
      }
    } else {
      out.push_back(expr);
    }
  }
  return out;
}

// --- functions and casts ---

Result<ExprPtr> Resolver::Call(std::string_view function, ExprList arguments) {
  const ScalarFunction* found = environment_.functions().FindScalar(function);
  if (found == nullptr) return InternalError("there is no function " + std::string(function));
  return BindScalar(*found, std::move(arguments), bind_);
}

Result<ExprPtr> Resolver::ResolveFunction(const UnresolvedFunction& function, const Scope& scope, int depth,
                                          bool in_aggregate) {
  const std::string name = BuiltinName(function.name_parts());
  const bool is_aggregate = !name.empty() && environment_.functions().FindAggregate(name) != nullptr;
  ExprList given(function.children().begin(), function.children().end() - (function.has_filter() ? 1 : 0));
  // count(*) counts rows: its star is no list of columns.
  if (name == "count" && given.size() == 1 && !function.distinct()) {
    const auto* star = given[0]->As<UnresolvedStar>();
    if (star != nullptr && star->target().empty()) given[0] = Literal::Integer(1);
  }
  TW_ASSIGN_OR_RETURN(given, ExpandStars(given, scope));
  if (std::any_of(given.begin(), given.end(), [](const ExprPtr& e) { return AsNamedArgument(e).has_value(); })) {
    return ResolveWithKeywords(function, name, given, scope, depth, in_aggregate);
  }
  ExprList arguments;
  bool all_resolved = true;
  for (const ExprPtr& argument : given) {
    TW_ASSIGN_OR_RETURN(ExprPtr resolved, ResolveAt(argument, scope, depth + 1, in_aggregate || is_aggregate));
    all_resolved = all_resolved && resolved->resolved();
    arguments.push_back(NamesItsFields(name) ? resolved : WithoutAlias(resolved));
  }
  ExprPtr filter;
  if (function.has_filter()) {
    TW_ASSIGN_OR_RETURN(filter, ResolveAt(function.children().back(), scope, depth + 1, true));
    all_resolved = all_resolved && filter->resolved();
    filter = WithoutAlias(filter);
  }
  if (!all_resolved) {
    return UnresolvedFunction::Make(function.name_parts(), std::move(arguments), function.distinct(),
                                    std::move(filter), function.internal(), function.ignore_nulls());
  }
  TW_ASSIGN_OR_RETURN(ExprPtr call, BindByName(function, name, std::move(arguments), std::move(filter)));
  return function.ignore_nulls() ? IgnoringNulls(name, call) : call;
}

/// Only functions that look at one row of many know rows to pass over.
Result<ExprPtr> Resolver::IgnoringNulls(const std::string& name, const ExprPtr& call) {
  if (const ScalarFunction* window = FindWindowFunction(name); window != nullptr && AsWindowFunction(*call) != nullptr) {
    return BindWindowFunction(*window, call->children(), true, bind_);
  }
  const auto* aggregate = call->As<AggregateCall>();
  if (aggregate != nullptr && (name == "array_agg" || name == "collect_list")) {  // nulls never count
    return BindAggregate(*environment_.functions().FindAggregate("collect_list"), aggregate->arguments(), aggregate->distinct(), aggregate->filter(),
                         bind_);
  }
  static constexpr std::string_view kSelecting[] = {"first", "first_value", "last", "last_value", "any_value"};
  if (aggregate == nullptr || std::find(std::begin(kSelecting), std::end(kSelecting), name) == std::end(kSelecting)) {
    return Error("INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX")
        .With("prettyName", data::QuoteIdentifier(aggregate == nullptr ? name : std::string(aggregate->bound().function->name)))
        .With("syntax", "IGNORE NULLS");
  }
  // The name of the function that others are an alias of, as in Spark.
  const std::string_view plain = name == "first_value" ? "first" : name == "last_value" ? "last" : std::string_view(name);
  return BindAggregate(*environment_.functions().FindAggregate(plain), {aggregate->child(), Literal::Boolean(true)}, aggregate->distinct(),
                       aggregate->filter(), bind_);
}

/// Python functions alone take arguments by name.
Result<ExprPtr> Resolver::ResolveWithKeywords(const UnresolvedFunction& function, const std::string& name, const ExprList& given,
                                              const Scope& scope, int depth, bool in_aggregate) {
  const FunctionRegistry& registry = environment_.functions();
  const bool builtin = !name.empty() && (registry.FindAggregate(name) != nullptr || registry.FindScalar(name) != nullptr);
  PythonFunctionPtr python = builtin ? nullptr : environment_.FindPythonFunction(SessionName(function.name_parts()));
  if (python == nullptr && builtin) return Unsupported("named arguments of built-in functions");
  if (python == nullptr) return BindByName(function, name, {}, nullptr);  // says that there is none
  ExprList arguments;
  std::vector<std::string> keywords;
  for (const ExprPtr& argument : given) {
    const auto named = AsNamedArgument(argument);
    keywords.push_back(named ? named->first : std::string());
    TW_ASSIGN_OR_RETURN(ExprPtr resolved, ResolveAt(named ? named->second : argument, scope, depth + 1, in_aggregate));
    arguments.push_back(WithoutAlias(resolved));
  }
  return PythonUdf::Make(std::move(python), std::move(arguments), std::move(keywords));
}

Result<ExprPtr> Resolver::BindByName(const UnresolvedFunction& function, std::string name, ExprList arguments,
                                     ExprPtr filter) {
  const FunctionRegistry& registry = environment_.functions();
  if (const AggregateFunction* aggregate = registry.FindAggregate(name)) {
    return BindAggregate(*aggregate, std::move(arguments), function.distinct(), std::move(filter), bind_);
  }
  if (const ScalarFunction* window = FindWindowFunction(name)) {
    if (!function.distinct() && filter == nullptr) return BindWindowFunction(*window, std::move(arguments), false, bind_);
    return Error("INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX")
        .With("prettyName", data::QuoteIdentifier(window->name))
        .With("syntax", function.distinct() ? "DISTINCT" : "FILTER CLAUSE");
  }
  if (!function.distinct() && filter == nullptr) {
    TW_ASSIGN_OR_RETURN(ExprPtr generator, MakeGenerator(name, arguments, *config_));
    if (generator != nullptr) return generator;
    if (ExprPtr grouping = MakeGrouping(name, arguments)) return grouping;
    TW_ASSIGN_OR_RETURN(ExprPtr window, MakeTimeWindow(*this, name, arguments));
    if (window != nullptr) return window;
    if (function.internal()) {
      TW_ASSIGN_OR_RETURN(ExprPtr updated, MakeUpdatedStruct(*this, name, arguments));
      if (updated != nullptr) return ExprPtr(Alias::Make(updated, UpdatedStructName(arguments), NewExprId(), std::nullopt, true));
    }
  }
  if (name == "-" && arguments.size() == 1) {
    // The sign of an operand prints as one, the function as a call.
    static const ScalarFunction kMinus = UnaryMinus(*registry.FindScalar("negative"));
    return BindScalar(kMinus, std::move(arguments), bind_);
  }
  const ScalarFunction* scalar = name.empty() ? nullptr : registry.FindScalar(name);
  if (scalar == nullptr) {
    if (PythonFunctionPtr python = environment_.FindPythonFunction(SessionName(function.name_parts()))) {
      if (function.distinct() || filter != nullptr) {
        return Error("INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX")
            .With("prettyName", data::QuoteIdentifier(python->name))
            .With("syntax", function.distinct() ? "DISTINCT" : "FILTER CLAUSE");
      }
      return PythonUdf::Make(std::move(python), std::move(arguments), {});
    }
  }
  if (scalar == nullptr && arguments.size() == 1) {
    if (const std::optional<DataType> type = CastFunctionType(name)) {
      return ResolveCast(*Cast::Make(arguments[0], *type, EvalMode::kAnsi, true)->As<Cast>());
    }
  }
  if (scalar == nullptr || (scalar->internal && !function.internal() && function.name_parts().size() > 1)) {
    if (scalar == nullptr && IsSparkFunction(name)) return Unsupported("the function " + name);
    return Error("UNRESOLVED_ROUTINE")
        .With("routineName", QuoteParts(function.name_parts()))
        .With("searchPath", "[`system`.`builtin`, `system`.`session`, `" + config_->current_catalog + "`.`" +
                                config_->current_database + "`]");
  }
  if (function.distinct() || filter != nullptr) {
    return Error("INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX")
        .With("prettyName", data::QuoteIdentifier(scalar->name))
        .With("syntax", function.distinct() ? "DISTINCT" : "FILTER CLAUSE");
  }
  return BindScalar(*scalar, std::move(arguments), bind_);
}

Result<ExprPtr> Resolver::ResolveCast(const Cast& cast) {
  EvalMode mode = cast.mode();
  if (mode == EvalMode::kAnsi && cast.user() && !config_->ansi) mode = EvalMode::kLegacy;
  const ExprPtr& child = cast.child();
  if (!CanCast(child->type(), cast.type(), mode)) return CastTypeError(cast, child->type(), cast.type(), mode);
  return Cast::Make(child, cast.type(), mode, cast.user());
}

}  // namespace thalweg::sql
