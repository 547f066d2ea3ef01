// = == != <> < <= > >= <=>

#include <cmath>
#include <cstring>

#include "sql/expr/binding.h"
#include "sql/functions/alike.h"
#include "sql/functions/operators/register.h"

namespace thalweg::sql {
namespace {

enum class Order : uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

/// Floating numbers in SQL's order: NaN equals NaN and is above all.
template <typename T>
bool FloatLess(T a, T b) {
  return a < b || (std::isnan(b) && !std::isnan(a));
}
template <typename T>
bool FloatEqual(T a, T b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

template <Order kOrder, typename T>
bool Holds(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (kOrder) {
      case Order::kEqual: return FloatEqual(a, b);
      case Order::kNotEqual: return !FloatEqual(a, b);
      case Order::kLess: return FloatLess(a, b);
      case Order::kLessEqual: return !FloatLess(b, a);
      case Order::kGreater: return FloatLess(b, a);
      case Order::kGreaterEqual: return !FloatLess(a, b);
    }
  } else {
    switch (kOrder) {
      case Order::kEqual: return a == b;
      case Order::kNotEqual: return a != b;
      case Order::kLess: return a < b;
      case Order::kLessEqual: return a <= b;
      case Order::kGreater: return a > b;
      case Order::kGreaterEqual: return a >= b;
    }
  }
  return false;
}

template <Order kOrder>
bool HoldsText(const TextView& a, const TextView& b) {
  if constexpr (kOrder == Order::kEqual) {
    return a == b;
  } else if constexpr (kOrder == Order::kNotEqual) {
    return !(a == b);
  } else {
    return Holds<kOrder>(a.Compare(b), 0);
  }
}

template <typename T>
struct Compare {
  template <Order kOrder>
  static Result<ColumnPtr> Kernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
    return MapTotal2<bool, T, T>(call, input, [](T a, T b) -> uint8_t { return Holds<kOrder>(a, b); });
  }
};

struct CompareText {
  template <Order kOrder>
  static Result<ColumnPtr> Kernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
    const bool all = input.rows.rows == nullptr;
    FixedOutput<bool> out(call.type, input.rows.length, !all);
    uint8_t* values = out.values();
    const Reader<std::string_view> a(*input.arguments[0]);
    const Reader<std::string_view> b(*input.arguments[1]);
    const int64_t a_step = a.constant() ? 0 : 1;
    const int64_t b_step = b.constant() ? 0 : 1;
    const TextView* x = a.data();
    const TextView* y = b.data();
    input.rows.ForEach([&](int64_t row) { values[row] = HoldsText<kOrder>(x[row * a_step], y[row * b_step]); });
    return out.Finish();
  }
};

struct CompareNested {
  template <Order kOrder>
  static Result<ColumnPtr> Kernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
    FixedOutput<bool> out(call.type, input.rows.length);
    const Column& a = *input.arguments[0];
    const Column& b = *input.arguments[1];
    ForEachValid(input, [&](int64_t row) { out.Set(row, Holds<kOrder>(CompareRows(a, row, b, row), 0)); });
    return out.Finish();
  }
};

template <typename Family>
ScalarKernel PickOrder(Order order) {
  switch (order) {
    case Order::kEqual: return &Family::template Kernel<Order::kEqual>;
    case Order::kNotEqual: return &Family::template Kernel<Order::kNotEqual>;
    case Order::kLess: return &Family::template Kernel<Order::kLess>;
    case Order::kLessEqual: return &Family::template Kernel<Order::kLessEqual>;
    case Order::kGreater: return &Family::template Kernel<Order::kGreater>;
    case Order::kGreaterEqual: return &Family::template Kernel<Order::kGreaterEqual>;
  }
  return nullptr;
}

ScalarKernel PickKernel(const DataType& type, Order order) {
  switch (type.physical()) {
    case PhysicalType::kBool: return PickOrder<Compare<uint8_t>>(order);
    case PhysicalType::kInt8: return PickOrder<Compare<int8_t>>(order);
    case PhysicalType::kInt16: return PickOrder<Compare<int16_t>>(order);
    case PhysicalType::kInt32: return PickOrder<Compare<int32_t>>(order);
    case PhysicalType::kInt64: return PickOrder<Compare<int64_t>>(order);
    case PhysicalType::kFloat: return PickOrder<Compare<float>>(order);
    case PhysicalType::kDouble: return PickOrder<Compare<double>>(order);
    case PhysicalType::kInt128: return PickOrder<Compare<Int128>>(order);
    case PhysicalType::kText: return PickOrder<CompareText>(order);
    default: return PickOrder<CompareNested>(order);
  }
}

Order OrderOf(std::string_view name) {
  if (name == "!=" || name == "<>") return Order::kNotEqual;
  if (name == "<") return Order::kLess;
  if (name == "<=") return Order::kLessEqual;
  if (name == ">") return Order::kGreater;
  if (name == ">=") return Order::kGreaterEqual;
  return Order::kEqual;
}

std::string_view SymbolOf(std::string_view name) { return name == "==" || name == "equal" ? "=" : name; }

