// + - * / % div pmod, unary minus and plus, abs, and their try_ forms over numbers.

#include <cmath>
#include <limits>
#include <optional>

#include "data/text/decimal128.h"
#include "data/text/numbers.h"
#include "sql/expr/binding.h"
#include "sql/functions/alike.h"
#include "sql/functions/operators/decimal_arithmetic.h"
#include "sql/functions/operators/register.h"

namespace thalweg::sql {

Status OverflowError(std::string_view message, std::string_view alternative) {
  std::string text;
  if (!alternative.empty()) {
    text = " Use '" + std::string(alternative) + "' to tolerate overflow and return NULL instead.";
  }
  return Error("ARITHMETIC_OVERFLOW")
      .With("message", message)
      .With("alternative", text)
      .With("config", "\"spark.sql.ansi.enabled\"");
}

Status DifferentTypesError(const std::string& sql, const DataType& left, const DataType& right) {
  return Error("DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES")
      .With("sqlExpr", QuoteSql(sql))
      .With("left", QuoteSql(left.Sql()))
      .With("right", QuoteSql(right.Sql()));
}

namespace {

// Each operation says its result and whether it went wrong; `Apply` must be defined for every input.
struct AddOf {
  static constexpr std::string_view kSymbol = "+";
  static constexpr std::string_view kTry = "try_add";
  template <typename T>
  static bool Apply(T a, T b, T* out) {
    if constexpr (std::is_floating_point_v<T>) {
      *out = a + b;
      return false;
    } else {
      using U = std::make_unsigned_t<T>;
      const T sum = static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
      *out = sum;
      return static_cast<T>((a ^ sum) & (b ^ sum)) < 0;
    }
  }
};
struct SubtractOf {
  static constexpr std::string_view kSymbol = "-";
  static constexpr std::string_view kTry = "try_subtract";
  template <typename T>
  static bool Apply(T a, T b, T* out) {
    if constexpr (std::is_floating_point_v<T>) {
      *out = a - b;
      return false;
    } else {
      using U = std::make_unsigned_t<T>;
      const T difference = static_cast<T>(static_cast<U>(static_cast<U>(a) - static_cast<U>(b)));
      *out = difference;
      return static_cast<T>((a ^ b) & (a ^ difference)) < 0;
    }
  }
};
struct MultiplyOf {
  static constexpr std::string_view kSymbol = "*";
  static constexpr std::string_view kTry = "try_multiply";
  template <typename T>
  static bool Apply(T a, T b, T* out) {
    if constexpr (std::is_floating_point_v<T>) {
      *out = a * b;
      return false;
    } else if constexpr (sizeof(T) < 8) {
      const int64_t product = static_cast<int64_t>(a) * b;
      *out = static_cast<T>(product);
      return product != *out;
    } else {
      return __builtin_mul_overflow(a, b, out);
    }
  }
};

enum class Trouble : uint8_t { kOverflow, kDivideByZero, kRemainderByZero };

Status ZeroError(Trouble trouble) {
  return Error(trouble == Trouble::kDivideByZero ? "DIVIDE_BY_ZERO" : "REMAINDER_BY_ZERO")
      .With("config", "\"spark.sql.ansi.enabled\"");
}

template <typename T>
Status BinaryOverflow(std::string_view symbol, std::string_view try_function, T a, T b) {
  if constexpr (sizeof(T) >= 4) {
    return OverflowError("overflow", try_function);
  } else {
    // Spark widens both to short for the message.
    return Error("BINARY_ARITHMETIC_OVERFLOW")
        .With("value1", std::to_string(a) + "S")
        .With("symbol", symbol)
        .With("value2", std::to_string(b) + "S")
        .With("functionName", QuoteFunctionName(try_function));
  }
}

template <typename T, typename Op>
Result<ColumnPtr> WrappingKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTotal2<T, T, T>(call, input, [](T a, T b) {
    T out;
    Op::template Apply<T>(a, b, &out);
    return out;
  });
}

/// A dense pass that only notes whether anything went wrong; the rows are looked at again if so.
template <typename T, typename Op>
Result<ColumnPtr> CheckedKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  bool bad = false;
  TW_ASSIGN_OR_RETURN(ColumnPtr result, (MapTotal2<T, T, T>(call, input, [&bad](T a, T b) {
                        T out;
                        bad |= Op::template Apply<T>(a, b, &out);
                        return out;
                      })));
  if (!bad) [[likely]] return result;
  const Reader<T> a(*input.arguments[0]);
  const Reader<T> b(*input.arguments[1]);
  NullMarks nulls(input.rows.length);
  TW_RETURN_NOT_OK(TryForEachValid(input, [&](int64_t row) -> Status {
    T out;
    if (!Op::template Apply<T>(a[row], b[row], &out)) return {};
    if (call.mode == EvalMode::kAnsi) return BinaryOverflow(Op::kSymbol, Op::kTry, a[row], b[row]);
    nulls.SetNull(row);
    return {};
  }));
  if (!nulls.any()) return result;
  Column::Parts parts = result->parts();
  nulls.Finish(&parts);
  return Column::Make(std::move(parts));
}

