// Nodes that compute: calls of scalar functions, casts and calls of aggregate functions.

#include "base/invariant.h"
#include "sql/expr/expression.h"
#include "sql/expr/function.h"

namespace thalweg::sql {
namespace {

using data::TypeKind;

std::string JoinSql(const ExprList& list, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) text += ", ";
    text += list[i]->Sql();
  }
  return text;
}

/// Digits before the point that an integer of this type may have.
int IntegerDigits(TypeKind kind) {
  switch (kind) {
    case TypeKind::kByte: return 3;
    case TypeKind::kShort: return 5;
    case TypeKind::kInteger: return 10;
    default: return 20;
  }
}

bool NullSafeCastToDecimal(const DataType& from, const DataType& to) {
  if (from.Is(TypeKind::kBoolean) || from.IsIntegral()) {
    const int digits = from.Is(TypeKind::kBoolean) ? 1 : IntegerDigits(from.kind());
    return to.precision() - to.scale() >= digits;
  }
  if (from.Is(TypeKind::kDecimal)) {
    return to.precision() - to.scale() > from.precision() - from.scale() ||
           (to.precision() - to.scale() == from.precision() - from.scale() && to.scale() >= from.scale());
  }
  return false;
}

}  // namespace

// --- Call ---

Call::Call(std::shared_ptr<const BoundScalar> bound, ExprList arguments)
    : Expr(kKind, std::move(arguments)), bound_(std::move(bound)) {}

ExprPtr Call::Make(std::shared_ptr<const BoundScalar> bound, ExprList arguments) {
  TW_DCHECK(bound != nullptr && bound->function != nullptr);
  return ExprPtr(new Call(std::move(bound), std::move(arguments)));
}

std::shared_ptr<Expr> Call::Clone() const { return std::shared_ptr<Expr>(new Call(*this)); }

const std::string& Call::function_name() const {
  // One string per function, kept for the life of the process: names are asked for in every rule.
  thread_local std::vector<std::pair<const ScalarFunction*, std::unique_ptr<std::string>>> cache;
  for (const auto& [function, name] : cache) {
    if (function == bound_->function) return *name;
  }
  cache.emplace_back(bound_->function, std::make_unique<std::string>(bound_->function->name));
  return *cache.back().second;
}

const DataType& Call::type() const { return bound_->type; }
bool Call::nullable() const { return bound_->nullable; }
bool Call::deterministic() const { return bound_->function->deterministic && Expr::deterministic(); }

ExprPtr Call::WithChildren(ExprList children) const {
  std::shared_ptr<Call> copy(new Call(bound_, std::move(children)));
  copy->origin_ = origin_;
  return copy;
}

std::string Call::Sql() const {
  if (bound_->function->sql != nullptr) return bound_->function->sql(*this, false);
  return std::string(bound_->function->name) + "(" + JoinSql(children(), children().size()) + ")";
}

std::string Call::PlanText() const {
  if (bound_->function->sql != nullptr) return bound_->function->sql(*this, true);
  return std::string(bound_->function->name) + "(" + JoinPlanTexts(children()) + ")";
}

bool Call::Equals(const Expr& other) const {
  const auto* call = other.As<Call>();
  return call != nullptr && bound_->function == call->bound_->function && bound_->mode == call->bound_->mode &&
         bound_->type == call->bound_->type && EqualLists(children(), call->children());
}

// --- Cast ---

Cast::Cast(ExprPtr child, DataType to, EvalMode mode, bool user)
    : Expr(kKind, {std::move(child)}), to_(std::move(to)), mode_(mode), user_(user) {}

ExprPtr Cast::Make(ExprPtr child, DataType to, EvalMode mode, bool user) {
  return ExprPtr(new Cast(std::move(child), std::move(to), mode, user));
}

std::shared_ptr<Expr> Cast::Clone() const { return std::shared_ptr<Expr>(new Cast(*this)); }

bool Cast::nullable() const {
  if (mode_ == EvalMode::kTry) {
    return !(child()->type().Is(TypeKind::kString) && to_.Is(TypeKind::kBinary)) || child()->nullable();
  }
  return child()->nullable() || CastForcesNullable(child()->type(), to_);
}

ExprPtr Cast::WithChildren(ExprList children) const {
  TW_DCHECK(children.size() == 1);
  std::shared_ptr<Cast> copy(new Cast(std::move(children[0]), to_, mode_, user_));
  copy->origin_ = origin_;
  return copy;
}

std::string Cast::Sql() const {
  const TypeKind kind = to_.kind();
  if (kind == TypeKind::kArray || kind == TypeKind::kMap || kind == TypeKind::kStruct) return child()->Sql();
  return std::string(mode_ == EvalMode::kTry ? "TRY_CAST(" : "CAST(") + child()->Sql() + " AS " + to_.Sql() + ")";
}

