// Forms that only an unresolved plan holds.

#include "base/invariant.h"
#include "sql/expr/expression.h"

namespace thalweg::sql {
namespace {

std::string JoinParts(const std::vector<std::string>& parts, bool quote) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += ".";
    text += quote ? data::QuoteIfNeeded(part) : part;
  }
  return text;
}

bool IsInfix(const std::string& name) {
  static const char* const kOperators[] = {"+", "-", "*", "/", "%", "==", "=", "<=>", "<", "<=", ">", ">=", "!=",
                                           "and", "or", "&", "|", "^", "||"};
  for (const char* op : kOperators) {
    if (name == op) return true;
  }
  return false;
}

std::string InfixText(const std::string& name) {
  if (name == "==") return "=";
  if (name == "and") return "AND";
  if (name == "or") return "OR";
  return name;
}

}  // namespace

// --- UnresolvedAttribute ---

UnresolvedAttribute::UnresolvedAttribute(std::vector<std::string> name_parts, std::optional<int64_t> plan_id,
                                         bool metadata_column)
    : Expr(kKind, {}), name_parts_(std::move(name_parts)), plan_id_(plan_id), metadata_column_(metadata_column) {}

ExprPtr UnresolvedAttribute::Make(std::vector<std::string> name_parts, std::optional<int64_t> plan_id,
                                  bool metadata_column) {
  return ExprPtr(new UnresolvedAttribute(std::move(name_parts), plan_id, metadata_column));
}
std::shared_ptr<Expr> UnresolvedAttribute::Clone() const {
  return std::shared_ptr<Expr>(new UnresolvedAttribute(*this));
}
ExprPtr UnresolvedAttribute::WithChildren(ExprList children) const {
  TW_DCHECK(children.empty());
  return shared_from_this();
}
std::string UnresolvedAttribute::Sql() const { return JoinParts(name_parts_, true); }
std::string UnresolvedAttribute::PlanText() const { return "'" + JoinParts(name_parts_, false); }
bool UnresolvedAttribute::Equals(const Expr& other) const {
  const auto* attribute = other.As<UnresolvedAttribute>();
  return attribute != nullptr && name_parts_ == attribute->name_parts_ && plan_id_ == attribute->plan_id_;
}

// --- UnresolvedStar ---

UnresolvedStar::UnresolvedStar(std::vector<std::string> target, std::optional<int64_t> plan_id)
    : Expr(kKind, {}), target_(std::move(target)), plan_id_(plan_id) {}

ExprPtr UnresolvedStar::Make(std::vector<std::string> target, std::optional<int64_t> plan_id) {
  return ExprPtr(new UnresolvedStar(std::move(target), plan_id));
}
std::shared_ptr<Expr> UnresolvedStar::Clone() const { return std::shared_ptr<Expr>(new UnresolvedStar(*this)); }
ExprPtr UnresolvedStar::WithChildren(ExprList children) const {
  TW_DCHECK(children.empty());
  return shared_from_this();
}
std::string UnresolvedStar::Sql() const { return target_.empty() ? "*" : JoinParts(target_, true) + ".*"; }
std::string UnresolvedStar::PlanText() const { return target_.empty() ? "*" : JoinParts(target_, false) + ".*"; }
bool UnresolvedStar::Equals(const Expr& other) const {
  const auto* star = other.As<UnresolvedStar>();
  return star != nullptr && target_ == star->target_ && plan_id_ == star->plan_id_;
}

// --- UnresolvedRegex ---

UnresolvedRegex::UnresolvedRegex(std::string pattern, std::optional<int64_t> plan_id)
    : Expr(kKind, {}), pattern_(std::move(pattern)), plan_id_(plan_id) {}

ExprPtr UnresolvedRegex::Make(std::string pattern, std::optional<int64_t> plan_id) {
  return ExprPtr(new UnresolvedRegex(std::move(pattern), plan_id));
}
std::shared_ptr<Expr> UnresolvedRegex::Clone() const { return std::shared_ptr<Expr>(new UnresolvedRegex(*this)); }
ExprPtr UnresolvedRegex::WithChildren(ExprList children) const {
  TW_DCHECK(children.empty());
  return shared_from_this();
}
std::string UnresolvedRegex::Sql() const { return "`" + pattern_ + "`"; }
std::string UnresolvedRegex::PlanText() const { return "'`" + pattern_ + "`"; }
bool UnresolvedRegex::Equals(const Expr& other) const {
  const auto* regex = other.As<UnresolvedRegex>();
  return regex != nullptr && pattern_ == regex->pattern_ && plan_id_ == regex->plan_id_;
}