/// Division and its kin: f(a, b, out) for b != 0.
template <typename T, typename Out, typename F>
Result<ColumnPtr> DivideRows(const BoundScalar& call, const KernelInput& input, Trouble trouble, F f) {
  const EvalMode mode = call.mode;
  return MapChecked<Out, T, T>(call, input, [=](T a, T b, std::optional<Out>* out) -> Status {
    if (b == 0) {
      if (mode == EvalMode::kAnsi) return ZeroError(trouble);
      return {};
    }
    return f(a, b, out);
  });
}

template <typename T>
Result<ColumnPtr> DivideKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return DivideRows<T, T>(call, input, Trouble::kDivideByZero, [](T a, T b, std::optional<T>* out) -> Status {
    *out = a / b;
    return {};
  });
}

Result<ColumnPtr> IntegralDivideKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const EvalMode mode = call.mode;
  return DivideRows<int64_t, int64_t>(
      call, input, Trouble::kDivideByZero, [mode](int64_t a, int64_t b, std::optional<int64_t>* out) -> Status {
        if (b == -1 && a == std::numeric_limits<int64_t>::min()) {
          if (mode == EvalMode::kAnsi) return OverflowError("Overflow in integral divide", "try_divide");
          *out = a;
          return {};
        }
        *out = a / b;
        return {};
      });
}

template <typename T>
T Remainder(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    return b == -1 ? T{0} : static_cast<T>(a % b);
  }
}

template <typename T>
Result<ColumnPtr> RemainderKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return DivideRows<T, T>(call, input, Trouble::kRemainderByZero, [](T a, T b, std::optional<T>* out) -> Status {
    *out = Remainder(a, b);
    return {};
  });
}

template <typename T>
Result<ColumnPtr> PositiveModKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return DivideRows<T, T>(call, input, Trouble::kRemainderByZero, [](T a, T n, std::optional<T>* out) -> Status {
    const T r = Remainder(a, n);
    if (r >= 0) {
      *out = r;
    } else if constexpr (std::is_floating_point_v<T>) {
      *out = Remainder<T>(r + n, n);
    } else {
      *out = static_cast<T>(Remainder<int64_t>(static_cast<int64_t>(static_cast<uint64_t>(r) + static_cast<uint64_t>(n)), n));
    }
    return {};
  });
}

template <template <typename> typename Kernel>
ScalarKernel PickNumber(const DataType& type) {
  switch (type.physical()) {
    case PhysicalType::kInt8: return Kernel<int8_t>::Get();
    case PhysicalType::kInt16: return Kernel<int16_t>::Get();
    case PhysicalType::kInt32: return Kernel<int32_t>::Get();
    case PhysicalType::kInt64: return Kernel<int64_t>::Get();
    case PhysicalType::kFloat: return Kernel<float>::Get();
    case PhysicalType::kDouble: return Kernel<double>::Get();
    default: return nullptr;
  }
}

template <typename T>
struct RemainderOf {
  static ScalarKernel Get() { return &RemainderKernel<T>; }
};
template <typename T>
struct PositiveModOf {
  static ScalarKernel Get() { return &PositiveModKernel<T>; }
};

