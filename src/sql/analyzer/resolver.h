#pragma once

// Inside of the analyzer: one pass over the plan, children first, names against the output of the resolved children.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "sql/analyzer/analyzer.h"
#include "sql/analyzer/names.h"

namespace thalweg::sql {

/// What the names of one expression may mean, in order of preference.
struct Scope {
  AttributeList input;          ///< output of the children
  PlanList plans;               ///< the children, for names pinned to a DataFrame
  AttributeList hidden;         ///< columns that a USING join has left out, by qualified name
  /// Consulted when a name is not in `input`: the child of an Aggregate, for HAVING and ORDER BY.
  const Scope* fallback = nullptr;
  /// Inside the arguments of an aggregate function `fallback` comes first.
  bool fallback_first_in_aggregates = false;
  /// Aliases of the same select list that stand to the left (lateral column aliases).
  const std::vector<std::shared_ptr<const Alias>>* laterals = nullptr;
  /// Unknown names stay unresolved instead of being an error.
  bool lenient = false;
};

/// Thread: confined to one call of Analyze.
class Resolver {
 public:
  explicit Resolver(AnalyzerEnvironment& environment)
      : environment_(environment), config_(environment.config()), bind_{*config_} {}

  Result<PlanPtr> Resolve(const PlanPtr& plan);
  /// Without the final checks of names: `lenient` scopes leave names unresolved.
  Result<ExprPtr> ResolveExpression(const ExprPtr& expr, const Scope& scope);

  const EvalConfig& config() const { return *config_; }
  const BindContext& bind() const { return bind_; }
  AnalyzerEnvironment& environment() { return environment_; }

  /// A call of a registry function over resolved arguments.
  Result<ExprPtr> Call(std::string_view function, ExprList arguments);

 private:
  // resolver.cc
  Result<PlanPtr> ResolveNode(const PlanPtr& plan);
  Result<PlanPtr> ResolveWith(const PlanPtr& plan);
  Scope ScopeOf(const PlanList& children) const;
  Scope ScopeOf(const PlanPtr& child) const { return ScopeOf(PlanList{child}); }

  // relations.cc
  Result<PlanPtr> ResolveRelationName(const PlanPtr& plan);
  Result<PlanPtr> ResolveDataSource(const PlanPtr& plan);
  Result<PlanPtr> ResolveInlineTable(const PlanPtr& plan);
  Result<PlanPtr> ResolveSubqueryAlias(const PlanPtr& plan);

  // expressions.cc
  Result<ExprPtr> ResolveAt(const ExprPtr& expr, const Scope& scope, int depth, bool in_aggregate);
  Result<ExprPtr> ResolveChildren(const ExprPtr& expr, const Scope& scope, int depth, bool in_aggregate);
  Result<ExprPtr> ResolveName(const UnresolvedAttribute& name, const ExprPtr& node, const Scope& scope,
                              bool in_aggregate);
  Result<ExprPtr> ResolvePinnedName(const UnresolvedAttribute& name, const Scope& scope);
  Result<ExprPtr> ResolveFunction(const UnresolvedFunction& function, const Scope& scope, int depth,
                                  bool in_aggregate);
  Result<ExprPtr> ResolveWithKeywords(const UnresolvedFunction& function, const std::string& name, const ExprList& given,
                                      const Scope& scope, int depth, bool in_aggregate);
  Result<ExprPtr> BindByName(const UnresolvedFunction& function, std::string name, ExprList arguments,
                             ExprPtr filter);
  Result<ExprPtr> ResolveCast(const Cast& cast);
  /// A bound call of `name` that passes nulls over.
  Result<ExprPtr> IgnoringNulls(const std::string& name, const ExprPtr& call);
  /// Stars and regular expressions of a list (or of a function's arguments) become columns.
  Result<ExprList> ExpandStars(const ExprList& list, const Scope& scope);
  Result<ExprList> ExpandStar(const UnresolvedStar& star, const ExprPtr& node, const Scope& scope);

