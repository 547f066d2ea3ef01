#pragma once

// Contract: expression trees, unresolved and resolved, as in Spark's Catalyst. Immutable; rewritten by copying.
// Life: parser or protocol builds unresolved nodes -> analyzer resolves names, functions and types, inserts casts ->
// optimizer rewrites -> planner compiles (sql/expr/evaluator.h).

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/status.h"
#include "data/types/data_type.h"
#include "data/types/value.h"

namespace thalweg::sql {

using data::DataType;
using data::Value;

class Expr;
using ExprPtr = std::shared_ptr<const Expr>;
using ExprList = std::vector<ExprPtr>;
struct ScalarFunction;     // sql/expr/function.h
struct AggregateFunction;  // sql/expr/function.h
struct BoundScalar;        // sql/expr/function.h
struct BoundAggregate;     // sql/expr/function.h

enum class ExprKind : uint8_t {
  // Resolved forms.
  kLiteral,
  kAttribute,       ///< a column of a child plan, by ExprId
  kAlias,
  kCall,            ///< scalar function or operator; every operator is a function of the registry ("+", "and", "case")
  kCast,
  kAggregate,
  kSortOrder,
  kWindowCall,      ///< OVER (...); not in this slice's execution
  kOuterReference,
  kSubquery,
  kPythonUdf,
  // Forms that only an unresolved plan holds.
  kUnresolvedAttribute,
  kUnresolvedStar,
  kUnresolvedRegex,
  kUnresolvedFunction,
  kUnresolvedExtract,  ///< child[extraction] or child.field
  kUnresolvedOrdinal,
  kLambda,
  kLambdaVariable,
  kUpdateFields,    ///< Column.withField / dropFields
  kPrettyText,      ///< text in place of a node while a name is printed; never in a plan
};

enum class EvalMode : uint8_t { kLegacy, kAnsi, kTry };

/// Where in the user's text an expression comes from; shared by many nodes.
using Origin = std::shared_ptr<const QueryContext>;

/// Base of all nodes. Thread: immutable.
class Expr : public std::enable_shared_from_this<Expr> {
 public:
  virtual ~Expr() = default;
  ExprKind kind() const { return kind_; }
  const ExprList& children() const { return children_; }
  const ExprPtr& child(size_t i = 0) const { return children_[i]; }
  /// True when this node and all below are resolved forms with types.
  bool resolved() const { return resolved_; }
  /// Resolved nodes only.
  virtual const DataType& type() const;
  virtual bool nullable() const { return true; }
  /// False for rand(), uuid() and the like.
  virtual bool deterministic() const;
  /// True when no column, subquery or non-deterministic function stands below.
  bool foldable() const;
  /// The same node over other children (same number unless the node says otherwise). Types are not recomputed.
  virtual ExprPtr WithChildren(ExprList children) const = 0;
  /// Spark's `sql`: also the automatic column name ("(id + 1)", "count(1)") via `AutoName`.
  virtual std::string Sql() const = 0;
  /// Spark's toString in plans: "(id#0L + 1)".
  virtual std::string PlanText() const = 0;
  /// Equal trees, ExprIds included; aliases compare by child, name and id.
  virtual bool Equals(const Expr& other) const = 0;

  const Origin& origin() const { return origin_; }
  ExprPtr WithOrigin(Origin origin) const;

  template <typename T>
  const T* As() const {
    return kind_ == T::kKind ? static_cast<const T*>(this) : nullptr;
  }

