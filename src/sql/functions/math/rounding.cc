// floor, ceil, ceiling, round, bround.

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/text/decimal128.h"
#include "data/text/literal.h"
#include "sql/expr/binding.h"
#include "sql/functions/alike.h"
#include "sql/functions/math/register.h"
#include "sql/functions/operators/register.h"

namespace thalweg::sql {
namespace {

using data::Rounding;

/// Scala's toLong: saturates, NaN is 0.
int64_t ToLong(double v) {
  if (std::isnan(v)) return 0;
  if (v >= 9223372036854775807.0) return std::numeric_limits<int64_t>::max();
  if (v <= -9223372036854775808.0) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(v);
}

template <bool kUp>
Result<ColumnPtr> FloorDouble(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTotal1<int64_t, double>(call, input, [](double v) { return ToLong(kUp ? std::ceil(v) : std::floor(v)); });
}

Result<ColumnPtr> FloorLong(const BoundScalar&, const KernelInput& input, EvalContext&) { return input.arguments[0]; }

template <bool kUp>
Result<ColumnPtr> FloorDecimal(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const int from = input.arguments[0]->type().scale();
  const int scale = call.type.scale();
  return MapNullable<Int128, Int128>(call, input, [=](Int128 v, Int128* out) {
    return data::DecimalRescale(v, from, 38, scale, out, kUp ? Rounding::kCeiling : Rounding::kFloor);
  });
}

struct PlacesData final : BoundData {
  explicit PlacesData(int p) : places(p) {}
  int places;
};

/// Farther off every number is whole, or none of it is left. Bounded, so that it can be negated and added to.
int BoundedPlaces(const Value& places) { return std::clamp(places.get<int32_t>(), -1000, 1000); }

/// floor(x, n): to n decimal places.
template <bool kUp>
Result<ColumnPtr> FloorPlaces(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const int places = static_cast<const PlacesData&>(*call.data).places;
  const int from = input.arguments[0]->type().scale();
  const int scale = call.type.scale();
  return MapNullable<Int128, Int128>(call, input, [=](Int128 v, Int128* out) {
    const Rounding rounding = kUp ? Rounding::kCeiling : Rounding::kFloor;
    if (places >= 0) return data::DecimalRescale(v, from, 38, scale, out, rounding);
    const int digits = from - places;
    if (digits > 38) {
      *out = 0;
      return kUp ? v <= 0 : v >= 0;
    }
    const Int128 unit = data::PowerOfTen(digits);
    Int128 whole = v / unit;
    if (v % unit != 0 && kUp == (v > 0)) whole += kUp ? 1 : -1;
    return !__builtin_mul_overflow(whole, data::PowerOfTen(-places), out) && data::DecimalFits(*out, 38);
  });
}

Result<BoundCall> BindFloor(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 2));
  const bool up = function.name != "floor";
  const DataType type = arguments[0]->type();
  if (arguments.size() == 2) {
    TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, DataType::Integer(), context));
    TW_ASSIGN_OR_RETURN(const Value places, FoldArgument(function.name, arguments, 1, "scale", context));
    if (places.is_null()) return ReplaceWith(Literal::Null(DataType::Decimal(38, 0)));
    if (!type.Is(TypeKind::kDecimal)) {
      if (!type.IsNumeric()) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::Double(), context));
      arguments[0] = Coerce(arguments[0], DecimalForType(arguments[0]->type()), context.config);
    }
    const DataType from = arguments[0]->type();
    const int wanted = BoundedPlaces(places);
    const int scale = std::min(from.scale(), std::max(wanted, 0));
    const int whole = from.precision() - from.scale() + 1;
    const int precision = wanted < 0 ? std::max(whole, -wanted + 1) : whole + scale;
    return MakeBound(function, std::move(arguments), DataType::Decimal(std::min(38, precision), scale), true,
                     up ? &FloorPlaces<true> : &FloorPlaces<false>, context, std::make_shared<PlacesData>(wanted));
  }
  if (type.Is(TypeKind::kDecimal)) {
    const int precision = std::min(38, type.precision() - type.scale() + (type.scale() > 0 ? 1 : 0));
    return MakeBound(function, std::move(arguments), DataType::Decimal(std::max(1, precision), 0), true,
                     up ? &FloorDecimal<true> : &FloorDecimal<false>, context);
  }
  if (type.IsIntegral()) {
    arguments[0] = Coerce(arguments[0], DataType::Long(), context.config);
    return MakeBound(function, std::move(arguments), DataType::Long(), true, &FloorLong, context);
  }
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::Double(), context));
  return MakeBound(function, std::move(arguments), DataType::Long(), true,
                   up ? &FloorDouble<true> : &FloorDouble<false>, context);
}

