// sqrt, cbrt, exp, ln, log, log2, log10, log1p, expm1, pow, power, sin ... atanh, degrees, radians, sign, signum, hypot, e, pi,
// factorial, rint, width_bucket.

#include <cmath>

#include "sql/expr/binding.h"
#include "sql/functions/alike.h"
#include "sql/functions/math/register.h"
#include "sql/functions/operators/register.h"

namespace thalweg::sql {
namespace {

template <double (*kF)(double)>
Result<ColumnPtr> Apply(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTotal1<double, double>(call, input, [](double v) { return kF(v); });
}

template <double (*kF)(double, double)>
Result<ColumnPtr> Apply2(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTotal2<double, double, double>(call, input, [](double a, double b) { return kF(a, b); });
}

/// Logarithms are NULL outside of their domain.
template <double (*kF)(double), bool kPlusOne>
Result<ColumnPtr> Logarithm(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapNullable<double, double>(call, input, [](double v, double* out) {
    *out = kF(v);
    return v > (kPlusOne ? -1.0 : 0.0) || std::isnan(v);
  });
}

Result<ColumnPtr> LogOfBase(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapNullable<double, double, double>(call, input, [](double base, double v, double* out) {
    *out = std::log(v) / std::log(base);
    return !(v <= 0.0 || base <= 0.0);
  });
}

// Overloaded functions of <cmath> need one name each to be template arguments.
double Sqrt(double v) { return std::sqrt(v); }
double Cbrt(double v) { return std::cbrt(v); }
double Exp(double v) { return std::exp(v); }
double Expm1(double v) { return std::expm1(v); }
double Ln(double v) { return std::log(v); }
double Log2(double v) { return std::log(v) / std::log(2.0); }
double Log10(double v) { return std::log10(v); }
double Log1p(double v) { return std::log1p(v); }
double Sin(double v) { return std::sin(v); }
double Cos(double v) { return std::cos(v); }
double Tan(double v) { return std::tan(v); }
double Cot(double v) { return 1 / std::tan(v); }
double Sec(double v) { return 1 / std::cos(v); }
double Csc(double v) { return 1 / std::sin(v); }
double Asin(double v) { return std::asin(v); }
double Acos(double v) { return std::acos(v); }
double Atan(double v) { return std::atan(v); }
double Sinh(double v) { return std::sinh(v); }
double Cosh(double v) { return std::cosh(v); }
double Tanh(double v) { return std::tanh(v); }
double Asinh(double v) {
  const double a = std::fabs(v);
  if (a > 0x1p28) return std::copysign(std::log(a) + M_LN2, v);
  return std::copysign(std::log1p(a + a * a / (1.0 + std::sqrt(a * a + 1.0))), v);  // exact near zero, too
}
double Acosh(double v) {
  if (v > 0x1p28) return std::log(v) + M_LN2;
  const double t = v - 1.0;
  return std::log1p(t + std::sqrt(2.0 * t + t * t));
}
double Atanh(double v) { return 0.5 * (std::log1p(v) - std::log1p(-v)); }
double Degrees(double v) { return v * (180.0 / M_PI); }
double Radians(double v) { return v / 180.0 * M_PI; }
double Rint(double v) { return std::nearbyint(v); }
double Signum(double v) { return std::isnan(v) || v == 0 ? v : (v > 0 ? 1.0 : -1.0); }
double Power(double a, double b) {
  // Java answers NaN where C answers 1 for pow(1, NaN) and pow(-1, infinity).
  if (std::isnan(b) || (std::isinf(b) && std::fabs(a) == 1.0)) return std::numeric_limits<double>::quiet_NaN();
  return std::pow(a, b);
}
double Atan2(double a, double b) { return std::atan2(a + 0.0, b + 0.0); }
double Hypot(double a, double b) { return std::hypot(a, b); }

Result<ColumnPtr> Factorial(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapNullable<int64_t, int32_t>(call, input, [](int32_t n, int64_t* out) {
    *out = 1;
    for (int32_t i = 2; i <= n && i <= 20; ++i) *out *= i;
    return n >= 0 && n <= 20;
  });
}

template <typename T>
Result<ColumnPtr> SignOfInterval(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTotal1<double, T>(call, input, [](T v) { return v == 0 ? 0.0 : (v > 0 ? 1.0 : -1.0); });
}

Result<BoundCall> BindSign(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  const DataType& type = arguments[0]->type();
  if (type.Is(TypeKind::kYearMonthInterval)) {
    return MakeBound(function, std::move(arguments), DataType::Double(), true, &SignOfInterval<int32_t>, context);
  }
  if (type.Is(TypeKind::kDayTimeInterval)) {
    return MakeBound(function, std::move(arguments), DataType::Double(), true, &SignOfInterval<int64_t>, context);
  }
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::Double(), context));
  return MakeBound(function, std::move(arguments), DataType::Double(), true, &Apply<Signum>, context);
}