 protected:
  Expr(ExprKind kind, ExprList children);
  Expr(const Expr&) = default;
  virtual std::shared_ptr<Expr> Clone() const = 0;
  ExprKind kind_;
  bool resolved_ = true;
  ExprList children_;
  Origin origin_;
};

/// A fresh ExprId, unique in the process.
ExprId NewExprId();

class Literal final : public Expr {
 public:
  static constexpr ExprKind kKind = ExprKind::kLiteral;
  static ExprPtr Make(Value value, DataType type);
  static ExprPtr Boolean(bool value);
  static ExprPtr Integer(int32_t value);
  static ExprPtr Long(int64_t value);
  static ExprPtr String(std::string value);
  static ExprPtr Null(DataType type = DataType::Null());
  const Value& value() const { return value_; }
  const DataType& type() const override { return type_; }
  bool nullable() const override { return value_.is_null(); }
  ExprPtr WithChildren(ExprList children) const override;
  std::string Sql() const override;
  std::string PlanText() const override;
  bool Equals(const Expr& other) const override;

 private:
  Literal(Value value, DataType type);
  std::shared_ptr<Expr> Clone() const override;
  Value value_;
  DataType type_;
};

/// A column of a plan's output. Two references mean the same column exactly when their ids are equal.
class Attribute final : public Expr {
 public:
  static constexpr ExprKind kKind = ExprKind::kAttribute;
  static std::shared_ptr<const Attribute> Make(std::string name, DataType type, bool nullable, ExprId id = NewExprId(),
                                               std::vector<std::string> qualifier = {},
                                               std::string metadata_json = "{}");
  const std::string& name() const { return name_; }
  ExprId id() const { return id_; }
  const std::vector<std::string>& qualifier() const { return qualifier_; }
  /// Field metadata; "spark.watermarkDelayMs" marks an event-time column.
  const std::string& metadata_json() const { return metadata_json_; }
  const DataType& type() const override { return type_; }
  bool nullable() const override { return nullable_; }
  std::shared_ptr<const Attribute> WithQualifier(std::vector<std::string> qualifier) const;
  std::shared_ptr<const Attribute> WithNullable(bool nullable) const;
  std::shared_ptr<const Attribute> WithMetadata(std::string metadata_json) const;
  std::shared_ptr<const Attribute> WithId(ExprId id) const;
  data::StructField ToField() const { return {name_, type_, nullable_, metadata_json_}; }
  ExprPtr WithChildren(ExprList children) const override;
  std::string Sql() const override;
  std::string PlanText() const override;
  bool Equals(const Expr& other) const override;

 private:
  Attribute(std::string name, DataType type, bool nullable, ExprId id, std::vector<std::string> qualifier,
            std::string metadata_json);
  std::shared_ptr<Expr> Clone() const override;
  std::string name_;
  DataType type_;
  bool nullable_;
  ExprId id_;
  std::vector<std::string> qualifier_;
  std::string metadata_json_;
};
using AttributePtr = std::shared_ptr<const Attribute>;
using AttributeList = std::vector<AttributePtr>;

class Alias final : public Expr {
 public:
  static constexpr ExprKind kKind = ExprKind::kAlias;
  /// `automatic`: the engine named it; expressions it stands in print without it.
  static std::shared_ptr<const Alias> Make(ExprPtr child, std::string name, ExprId id = NewExprId(),
                                           std::optional<std::string> metadata_json = {}, bool automatic = false);
  const std::string& name() const { return name_; }
  /// More than one name (generators); empty otherwise.
  const std::vector<std::string>& names() const { return names_; }
  static ExprPtr MakeMulti(ExprPtr child, std::vector<std::string> names);
  ExprId id() const { return id_; }
  bool automatic() const { return automatic_; }
  const std::optional<std::string>& explicit_metadata() const { return metadata_json_; }
  /// Explicit metadata, else the child attribute's.
  std::string metadata_json() const;
  AttributePtr ToAttribute() const;
  const DataType& type() const override { return child()->type(); }
  bool nullable() const override { return child()->nullable(); }
  ExprPtr WithChildren(ExprList children) const override;
  std::string Sql() const override;
  std::string PlanText() const override;
  bool Equals(const Expr& other) const override;