std::string Cast::PlanText() const {
  return std::string(mode_ == EvalMode::kTry ? "try_cast(" : "cast(") + child()->PlanText() + " as " +
         to_.SimpleString() + ")";
}

bool Cast::Equals(const Expr& other) const {
  const auto* cast = other.As<Cast>();
  return cast != nullptr && mode_ == cast->mode_ && to_ == cast->to_ && child()->Equals(*cast->child());
}

bool CastForcesNullable(const DataType& from, const DataType& to) {
  const TypeKind f = from.kind();
  const TypeKind t = to.kind();
  if (f == TypeKind::kNull || from == to) return false;
  if (f == TypeKind::kString) return t != TypeKind::kString && t != TypeKind::kBinary;
  if (t == TypeKind::kString) return false;
  if (f == TypeKind::kTimestamp && (t == TypeKind::kByte || t == TypeKind::kShort || t == TypeKind::kInteger)) return true;
  if ((f == TypeKind::kFloat || f == TypeKind::kDouble) && t == TypeKind::kTimestamp) return true;
  if (f == TypeKind::kTimestamp && t == TypeKind::kDate) return false;
  if (f == TypeKind::kTimestampNtz && (t == TypeKind::kDate || t == TypeKind::kTimestamp)) return false;
  if (t == TypeKind::kDate) return true;
  if (f == TypeKind::kDate) return t != TypeKind::kTimestamp;
  if (t == TypeKind::kCalendarInterval) return true;
  if (t == TypeKind::kDecimal && !NullSafeCastToDecimal(from, to)) return true;
  return from.IsFractional() && to.IsIntegral();
}

// --- AggregateCall ---

AggregateCall::AggregateCall(std::shared_ptr<const BoundAggregate> bound, ExprList children, bool distinct,
                             bool has_filter)
    : Expr(kKind, std::move(children)), bound_(std::move(bound)), distinct_(distinct), has_filter_(has_filter) {}

ExprPtr AggregateCall::Make(std::shared_ptr<const BoundAggregate> bound, ExprList arguments, bool distinct,
                            ExprPtr filter) {
  TW_DCHECK(bound != nullptr && bound->function != nullptr);
  const bool has_filter = filter != nullptr;
  if (has_filter) arguments.push_back(std::move(filter));
  return ExprPtr(new AggregateCall(std::move(bound), std::move(arguments), distinct, has_filter));
}

std::shared_ptr<Expr> AggregateCall::Clone() const { return std::shared_ptr<Expr>(new AggregateCall(*this)); }

ExprList AggregateCall::arguments() const {
  return ExprList(children().begin(), children().end() - (has_filter_ ? 1 : 0));
}
ExprPtr AggregateCall::filter() const { return has_filter_ ? children().back() : nullptr; }
const DataType& AggregateCall::type() const { return bound_->type; }
bool AggregateCall::nullable() const { return bound_->nullable; }

ExprPtr AggregateCall::WithChildren(ExprList children) const {
  TW_DCHECK(children.size() == children_.size());
  std::shared_ptr<AggregateCall> copy(new AggregateCall(bound_, std::move(children), distinct_, has_filter_));
  copy->origin_ = origin_;
  return copy;
}

std::string AggregateCall::Sql() const {
  size_t count = children().size() - (has_filter_ ? 1 : 0);
  // Whether nulls are ignored is no part of the name of first, last and kin.
  const auto* flag = count == 2 ? children()[1]->As<Literal>() : nullptr;
  if (flag != nullptr && flag->type().Is(TypeKind::kBoolean)) count = 1;
  std::string text = std::string(bound_->function->name) + "(" + (distinct_ ? "DISTINCT " : "") +
                     JoinSql(children(), count) + ")";
  if (has_filter_) text += " FILTER (WHERE " + filter()->Sql() + ")";
  return text;
}

std::string AggregateCall::PlanText() const {
  std::string text = std::string(bound_->function->name) + "(" + (distinct_ ? "distinct " : "") +
                     JoinPlanTexts(arguments()) + ")";
  if (has_filter_) text += " FILTER (WHERE " + filter()->PlanText() + ")";
  return text;
}

bool AggregateCall::Equals(const Expr& other) const {
  const auto* call = other.As<AggregateCall>();
  return call != nullptr && bound_->function == call->bound_->function && bound_->mode == call->bound_->mode &&
         distinct_ == call->distinct_ && has_filter_ == call->has_filter_ && bound_->type == call->bound_->type &&
         EqualLists(children(), call->children());
}

}  // namespace thalweg::sql