std::string FloorText(const Call& call, bool plan_text) {
  std::string name = call.function_name();
  if (call.children().size() == 1 && name != "ceiling") {
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  std::string text = name + "(";
  for (size_t i = 0; i < call.children().size(); ++i) text += (i > 0 ? ", " : "") + TextOf(call.child(i), plan_text);
  return text + ")";
}

// --- round, bround ---

/// Java's BigDecimal has no scale beyond the range of int.
bool HasNoScale(int places) { return places == std::numeric_limits<int>::min(); }

template <typename T, bool kHalfEven>
Result<ColumnPtr> RoundWhole(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const int places = static_cast<const PlacesData&>(*call.data).places;
  if (places >= 0) return input.arguments[0];
  const int digits = -std::max(places, -20);  // from 20 digits on all is zero
  return MapChecked<T, T>(call, input, [&](T v, std::optional<T>* out) -> Status {
    if (HasNoScale(places) && v != 0) return OverflowError("Underflow", "");
    const Int128 unit = data::PowerOfTen(digits);
    const int64_t value = v;
    Int128 whole = value / unit;
    const Int128 rest = value % unit;
    const Int128 twice = 2 * (rest < 0 ? -rest : rest);
    const bool away = twice > unit || (twice == unit && (!kHalfEven || whole % 2 != 0));
    if (away) whole += value < 0 ? -1 : 1;
    const Int128 result = whole * unit;
    if (result > std::numeric_limits<T>::max() || result < std::numeric_limits<T>::min()) {
      if (call.mode == EvalMode::kAnsi) return OverflowError("Overflow", "");
    }
    *out = static_cast<T>(result);
    return {};
  });
}

/// By the decimal digits of Double.toString, as Spark does by BigDecimal.
template <typename T, bool kHalfEven>
Result<ColumnPtr> RoundFloating(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const int places = static_cast<const PlacesData&>(*call.data).places;
  if (HasNoScale(places)) return OverflowError("Underflow", "");
  return MapValues<T, T>(call, input, [=](T v) -> T {
    if (!std::isfinite(v) || v == 0) return v;
    const double magnitude = std::fabs(static_cast<double>(v));
    // Digits past the 17 significant ones change nothing.
    if (places >= 0 && magnitude >= 1e17) return v;
    Int128 exact = 0;
    const int scale = magnitude >= 1e16 ? 18 : (magnitude >= 1 ? 20 : 37);
    // A float's digits are those of the double it widens to.
    const bool ok = data::DecimalFromDouble(static_cast<double>(v), 38, scale, &exact);
    if (!ok || places > scale) return v;
    const int digits = scale - places;
    if (digits > 38) return T{0};
    const Int128 unit = data::PowerOfTen(digits);
    Int128 whole = exact / unit;
    const Int128 rest = exact % unit < 0 ? -(exact % unit) : exact % unit;
    const Int128 half = unit / 2;
    const bool tie = unit % 2 == 0 && rest == half;
    if (rest > half || (tie && (!kHalfEven || whole % 2 != 0))) whole += v < 0 ? -1 : 1;
    if (places >= 0) return static_cast<T>(data::DecimalToDouble(whole, places));
    return static_cast<T>(data::DecimalToDouble(whole, 0) * std::pow(10.0, -places));
  });
}

template <bool kHalfEven>
Result<ColumnPtr> RoundDecimal(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const int places = static_cast<const PlacesData&>(*call.data).places;
  const int from = input.arguments[0]->type().scale();
  const int scale = call.type.scale();
  const int precision = call.type.precision();
  const Rounding rounding = kHalfEven ? Rounding::kHalfEven : Rounding::kHalfUp;
  return MapChecked<Int128, Int128>(call, input, [&](Int128 v, std::optional<Int128>* out) -> Status {
    Int128 result = 0;
    bool ok = true;
    if (places >= 0) {
      ok = data::DecimalRescale(v, from, precision, scale, &result, rounding);
    } else {
      // Rounded to a power of ten, then back to scale 0.
      const int digits = from - places;
      if (digits > 38) {
        result = 0;
      } else {
        ok = data::DecimalRescale(v, digits, 38, 0, &result, rounding) &&
             !__builtin_mul_overflow(result, data::PowerOfTen(-places), &result) && data::DecimalFits(result, precision);
      }
    }
    if (ok) {
      *out = result;
      return {};
    }
    if (call.mode != EvalMode::kAnsi) return {};
    return Error("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION")
        .With("value", data::ValueText(Value(v), input.arguments[0]->type()))
        .With("precision", static_cast<long long>(precision))
        .With("scale", static_cast<long long>(scale))
        .With("config", "\"spark.sql.ansi.enabled\"");
  });
}

template <bool kHalfEven>
ScalarKernel RoundKernel(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kByte: return &RoundWhole<int8_t, kHalfEven>;
    case TypeKind::kShort: return &RoundWhole<int16_t, kHalfEven>;
    case TypeKind::kInteger: return &RoundWhole<int32_t, kHalfEven>;
    case TypeKind::kLong: return &RoundWhole<int64_t, kHalfEven>;
    case TypeKind::kFloat: return &RoundFloating<float, kHalfEven>;
    case TypeKind::kDecimal: return &RoundDecimal<kHalfEven>;
    default: return &RoundFloating<double, kHalfEven>;
  }
}

