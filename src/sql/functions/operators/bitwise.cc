// & | ^ ~ << >> >>> and the functions shiftleft, shiftright, shiftrightunsigned, bit_count, getbit.

#include <bit>

#include "sql/expr/binding.h"
#include "sql/functions/alike.h"
#include "sql/functions/operators/register.h"

namespace thalweg::sql {
namespace {

template <typename T, char kOp>
Result<ColumnPtr> BitKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTotal2<T, T, T>(call, input, [](T a, T b) -> T {
    if constexpr (kOp == '&') return static_cast<T>(a & b);
    if constexpr (kOp == '|') return static_cast<T>(a | b);
    return static_cast<T>(a ^ b);
  });
}

template <typename T>
Result<ColumnPtr> BitNotKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTotal1<T, T>(call, input, [](T v) { return static_cast<T>(~v); });
}

/// '<': left, '>': right, 'u': right without sign; the distance counts modulo the width, as on the JVM.
template <typename T, char kOp>
Result<ColumnPtr> ShiftKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  using U = std::make_unsigned_t<T>;
  constexpr int32_t kMask = static_cast<int32_t>(sizeof(T)) * 8 - 1;
  return MapTotal2<T, T, int32_t>(call, input, [](T v, int32_t by) -> T {
    if constexpr (kOp == '<') return static_cast<T>(static_cast<U>(v) << (by & kMask));
    if constexpr (kOp == '>') return static_cast<T>(v >> (by & kMask));
    return static_cast<T>(static_cast<U>(v) >> (by & kMask));
  });
}

template <char kOp>
ScalarKernel PickBit(const DataType& type) {
  switch (type.physical()) {
    case PhysicalType::kInt8: return &BitKernel<int8_t, kOp>;
    case PhysicalType::kInt16: return &BitKernel<int16_t, kOp>;
    case PhysicalType::kInt32: return &BitKernel<int32_t, kOp>;
    default: return &BitKernel<int64_t, kOp>;
  }
}

std::optional<DataType> IntegralOperand(const DataType& type) {
  if (type.IsIntegral()) return type;
  if (type.Is(TypeKind::kNull)) return DataType::Integer();
  if (type.Is(TypeKind::kString)) return DataType::Long();
  return {};
}

Result<BoundCall> BindBitwise(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  const auto left = IntegralOperand(arguments[0]->type());
  const auto right = IntegralOperand(arguments[1]->type());
  const std::string sql =
      "(" + arguments[0]->Sql() + " " + std::string(function.name) + " " + arguments[1]->Sql() + ")";
  if (!left || !right) {
    if (!arguments[0]->type().SameType(arguments[1]->type())) {
      return DifferentTypesError(sql, arguments[0]->type(), arguments[1]->type());
    }
    return Error("DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE")
        .With("sqlExpr", QuoteSql(sql))
        .With("inputType", "\"INTEGRAL\"")
        .With("actualDataType", QuoteSql(arguments[0]->type().Sql()));
  }
  const DataType type = *TightestCommonType(*left, *right, context.config.ansi);
  for (auto& argument : arguments) argument = Coerce(argument, type, context.config);
  const char op = function.name[0];
  const ScalarKernel kernel = op == '&' ? PickBit<'&'>(type) : (op == '|' ? PickBit<'|'>(type) : PickBit<'^'>(type));
  return MakeBound(function, std::move(arguments), type, false, kernel, context);
}

Result<BoundCall> BindBitNot(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  const auto type = IntegralOperand(arguments[0]->type());
  if (!type) return UnexpectedInputType(function.name, arguments, 0, "\"INTEGRAL\"");
  arguments[0] = Coerce(arguments[0], *type, context.config);
  ScalarKernel kernel = &BitNotKernel<int64_t>;
  if (type->Is(TypeKind::kByte)) kernel = &BitNotKernel<int8_t>;
  if (type->Is(TypeKind::kShort)) kernel = &BitNotKernel<int16_t>;
  if (type->Is(TypeKind::kInteger)) kernel = &BitNotKernel<int32_t>;
  return MakeBound(function, std::move(arguments), *type, false, kernel, context);
}

char ShiftOf(std::string_view name) {
  if (name == "<<" || name == "shiftleft") return '<';
  if (name == ">>" || name == "shiftright") return '>';
  return 'u';
}

Result<BoundCall> BindShift(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  const bool wide = arguments[0]->type().Is(TypeKind::kLong);
  const DataType type = wide ? DataType::Long() : DataType::Integer();
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, type, context));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, DataType::Integer(), context));
  ScalarKernel kernel = nullptr;
  switch (ShiftOf(function.name)) {
    case '<': kernel = wide ? &ShiftKernel<int64_t, '<'> : &ShiftKernel<int32_t, '<'>; break;
    case '>': kernel = wide ? &ShiftKernel<int64_t, '>'> : &ShiftKernel<int32_t, '>'>; break;
    default: kernel = wide ? &ShiftKernel<int64_t, 'u'> : &ShiftKernel<int32_t, 'u'>; break;
  }
  return MakeBound(function, std::move(arguments), type, false, kernel, context);
}

