#pragma once

// Functions that mean an expression over their arguments (Spark's RuntimeReplaceable): nvl2, between, to_date(x), ...

#include "sql/expr/binding.h"
#include "sql/functions/registry.h"

namespace thalweg::sql {

/// The binder of such a function: bound once to learn type and nullability; the evaluator compiles the meaning over the
/// arguments the call has then. The call keeps its name and text.
template <Result<ExprPtr> (*kMean)(const ExprList&, const BindContext&)>
Result<BoundCall> BindAs(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_ASSIGN_OR_RETURN(const ExprPtr meaning, kMean(arguments, context));
  BoundCall call = MakeBoundExact(function, std::move(arguments), meaning->type(), meaning->nullable(), nullptr,
                                  ModeOf(function, context));
  auto bound = std::make_shared<BoundScalar>(*call.bound);
  bound->expand = [](const BoundScalar&, const ExprList& current, const BindContext& c) { return kMean(current, c); };
  call.bound = std::move(bound);
  return call;
}

/// A cast the function means, not the user's: checked as CAST is.
inline Result<ExprPtr> MeanCast(const ExprPtr& value, const DataType& to, EvalMode mode) {
  ExprPtr cast = Cast::Make(value, to, mode);
  if (!CanCast(value->type(), to, mode)) return CastTypeError(*cast, value->type(), to, mode);
  return cast;
}

}  // namespace thalweg::sql
