// Where a frame of RANGE ends. Source: Spark's WindowEvaluatorFactoryBase (createBoundOrdering) and
// DecimalAddNoOverflowCheck.

#include "base/invariant.h"
#include "sql/expr/kernels.h"
#include "sql/functions/registry.h"
#include "sql/functions/window/window_binding.h"

namespace thalweg::sql {
namespace {

constexpr Int128 kMost = static_cast<Int128>(~static_cast<unsigned __int128>(0) >> 1);

/// In the scale of both: one digit more than the type has is no error. What 128 bits do not hold
/// lies beyond all values.
Result<ColumnPtr> SumOfDecimals(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapValues<Int128, Int128, Int128>(call, input, [](Int128 order, Int128 step) {
    Int128 sum = 0;
    if (!__builtin_add_overflow(order, step, &sum)) return sum;
    return step < 0 ? -kMost : kMost;
  });
}

Result<BoundCall> BindDecimalBound(const ScalarFunction& function, ExprList arguments,
                                   const BindContext&) {
  const DataType type = arguments[0]->type();
  TW_DCHECK(arguments[1]->type().SameType(type));
  const bool nullable = AnyNullable(arguments);
  return MakeBoundExact(function, std::move(arguments), type, nullable, &SumOfDecimals,
                        EvalMode::kLegacy);
}

/// Not in the registry: no query can name it.
const ScalarFunction kDecimalBound{
    .name = "decimal_range_bound",
    .signature = "(order DECIMAL, step DECIMAL) -> DECIMAL",
    .doc = "The sum in the type of the order, without a check of its precision.",
    .bind = &BindDecimalBound,
    .may_raise = false,
    .internal = true};

}  // namespace

Result<ExprPtr> RangeBound(const ExprPtr& order, const ExprPtr& step, const BindContext& context) {
  const DataType& type = order->type();
  if (type.Is(TypeKind::kDecimal)) return BindScalar(kDecimalBound, {order, step}, context);
  const bool days = type.Is(TypeKind::kDate) && step->type().Is(TypeKind::kInteger);
  TW_ASSIGN_OR_RETURN(ExprPtr bound, BindBuiltin(days ? "date_add" : "+", {order, step}, context));
  return bound->type().SameType(type) ? bound
                                      : Cast::Make(std::move(bound), type, EvalMode::kLegacy);
}

}  // namespace thalweg::sql
