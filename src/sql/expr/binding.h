#pragma once

// What binders are written with: checks of arity and types, the pieces of a bound call, texts of operators.
// Thread: pure functions.

#include <string>
#include <string_view>

#include "sql/expr/function.h"
#include "sql/expr/kernels.h"
#include "sql/expr/type_coercion.h"

namespace thalweg::sql {

/// The binder that reads ScalarFunction::signature; used when a function has none of its own.
/// Types: SQL names, ANY, NUMERIC, INTEGRAL, T (one common type of all that say T), ARRAY<T>, MAP<K, V>, "A|B" either.
/// Result: a type, a variable, or SAME (the first argument's); "?" behind it: nullable even without null arguments.
Result<BoundCall> BindBySignature(const ScalarFunction& function, ExprList arguments, const BindContext& context);

/// A bound call whose nulls propagate: nullable when an argument is, or when `may_be_null`.
BoundCall MakeBound(const ScalarFunction& function, ExprList arguments, DataType type, bool may_be_null,
                    ScalarKernel kernel, const BindContext& context, std::shared_ptr<const BoundData> data = nullptr);
/// With nullability and mode given.
BoundCall MakeBoundExact(const ScalarFunction& function, ExprList arguments, DataType type, bool nullable,
                         ScalarKernel kernel, EvalMode mode, std::shared_ptr<const BoundData> data = nullptr);
/// The call is replaced by another expression.
BoundCall ReplaceWith(ExprPtr replacement);

bool AnyNullable(const ExprList& arguments);
/// kAnsi or kLegacy, as configured; kTry for functions whose name begins with "try_".
EvalMode ModeOf(const ScalarFunction& function, const BindContext& context);

/// Ok when least <= count <= most (most < 0: no bound). Errors: WRONG_NUM_ARGS.WITHOUT_SUGGESTION.
Status CheckArity(std::string_view name, size_t count, int least, int most);
/// DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE; `required` as Spark prints it, quotes included.
Status UnexpectedInputType(std::string_view name, const ExprList& arguments, size_t index, const std::string& required);
/// Casts argument `index` to `target` by the implicit rules, or answers UNEXPECTED_INPUT_TYPE.
Status CoerceArgument(std::string_view name, ExprList* arguments, size_t index, const DataType& target,
                      const BindContext& context);
/// The value of a foldable argument. Errors: DATATYPE_MISMATCH.NON_FOLDABLE_INPUT.
Result<Value> FoldArgument(std::string_view name, const ExprList& arguments, size_t index, std::string_view input_name,
                           const BindContext& context);

/// "\"text\"": Spark's toSQLExpr and toSQLType in error messages.
std::string QuoteSql(const std::string& text);
/// "`name`": Spark's toSQLId.
std::string QuoteFunctionName(std::string_view name);
/// name(arg, arg) for error messages.
std::string CallSql(std::string_view name, const ExprList& arguments);
/// "first", "second", ...
std::string_view Ordinal(size_t index);
/// SQL or plan text of an argument.
inline std::string TextOf(const ExprPtr& expression, bool plan_text) {
  return plan_text ? expression->PlanText() : expression->Sql();
}
/// "(a op b)".
std::string InfixSql(const Call& call, std::string_view symbol, bool plan_text);
/// A copy under another name, for functions that print the name they were called by.
ScalarFunction Renamed(const ScalarFunction& function, std::string_view name);
AggregateFunction Renamed(const AggregateFunction& function, std::string_view name);

}  // namespace thalweg::sql
