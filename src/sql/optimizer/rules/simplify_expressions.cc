#include "sql/expr/function.h"
#include "sql/functions/registry.h"
#include "sql/optimizer/rules.h"

namespace thalweg::sql {
namespace {

/// 1 true, 0 false, -1 anything else (null too).
int Truth(const ExprPtr& expr) {
  const auto* literal = expr->As<Literal>();
  const bool* value = literal == nullptr ? nullptr : literal->value().get_if<bool>();
  return value == nullptr ? -1 : static_cast<int>(*value);
}

ExprPtr SimplifyLogic(const Call& call, bool is_and) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const ExprPtr& other = call.child(1 - i);
    const int truth = Truth(call.child(i));
    if (truth < 0) continue;
    if (truth == static_cast<int>(is_and)) return other;
    // false AND x, true OR x: x is not needed, unless it was to run first and may fail; then nothing is lost either.
    return call.child(i);
  }
  if (call.deterministic() && call.child(0)->Equals(*call.child(1))) return call.child(0);
  return nullptr;
}

Result<ExprPtr> SimplifyNot(const Call& call, const EvalConfig& config) {
  const ExprPtr& operand = call.child();
  const int truth = Truth(operand);
  if (truth >= 0) return Literal::Boolean(truth == 0);
  const auto* inner = operand->As<Call>();
  if (inner == nullptr) return ExprPtr();
  if (inner->function_name() == "not") return inner->child();
  static const std::pair<const char*, const char*> kOpposites[] = {
      {"<", ">="}, {"<=", ">"}, {">", "<="}, {">=", "<"}, {"isnull", "isnotnull"}, {"isnotnull", "isnull"}};
  for (const auto& [from, to] : kOpposites) {
    if (inner->function_name() == from) return BindBuiltin(to, inner->children(), BindContext{config});
  }
  return ExprPtr();
}

Result<ExprPtr> Simplify(const ExprPtr& expr, const EvalConfig& config) {
  if (const auto* cast = expr->As<Cast>()) {
    return cast->child()->type() == cast->type() ? cast->child() : ExprPtr();
  }
  const auto* call = expr->As<Call>();
  if (call == nullptr) return ExprPtr();
  const std::string& name = call->function_name();
  if ((name == "and" || name == "or") && call->children().size() == 2) return SimplifyLogic(*call, name == "and");
  if (name == "not") return SimplifyNot(*call, config);
  if (name == "isnotnull" && !call->child()->nullable()) return Literal::Boolean(true);
  if (name == "isnull" && !call->child()->nullable()) return Literal::Boolean(false);
  return ExprPtr();
}

}  // namespace

Result<PlanPtr> SimplifyExpressions(const PlanPtr& plan, const OptimizerOptions& options) {
  return TransformUp(plan, [&](const PlanPtr& node) -> Result<PlanPtr> {
    if (node->kind() == PlanKind::kCommand) return PlanPtr();
    return TransformExpressions(node, [&](const ExprPtr& expr) { return Simplify(expr, *options.config); });
  });
}

}  // namespace thalweg::sql