// --- UnresolvedFunction ---

UnresolvedFunction::UnresolvedFunction(std::vector<std::string> name_parts, ExprList children, bool distinct,
                                       bool has_filter, bool internal, bool ignore_nulls)
    : Expr(kKind, std::move(children)),
      name_parts_(std::move(name_parts)),
      distinct_(distinct),
      has_filter_(has_filter),
      internal_(internal),
      ignore_nulls_(ignore_nulls) {}

ExprPtr UnresolvedFunction::Make(std::vector<std::string> name_parts, ExprList arguments, bool distinct,
                                 ExprPtr filter, bool internal, bool ignore_nulls) {
  const bool has_filter = filter != nullptr;
  if (has_filter) arguments.push_back(std::move(filter));
  return ExprPtr(
      new UnresolvedFunction(std::move(name_parts), std::move(arguments), distinct, has_filter, internal, ignore_nulls));
}
std::shared_ptr<Expr> UnresolvedFunction::Clone() const {
  return std::shared_ptr<Expr>(new UnresolvedFunction(*this));
}
ExprPtr UnresolvedFunction::WithChildren(ExprList children) const {
  TW_DCHECK(children.size() == children_.size() || !has_filter_);
  std::shared_ptr<UnresolvedFunction> copy(
      new UnresolvedFunction(name_parts_, std::move(children), distinct_, has_filter_, internal_, ignore_nulls_));
  copy->origin_ = origin_;
  return copy;
}

namespace {
std::string FunctionText(const UnresolvedFunction& function, bool plan_text) {
  const auto text = [&](const ExprPtr& e) { return plan_text ? e->PlanText() : e->Sql(); };
  const size_t count = function.children().size() - (function.has_filter() ? 1 : 0);
  const std::string name = JoinParts(function.name_parts(), !plan_text && !IsInfix(function.name_parts().back()));
  if (count == 2 && function.name_parts().size() == 1 && IsInfix(name)) {
    return "(" + text(function.child(0)) + " " + InfixText(name) + " " + text(function.child(1)) + ")";
  }
  std::string arguments;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) arguments += ", ";
    arguments += text(function.child(i));
  }
  std::string out = (plan_text ? "'" : "") + name + "(" + (function.distinct() ? "DISTINCT " : "") + arguments + ")";
  if (function.has_filter()) out += " FILTER (WHERE " + text(function.children().back()) + ")";
  return out;
}
}  // namespace

std::string UnresolvedFunction::Sql() const { return FunctionText(*this, false); }
std::string UnresolvedFunction::PlanText() const { return FunctionText(*this, true); }
bool UnresolvedFunction::Equals(const Expr& other) const {
  const auto* function = other.As<UnresolvedFunction>();
  return function != nullptr && name_parts_ == function->name_parts_ && distinct_ == function->distinct_ &&
         has_filter_ == function->has_filter_ && internal_ == function->internal_ && ignore_nulls_ == function->ignore_nulls_ &&
         EqualLists(children(), function->children());
}

// --- UnresolvedExtract ---

UnresolvedExtract::UnresolvedExtract(ExprPtr child, ExprPtr extraction)
    : Expr(kKind, {std::move(child), std::move(extraction)}) {}

ExprPtr UnresolvedExtract::Make(ExprPtr child, ExprPtr extraction) {
  return ExprPtr(new UnresolvedExtract(std::move(child), std::move(extraction)));
}
std::shared_ptr<Expr> UnresolvedExtract::Clone() const {
  return std::shared_ptr<Expr>(new UnresolvedExtract(*this));
}
ExprPtr UnresolvedExtract::WithChildren(ExprList children) const {
  TW_DCHECK(children.size() == 2);
  std::shared_ptr<UnresolvedExtract> copy(new UnresolvedExtract(std::move(children[0]), std::move(children[1])));
  copy->origin_ = origin_;
  return copy;
}
std::string UnresolvedExtract::Sql() const { return child(0)->Sql() + "[" + child(1)->Sql() + "]"; }
std::string UnresolvedExtract::PlanText() const { return child(0)->PlanText() + "[" + child(1)->PlanText() + "]"; }
bool UnresolvedExtract::Equals(const Expr& other) const {
  return other.As<UnresolvedExtract>() != nullptr && EqualLists(children(), other.children());
}

}  // namespace thalweg::sql