template <typename Op>
ScalarKernel PickChecked(const DataType& type, bool checked) {
  switch (type.physical()) {
    case PhysicalType::kInt8: return checked ? &CheckedKernel<int8_t, Op> : &WrappingKernel<int8_t, Op>;
    case PhysicalType::kInt16: return checked ? &CheckedKernel<int16_t, Op> : &WrappingKernel<int16_t, Op>;
    case PhysicalType::kInt32: return checked ? &CheckedKernel<int32_t, Op> : &WrappingKernel<int32_t, Op>;
    case PhysicalType::kInt64: return checked ? &CheckedKernel<int64_t, Op> : &WrappingKernel<int64_t, Op>;
    case PhysicalType::kFloat: return &WrappingKernel<float, Op>;
    case PhysicalType::kDouble: return &WrappingKernel<double, Op>;
    default: return nullptr;
  }
}

/// '+', '-', '*', '/', '%', 'd' (div), 'p' (pmod).
char OperationOf(std::string_view name) {
  if (name == "+" || name == "try_add") return '+';
  if (name == "-" || name == "try_subtract") return '-';
  if (name == "*" || name == "try_multiply") return '*';
  if (name == "/" || name == "try_divide") return '/';
  if (name == "div") return 'd';
  if (name == "pmod") return 'p';
  return '%';
}

std::string OperatorSql(const ScalarFunction& function, const ExprList& arguments) {
  if (!std::isalpha(static_cast<unsigned char>(function.name[0])) || function.name == "div") {
    return "(" + AutoName(arguments[0]) + " " + std::string(function.name) + " " + AutoName(arguments[1]) + ")";
  }
  return CallSql(function.name, arguments);
}

Status WrongTypeError(const ScalarFunction& function, char op, const ExprList& arguments, const DataType& actual) {
  std::string required = "\"NUMERIC\"";
  if (op == '+' || op == '-') {
    required = "(\"NUMERIC\" or \"INTERVAL DAY TO SECOND\" or \"INTERVAL YEAR TO MONTH\" or \"INTERVAL\")";
  } else if (op == '/') {
    required = "(\"DOUBLE\" or \"DECIMAL\")";
  } else if (op == 'd') {
    required = "(\"BIGINT\" or \"DECIMAL\" or \"INTERVAL YEAR TO MONTH\" or \"INTERVAL DAY TO SECOND\")";
  }
  return Error("DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE")
      .With("sqlExpr", QuoteSql(OperatorSql(function, arguments)))
      .With("inputType", required)
      .With("actualDataType", QuoteSql(actual.Sql()));
}

/// The type both operands are cast to; DECIMAL means: each keeps (or gets) its own decimal type.
Result<DataType> OperandType(const ScalarFunction& function, char op, const ExprList& arguments, bool ansi) {
  DataType left = WithoutLength(arguments[0]->type());
  DataType right = WithoutLength(arguments[1]->type());
  const auto is_operand = [](const DataType& t) {
    return t.IsNumeric() || t.Is(TypeKind::kString) || t.Is(TypeKind::kNull);
  };
  if (!is_operand(left) || !is_operand(right)) {
    if (left.SameType(right)) return WrongTypeError(function, op, arguments, left);
    return DifferentTypesError(OperatorSql(function, arguments), left, right);
  }
  const bool left_string = left.Is(TypeKind::kString);
  const bool right_string = right.Is(TypeKind::kString);
  if (left_string && right_string) {
    if (ansi) return WrongTypeError(function, op, arguments, left);
    left = right = op == 'd' ? DataType::Long() : DataType::Double();
  } else if (left_string || right_string) {
    const DataType& other = left_string ? right : left;
    DataType promoted = DataType::Double();
    if (op == 'd' || (ansi && other.IsIntegral())) promoted = DataType::Long();
    (left_string ? left : right) = promoted;
  }
  if (left.Is(TypeKind::kNull) && right.Is(TypeKind::kNull)) return op == 'd' ? DataType::Long() : DataType::Double();
  if (left.Is(TypeKind::kNull)) left = right;
  if (right.Is(TypeKind::kNull)) right = left;
  const bool decimal = left.Is(TypeKind::kDecimal) || right.Is(TypeKind::kDecimal);
  const bool floating = left.Is(TypeKind::kFloat) || left.Is(TypeKind::kDouble) || right.Is(TypeKind::kFloat) ||
                        right.Is(TypeKind::kDouble);
  if (op == 'd' && floating) {
    // Whole numbers are BIGINT, decimals beside floating numbers DOUBLE before Spark looks.
    const DataType a = left.IsIntegral() ? DataType::Long() : (decimal ? DataType::Double() : left);
    const DataType b = right.IsIntegral() ? DataType::Long() : (decimal ? DataType::Double() : right);
    if (a.SameType(b)) return WrongTypeError(function, op, arguments, a);
    return DifferentTypesError(OperatorSql(function, arguments), a, b);
  }
  if (decimal && !floating) return DataType::Decimal(38, 18);
  if (decimal) return DataType::Double();
  if (op == '/') return DataType::Double();
  if (op == 'd') return DataType::Long();
  return *TightestCommonType(left, right, ansi);
}

