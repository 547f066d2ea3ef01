#include <cmath>

#include "data/columnar/builder.h"
#include "data/text/decimal128.h"
#include "sql/functions/registry.h"
#include "sql/plan/window.h"
#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {
namespace {

using data::ColumnPtr;
using data::Int128;

/// Digits that always fit a bigint, and a double.
constexpr int kLongDigits = 18;
constexpr int kDoubleDigits = 15;

Result<ColumnPtr> EvaluateUnscaled(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const ColumnPtr column = data::Flatten(input.arguments[0]);
  data::FixedBuilder<int64_t> builder(call.type);
  builder.Reserve(column->length());
  const auto values = column->values<Int128>();
  for (int64_t row = 0; row < column->length(); ++row) {
    if (column->IsNull(row)) {
      builder.AppendNull();
    } else {
      builder.Append(static_cast<int64_t>(values[static_cast<size_t>(row)]));
    }
  }
  return builder.Finish();
}

Result<ColumnPtr> EvaluateMakeDecimal(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const ColumnPtr column = data::Flatten(input.arguments[0]);
  data::FixedBuilder<Int128> builder(call.type);
  builder.Reserve(column->length());
  const auto values = column->values<int64_t>();
  for (int64_t row = 0; row < column->length(); ++row) {
    const Int128 value = column->IsNull(row) ? 0 : values[static_cast<size_t>(row)];
    if (column->IsNull(row) || !data::DecimalFits(value, call.type.precision())) {
      builder.AppendNull();
    } else {
      builder.Append(value);
    }
  }
  return builder.Finish();
}

const ScalarFunction kUnscaled{.name = "unscaledvalue", .nulls = NullPolicy::kCustom, .internal = true};
const ScalarFunction kMakeDecimal{.name = "makedecimal", .nulls = NullPolicy::kCustom, .internal = true};

ExprPtr MakeCall(const ScalarFunction& function, ExprPtr argument, DataType type, bool nullable, ScalarKernel kernel) {
  auto bound = std::make_shared<BoundScalar>();
  bound->function = &function;
  bound->type = std::move(type);
  bound->nullable = nullable;
  bound->kernel = kernel;
  return Call::Make(std::move(bound), {std::move(argument)});
}

Result<ExprPtr> Rewrite(const AggregateCall& call, const EvalConfig& config) {
  const std::string_view name = call.bound().function->name;
  const bool sum = name == "sum" || name == "try_sum";
  const bool average = name == "avg" || name == "try_avg";
  if (!sum && !average) return ExprPtr();
  const ExprPtr argument = call.arguments()[0];
  if (!argument->type().Is(data::TypeKind::kDecimal)) return ExprPtr();
  const int precision = argument->type().precision();
  const int scale = argument->type().scale();
  if (sum ? precision + 10 > kLongDigits : precision + 4 > kDoubleDigits) return ExprPtr();
  const ExprPtr unscaled =
      MakeCall(kUnscaled, argument, DataType::Long(), argument->nullable(), &EvaluateUnscaled);
  const BindContext context{config};
  TW_ASSIGN_OR_RETURN(ExprPtr over_long,
                      BindAggregate(*call.bound().function, {unscaled}, call.distinct(), call.filter(), context));
  if (sum) {
    return MakeCall(kMakeDecimal, std::move(over_long), DataType::Decimal(precision + 10, scale), true,
                    &EvaluateMakeDecimal);
  }
  TW_ASSIGN_OR_RETURN(ExprPtr quotient,
                      BindBuiltin("/", {over_long, Literal::Make(Value(std::pow(10.0, scale)), DataType::Double())}, context));
  return Cast::Make(std::move(quotient), DataType::Decimal(precision + 4, scale + 4),
                    config.ansi ? EvalMode::kAnsi : EvalMode::kLegacy);
}

/// Calls over windows keep their node; what is made of their results stands above it.
Result<PlanPtr> RewriteWindow(const Window& window, const EvalConfig& config) {
  bool changed = false;
  ExprList calls, list;
  for (const AttributePtr& column : window.child()->output()) list.push_back(column);
  for (const ExprPtr& named : window.calls) {
    WindowCall::Parts parts = static_cast<const WindowCall&>(*named->child()).parts();
    const auto* call = parts.function->As<AggregateCall>();
    ExprPtr rewritten;
    if (call != nullptr) {
      TW_ASSIGN_OR_RETURN(rewritten, Rewrite(*call, config));
    }
    if (rewritten == nullptr) {
      calls.push_back(named);
      list.push_back(ToAttribute(named));
      continue;
    }
    changed = true;
    TW_ASSIGN_OR_RETURN(rewritten, TransformUp(rewritten, [&](const ExprPtr& node) -> Result<ExprPtr> {
                          if (node->kind() != ExprKind::kAggregate) return ExprPtr();
                          parts.function = node;
                          calls.push_back(Alias::Make(WindowCall::Make(parts), "_we"));
                          return ExprPtr(ToAttribute(calls.back()));
                        }));
    list.push_back(named->WithChildren({std::move(rewritten)}));
  }
  if (!changed) return PlanPtr();
  return PlanPtr(std::make_shared<Project>(std::move(list), std::make_shared<Window>(std::move(calls), window.partition, window.orders, window.child())));
}

}  // namespace

Result<PlanPtr> RewriteDecimalAggregates(const PlanPtr& plan, const EvalConfig& config) {
  const auto rule = [&](const ExprPtr& expr) -> Result<ExprPtr> {
    const auto* call = expr->As<AggregateCall>();
    return call == nullptr ? Result<ExprPtr>(ExprPtr()) : Rewrite(*call, config);
  };
  return TransformUp(plan, [&](const PlanPtr& node) -> Result<PlanPtr> {
    if (const auto* window = node->As<Window>()) return RewriteWindow(*window, config);
    if (node->kind() != PlanKind::kAggregate) return PlanPtr();
    TW_ASSIGN_OR_RETURN(PlanPtr rewritten, TransformExpressions(node, rule));
    return rewritten == node ? PlanPtr() : rewritten;
  });
}

}  // namespace thalweg::sql