 private:
  Alias(ExprPtr child, std::string name, ExprId id, std::optional<std::string> metadata_json, bool automatic);
  std::shared_ptr<Expr> Clone() const override;
  std::string name_;
  std::vector<std::string> names_;
  ExprId id_;
  std::optional<std::string> metadata_json_;
  bool automatic_;
};

/// A bound scalar function or operator.
class Call final : public Expr {
 public:
  static constexpr ExprKind kKind = ExprKind::kCall;
  /// Only the function's binder calls this (through BindScalar).
  static ExprPtr Make(std::shared_ptr<const BoundScalar> bound, ExprList arguments);
  const BoundScalar& bound() const { return *bound_; }
  const std::shared_ptr<const BoundScalar>& bound_ptr() const { return bound_; }
  /// The registry's name: "+", "and", "upper", "window".
  const std::string& function_name() const;
  const DataType& type() const override;
  bool nullable() const override;
  bool deterministic() const override;
  ExprPtr WithChildren(ExprList children) const override;
  std::string Sql() const override;
  std::string PlanText() const override;
  bool Equals(const Expr& other) const override;

 private:
  Call(std::shared_ptr<const BoundScalar> bound, ExprList arguments);
  std::shared_ptr<Expr> Clone() const override;
  std::shared_ptr<const BoundScalar> bound_;
};

class Cast final : public Expr {
 public:
  static constexpr ExprKind kKind = ExprKind::kCast;
  /// `user`: written by the user (prints as CAST(...)), else inserted by coercion (transparent in names).
  static ExprPtr Make(ExprPtr child, DataType to, EvalMode mode, bool user = false);
  EvalMode mode() const { return mode_; }
  bool user() const { return user_; }
  const DataType& type() const override { return to_; }
  bool nullable() const override;
  ExprPtr WithChildren(ExprList children) const override;
  std::string Sql() const override;
  std::string PlanText() const override;
  bool Equals(const Expr& other) const override;

 private:
  Cast(ExprPtr child, DataType to, EvalMode mode, bool user);
  std::shared_ptr<Expr> Clone() const override;
  DataType to_;
  EvalMode mode_;
  bool user_;
};

/// An aggregate function over its arguments. children = arguments, then the filter if has_filter.
class AggregateCall final : public Expr {
 public:
  static constexpr ExprKind kKind = ExprKind::kAggregate;
  static ExprPtr Make(std::shared_ptr<const BoundAggregate> bound, ExprList arguments, bool distinct, ExprPtr filter);
  const BoundAggregate& bound() const { return *bound_; }
  const std::shared_ptr<const BoundAggregate>& bound_ptr() const { return bound_; }
  bool distinct() const { return distinct_; }
  bool has_filter() const { return has_filter_; }
  ExprList arguments() const;
  ExprPtr filter() const;  ///< null without one
  const DataType& type() const override;
  bool nullable() const override;
  ExprPtr WithChildren(ExprList children) const override;
  std::string Sql() const override;
  std::string PlanText() const override;
  bool Equals(const Expr& other) const override;

 private:
  AggregateCall(std::shared_ptr<const BoundAggregate> bound, ExprList children, bool distinct, bool has_filter);
  std::shared_ptr<Expr> Clone() const override;
  std::shared_ptr<const BoundAggregate> bound_;
  bool distinct_;
  bool has_filter_;
};

class SortOrder final : public Expr {
 public:
  static constexpr ExprKind kKind = ExprKind::kSortOrder;
  static ExprPtr Make(ExprPtr child, bool ascending, bool nulls_first);
  bool ascending() const { return ascending_; }
  bool nulls_first() const { return nulls_first_; }
  const DataType& type() const override { return child()->type(); }
  bool nullable() const override { return child()->nullable(); }
  ExprPtr WithChildren(ExprList children) const override;
  std::string Sql() const override;
  std::string PlanText() const override;
  bool Equals(const Expr& other) const override;