Result<BoundCall> BindDecimal(const ScalarFunction& function, char op, ExprList arguments, const BindContext& context) {
  for (size_t i = 0; i < 2; ++i) {
    const DataType& other = arguments[1 - i]->type();
    DataType type = DecimalForOperand(arguments[i]);
    if (arguments[i]->type().Is(TypeKind::kNull)) type = DecimalForType(other);
    arguments[i] = Coerce(arguments[i], type, context.config);
  }
  const DataType type = DecimalResultType(op, arguments[0]->type(), arguments[1]->type());
  const EvalMode mode = ModeOf(function, context);
  const bool divides = op == '/' || op == '%' || op == 'd' || op == 'p';
  const bool nullable = AnyNullable(arguments) || divides || mode != EvalMode::kAnsi;
  const ScalarKernel kernel = DecimalKernel(op, arguments[0]->type(), arguments[1]->type());
  return MakeBoundExact(function, std::move(arguments), op == 'd' ? DataType::Long() : type, nullable, kernel, mode);
}

ScalarKernel NumberKernel(char op, const DataType& type, EvalMode mode) {
  const bool checked = mode != EvalMode::kLegacy;
  switch (op) {
    case '+': return PickChecked<AddOf>(type, checked);
    case '-': return PickChecked<SubtractOf>(type, checked);
    case '*': return PickChecked<MultiplyOf>(type, checked);
    case '/': return &DivideKernel<double>;
    case 'd': return &IntegralDivideKernel;
    case 'p': return PickNumber<PositiveModOf>(type);
    default: return PickNumber<RemainderOf>(type);
  }
}

Result<BoundCall> BindUnaryMinus(const ScalarFunction& function, ExprList arguments, const BindContext& context);
Result<BoundCall> BindUnaryPlus(const ScalarFunction& function, ExprList arguments, const BindContext& context);

Result<BoundCall> BindArithmetic(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  const char op = OperationOf(function.name);
  if (arguments.size() == 1 && function.name == "-") return BindUnaryMinus(function, std::move(arguments), context);
  if (arguments.size() == 1 && function.name == "+") return BindUnaryPlus(function, std::move(arguments), context);
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  TW_ASSIGN_OR_RETURN(auto datetime, BindDatetimeArithmetic(function, op, arguments, context));
  if (datetime) return *std::move(datetime);
  TW_ASSIGN_OR_RETURN(const DataType type, OperandType(function, op, arguments, context.config.ansi));
  if (type.Is(TypeKind::kDecimal)) return BindDecimal(function, op, std::move(arguments), context);
  for (auto& argument : arguments) argument = Coerce(argument, type, context.config);
  const EvalMode mode = ModeOf(function, context);
  const bool divides = op == '/' || op == '%' || op == 'd' || op == 'p';
  const bool nullable = AnyNullable(arguments) || divides || mode == EvalMode::kTry;
  return MakeBoundExact(function, std::move(arguments), op == '/' ? DataType::Double() : type, nullable,
                        NumberKernel(op, type, mode), mode);
}

// --- one operand ---

