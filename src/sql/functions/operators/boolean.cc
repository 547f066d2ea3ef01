// and, or, not, and the tests for NULL and NaN.

#include <cmath>

#include "sql/expr/binding.h"
#include "sql/functions/operators/register.h"

namespace thalweg::sql {
namespace {

Status CoerceBooleans(const ScalarFunction& function, ExprList* arguments, const BindContext& context) {
  for (size_t i = 0; i < arguments->size(); ++i) {
    const DataType& type = (*arguments)[i]->type();
    if (type.Is(TypeKind::kBoolean)) continue;
    const bool string = type.Is(TypeKind::kString) && context.config.ansi;
    if (!string && !type.Is(TypeKind::kNull)) {
      if (arguments->size() == 2) {
        std::string sql = "(" + (*arguments)[0]->Sql() + (function.name == "and" ? " AND " : " OR ") +
                          (*arguments)[1]->Sql() + ")";
        if (!(*arguments)[0]->type().SameType((*arguments)[1]->type())) {
          return DifferentTypesError(sql, (*arguments)[0]->type(), (*arguments)[1]->type());
        }
        return Error("DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE")
            .With("sqlExpr", QuoteSql(sql))
            .With("inputType", "\"BOOLEAN\"")
            .With("actualDataType", QuoteSql(type.Sql()));
      }
      return Error("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
          .With("sqlExpr", QuoteSql("(NOT " + AutoName((*arguments)[i]) + ")"))
          .With("paramIndex", Ordinal(i))
          .With("requiredType", "\"BOOLEAN\"")
          .With("inputSql", QuoteSql(AutoName((*arguments)[i])))
          .With("inputType", QuoteSql(type.Sql()));
    }
    (*arguments)[i] = Coerce((*arguments)[i], DataType::Boolean(), context.config);
  }
  return {};
}

Result<BoundCall> BindLogic(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  TW_RETURN_NOT_OK(CoerceBooleans(function, &arguments, context));
  return MakeBound(function, std::move(arguments), DataType::Boolean(), false, nullptr, context);
}

Result<ColumnPtr> NotKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTotal1<bool, uint8_t>(call, input, [](uint8_t v) -> uint8_t { return v ^ 1; });
}

Result<BoundCall> BindNot(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  TW_RETURN_NOT_OK(CoerceBooleans(function, &arguments, context));
  return MakeBound(function, std::move(arguments), DataType::Boolean(), false, &NotKernel, context);
}

template <bool kWhenNull>
Result<ColumnPtr> IsNullKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Column& column = *input.arguments[0];
  if (!column.has_nulls() || column.null_count() == column.length()) {
    return Column::Constant(call.type, Value(column.has_nulls() == kWhenNull), input.rows.length);
  }
  FixedOutput<bool> out(call.type, input.rows.length);
  uint8_t* values = out.values();
  const uint64_t* words = column.validity_words();
  input.rows.ForEach([&](int64_t row) { values[row] = static_cast<uint8_t>(BitAt(words, row) != kWhenNull); });
  return out.Finish();
}

Result<BoundCall> BindIsNull(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  const ScalarKernel kernel = function.name == "isnull" ? &IsNullKernel<true> : &IsNullKernel<false>;
  return MakeBoundExact(function, std::move(arguments), DataType::Boolean(), false, kernel, ModeOf(function, context));
}

template <typename T>
Result<ColumnPtr> IsNanKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  FixedOutput<bool> out(call.type, input.rows.length);
  const Column& column = *input.arguments[0];
  const Reader<T> in(column);
  input.rows.ForEach([&](int64_t row) { out.Set(row, !column.IsNull(row) && std::isnan(in[row])); });
  return out.Finish();
}

Result<BoundCall> BindIsNan(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  const bool is_float = arguments[0]->type().Is(TypeKind::kFloat);
  if (!is_float) {
    if (!ImplicitCastType(arguments[0]->type(), DataType::Double(), context.config.ansi)) {
      return UnexpectedInputType(function.name, arguments, 0, "(\"DOUBLE\" or \"FLOAT\")");
    }
    arguments[0] = Coerce(arguments[0], DataType::Double(), context.config);
  }
  return MakeBoundExact(function, std::move(arguments), DataType::Boolean(), false,
                        is_float ? &IsNanKernel<float> : &IsNanKernel<double>, ModeOf(function, context));
}

std::string LogicText(const Call& call, bool plan_text) {
  return InfixSql(call, call.function_name() == "and" ? "AND" : "OR", plan_text);
}
std::string NotText(const Call& call, bool plan_text) {
  return plan_text ? "NOT " + call.child(0)->PlanText() : "(NOT " + call.child(0)->Sql() + ")";
}
std::string IsNullText(const Call& call, bool plan_text) {
  if (plan_text) return call.function_name() + "(" + call.child(0)->PlanText() + ")";
  return "(" + call.child(0)->Sql() + (call.function_name() == "isnull" ? " IS NULL)" : " IS NOT NULL)");
}

}  // namespace

void RegisterBoolean(FunctionLists& lists) {
  static const ScalarFunction kAnd{.name = "and", .doc = "Three-valued AND; the right side is computed where the left is not false.",
                                   .example = {"SELECT true and NULL", "NULL"}, .bind = &BindLogic, .may_raise = false,
                                   .laziness = Laziness::kLazy, .sql = &LogicText};
  static const ScalarFunction kOr = [] {
    ScalarFunction f = Renamed(kAnd, "or");
    f.doc = "Three-valued OR; the right side is computed where the left is not true.";
    f.example = {"SELECT true or NULL", "true"};
    return f;
  }();
  static const ScalarFunction kNot{.name = "not", .aliases = {"!"}, .doc = "Three-valued NOT.",
                                   .example = {"SELECT not true", "false"}, .bind = &BindNot, .may_raise = false,
                                   .sql = &NotText};
  static const ScalarFunction kIsNull{.name = "isnull", .doc = "Whether the value is NULL.",
                                      .example = {"SELECT isnull(1)", "false"}, .nulls = NullPolicy::kCustom,
                                      .bind = &BindIsNull, .may_raise = false, .sql = &IsNullText};
  static const ScalarFunction kIsNotNull = [] {
    ScalarFunction f = Renamed(kIsNull, "isnotnull");
    f.doc = "Whether the value is not NULL.";
    f.example = {"SELECT isnotnull(1)", "true"};
    return f;
  }();
  static const ScalarFunction kIsNan{.name = "isnan", .since = "1.5.0", .doc = "Whether the number is NaN; false for NULL.",
                                     .example = {"SELECT isnan(cast('NaN' as double))", "true"},
                                     .nulls = NullPolicy::kCustom, .bind = &BindIsNan, .may_raise = false};
  for (const auto* f : {&kAnd, &kOr, &kNot, &kIsNull, &kIsNotNull, &kIsNan}) lists.Add(*f);
}

}  // namespace thalweg::sql
