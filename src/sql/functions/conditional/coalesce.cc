// coalesce, nvl, ifnull, nvl2, nullif, nullifzero, zeroifnull, nanvl, between.

#include <cmath>

#include "sql/expr/binding.h"
#include "sql/functions/conditional/register.h"
#include "sql/functions/meaning.h"

namespace thalweg::sql {
namespace {

Result<BoundCall> BindCoalesce(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, -1));
  std::vector<size_t> all;
  bool nullable = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    all.push_back(i);
    nullable = nullable && arguments[i]->nullable();
  }
  TW_ASSIGN_OR_RETURN(const DataType type, UnifyArguments(function, &arguments, all, context));
  return MakeBoundExact(function, std::move(arguments), type, nullable, nullptr, ModeOf(function, context));
}

Result<ExprPtr> MeanNvl(const ExprList& a, const BindContext& c) {
  TW_RETURN_NOT_OK(CheckArity("nvl", a.size(), 2, 2));
  return BindBuiltin("coalesce", a, c);
}

Result<ExprPtr> MeanNvl2(const ExprList& a, const BindContext& c) {
  TW_RETURN_NOT_OK(CheckArity("nvl2", a.size(), 3, 3));
  TW_ASSIGN_OR_RETURN(ExprPtr present, BindBuiltin("isnotnull", {a[0]}, c));
  return BindBuiltin("if", {present, a[1], a[2]}, c);
}

Result<ExprPtr> MeanNullIf(const ExprList& a, const BindContext& c) {
  TW_RETURN_NOT_OK(CheckArity("nullif", a.size(), 2, 2));
  TW_ASSIGN_OR_RETURN(ExprPtr same, BindBuiltin("==", a, c));
  return BindBuiltin("if", {same, Literal::Null(a[0]->type()), a[0]}, c);
}

Result<ExprPtr> MeanNullIfZero(const ExprList& a, const BindContext& c) {
  TW_RETURN_NOT_OK(CheckArity("nullifzero", a.size(), 1, 1));
  return MeanNullIf({a[0], Literal::Integer(0)}, c);
}

Result<ExprPtr> MeanZeroIfNull(const ExprList& a, const BindContext& c) {
  TW_RETURN_NOT_OK(CheckArity("zeroifnull", a.size(), 1, 1));
  return BindBuiltin("coalesce", {a[0], Literal::Integer(0)}, c);
}

Result<ExprPtr> MeanBetween(const ExprList& a, const BindContext& c) {
  TW_RETURN_NOT_OK(CheckArity("between", a.size(), 3, 3));
  TW_ASSIGN_OR_RETURN(ExprPtr low, BindBuiltin(">=", {a[0], a[1]}, c));
  TW_ASSIGN_OR_RETURN(ExprPtr high, BindBuiltin("<=", {a[0], a[2]}, c));
  return BindBuiltin("and", {low, high}, c);
}

template <typename T>
Result<ColumnPtr> NanvlKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Column& first = *input.arguments[0];
  const Column& second = *input.arguments[1];
  const Reader<T> a(first);
  const Reader<T> b(second);
  FixedOutput<T> out(call.type, input.rows.length);
  input.rows.ForEach([&](int64_t row) {
    if (first.IsNull(row)) {
      out.SetNull(row);
    } else if (!std::isnan(a[row])) {
      out.Set(row, a[row]);
    } else if (second.IsNull(row)) {
      out.SetNull(row);
    } else {
      out.Set(row, b[row]);
    }
  });
  return out.Finish();
}

Result<BoundCall> BindNanvl(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  const bool floats = arguments[0]->type().Is(TypeKind::kFloat) && arguments[1]->type().Is(TypeKind::kFloat);
  const DataType type = floats ? DataType::Float() : DataType::Double();
  for (size_t i = 0; i < 2; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, type, context));
  return MakeBound(function, std::move(arguments), type, false, floats ? &NanvlKernel<float> : &NanvlKernel<double>, context);
}

}  // namespace

void RegisterCoalesce(FunctionLists& lists) {
  static const ScalarFunction kCoalesce{.name = "coalesce", .doc = "The first argument that is not NULL.",
                                        .example = {"SELECT coalesce(NULL, 1, NULL)", "1"}, .nulls = NullPolicy::kCustom,
                                        .bind = &BindCoalesce, .laziness = Laziness::kLazy};
  static const ScalarFunction kNvl{.name = "nvl", .since = "2.0.0", .doc = "The second argument where the first is NULL.",
                                   .example = {"SELECT nvl(NULL, 2)", "2"}, .bind = &BindAs<MeanNvl>};
  static const ScalarFunction kIfNull = Renamed(kNvl, "ifnull");
  static const ScalarFunction kNvl2{.name = "nvl2", .since = "2.0.0", .doc = "The second argument where the first is not NULL, else the third.",
                                    .example = {"SELECT nvl2(NULL, 2, 1)", "1"}, .bind = &BindAs<MeanNvl2>};
  static const ScalarFunction kNullIf{.name = "nullif", .since = "2.0.0", .doc = "NULL where both are equal, else the first.",
                                      .example = {"SELECT nullif(2, 2)", "NULL"}, .bind = &BindAs<MeanNullIf>};
  static const ScalarFunction kNullIfZero{.name = "nullifzero", .since = "4.0.0", .doc = "NULL where the value is 0.",
                                          .example = {"SELECT nullifzero(0)", "NULL"}, .bind = &BindAs<MeanNullIfZero>};
  static const ScalarFunction kZeroIfNull{.name = "zeroifnull", .since = "4.0.0", .doc = "0 where the value is NULL.",
                                          .example = {"SELECT zeroifnull(NULL)", "0"}, .bind = &BindAs<MeanZeroIfNull>};
  static const ScalarFunction kBetween{.name = "between", .doc = "Whether the first lies between the other two, bounds included.",
                                       .example = {"SELECT 2 BETWEEN 1 AND 3", "true"}, .bind = &BindAs<MeanBetween>};
  static const ScalarFunction kNanvl{.name = "nanvl", .since = "1.5.0", .doc = "The second argument where the first is NaN.",
                                     .example = {"SELECT nanvl(cast('NaN' as double), 123)", "123.0"},
                                     .nulls = NullPolicy::kCustom, .bind = &BindNanvl};
  for (const auto* f : {&kCoalesce, &kNvl, &kIfNull, &kNvl2, &kNullIf, &kNullIfZero, &kZeroIfNull, &kBetween, &kNanvl}) {
    lists.Add(*f);
  }
}

}  // namespace thalweg::sql