template <typename T, bool kAbs>
Result<ColumnPtr> NegateKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  if constexpr (std::is_floating_point_v<T>) {
    return MapTotal1<T, T>(call, input, [](T v) { return kAbs ? std::fabs(v) : -v; });
  } else if constexpr (std::is_same_v<T, Int128>) {
    return MapTotal1<T, T>(call, input, [](T v) { return kAbs && v >= 0 ? v : -v; });
  } else {
    constexpr T kLeast = std::numeric_limits<T>::min();
    bool bad = false;
    TW_ASSIGN_OR_RETURN(ColumnPtr result, (MapTotal1<T, T>(call, input, [&bad](T v) {
                          bad |= v == kLeast;
                          using U = std::make_unsigned_t<T>;
                          return kAbs && v >= 0 ? v : static_cast<T>(static_cast<U>(0 - static_cast<U>(v)));
                        })));
    if (!bad || call.mode != EvalMode::kAnsi) return result;
    const Reader<T> in(*input.arguments[0]);
    const bool interval = call.type.IsAnsiInterval();
    TW_RETURN_NOT_OK(TryForEachValid(input, [&](int64_t row) -> Status {
      if (in[row] != kLeast) return {};
      if (interval) return Error("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION");
      return OverflowError("overflow", "");
    }));
    return result;
  }
}

Result<ColumnPtr> NegateCalendarInterval(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  using data::CalendarInterval;
  return MapTotal1<CalendarInterval, CalendarInterval>(call, input, [](CalendarInterval v) {
    return CalendarInterval{-v.months, -v.days, -v.microseconds};
  });
}

template <bool kAbs>
ScalarKernel PickNegate(const DataType& type) {
  switch (type.physical()) {
    case PhysicalType::kInt8: return &NegateKernel<int8_t, kAbs>;
    case PhysicalType::kInt16: return &NegateKernel<int16_t, kAbs>;
    case PhysicalType::kInt32: return &NegateKernel<int32_t, kAbs>;
    case PhysicalType::kInt64: return &NegateKernel<int64_t, kAbs>;
    case PhysicalType::kFloat: return &NegateKernel<float, kAbs>;
    case PhysicalType::kDouble: return &NegateKernel<double, kAbs>;
    case PhysicalType::kInt128: return &NegateKernel<Int128, kAbs>;
    case PhysicalType::kInterval: return kAbs ? nullptr : &NegateCalendarInterval;
    default: return nullptr;
  }
}

/// Casts a string or null to DOUBLE; checks that the operand is a number or an interval.
Status CoerceUnary(const ScalarFunction& function, ExprList* arguments, const BindContext& context) {
  const DataType& type = (*arguments)[0]->type();
  if (type.Is(TypeKind::kString) || type.Is(TypeKind::kNull)) {
    (*arguments)[0] = Coerce((*arguments)[0], DataType::Double(), context.config);
    return {};
  }
  if (type.IsNumeric() || type.IsAnsiInterval() || (type.Is(TypeKind::kCalendarInterval) && function.name != "abs")) return {};
  return UnexpectedInputType(function.name, *arguments, 0,
                             "(\"NUMERIC\" or \"INTERVAL DAY TO SECOND\" or \"INTERVAL YEAR TO MONTH\" or \"INTERVAL\")");
}

Result<BoundCall> BindUnaryMinus(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  TW_RETURN_NOT_OK(CoerceUnary(function, &arguments, context));
  const DataType type = arguments[0]->type();
  const ScalarKernel kernel = function.name == "abs" ? PickNegate<true>(type) : PickNegate<false>(type);
  return MakeBound(function, std::move(arguments), type, false, kernel, context);
}

Result<ColumnPtr> IdentityKernel(const BoundScalar&, const KernelInput& input, EvalContext&) { return input.arguments[0]; }

Result<BoundCall> BindUnaryPlus(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  TW_RETURN_NOT_OK(CoerceUnary(function, &arguments, context));
  const DataType type = arguments[0]->type();
  return MakeBound(function, std::move(arguments), type, false, &IdentityKernel, context);
}

std::string ArithmeticText(const Call& call, bool plan_text) {
  const std::string_view name = call.function_name();
  if (call.children().size() == 1) return "(" + std::string(name) + " " + TextOf(call.child(0), plan_text) + ")";
  const DataType& left = call.child(0)->type();
  const DataType& right = call.child(1)->type();
  const auto is_time = [](const DataType& t) {
    return t.Is(TypeKind::kDate) || t.Is(TypeKind::kTimestamp) || t.Is(TypeKind::kTimestampNtz);
  };
  const auto is_interval = [](const DataType& t) { return t.IsAnsiInterval() || t.Is(TypeKind::kCalendarInterval); };
  if (is_time(left) && is_interval(right)) {
    return TextOf(call.child(0), plan_text) + " " + std::string(name) + " " + TextOf(call.child(1), plan_text);
  }
  if (is_time(right) && is_interval(left)) {
    return TextOf(call.child(1), plan_text) + " " + std::string(name) + " " + TextOf(call.child(0), plan_text);
  }
  return InfixSql(call, name, plan_text);
}