 private:
  SortOrder(ExprPtr child, bool ascending, bool nulls_first);
  std::shared_ptr<Expr> Clone() const override;
  bool ascending_;
  bool nulls_first_;
};

// --- unresolved forms (sql/expr/unresolved.cc) ---

/// A name to be found in the children of the plan it stands in. `plan_id` pins it to one DataFrame (df["x"]).
class UnresolvedAttribute final : public Expr {
 public:
  static constexpr ExprKind kKind = ExprKind::kUnresolvedAttribute;
  static ExprPtr Make(std::vector<std::string> name_parts, std::optional<int64_t> plan_id = {}, bool metadata_column = false);
  const std::vector<std::string>& name_parts() const { return name_parts_; }
  const std::optional<int64_t>& plan_id() const { return plan_id_; }
  bool metadata_column() const { return metadata_column_; }
  ExprPtr WithChildren(ExprList children) const override;
  std::string Sql() const override;
  std::string PlanText() const override;
  bool Equals(const Expr& other) const override;

 private:
  UnresolvedAttribute(std::vector<std::string> name_parts, std::optional<int64_t> plan_id, bool metadata_column);
  std::shared_ptr<Expr> Clone() const override;
  std::vector<std::string> name_parts_;
  std::optional<int64_t> plan_id_;
  bool metadata_column_;
};

/// `*` or `target.*` (a table's columns or a struct's fields).
class UnresolvedStar final : public Expr {
 public:
  static constexpr ExprKind kKind = ExprKind::kUnresolvedStar;
  static ExprPtr Make(std::vector<std::string> target = {}, std::optional<int64_t> plan_id = {});
  const std::vector<std::string>& target() const { return target_; }
  const std::optional<int64_t>& plan_id() const { return plan_id_; }
  ExprPtr WithChildren(ExprList children) const override;
  std::string Sql() const override;
  std::string PlanText() const override;
  bool Equals(const Expr& other) const override;

 private:
  UnresolvedStar(std::vector<std::string> target, std::optional<int64_t> plan_id);
  std::shared_ptr<Expr> Clone() const override;
  std::vector<std::string> target_;
  std::optional<int64_t> plan_id_;
};

/// Columns whose name matches a regular expression (DataFrame.colRegex).
class UnresolvedRegex final : public Expr {
 public:
  static constexpr ExprKind kKind = ExprKind::kUnresolvedRegex;
  static ExprPtr Make(std::string pattern, std::optional<int64_t> plan_id = {});
  const std::string& pattern() const { return pattern_; }
  ExprPtr WithChildren(ExprList children) const override;
  std::string Sql() const override;
  std::string PlanText() const override;
  bool Equals(const Expr& other) const override;

 private:
  UnresolvedRegex(std::string pattern, std::optional<int64_t> plan_id);
  std::shared_ptr<Expr> Clone() const override;
  std::string pattern_;
  std::optional<int64_t> plan_id_;
};

/// A call by name: scalar, aggregate or generator; operators too ("+", "==", "and", "in", "case" = when, "cast" is Cast with
/// an unresolved child). children = arguments, then the filter if has_filter.
class UnresolvedFunction final : public Expr {
 public:
  static constexpr ExprKind kKind = ExprKind::kUnresolvedFunction;
  static ExprPtr Make(std::vector<std::string> name_parts, ExprList arguments, bool distinct = false, ExprPtr filter = nullptr,
                      bool internal = false, bool ignore_nulls = false);
  const std::vector<std::string>& name_parts() const { return name_parts_; }
  bool distinct() const { return distinct_; }
  bool has_filter() const { return has_filter_; }
  /// `f(...) IGNORE NULLS`.
  bool ignore_nulls() const { return ignore_nulls_; }
  /// Connect's is_internal: looked up among internal functions only.
  bool internal() const { return internal_; }
  ExprPtr WithChildren(ExprList children) const override;
  std::string Sql() const override;
  std::string PlanText() const override;
  bool Equals(const Expr& other) const override;

