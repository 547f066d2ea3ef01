#pragma once

// Contract: logical plans, unresolved and resolved. Immutable; rewritten by copying. A closed set of kinds: a new kind means a
// case in analyzer and planner (and in prune_columns and push_predicates where what it says of itself is not enough).

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "data/columnar/chunk.h"
#include "sql/datasource/data_source.h"
#include "sql/expr/expression.h"

namespace thalweg::sql {

class LogicalPlan;
using PlanPtr = std::shared_ptr<const LogicalPlan>;
using PlanList = std::vector<PlanPtr>;

enum class PlanKind : uint8_t {
  // Only unresolved.
  kUnresolvedRelation,   ///< a table, view or path-in-SQL by name
  kUnresolvedDataSource, ///< spark.read / readStream .format(...).load(...)
  kUnresolvedInlineTable,///< VALUES (...), (...)
  kWithColumns,          ///< withColumn(s): names and expressions over the child
  kWithColumnsRenamed,
  kDropColumns,
  kToDf,                 ///< rename all columns
  kToSchema,
  kUnresolvedHaving,     ///< HAVING and QUALIFY
  kUnresolvedWith,       ///< CTEs
  kUnresolvedDeduplicate,
  kUnresolvedPivot,      ///< these three: sql/plan/reshape.h
  kUnresolvedUnpivot,
  kUnresolvedTranspose,
  // Resolved (also used unresolved).
  kLocalRelation,
  kOneRow,               ///< SELECT without FROM
  kRange,
  kRelation,             ///< a leaf backed by a Table (batch or streaming)
  kProject,
  kFilter,
  kAggregate,
  kJoin,
  kUnion,
  kLimit,
  kOffset,
  kTail,
  kSort,
  kDistinct,
  kDeduplicate,
  kSubqueryAlias,
  kEventTimeWatermark,
  kRepartition,
  kSample,
  kShowString,           ///< df.show(): one row, one string
  kHint,
  kCollectMetrics,       ///< df.observe
  kGenerate,             ///< explode and kin
  kExpand,               ///< every row once per projection (sliding windows, grouping sets)
  kWindow,               ///< results of functions over windows beside each row; see sql/plan/window.h
  kEvalPython,           ///< results of Python functions beside each row; see sql/plan/eval_python.h
  kCommand,              ///< executed by front/commands; see sql/plan/commands.h
};

/// Base of all nodes. Thread: immutable.
class LogicalPlan : public std::enable_shared_from_this<LogicalPlan> {
 public:
  virtual ~LogicalPlan() = default;
  PlanKind kind() const { return kind_; }
  const PlanList& children() const { return children_; }
  const PlanPtr& child(size_t i = 0) const { return children_[i]; }
  /// The columns of the result, resolved nodes only.
  virtual AttributeList output() const = 0;
  /// Own expressions, in a fixed order that WithExpressions takes back.
  virtual ExprList expressions() const { return {}; }
  virtual PlanPtr WithExpressions(ExprList expressions) const;
  virtual PlanPtr WithChildren(PlanList children) const = 0;
  /// The columns that this node itself makes, aliases in its expressions apart: ids that no other node may make too.
  virtual AttributeList produced() const { return {}; }
  /// As many columns in place of those, in their order.
  virtual PlanPtr WithProduced(AttributeList columns) const;
  /// True: rows of the only child with its columns, and it needs no other columns of it than are wanted and its expressions name.
  virtual bool keeps_columns() const { return false; }
  /// True: a filter of its rows may as well stand below it. Asked of nodes with one child, about resolved predicates.
  virtual bool passes_predicate(const ExprPtr&) const { return false; }
  /// True when this node and all below are resolved.
  bool resolved() const;
  /// True when any leaf is a stream.
  bool is_streaming() const;
  /// One line for explain, without children: "Project [id#0L]".
  virtual std::string NodeText() const = 0;
  /// The whole tree as Spark's explain prints it ("+- " and ":- ").
  std::string TreeText() const;
  data::Schema schema() const;
  /// Connect's plan id of the DataFrame this node came from (df["x"] finds it); kept by WithChildren and WithExpressions.
  std::optional<int64_t> plan_id() const { return plan_id_; }
  PlanPtr WithPlanId(int64_t plan_id) const;

  template <typename T>
  const T* As() const {
    return kind_ == T::kKind ? static_cast<const T*>(this) : nullptr;
  }