  // project.cc
  Result<ExprList> ResolveSelectList(const ExprList& list, const Scope& scope,
                                     std::vector<std::shared_ptr<const Alias>>* used_laterals);
  ExprPtr Named(const ExprPtr& expr) const;
  /// Calls of window(...) and kin in the lists become columns that `child` gets; other names are left for later, so that they
  /// may mean those columns ("SELECT window.start ... GROUP BY window(ts, '5 minutes')").
  Status ExtractWindows(std::initializer_list<ExprList*> lists, PlanPtr* child);
  Result<PlanPtr> ResolveProject(const PlanPtr& plan);
  Result<PlanPtr> WithLaterals(ExprList list, const PlanPtr& child);
  // windows.cc
  Result<ExprPtr> ResolveWindowCall(const ExprPtr& expr, const Scope& scope, int depth, bool in_aggregate);
  /// Calls over windows in a list of resolved expressions become columns of Window nodes above `*child`.
  /// Errors: NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING.
  Status ExtractWindowCalls(ExprList* list, PlanPtr* child);
  /// A Project of `list` over what computes the windows in it.
  Result<PlanPtr> ProjectOver(ExprList list, PlanPtr child);
  // generators.cc
  Result<PlanPtr> ResolveLateralView(const PlanPtr& plan);
  // project.cc, nodes that are select lists
  Result<PlanPtr> ResolveWithColumns(const PlanPtr& plan);
  Result<PlanPtr> ResolveWithColumnsRenamed(const PlanPtr& plan);
  Result<PlanPtr> ResolveDropColumns(const PlanPtr& plan);
  Result<PlanPtr> ResolveToDf(const PlanPtr& plan);
  Result<PlanPtr> ResolveToSchema(const PlanPtr& plan);

  // aggregate.cc
  Result<PlanPtr> ResolveAggregate(const PlanPtr& plan);
  Result<PlanPtr> FinishAggregate(ExprList grouping, ExprList list, PlanPtr child);
  enum class FilterClause : uint8_t { kWhere, kHaving, kQualify };
  Result<PlanPtr> ResolveFilter(const PlanPtr& plan, const ExprPtr& condition, FilterClause clause);
  Result<PlanPtr> ResolveSort(const PlanPtr& plan);
  Scope ScopeBelow(const Aggregate& aggregate) const;
  Result<ExprList> OverAggregate(const ExprList& expressions, const PlanPtr& child, PlanPtr* widened);
  Result<ExprList> AddMissing(const ExprList& expressions, const PlanPtr& child, PlanPtr* widened);
  Status CheckAggregate(const Aggregate& aggregate);
  // grouping_sets.cc
  /// Every row once per set, with the columns that the set leaves out null and a number that says which set it is.
  Status ExpandGroupingSets(Aggregate::Grouping kind, const std::vector<ExprList>& sets, ExprList* grouping, ExprList* list,
                            PlanPtr* child);

  // pivot.cc
  Result<PlanPtr> ResolvePivot(const PlanPtr& plan);
  Result<ExprPtr> OfMatchingRows(const ExprPtr& expr, const ExprPtr& match);
  Result<ExprList> FindPivotValues(const ExprPtr& column, const PlanPtr& child);
  /// What the session says. Errors: INVALID_CONF_VALUE.*.
  Result<int64_t> SettingValue(const Setting<int64_t>& setting) const;
  /// The limit of rows that tells whether there are more than `most`; the largest int stands for no limit.
  static ExprPtr OneMoreThan(int64_t most);
  // unpivot.cc
  Result<PlanPtr> ResolveUnpivot(const PlanPtr& plan);
  Result<PlanPtr> ResolveTranspose(const PlanPtr& plan);

  // joins.cc
  Result<PlanPtr> ResolveJoin(const PlanPtr& plan);
  Result<PlanPtr> ResolveUnion(const PlanPtr& plan);
  Result<PlanPtr> ByName(const Union& node, PlanList children);

  // nodes.cc
  Result<PlanPtr> ResolveDeduplicate(const PlanPtr& plan);
  Result<PlanPtr> ResolveWatermark(const PlanPtr& plan);
  Result<PlanPtr> ResolveLimit(const PlanPtr& plan);
  Result<PlanPtr> ResolveGeneric(const PlanPtr& plan);
  Result<PlanPtr> ResolveCommand(const PlanPtr& plan);

  /// An unresolved column: UNRESOLVED_COLUMN.* with what is near.
  Status UnknownColumn(const std::vector<std::string>& name_parts, const AttributeList& input) const;