Result<BoundCall> BindRound(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 2));
  if (arguments.size() == 1) arguments.push_back(Literal::Integer(0));
  if (!arguments[0]->type().IsNumeric()) {
    const auto type = ImplicitCastType(arguments[0]->type(), DataType::Double(), context.config.ansi);
    if (!type || arguments[0]->type().Is(TypeKind::kBoolean)) {
      return UnexpectedInputType(function.name, arguments, 0, "\"NUMERIC\"");
    }
    arguments[0] = Coerce(arguments[0], *type, context.config);
  }
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, DataType::Integer(), context));
  TW_ASSIGN_OR_RETURN(const Value folded, FoldArgument(function.name, arguments, 1, "scale", context));
  DataType type = arguments[0]->type();
  if (folded.is_null()) return ReplaceWith(Literal::Null(type));
  const int given = folded.get<int32_t>();
  const int places = HasNoScale(given) && !type.Is(TypeKind::kDecimal) ? given : BoundedPlaces(folded);
  if (type.Is(TypeKind::kDecimal)) {
    const int whole = type.precision() - type.scale() + 1;
    if (places < 0) {
      type = DataType::Decimal(std::min(38, std::max(whole, -places + 1)), 0);
    } else {
      const int scale = std::min(type.scale(), places);
      type = DataType::Decimal(std::min(38, whole + scale), scale);
    }
  }
  const ScalarKernel kernel = function.name == "bround" ? RoundKernel<true>(type) : RoundKernel<false>(type);
  return MakeBound(function, std::move(arguments), type, true, kernel, context,
                   std::make_shared<PlacesData>(places));
}

}  // namespace

void RegisterRounding(FunctionLists& lists) {
  static const ScalarFunction kFloor{.name = "floor", .since = "1.4.0", .doc = "The greatest number with so many decimal places below or at the value.",
                                     .example = {"SELECT floor(-0.1)", "-1"}, .bind = &BindFloor, .sql = &FloorText};
  static const ScalarFunction kCeil =
      Alike(kFloor, "ceil", "The least number with so many decimal places at or above the value.",
            {"SELECT ceil(-0.1)", "0"});
  static const ScalarFunction kCeiling =
      Alike(kFloor, "ceiling", "The least number with so many decimal places at or above the value.",
            {"SELECT ceiling(5)", "5"});
  static const ScalarFunction kRound{.name = "round", .since = "1.5.0", .doc = "Rounded to decimal places, HALF_UP.",
                                     .example = {"SELECT round(2.5, 0)", "3"}, .bind = &BindRound};
  static const ScalarFunction kBround = [] {
    ScalarFunction f = Renamed(kRound, "bround");
    f.since = "2.0.0";
    f.doc = "Rounded to decimal places, HALF_EVEN.";
    f.example = {"SELECT bround(2.5, 0)", "2"};
    return f;
  }();
  for (const auto* f : {&kFloor, &kCeil, &kCeiling, &kRound, &kBround}) lists.Add(*f);
}

}  // namespace thalweg::sql