std::string InfixOf(const ScalarFunction& function, const ExprList& arguments) {
  return "(" + arguments[0]->Sql() + " " + std::string(SymbolOf(function.name)) + " " + arguments[1]->Sql() + ")";
}

Result<DataType> CoerceSides(const ScalarFunction& function, ExprList* arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments->size(), 2, 2));
  const DataType& left = (*arguments)[0]->type();
  const DataType& right = (*arguments)[1]->type();
  const auto type = ComparisonType(left, right, context.config.ansi);
  if (!type) return DifferentTypesError(InfixOf(function, *arguments), left, right);
  if (!type->IsOrderable() && !type->Is(TypeKind::kCalendarInterval) && !type->Is(TypeKind::kNull)) {
    return Error("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE")
        .With("sqlExpr", QuoteSql(InfixOf(function, *arguments)))
        .With("functionName", QuoteFunctionName(SymbolOf(function.name)))
        .With("dataType", QuoteSql(type->Sql()));
  }
  if (type->Is(TypeKind::kString) && type->collation() != "UTF8_BINARY") {
    return Unsupported("comparison under the collation " + type->collation());
  }
  if (!context.config.ansi && type->Is(TypeKind::kDecimal)) {
    // Without ANSI an integer meets a decimal as one of just its digits.
    const auto narrow = WiderType(DecimalForOperand((*arguments)[0]), DecimalForOperand((*arguments)[1]), false);
    for (auto& argument : *arguments) argument = Coerce(argument, *narrow, context.config);
    return *narrow;
  }
  for (auto& argument : *arguments) argument = Coerce(argument, *type, context.config);
  return *type;
}

Result<BoundCall> BindComparison(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_ASSIGN_OR_RETURN(const DataType type, CoerceSides(function, &arguments, context));
  return MakeBound(function, std::move(arguments), DataType::Boolean(), false, PickKernel(type, OrderOf(function.name)),
                   context);
}

Result<ColumnPtr> NullSafeEqualKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  FixedOutput<bool> out(call.type, input.rows.length);
  const Column& a = *input.arguments[0];
  const Column& b = *input.arguments[1];
  input.rows.ForEach([&](int64_t row) {
    const bool a_null = a.IsNull(row);
    const bool b_null = b.IsNull(row);
    out.Set(row, a_null || b_null ? a_null == b_null : CompareRows(a, row, b, row) == 0);
  });
  return out.Finish();
}

Result<BoundCall> BindNullSafeEqual(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_ASSIGN_OR_RETURN(const DataType type, CoerceSides(function, &arguments, context));
  return MakeBoundExact(function, std::move(arguments), DataType::Boolean(), false, &NullSafeEqualKernel,
                        ModeOf(function, context));
}

std::string ComparisonText(const Call& call, bool plan_text) {
  const std::string_view name = call.function_name();
  // Spark has no node for !=: it is NOT (a = b).
  if (name == "!=" || name == "<>") return "(NOT " + InfixSql(call, "=", plan_text) + ")";
  return InfixSql(call, SymbolOf(name), plan_text);
}

}  // namespace

void RegisterComparison(FunctionLists& lists) {
  static const ScalarFunction kEqual{.name = "==", .aliases = {"="}, .doc = "Whether both are equal; NULL when one is NULL.",
                                     .example = {"SELECT 2 == 2", "true"}, .bind = &BindComparison, .may_raise = false,
                                     .sql = &ComparisonText};
  static const ScalarFunction kNotEqual = [] {
    ScalarFunction f = Renamed(kEqual, "!=");
    f.aliases = {"<>"};
    f.doc = "Whether both differ; NULL when one is NULL.";
    f.example = {"SELECT 1 != 2", "true"};
    return f;
  }();
  static const ScalarFunction kLess =
      Alike(kEqual, "<", "Whether the first is less; NULL when one is NULL.", {"SELECT 1 < 2", "true"});
  static const ScalarFunction kLessEqual =
      Alike(kEqual, "<=", "Whether the first is less or equal; NULL when one is NULL.", {"SELECT 2 <= 2", "true"});
  static const ScalarFunction kGreater =
      Alike(kEqual, ">", "Whether the first is greater; NULL when one is NULL.", {"SELECT 2 > 1", "true"});
  static const ScalarFunction kGreaterEqual =
      Alike(kEqual, ">=", "Whether the first is greater or equal; NULL when one is NULL.", {"SELECT 2 >= 1", "true"});
  for (const auto* f : {&kEqual, &kNotEqual, &kLess, &kLessEqual, &kGreater, &kGreaterEqual}) lists.Add(*f);
  static const ScalarFunction kNullSafeEqual{.name = "<=>", .doc = "Whether both are equal; two NULLs are.",
                                             .example = {"SELECT NULL <=> NULL", "true"}, .nulls = NullPolicy::kCustom,
                                             .bind = &BindNullSafeEqual, .may_raise = false, .sql = &ComparisonText};
  lists.Add(kNullSafeEqual);
}

}  // namespace thalweg::sql