  AnalyzerEnvironment& environment_;
  std::shared_ptr<const EvalConfig> config_;
  BindContext bind_;
  /// Named subqueries that are visible, innermost last.
  std::vector<std::pair<std::string, PlanPtr>> ctes_;
  int depth_ = 0;
  /// Counts the nodes that a name stands for: names that use names twice each grow without bound.
  Status TakeNodes(const PlanPtr& of_name);
  int64_t nodes_of_names_ = 0;
  int window_columns_ = 0;
};

/// Replaces time windows in the expressions of a node by columns that new nodes below it compute (Spark's TimeWindowing,
/// SessionWindowing, ResolveWindowTime). `expressions` are resolved but for names; `child` becomes what computes the columns.
Status RewriteTimeWindows(Resolver& resolver, ExprList* expressions, PlanPtr* child);
/// A window placeholder for window(...), session_window(...) or window_time(...) over resolved arguments; null when `name` is
/// none of them.
Result<ExprPtr> MakeTimeWindow(Resolver& resolver, const std::string& name, const ExprList& arguments);

/// Rewrites that outlive the resolver: see checks.cc. Errors: Spark's CheckAnalysis.
Status CheckFilterCondition(const ExprPtr& condition);
/// Of a whole resolved plan: no aggregate and no order stands where nothing evaluates it. Errors: UNSUPPORTED_EXPR_FOR_OPERATOR.
Status CheckPlaces(const PlanPtr& plan);

/// Columns that a USING join below keeps to itself, but which may still be named (`b.id`, df2["id"]).
AttributeList HiddenColumns(const LogicalPlan& plan);
/// The plan putting out those hidden columns, too, that `expressions` refer to.
PlanPtr WithHiddenColumns(const PlanPtr& plan, const ExprList& expressions);
/// Without the aliases below the top; they have done their work in names.
Result<ExprPtr> TrimAliases(const ExprPtr& expr, bool keep_top);

/// A placeholder for explode(...) and kin over resolved arguments; null when `name` is none of them.
Result<ExprPtr> MakeGenerator(const std::string& name, const ExprList& arguments, const EvalConfig& config);
bool IsGenerator(const ExprPtr& expr);
/// Generators in a select list become Generate nodes: `child` gets them, the list their columns, named by the aliases.
/// Source: Spark's ExtractGenerator. Errors: UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS.
Status ExtractGenerators(Resolver& resolver, ExprList* list, PlanPtr* child);
/// The generator among the output of an Aggregate: `list` gets what it is made of, `above` is the select list over it.
/// False when there is none. Errors: UNSUPPORTED_GENERATOR.MULTI_GENERATOR, NESTED_IN_EXPRESSIONS.
Result<bool> SplitGenerators(ExprList* list, ExprList* above);
/// UNSUPPORTED_GENERATOR.OUTSIDE_SELECT when a node other than a select list has one.
Status RefuseGenerators(const LogicalPlan& node);

/// A placeholder for grouping(x) or grouping_id(...) over resolved arguments; null for other names.
ExprPtr MakeGrouping(const std::string& name, const ExprList& arguments);
/// UNSUPPORTED_GROUPING_EXPRESSION when one is left.
Status RefuseGrouping(const ExprList& expressions);
/// The columns of ROLLUP, CUBE or GROUPING SETS.
struct GroupingColumns {
  ExprList expressions;   ///< as the query has them
  AttributeList columns;  ///< the same, null where the set of the row leaves them out
  AttributePtr id;
  bool Same(const ExprPtr& argument, const ExprPtr& expression) const;
  /// Grouping expressions outside of aggregate functions become their columns, placeholders what they stand for.
  /// Errors: GROUPING_COLUMN_MISMATCH, GROUPING_ID_COLUMN_MISMATCH.
  Result<ExprPtr> Rewrite(Resolver& resolver, const ExprPtr& expr, bool in_aggregate = false) const;
};
/// Nullopt for an Aggregate without grouping sets.
std::optional<GroupingColumns> GroupingColumnsOf(const Aggregate& aggregate);

/// Column.withField and dropFields over a resolved struct: a new struct, null where the old one is. Null when `name` is none of
/// "with_field" and "drop_field". Errors: those of Spark's UpdateFields.
Result<ExprPtr> MakeUpdatedStruct(Resolver& resolver, const std::string& name, const ExprList& arguments);
/// What Spark calls the column.
std::string UpdatedStructName(const ExprList& arguments);

/// The windows of a select list over groups: `list` keeps what the groups must put out, `over` is the select list over that.
/// False when there are none. Errors: _LEGACY_ERROR_TEMP_1031 for a window inside an aggregate function.
Result<bool> SplitWindowCalls(ExprList* list, ExprList* over);
/// Aggregate functions of this level: one that has a window of its own is none.
bool HasAggregate(const ExprPtr& expr);
/// Without the alias on top.
ExprPtr Bare(const ExprPtr& expr);
/// `status` with the place that `expr` or the first node below it comes from.
Status At(Status status, const ExprPtr& expr);

}  // namespace thalweg::sql