std::string PositiveText(const Call& call, bool plan_text) { return "(+ " + TextOf(call.child(0), plan_text) + ")"; }

}  // namespace

void RegisterArithmetic(FunctionLists& lists) {
  static const ScalarFunction kAdd{.name = "+", .signature = "(left, right)", .doc = "Sum of two values.",
                                   .example = {"SELECT 1 + 2", "3"}, .bind = &BindArithmetic, .sql = &ArithmeticText};
  const auto like_add = [](std::string_view name, std::string_view doc, FunctionExample example, std::string_view since = "1.0.0") {
    ScalarFunction f = Renamed(kAdd, name);
    f.doc = doc;
    f.example = example;
    f.since = since;
    return f;
  };
  static const ScalarFunction kSubtract =
      like_add("-", "Difference of two values; with one operand its negation.", {"SELECT 2 - 1", "1"});
  static const ScalarFunction kMultiply = like_add("*", "Product of two values.", {"SELECT 2 * 3", "6"});
  static const ScalarFunction kDivide = like_add("/", "Quotient of two values, always fractional.", {"SELECT 3 / 2", "1.5"});
  static const ScalarFunction kRemainder =
      like_add("%", "Remainder with the sign of the dividend.", {"SELECT 2 % 1.8", "0.2"});
  static const ScalarFunction kIntegralDivide =
      like_add("div", "Quotient cut towards zero, as BIGINT.", {"SELECT 3 div 2", "1"}, "3.0.0");
  for (const auto* function : {&kAdd, &kSubtract, &kMultiply, &kDivide, &kRemainder, &kIntegralDivide}) lists.Add(*function);

  static const ScalarFunction kTryAdd{.name = "try_add", .since = "3.2.0", .doc = "Sum, or NULL when it overflows.",
                                      .example = {"SELECT try_add(2147483647, 1)", "NULL"}, .bind = &BindArithmetic};
  static const ScalarFunction kTrySubtract =
      Alike(kTryAdd, "try_subtract", "Difference, or NULL when it overflows.",
            {"SELECT try_subtract(-2147483648, 1)", "NULL"});
  static const ScalarFunction kTryMultiply =
      Alike(kTryAdd, "try_multiply", "Product, or NULL when it overflows.",
            {"SELECT try_multiply(2147483647, 2)", "NULL"});
  static const ScalarFunction kTryDivide =
      Alike(kTryAdd, "try_divide", "Quotient, always fractional; NULL for a divisor of 0.",
            {"SELECT try_divide(1, 0)", "NULL"});
  static const ScalarFunction kTryMod =
      Alike(kTryAdd, "try_mod", "Remainder; NULL for a divisor of 0.", {"SELECT try_mod(1, 0)", "NULL"});
  static const ScalarFunction kMod =
      Alike(kTryAdd, "mod", "Remainder with the sign of the dividend.", {"SELECT mod(2, 1.8)", "0.2"});
  static const ScalarFunction kPmod =
      Alike(kTryAdd, "pmod", "Remainder that is never negative for a positive divisor.", {"SELECT pmod(-10, 3)", "2"});
  for (const auto* function : {&kTryAdd, &kTrySubtract, &kTryMultiply, &kTryDivide, &kTryMod, &kMod, &kPmod}) {
    lists.Add(*function);
  }

  static const ScalarFunction kNegative{.name = "negative", .doc = "The negated value.",
                                        .example = {"SELECT negative(1)", "-1"}, .bind = &BindUnaryMinus};
  static const ScalarFunction kAbs{.name = "abs", .since = "1.2.0", .doc = "The absolute value.",
                                   .example = {"SELECT abs(-1)", "1"}, .bind = &BindUnaryMinus};
  static const ScalarFunction kPositive{.name = "positive", .since = "1.5.0", .doc = "The value itself.",
                                        .example = {"SELECT positive(1)", "1"}, .bind = &BindUnaryPlus,
                                        .sql = &PositiveText};
  lists.Add(kNegative);
  lists.Add(kAbs);
  lists.Add(kPositive);
}

}  // namespace thalweg::sql