 protected:
  LogicalPlan(PlanKind kind, PlanList children) : kind_(kind), children_(std::move(children)) {}
  LogicalPlan(const LogicalPlan&) = default;
  virtual std::shared_ptr<LogicalPlan> Clone() const = 0;
  /// Node-specific part of resolved(); children and expressions are checked by the base.
  virtual bool node_resolved() const { return true; }
  PlanKind kind_;
  PlanList children_;
  std::optional<int64_t> plan_id_;
};

/// Gives Clone/WithChildren to a node type that is copyable.
template <typename Derived, PlanKind K>
class PlanNode : public LogicalPlan {
 public:
  static constexpr PlanKind kKind = K;
  PlanPtr WithChildren(PlanList children) const override {
    auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
    static_cast<PlanNode&>(*copy).children_ = std::move(children);
    return copy;
  }

 protected:
  explicit PlanNode(PlanList children = {}) : LogicalPlan(K, std::move(children)) {}
  std::shared_ptr<LogicalPlan> Clone() const override {
    return std::make_shared<Derived>(static_cast<const Derived&>(*this));
  }
};

// --- leaves ---

struct UnresolvedRelation final : PlanNode<UnresolvedRelation, PlanKind::kUnresolvedRelation> {
  UnresolvedRelation(std::vector<std::string> n, OptionMap o, bool s) : name_parts(std::move(n)), options(std::move(o)), streaming(s) {}
  std::vector<std::string> name_parts;
  OptionMap options;
  bool streaming;
  Origin origin;
  AttributeList output() const override { return {}; }
  std::string NodeText() const override;
  bool node_resolved() const override { return false; }
};

struct UnresolvedDataSource final : PlanNode<UnresolvedDataSource, PlanKind::kUnresolvedDataSource> {
  std::string format;                    ///< empty: spark.sql.sources.default
  std::vector<std::string> paths;
  OptionMap options;
  std::optional<std::string> schema_text;  ///< DDL or JSON
  bool streaming = false;
  AttributeList output() const override { return {}; }
  std::string NodeText() const override;
  bool node_resolved() const override { return false; }
};

struct UnresolvedInlineTable final : PlanNode<UnresolvedInlineTable, PlanKind::kUnresolvedInlineTable> {
  std::vector<std::string> names;
  std::vector<ExprList> rows;
  AttributeList output() const override { return {}; }
  std::string NodeText() const override;
  bool node_resolved() const override { return false; }
};

/// Rows given with the plan.
struct LocalRelation final : PlanNode<LocalRelation, PlanKind::kLocalRelation> {
  LocalRelation(AttributeList a, std::vector<data::Chunk> c) : attributes(std::move(a)), chunks(std::move(c)) {}
  AttributeList attributes;
  std::vector<data::Chunk> chunks;
  AttributeList output() const override { return attributes; }
  AttributeList produced() const override { return attributes; }
  PlanPtr WithProduced(AttributeList columns) const override;
  std::string NodeText() const override;
};

struct OneRow final : PlanNode<OneRow, PlanKind::kOneRow> {
  AttributeList output() const override { return {}; }
  std::string NodeText() const override;
};

struct Range final : PlanNode<Range, PlanKind::kRange> {
  Range(int64_t s, int64_t e, int64_t st, std::optional<int> p);
  int64_t start, end, step;
  std::optional<int> partitions;
  AttributePtr id;
  AttributeList output() const override { return {id}; }
  AttributeList produced() const override { return {id}; }
  PlanPtr WithProduced(AttributeList columns) const override;
  std::string NodeText() const override;
};

/// A table, batch or streaming. `attributes` follow table->schema().
struct Relation final : PlanNode<Relation, PlanKind::kRelation> {
  Relation(TablePtr t, AttributeList a, bool s) : table(std::move(t)), attributes(std::move(a)), streaming(s) {}
  TablePtr table;
  AttributeList attributes;
  bool streaming;
  std::string format;                      ///< for plan text
  std::vector<std::string> catalog_name;   ///< when it came from the catalogue
  ExprList pushed_filters;                 ///< set by the optimizer
  AttributeList output() const override { return attributes; }
  AttributeList produced() const override { return attributes; }
  PlanPtr WithProduced(AttributeList columns) const override;
  std::string NodeText() const override;
};

// --- unresolved unary nodes of the DataFrame API ---

struct WithColumns final : PlanNode<WithColumns, PlanKind::kWithColumns> {
  WithColumns(ExprList a, PlanPtr child) : PlanNode({std::move(child)}), aliases(std::move(a)) {}
  ExprList aliases;                        ///< Alias over unresolved expressions
  AttributeList output() const override { return {}; }
  ExprList expressions() const override { return aliases; }
  PlanPtr WithExpressions(ExprList e) const override;
  std::string NodeText() const override;
  bool node_resolved() const override { return false; }
};

struct WithColumnsRenamed final : PlanNode<WithColumnsRenamed, PlanKind::kWithColumnsRenamed> {
  WithColumnsRenamed(std::vector<std::pair<std::string, std::string>> r, PlanPtr child) : PlanNode({std::move(child)}), renames(std::move(r)) {}
  std::vector<std::pair<std::string, std::string>> renames;
  AttributeList output() const override { return {}; }
  std::string NodeText() const override;
  bool node_resolved() const override { return false; }
};

struct DropColumns final : PlanNode<DropColumns, PlanKind::kDropColumns> {
  DropColumns(ExprList c, std::vector<std::string> n, PlanPtr child) : PlanNode({std::move(child)}), columns(std::move(c)), names(std::move(n)) {}
  ExprList columns;
  std::vector<std::string> names;
  AttributeList output() const override { return {}; }
  ExprList expressions() const override { return columns; }
  PlanPtr WithExpressions(ExprList e) const override;
  std::string NodeText() const override;
  bool node_resolved() const override { return false; }
};

struct ToDf final : PlanNode<ToDf, PlanKind::kToDf> {
  ToDf(std::vector<std::string> n, PlanPtr child) : PlanNode({std::move(child)}), names(std::move(n)) {}
  std::vector<std::string> names;
  AttributeList output() const override { return {}; }
  std::string NodeText() const override;
  bool node_resolved() const override { return false; }
};

struct ToSchema final : PlanNode<ToSchema, PlanKind::kToSchema> {
  ToSchema(data::Schema s, PlanPtr child) : PlanNode({std::move(child)}), target(std::move(s)) {}
  data::Schema target;
  AttributeList output() const override { return {}; }
  std::string NodeText() const override;
  bool node_resolved() const override { return false; }
};

struct UnresolvedHaving final : PlanNode<UnresolvedHaving, PlanKind::kUnresolvedHaving> {
  UnresolvedHaving(ExprPtr c, PlanPtr child, bool q = false) : PlanNode({std::move(child)}), condition(std::move(c)), qualify(q) {}
  ExprPtr condition;
  bool qualify;  ///< a QUALIFY clause: over the results of windows
  AttributeList output() const override { return {}; }
  ExprList expressions() const override { return {condition}; }
  PlanPtr WithExpressions(ExprList e) const override;
  std::string NodeText() const override;
  bool node_resolved() const override { return false; }
};

/// WITH a AS (...), b AS (...) child.
struct UnresolvedWith final : PlanNode<UnresolvedWith, PlanKind::kUnresolvedWith> {
  UnresolvedWith(std::vector<std::pair<std::string, PlanPtr>> c, PlanPtr child) : PlanNode({std::move(child)}), ctes(std::move(c)) {}
  std::vector<std::pair<std::string, PlanPtr>> ctes;
  AttributeList output() const override { return {}; }
  std::string NodeText() const override;
  bool node_resolved() const override { return false; }
};

// --- resolved nodes ---

struct Project final : PlanNode<Project, PlanKind::kProject> {
  Project(ExprList l, PlanPtr child) : PlanNode({std::move(child)}), list(std::move(l)) {}
  ExprList list;                           ///< named expressions once resolved
  AttributeList hidden;                    ///< analyzer only: columns a USING join leaves out, which may still be named
  AttributeList output() const override;
  ExprList expressions() const override { return list; }
  PlanPtr WithExpressions(ExprList e) const override;
  std::string NodeText() const override;
  bool node_resolved() const override;
};

struct Filter final : PlanNode<Filter, PlanKind::kFilter> {
  Filter(ExprPtr c, PlanPtr child) : PlanNode({std::move(child)}), condition(std::move(c)) {}
  ExprPtr condition;
  AttributeList output() const override { return child()->output(); }
  bool keeps_columns() const override { return true; }
  ExprList expressions() const override { return {condition}; }
  PlanPtr WithExpressions(ExprList e) const override;
  std::string NodeText() const override;
};

struct Aggregate final : PlanNode<Aggregate, PlanKind::kAggregate> {
  /// `aggregates` is the whole output list (named expressions over grouping expressions and AggregateCalls), as in Spark.
  Aggregate(ExprList g, ExprList a, PlanPtr child) : PlanNode({std::move(child)}), grouping(std::move(g)), aggregates(std::move(a)) {}
  ExprList grouping;
  ExprList aggregates;
  bool group_all = false;                  ///< GROUP BY ALL
  enum class Grouping : uint8_t { kPlain, kRollup, kCube, kSets };
  Grouping grouping_kind = Grouping::kPlain;
  std::vector<ExprList> grouping_sets;
  AttributeList output() const override;
  ExprList expressions() const override;   ///< grouping, then aggregates
  PlanPtr WithExpressions(ExprList e) const override;
  std::string NodeText() const override;
  bool node_resolved() const override;
};

enum class JoinType : uint8_t { kInner, kCross, kLeftOuter, kRightOuter, kFullOuter, kLeftSemi, kLeftAnti };

struct Join final : PlanNode<Join, PlanKind::kJoin> {
  Join(PlanPtr left, PlanPtr right, JoinType t, ExprPtr c) : PlanNode({std::move(left), std::move(right)}), type(t), condition(std::move(c)) {}
  JoinType type;
  ExprPtr condition;                       ///< null: none
  std::vector<std::string> using_columns;  ///< unresolved USING
  bool natural = false;
  AttributeList output() const override;
  ExprList expressions() const override;
  PlanPtr WithExpressions(ExprList e) const override;
  std::string NodeText() const override;
  bool node_resolved() const override;
};

enum class SetOp : uint8_t { kUnion, kExcept, kIntersect };
/// UNION ALL, EXCEPT and INTERSECT; UNION DISTINCT is a Distinct above. The optimizer leaves unions only.
struct Union final : PlanNode<Union, PlanKind::kUnion> {
  explicit Union(PlanList children, bool n = false, bool m = false) : PlanNode(std::move(children)), by_name(n), allow_missing(m) {}
  bool by_name, allow_missing;
  SetOp op = SetOp::kUnion;
  bool all = true;                         ///< for except and intersect
  AttributeList attributes;                ///< output, set when resolved
  AttributeList output() const override { return attributes; }
  AttributeList produced() const override { return attributes; }
  PlanPtr WithProduced(AttributeList columns) const override;
  std::string NodeText() const override;
  bool node_resolved() const override;
};

struct Limit final : PlanNode<Limit, PlanKind::kLimit> {
  Limit(ExprPtr l, PlanPtr child) : PlanNode({std::move(child)}), limit(std::move(l)) {}
  ExprPtr limit;
  AttributeList output() const override { return child()->output(); }
  ExprList expressions() const override { return {limit}; }
  PlanPtr WithExpressions(ExprList e) const override;
  std::string NodeText() const override;
  bool keeps_columns() const override { return true; }
};

struct OffsetRows final : PlanNode<OffsetRows, PlanKind::kOffset> {
  OffsetRows(ExprPtr o, PlanPtr child) : PlanNode({std::move(child)}), offset(std::move(o)) {}
  ExprPtr offset;
  AttributeList output() const override { return child()->output(); }
  ExprList expressions() const override { return {offset}; }
  PlanPtr WithExpressions(ExprList e) const override;
  bool keeps_columns() const override { return true; }
  std::string NodeText() const override;
};

struct Tail final : PlanNode<Tail, PlanKind::kTail> {
  Tail(ExprPtr l, PlanPtr child) : PlanNode({std::move(child)}), limit(std::move(l)) {}
  ExprPtr limit;
  AttributeList output() const override { return child()->output(); }
  ExprList expressions() const override { return {limit}; }
  PlanPtr WithExpressions(ExprList e) const override;
  std::string NodeText() const override;
  bool keeps_columns() const override { return true; }
};

struct Sort final : PlanNode<Sort, PlanKind::kSort> {
  Sort(ExprList o, bool g, PlanPtr child) : PlanNode({std::move(child)}), orders(std::move(o)), global(g) {}
  ExprList orders;                         ///< SortOrder
  bool global;
  bool order_by_all = false;
  AttributeList output() const override { return child()->output(); }
  ExprList expressions() const override { return orders; }
  PlanPtr WithExpressions(ExprList e) const override;
  bool keeps_columns() const override { return true; }
  bool passes_predicate(const ExprPtr& predicate) const override;
  std::string NodeText() const override;
};

struct Distinct final : PlanNode<Distinct, PlanKind::kDistinct> {
  explicit Distinct(PlanPtr child) : PlanNode({std::move(child)}) {}
  AttributeList output() const override { return child()->output(); }
  std::string NodeText() const override;
};

/// dropDuplicates: unresolved holds names, resolved holds keys.
struct Deduplicate final : PlanNode<Deduplicate, PlanKind::kDeduplicate> {
  explicit Deduplicate(PlanPtr child) : PlanNode({std::move(child)}) {}
  std::vector<std::string> column_names;
  bool all_columns = false;
  bool within_watermark = false;
  AttributeList keys;
  bool keys_resolved = false;
  AttributeList output() const override { return child()->output(); }
  ExprList expressions() const override;   ///< the keys
  PlanPtr WithExpressions(ExprList e) const override;
  std::string NodeText() const override;
  bool node_resolved() const override { return keys_resolved; }
};

struct SubqueryAlias final : PlanNode<SubqueryAlias, PlanKind::kSubqueryAlias> {
  SubqueryAlias(std::vector<std::string> n, PlanPtr child) : PlanNode({std::move(child)}), name_parts(std::move(n)) {}
  std::vector<std::string> name_parts;     ///< the qualifier of its output: {alias}, or {catalog, db, table}
  std::vector<std::string> column_names;   ///< t(a, b): unresolved renames
  bool is_view = false;
  AttributeList output() const override;
  bool keeps_columns() const override { return true; }
  bool passes_predicate(const ExprPtr&) const override { return true; }
  std::string NodeText() const override;
};

struct EventTimeWatermark final : PlanNode<EventTimeWatermark, PlanKind::kEventTimeWatermark> {
  EventTimeWatermark(ExprPtr e, std::string d, PlanPtr child) : PlanNode({std::move(child)}), event_time(std::move(e)), delay_text(std::move(d)) {}
  ExprPtr event_time;                      ///< an Attribute once resolved
  std::string delay_text;
  int64_t delay_ms = 0;                    ///< set when resolved
  bool delay_resolved = false;
  AttributeList output() const override;   ///< the event-time column carries spark.watermarkDelayMs
  ExprList expressions() const override { return {event_time}; }
  PlanPtr WithExpressions(ExprList e) const override;
  bool keeps_columns() const override { return true; }
  bool passes_predicate(const ExprPtr& predicate) const override;   ///< what does not use the event time
  std::string NodeText() const override;
  bool node_resolved() const override { return delay_resolved; }
};

struct Repartition final : PlanNode<Repartition, PlanKind::kRepartition> {
  Repartition(std::optional<int> n, bool s, ExprList k, PlanPtr child) : PlanNode({std::move(child)}), partitions(n), shuffle(s), keys(std::move(k)) {}
  std::optional<int> partitions;
  bool shuffle;
  ExprList keys;
  AttributeList output() const override { return child()->output(); }
  ExprList expressions() const override { return keys; }
  PlanPtr WithExpressions(ExprList e) const override;
  bool keeps_columns() const override { return true; }
  bool passes_predicate(const ExprPtr& predicate) const override;
  std::string NodeText() const override;
};

struct Sample final : PlanNode<Sample, PlanKind::kSample> {
  Sample(double l, double u, bool r, int64_t s, PlanPtr child) : PlanNode({std::move(child)}), lower(l), upper(u), with_replacement(r), seed(s) {}
  double lower, upper;
  bool with_replacement;
  int64_t seed;
  AttributeList output() const override { return child()->output(); }
  bool keeps_columns() const override { return true; }
  std::string NodeText() const override;
};

/// df.show(): formats up to num_rows rows of the child as one string in one row, column "show_string".
struct ShowString final : PlanNode<ShowString, PlanKind::kShowString> {
  ShowString(int n, int t, bool v, PlanPtr child);
  int num_rows, truncate;
  bool vertical;
  bool html = false;
  AttributePtr text;
  AttributeList output() const override { return {text}; }
  AttributeList produced() const override { return {text}; }
  PlanPtr WithProduced(AttributeList columns) const override;
  std::string NodeText() const override;
};

struct Hint final : PlanNode<Hint, PlanKind::kHint> {
  Hint(std::string n, ExprList p, PlanPtr child) : PlanNode({std::move(child)}), name(std::move(n)), parameters(std::move(p)) {}
  std::string name;
  ExprList parameters;
  AttributeList output() const override { return child()->output(); }
  std::string NodeText() const override;
};

struct CollectMetrics final : PlanNode<CollectMetrics, PlanKind::kCollectMetrics> {
  CollectMetrics(std::string n, ExprList m, PlanPtr child) : PlanNode({std::move(child)}), name(std::move(n)), metrics(std::move(m)) {}
  std::string name;
  ExprList metrics;
  AttributeList output() const override { return child()->output(); }
  bool keeps_columns() const override { return true; }
  ExprList expressions() const override { return metrics; }
  PlanPtr WithExpressions(ExprList e) const override;
  std::string NodeText() const override;
};

/// Puts out each row of the child once per element of an array or entry of a map, in their order, with the element beside the
/// row's own columns; no row for an empty or null one, unless `outer` (then one row with nulls). explode, posexplode, inline.
struct Generate final : PlanNode<Generate, PlanKind::kGenerate> {
  Generate(ExprPtr i, bool p, bool o, AttributeList g, PlanPtr child) : PlanNode({std::move(child)}), input(std::move(i)), position(p), outer(o), generated(std::move(g)) {}
  ExprPtr input;                           ///< an array or a map
  bool position;                           ///< the first generated column is the position, an int from 0
  bool outer;
  /// After the position: the element; or key and value; or, by `inline_fields`, each field of the element.
  AttributeList generated;
  bool inline_fields = false;
  AttributeList output() const override;   ///< the child's columns, then the generated ones
  AttributeList produced() const override { return generated; }
  PlanPtr WithProduced(AttributeList columns) const override;
  bool passes_predicate(const ExprPtr& predicate) const override;
  ExprList expressions() const override { return {input}; }
  PlanPtr WithExpressions(ExprList e) const override;
  std::string NodeText() const override;
};

/// Puts out each row of the child once per projection, in the order of the projections, row by row (Spark's Expand). Made by the
/// analyzer for sliding windows.
struct Expand final : PlanNode<Expand, PlanKind::kExpand> {
  Expand(std::vector<ExprList> p, AttributeList a, PlanPtr child) : PlanNode({std::move(child)}), projections(std::move(p)), attributes(std::move(a)) {}
  std::vector<ExprList> projections;       ///< each as wide as `attributes`, over the child's columns
  AttributeList attributes;                ///< output; an attribute of the child that passes through keeps its id
  AttributeList output() const override { return attributes; }
  AttributeList produced() const override { return attributes; }
  PlanPtr WithProduced(AttributeList columns) const override;
  bool passes_predicate(const ExprPtr& predicate) const override;
  ExprList expressions() const override;   ///< the projections one after the other
  PlanPtr WithExpressions(ExprList e) const override;
  std::string NodeText() const override;
};

// --- tools ---

/// Rewrites bottom-up; `rule` answers null to keep a node.
Result<PlanPtr> TransformUp(const PlanPtr& plan, const std::function<Result<PlanPtr>(const PlanPtr&)>& rule);
Result<PlanPtr> TransformDown(const PlanPtr& plan, const std::function<Result<PlanPtr>(const PlanPtr&)>& rule);
void Visit(const PlanPtr& plan, const std::function<bool(const PlanPtr&)>& visit);
/// Rewrites every expression of one node (not of its children).
Result<PlanPtr> TransformExpressions(const PlanPtr& plan, const std::function<Result<ExprPtr>(const ExprPtr&)>& rule);
/// True when every column that the expression names is one of these.
bool RefersOnlyTo(const ExprPtr& expr, const AttributeList& columns);
/// New ExprIds for everything a plan puts out (the right side of a self join or self union). Errors: INTERNAL_ERROR for a node
/// that makes columns and does not tell (`produced`).
Result<PlanPtr> WithFreshIds(const PlanPtr& plan);

}  // namespace thalweg::sql