Result<BoundCall> BindConstant(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 0, 0));
  const ScalarKernel kernel = function.name == "pi"
                                  ? +[](const BoundScalar& call, const KernelInput& input, EvalContext&) -> Result<ColumnPtr> {
                                      return Column::Constant(call.type, Value(M_PI), input.rows.length);
                                    }
                                  : +[](const BoundScalar& call, const KernelInput& input, EvalContext&) -> Result<ColumnPtr> {
                                      return Column::Constant(call.type, Value(M_E), input.rows.length);
                                    };
  return MakeBound(function, std::move(arguments), DataType::Double(), false, kernel, context);
}

std::string ConstantText(const Call& call, bool) { return call.function_name() == "pi" ? "PI()" : "E()"; }

/// log(x) is ln, log(base, x).
Result<BoundCall> BindLog(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 2));
  for (size_t i = 0; i < arguments.size(); ++i) {
    TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::Double(), context));
  }
  const bool based = arguments.size() == 2;
  return MakeBound(function, std::move(arguments), DataType::Double(), true,
                   based ? &LogOfBase : static_cast<ScalarKernel>(&Logarithm<Ln, false>), context);
}

std::string LogText(const Call& call, bool plan_text) {
  if (call.children().size() == 1) return "LOG(E(), " + TextOf(call.child(0), plan_text) + ")";
  return "LOG(" + TextOf(call.child(0), plan_text) + ", " + TextOf(call.child(1), plan_text) + ")";
}

struct ElementaryEntry {
  const char* name;
  const char* since;
  const char* doc;
  ScalarKernel kernel;
};

std::string UpperText(const Call& call, bool plan_text) {
  // Spark prints many of these in capitals.
  std::string text = call.function_name();
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  text += "(";
  for (size_t i = 0; i < call.children().size(); ++i) text += (i > 0 ? ", " : "") + TextOf(call.child(i), plan_text);
  return text + ")";
}

const ElementaryEntry kUnary[] = {
    {"sqrt", "1.1.1", "The square root.", &Apply<Sqrt>},
    {"cbrt", "1.4.0", "The cube root.", &Apply<Cbrt>},
    {"exp", "1.4.0", "e to that power.", &Apply<Exp>},
    {"expm1", "1.4.0", "exp(x) - 1.", &Apply<Expm1>},
    {"ln", "1.4.0", "The natural logarithm; NULL unless positive.", &Logarithm<Ln, false>},
    {"log2", "1.4.0", "The logarithm to base 2.", &Logarithm<Log2, false>},
    {"log10", "1.4.0", "The logarithm to base 10.", &Logarithm<Log10, false>},
    {"log1p", "1.4.0", "log(1 + x).", &Logarithm<Log1p, true>},
    {"sin", "1.4.0", "The sine.", &Apply<Sin>},
    {"cos", "1.4.0", "The cosine.", &Apply<Cos>},
    {"tan", "1.4.0", "The tangent.", &Apply<Tan>},
    {"cot", "2.3.0", "The cotangent.", &Apply<Cot>},
    {"sec", "3.3.0", "The secant.", &Apply<Sec>},
    {"csc", "3.3.0", "The cosecant.", &Apply<Csc>},
    {"asin", "1.4.0", "The arc sine.", &Apply<Asin>},
    {"acos", "1.4.0", "The arc cosine.", &Apply<Acos>},
    {"atan", "1.4.0", "The arc tangent.", &Apply<Atan>},
    {"sinh", "1.4.0", "The hyperbolic sine.", &Apply<Sinh>},
    {"cosh", "1.4.0", "The hyperbolic cosine.", &Apply<Cosh>},
    {"tanh", "1.4.0", "The hyperbolic tangent.", &Apply<Tanh>},
    {"asinh", "3.0.0", "The inverse hyperbolic sine.", &Apply<Asinh>},
    {"acosh", "3.0.0", "The inverse hyperbolic cosine.", &Apply<Acosh>},
    {"atanh", "3.0.0", "The inverse hyperbolic tangent.", &Apply<Atanh>},
    {"degrees", "1.4.0", "Radians as degrees.", &Apply<Degrees>},
    {"radians", "1.4.0", "Degrees as radians.", &Apply<Radians>},
    {"rint", "1.4.0", "The nearest whole number, ties to even.", &Apply<Rint>},
};