Result<ColumnPtr> BitCountLong(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTotal1<int32_t, int64_t>(call, input, [](int64_t v) { return std::popcount(static_cast<uint64_t>(v)); });
}

Result<BoundCall> BindBitCount(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  const DataType& type = arguments[0]->type();
  if (!type.IsIntegral() && !type.Is(TypeKind::kBoolean)) {
    return UnexpectedInputType(function.name, arguments, 0, "(\"INTEGRAL\" or \"BOOLEAN\")");
  }
  arguments[0] = Coerce(arguments[0], DataType::Long(), context.config);
  return MakeBound(function, std::move(arguments), DataType::Integer(), false, &BitCountLong, context);
}

Result<ColumnPtr> BitGetKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapChecked<int8_t, int64_t, int32_t>(call, input, [](int64_t v, int32_t at, std::optional<int8_t>* out) -> Status {
    if (at < 0 || at > 63) {
      return Error("INVALID_PARAMETER_VALUE.BIT_POSITION_RANGE")
          .With("parameter", "`pos`")
          .With("functionName", "`getbit`")
          .With("upper", "64")
          .With("invalidValue", static_cast<long long>(at));
    }
    *out = static_cast<int8_t>((v >> at) & 1);
    return {};
  });
}

std::string BitText(const Call& call, bool plan_text) { return InfixSql(call, call.function_name(), plan_text); }
std::string BitNotText(const Call& call, bool plan_text) { return "~" + TextOf(call.child(0), plan_text); }

}  // namespace

void RegisterBitwise(FunctionLists& lists) {
  static const ScalarFunction kAnd{.name = "&", .since = "1.4.0", .doc = "Bitwise AND.", .example = {"SELECT 3 & 5", "1"},
                                   .bind = &BindBitwise, .sql = &BitText};
  static const ScalarFunction kOr = Alike(kAnd, "|", "Bitwise OR.", {"SELECT 3 | 5", "7"});
  static const ScalarFunction kXor = Alike(kAnd, "^", "Bitwise XOR.", {"SELECT 3 ^ 5", "6"});
  static const ScalarFunction kNot{.name = "~", .since = "1.4.0", .doc = "Bitwise NOT.", .example = {"SELECT ~ 0", "-1"},
                                   .bind = &BindBitNot, .sql = &BitNotText};
  static const ScalarFunction kLeft{.name = "<<", .since = "4.0.0", .doc = "Bitwise left shift.",
                                    .example = {"SELECT 2 << 1", "4"}, .bind = &BindShift, .sql = &BitText};
  static const ScalarFunction kRight =
      Alike(kLeft, ">>", "Bitwise right shift, keeping the sign.", {"SELECT -4 >> 1", "-2"});
  static const ScalarFunction kUnsigned =
      Alike(kLeft, ">>>", "Bitwise right shift, filling with zeros.", {"SELECT 4 >>> 1", "2"});
  static const ScalarFunction kShiftLeft{.name = "shiftleft", .since = "1.5.0", .doc = "Bitwise left shift.",
                                         .example = {"SELECT shiftleft(2, 1)", "4"}, .bind = &BindShift};
  static const ScalarFunction kShiftRight =
      Alike(kShiftLeft, "shiftright", "Bitwise right shift, keeping the sign.", {"SELECT shiftright(-4, 1)", "-2"});
  static const ScalarFunction kShiftUnsigned =
      Alike(kShiftLeft, "shiftrightunsigned", "Bitwise right shift, filling with zeros.",
            {"SELECT shiftrightunsigned(4, 1)", "2"});
  static const ScalarFunction kBitCount{.name = "bit_count", .since = "3.0.0", .doc = "Number of bits that are set.",
                                        .example = {"SELECT bit_count(0)", "0"}, .bind = &BindBitCount};
  static const ScalarFunction kGetBit{.name = "getbit", .signature = "(value BIGINT, position INT) -> TINYINT",
                                      .since = "3.2.0", .doc = "The bit at a position, from the right and from 0.",
                                      .example = {"SELECT getbit(11, 0)", "1"}, .evaluate = &BitGetKernel};
  static const ScalarFunction kBitGet = Renamed(kGetBit, "bit_get");
  for (const auto* f : {&kAnd, &kOr, &kXor, &kNot, &kLeft, &kRight, &kUnsigned, &kShiftLeft, &kShiftRight,
                        &kShiftUnsigned, &kBitCount, &kGetBit, &kBitGet}) {
    lists.Add(*f);
  }
}

}  // namespace thalweg::sql