 private:
  UnresolvedFunction(std::vector<std::string> name_parts, ExprList children, bool distinct, bool has_filter, bool internal, bool ignore_nulls);
  std::shared_ptr<Expr> Clone() const override;
  std::vector<std::string> name_parts_;
  bool distinct_;
  bool has_filter_;
  bool internal_;
  bool ignore_nulls_;
};

/// child[extraction]: struct field, array element or map value, decided by the child's type.
class UnresolvedExtract final : public Expr {
 public:
  static constexpr ExprKind kKind = ExprKind::kUnresolvedExtract;
  static ExprPtr Make(ExprPtr child, ExprPtr extraction);
  ExprPtr WithChildren(ExprList children) const override;
  std::string Sql() const override;
  std::string PlanText() const override;
  bool Equals(const Expr& other) const override;

 private:
  UnresolvedExtract(ExprPtr child, ExprPtr extraction);
  std::shared_ptr<Expr> Clone() const override;
};

// --- tree tools ---

/// Rewrites bottom-up; `rule` answers null to keep a node. Subtrees that do not change are shared.
Result<ExprPtr> TransformUp(const ExprPtr& expr, const std::function<Result<ExprPtr>(const ExprPtr&)>& rule);
/// Rewrites top-down: children of a replaced node are visited as well.
Result<ExprPtr> TransformDown(const ExprPtr& expr, const std::function<Result<ExprPtr>(const ExprPtr&)>& rule);
/// Visits every node, parents first; `visit` answers false to skip the children.
void Visit(const ExprPtr& expr, const std::function<bool(const ExprPtr&)>& visit);
bool Contains(const ExprPtr& expr, ExprKind kind);
/// Ids of all attributes below, without duplicates, in order of appearance.
std::vector<ExprId> References(const ExprPtr& expr);
/// The attribute a named expression (Attribute or Alias) puts out. TW_DCHECKs the kind.
AttributePtr ToAttribute(const ExprPtr& named);
bool IsNamed(const ExprPtr& expr);
/// Spark's automatic column name: `usePrettyExpression(e).sql`, e.g. "sum(x)", "CAST(value AS STRING)", "e.user_id" -> "user_id".
std::string AutoName(const ExprPtr& expr);
/// The conjuncts of a condition, left to right.
ExprList SplitConjunction(const ExprPtr& condition);
/// The same for any binary function of the registry's name ("or").
ExprList SplitBinary(const ExprPtr& expr, std::string_view function_name);
/// Semantic equality of lists, element by element; null elements are equal to null only.
bool EqualLists(const ExprList& a, const ExprList& b);
/// "id#3L", "ts#1-T10000ms": name, id and the suffixes of type and watermark.
std::string AttributeText(const std::string& name, ExprId id, const DataType& type, const std::string& metadata_json);
/// "a, b", by PlanText.
std::string JoinPlanTexts(const ExprList& list);
/// Whether casting a value that is not null can give null (Spark's Cast.forceNullable).
bool CastForcesNullable(const DataType& from, const DataType& to);
/// The number of milliseconds under "spark.watermarkDelayMs" of a field's metadata, if any.
std::optional<int64_t> WatermarkDelayMs(const std::string& metadata_json);
/// The metadata with that entry set, or removed by nullopt.
std::string WithWatermarkDelayMs(const std::string& metadata_json, std::optional<int64_t> delay_ms);
/// Whether the metadata has the boolean entry `key` and it is true ("spark.timeWindow", "spark.sessionWindow").
bool HasMetadataFlag(const std::string& metadata_json, std::string_view key);
/// The metadata with that entry true, or without it.
std::string WithMetadataFlag(const std::string& metadata_json, std::string_view key, bool flag);
inline constexpr std::string_view kTimeWindowFlag = "spark.timeWindow";
inline constexpr std::string_view kSessionWindowFlag = "spark.sessionWindow";

}  // namespace thalweg::sql
