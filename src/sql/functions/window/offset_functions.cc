// lag, lead and nth_value: the value of another row of the partition. Source: Spark's Lag, Lead and NthValue.

#include "sql/functions/registry.h"
#include "sql/functions/window/window_binding.h"

namespace thalweg::sql {
namespace {

/// Of nth_value alone the name says whether rows with null count.
std::string OffsetSql(const Call& call, bool plan_text) {
  const WindowFunctionData& data = WindowDataOf(call);
  const std::string text = CallText(call, plan_text);
  return data.ignore_nulls && data.kind == WindowFunctionKind::kNthValue ? text + " ignore nulls" : text;
}

/// The default has the type of the input, or none.
Status CoerceDefault(const ScalarFunction& function, ExprList* arguments, const BindContext& context) {
  const DataType& type = (*arguments)[0]->type();
  ExprPtr& otherwise = (*arguments)[2];
  if (otherwise->type().SameType(type) || otherwise->type().Is(TypeKind::kNull)) return {};
  const bool literal = otherwise->foldable() && otherwise->type().IsNumeric() && type.IsNumeric();
  if (literal || ImplicitCastType(otherwise->type(), type, context.config.ansi)) {
    otherwise = Cast::Make(otherwise, type, context.config.ansi ? EvalMode::kAnsi : EvalMode::kLegacy);
    return {};
  }
  return UnexpectedInputType(function.name, *arguments, 2, "(" + QuoteSql(type.Sql()) + " or \"VOID\")");
}

/// The flag behind the other arguments.
Result<bool> IgnoreNulls(const ScalarFunction& function, const ExprPtr& argument) {
  const auto* literal = argument->As<Literal>();
  const bool* flag = literal == nullptr ? nullptr : literal->value().get_if<bool>();
  if (flag != nullptr) return *flag;
  return Error("INVALID_PARAMETER_VALUE.BOOLEAN")
      .With("parameter", "`ignoreNulls`")
      .With("functionName", QuoteFunctionName(function.name))
      .With("invalidValue", QuoteSql(AutoName(argument)));
}

Result<BoundCall> BindLagLead(const ScalarFunction& function, ExprList arguments, const BindContext& context, WindowFunctionKind kind) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 0, 4));
  auto data = std::make_shared<WindowFunctionData>();
  data->kind = kind;
  if (arguments.size() == 4) {
    TW_ASSIGN_OR_RETURN(data->ignore_nulls, IgnoreNulls(function, arguments[3]));
    arguments.pop_back();
  }
  if (arguments.empty()) arguments.push_back(Literal::Null());
  if (arguments.size() < 2) arguments.push_back(Literal::Integer(1));
  if (arguments.size() < 3) arguments.push_back(Literal::Null());
  const DataType type = arguments[0]->type();
  if (!arguments[1]->foldable()) {
    const std::string text = AutoName(arguments[1]);
    return Error("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT")
        .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
        .With("inputName", "`offset`")
        .With("inputType", "\"INT\"")
        .With("inputExpr", QuoteSql(kind == WindowFunctionKind::kLag ? "(- " + text + ")" : text));
  }
  const bool integer = arguments[1]->type().Is(TypeKind::kInteger);
  TW_ASSIGN_OR_RETURN(const Value offset, EvaluateConstant(arguments[1], context.config));
  // Spark never finds out what frame that is.
  if (!integer || offset.is_null()) return Error("_LEGACY_ERROR_TEMP_1035").With("prettyName", std::string(function.name));
  data->number = offset.AsInt64();
  if (kind == WindowFunctionKind::kLag) {
    // Spark's lag is a lead by the negated offset, of which the least integer has none.
    TW_ASSIGN_OR_RETURN(const ExprPtr ahead, BindBuiltin("negative", {arguments[1]}, context));
    TW_ASSIGN_OR_RETURN(const Value rows, EvaluateConstant(ahead, context.config));
    data->number = -rows.AsInt64();
  }
  TW_RETURN_NOT_OK(CoerceDefault(function, &arguments, context));
  const bool nullable = arguments[0]->nullable() || arguments[2]->nullable();
  return MakeBoundExact(function, std::move(arguments), type, nullable, nullptr, ModeOf(function, context), std::move(data));
}

Result<BoundCall> BindLag(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  return BindLagLead(function, std::move(arguments), context, WindowFunctionKind::kLag);
}

Result<BoundCall> BindLead(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  return BindLagLead(function, std::move(arguments), context, WindowFunctionKind::kLead);
}

Result<BoundCall> BindNthValue(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 3));
  auto data = std::make_shared<WindowFunctionData>();
  data->kind = WindowFunctionKind::kNthValue;
  if (arguments.size() == 3) {
    TW_ASSIGN_OR_RETURN(data->ignore_nulls, IgnoreNulls(function, arguments[2]));
    arguments.pop_back();
  }
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, DataType::Integer(), context));
  TW_ASSIGN_OR_RETURN(const Value n, FoldArgument(function.name, arguments, 1, "offset", context));
  if (n.is_null() || n.AsInt64() <= 0) {
    return Error("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE")
        .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
        .With("exprName", "offset")
        .With("valueRange", "(0, 9223372036854775807]")
        .With("currentValue", std::to_string(n.is_null() ? 0 : n.AsInt64()) + "L");
  }
  data->number = n.AsInt64();
  const DataType type = arguments[0]->type();
  return MakeBoundExact(function, std::move(arguments), type, true, nullptr, ModeOf(function, context), std::move(data));
}

}  // namespace

void RegisterOffsetFunctions(std::vector<const ScalarFunction*>* functions) {
  static const ScalarFunction kLag{.name = "lag", .signature = "(input T, [offset INT, default T]) -> T", .since = "2.0.0",
                                   .doc = "The value of the row that lies `offset` rows back in the partition, or `default`.",
                                   .bind = &BindLag, .deterministic = false, .sql = &OffsetSql};
  static const ScalarFunction kLead{.name = "lead", .signature = "(input T, [offset INT, default T]) -> T", .since = "2.0.0",
                                    .doc = "The value of the row that lies `offset` rows ahead in the partition, or `default`.",
                                    .bind = &BindLead, .deterministic = false, .sql = &OffsetSql};
  static const ScalarFunction kNthValue{.name = "nth_value", .signature = "(input T, offset INT) -> T", .since = "3.1.0",
                                        .doc = "The value of the row that is number `offset` of the frame, counted from 1.",
                                        .bind = &BindNthValue, .deterministic = false, .sql = &OffsetSql};
  functions->insert(functions->end(), {&kLag, &kLead, &kNthValue});
}

}  // namespace thalweg::sql
