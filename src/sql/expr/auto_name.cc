// Spark's automatic column names: usePrettyExpression(e).sql.

#include "base/invariant.h"
#include "data/text/literal.h"
#include "sql/expr/expression.h"
#include "sql/expr/function.h"

namespace thalweg::sql {
namespace {

/// Text that stands for a node while a name is printed.
class PrettyText final : public Expr {
 public:
  PrettyText(std::string text, DataType type)
      : Expr(ExprKind::kPrettyText, {}), text_(std::move(text)), type_(std::move(type)) {}
  const DataType& type() const override { return type_; }
  ExprPtr WithChildren(ExprList) const override { return shared_from_this(); }
  std::string Sql() const override { return text_; }
  std::string PlanText() const override { return text_; }
  bool Equals(const Expr& other) const override {
    return other.kind() == ExprKind::kPrettyText && static_cast<const PrettyText&>(other).text_ == text_;
  }

 private:
  std::shared_ptr<Expr> Clone() const override { return std::make_shared<PrettyText>(*this); }
  std::string text_;
  DataType type_;
};

std::string Pretty(const ExprPtr& expr);

/// Node by node, parents first: what is replaced is not visited again.
ExprPtr Prettify(const ExprPtr& expr) {
  const auto text = [&](std::string value) {
    return std::make_shared<PrettyText>(std::move(value), expr->resolved() ? expr->type() : DataType());
  };
  if (const auto* attribute = expr->As<Attribute>()) return text(attribute->name());
  if (const auto* attribute = expr->As<UnresolvedAttribute>()) {
    std::string name;
    for (const std::string& part : attribute->name_parts()) name += (name.empty() ? "" : ".") + part;
    return text(name);
  }
  if (const auto* literal = expr->As<Literal>()) {
    if (literal->value().is_null()) return text("NULL");
    if (literal->type().Is(data::TypeKind::kString)) return text(literal->value().get<std::string>());
    if (literal->type().IsNumeric()) return text(data::ValueText(literal->value(), literal->type()));
    return expr;
  }
  if (const auto* cast = expr->As<Cast>(); cast != nullptr && !cast->user()) return text(Pretty(cast->child()));
  // Inside of an expression an alias of the user shows ("struct(id AS q)"), one that a field got from its path does not.
  if (const auto* alias = expr->As<Alias>()) {
    const std::string child = Pretty(alias->child());
    return text(alias->automatic() ? child : child + " AS " + data::QuoteIfNeeded(alias->name()));
  }
  if (const auto* call = expr->As<Call>()) {
    if (call->function_name() == "getstructfield" || call->function_name() == "getarraystructfields") {
      return text(Pretty(call->child(0)) + "." + Pretty(call->child(1)));
    }
  }
  if (expr->children().empty()) return expr;
  ExprList children;
  children.reserve(expr->children().size());
  for (const ExprPtr& child : expr->children()) children.push_back(Prettify(child));
  return expr->WithChildren(std::move(children));
}

std::string Pretty(const ExprPtr& expr) { return Prettify(expr)->Sql(); }

}  // namespace

std::string AutoName(const ExprPtr& expr) {
  if (const auto* alias = expr->As<Alias>()) return alias->name();
  return Pretty(expr);
}

}  // namespace thalweg::sql