const ElementaryEntry kBinary[] = {
    {"pow", "1.4.0", "The first to the power of the second.", &Apply2<Power>},
    {"power", "1.4.0", "The first to the power of the second.", &Apply2<Power>},
    {"atan2", "1.4.0", "The angle of a point.", &Apply2<Atan2>},
    {"hypot", "1.4.0", "sqrt(a * a + b * b).", &Apply2<Hypot>},
};

ScalarFunction FunctionOf(const ElementaryEntry& entry, std::string_view signature) {
  ScalarFunction f;
  f.name = entry.name;
  f.signature = signature;
  f.since = entry.since;
  f.doc = entry.doc;
  f.evaluate = entry.kernel;
  const std::string_view name = entry.name;
  constexpr std::string_view kCapital[] = {"power", "sqrt",  "cbrt", "exp",  "expm1", "log2",    "log10",   "log1p", "sin",   "cos",  "tan",
                                           "cot",   "sec",  "csc",  "asin",  "acos",    "atan",    "sinh",  "cosh",  "tanh", "asinh",
                                           "acosh", "atanh", "atan2", "hypot", "degrees", "radians"};
  for (const auto capital : kCapital) {
    if (capital == name) f.sql = &UpperText;
  }
  return f;
}

}  // namespace

void RegisterElementary(FunctionLists& lists) {
  static std::vector<ScalarFunction>* const functions = [] {
    auto* all = new std::vector<ScalarFunction>();
    for (const ElementaryEntry& entry : kUnary) {
      all->push_back(FunctionOf(entry, "(value DOUBLE) -> DOUBLE?"));
    }
    for (const ElementaryEntry& entry : kBinary) all->push_back(FunctionOf(entry, "(left DOUBLE, right DOUBLE) -> DOUBLE"));
    return all;
  }();
  for (const auto& function : *functions) lists.Add(function);
  static const ScalarFunction kLog{.name = "log", .since = "1.5.0", .doc = "The natural logarithm, or that to a base.",
                                   .example = {"SELECT log(10, 100)", "2.0"}, .bind = &BindLog, .sql = &LogText};
  static const ScalarFunction kSign{.name = "sign", .since = "1.4.0", .doc = "-1.0, 0.0 or 1.0.",
                                    .example = {"SELECT sign(40)", "1.0"}, .bind = &BindSign};
  static const ScalarFunction kSignum = [] {
    ScalarFunction f = Renamed(kSign, "signum");
    f.sql = &UpperText;
    return f;
  }();
  static const ScalarFunction kFactorial{.name = "factorial", .signature = "(n INT) -> BIGINT?", .since = "1.5.0",
                                         .doc = "The factorial of 0 to 20.", .example = {"SELECT factorial(5)", "120"},
                                         .evaluate = &Factorial};
  static const ScalarFunction kPi{.name = "pi", .since = "1.5.0", .doc = "Pi.", .example = {"SELECT pi()", "3.141592653589793"},
                                  .bind = &BindConstant, .sql = &ConstantText};
  static const ScalarFunction kE = Alike(kPi, "e", "Euler's number.", {"SELECT e()", "2.718281828459045"});
  for (const auto* f : {&kLog, &kSign, &kSignum, &kFactorial, &kPi, &kE}) lists.Add(*f);
}

}  // namespace thalweg::sql
