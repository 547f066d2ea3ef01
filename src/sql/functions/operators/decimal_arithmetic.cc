#include "sql/functions/operators/decimal_arithmetic.h"

#include <algorithm>
#include <optional>
#include <string>

#include "data/text/decimal128.h"
#include "data/text/numbers.h"
#include "sql/expr/type_coercion.h"
#include "sql/functions/operators/register.h"

namespace thalweg::sql {
namespace {

struct Shape {
  int precision;
  int scale;
};

/// Before anything is cut to 38 digits.
Shape ExactShape(char op, const DataType& left, const DataType& right) {
  const int p1 = left.precision();
  const int s1 = left.scale();
  const int p2 = right.precision();
  const int s2 = right.scale();
  switch (op) {
    case '*': return {p1 + p2 + 1, s1 + s2};
    case '/': {
      const int whole = p1 - s1 + s2;
      const int scale = std::max(6, s1 + p2 + 1);
      return {whole + scale, scale};
    }
    case '%':
    case 'p': {
      const int scale = std::max(s1, s2);
      return {std::min(p1 - s1, p2 - s2) + scale, scale};
    }
    case 'd': return {std::max(1, p1 - s1 + s2), 0};
    default: {
      const int scale = std::max(s1, s2);
      return {std::max(p1 - s1, p2 - s2) + scale + 1, scale};
    }
  }
}

// Digits of big numbers, for error messages only.
std::string AddDigits(const std::string& a, const std::string& b) {
  std::string out;
  int carry = 0;
  for (size_t i = 0; i < std::max(a.size(), b.size()) || carry != 0; ++i) {
    const int x = i < a.size() ? a[a.size() - 1 - i] - '0' : 0;
    const int y = i < b.size() ? b[b.size() - 1 - i] - '0' : 0;
    out.insert(out.begin(), static_cast<char>('0' + (x + y + carry) % 10));
    carry = (x + y + carry) / 10;
  }
  return out;
}

std::string MultiplyDigits(const std::string& a, const std::string& b) {
  std::string out(a.size() + b.size(), '0');
  for (size_t i = a.size(); i-- > 0;) {
    int carry = 0;
    for (size_t j = b.size(); j-- > 0;) {
      const int value = (a[i] - '0') * (b[j] - '0') + (out[i + j + 1] - '0') + carry;
      out[i + j + 1] = static_cast<char>('0' + value % 10);
      carry = value / 10;
    }
    out[i] = static_cast<char>(out[i] + carry);
  }
  const size_t first = out.find_first_not_of('0');
  return first == std::string::npos ? "0" : out.substr(first);
}

std::string PlainText(std::string digits, bool negative, int scale) {
  if (scale > 0) {
    if (static_cast<int>(digits.size()) <= scale) digits.insert(0, static_cast<size_t>(scale) + 1 - digits.size(), '0');
    digits.insert(digits.size() - static_cast<size_t>(scale), ".");
  }
  return (negative ? "-" : "") + digits;
}

std::string DigitsOf(Int128 value) {
  std::string text;
  data::AppendInt128(value < 0 ? -value : value, &text);
  return text;
}

/// The exact result as text where that is simple; sums of one sign and products overflow, nothing else does.
std::string ResultText(char op, Int128 a, int a_scale, Int128 b, int b_scale) {
  if (op == '*') return PlainText(MultiplyDigits(DigitsOf(a), DigitsOf(b)), (a < 0) != (b < 0), a_scale + b_scale);
  if (op == '+' || op == '-') {
    const int scale = std::max(a_scale, b_scale);
    const std::string x = DigitsOf(a) + std::string(static_cast<size_t>(scale - a_scale), '0');
    const std::string y = DigitsOf(b) + std::string(static_cast<size_t>(scale - b_scale), '0');
    return PlainText(AddDigits(x, y), a < 0, scale);
  }
  std::string text;
  data::AppendDecimal(a, a_scale, &text);
  return text + " " + op + " " + PlainText(DigitsOf(b), b < 0, b_scale);
}

Status OutOfRange(char op, Int128 a, int a_scale, Int128 b, int b_scale, const DataType& type) {
  return Error("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION")
      .With("value", ResultText(op, a, a_scale, b, b_scale))
      .With("precision", static_cast<long long>(type.precision()))
      .With("scale", static_cast<long long>(type.scale()))
      .With("config", "\"spark.sql.ansi.enabled\"");
}

template <char kOp>
bool ApplyDecimal(Int128 a, int s1, Int128 b, int s2, int precision, int scale, Int128* out) {
  switch (kOp) {
    case '+': return data::DecimalAdd(a, s1, b, s2, precision, scale, out);
    case '-': return data::DecimalSubtract(a, s1, b, s2, precision, scale, out);
    case '*': return data::DecimalMultiply(a, s1, b, s2, precision, scale, out);
    case '/': return data::DecimalDivide(a, s1, b, s2, precision, scale, out);
    case 'p': {
      if (!data::DecimalRemainder(a, s1, b, s2, precision, scale, out)) return false;
      if (*out >= 0) return true;
      Int128 sum = 0;
      if (!data::DecimalAdd(*out, scale, b, s2, data::kMaxDecimalPrecision, scale, &sum)) return false;
      return data::DecimalRemainder(sum, scale, b, s2, precision, scale, out);
    }
    default: return data::DecimalRemainder(a, s1, b, s2, precision, scale, out);
  }
}

template <char kOp>
Result<ColumnPtr> GeneralKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const int s1 = input.arguments[0]->type().scale();
  const int s2 = input.arguments[1]->type().scale();
  const int precision = call.type.precision();
  const int scale = call.type.scale();
  constexpr bool kDivides = kOp == '/' || kOp == '%' || kOp == 'p';
  return MapChecked<Int128, Int128, Int128>(call, input, [&](Int128 a, Int128 b, std::optional<Int128>* out) -> Status {
    if (kDivides && b == 0) {
      if (call.mode != EvalMode::kAnsi) return {};
      return Error(kOp == '/' ? "DIVIDE_BY_ZERO" : "REMAINDER_BY_ZERO").With("config", "\"spark.sql.ansi.enabled\"");
    }
    Int128 value = 0;
    if (ApplyDecimal<kOp>(a, s1, b, s2, precision, scale, &value)) [[likely]] {
      *out = value;
      return {};
    }
    if (call.mode == EvalMode::kAnsi) return OutOfRange(kOp, a, s1, b, s2, call.type);
    return {};
  });
}

/// The result type holds every result: no checks, no rounding.
template <char kOp>
Result<ColumnPtr> ExactKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const int scale = call.type.scale();
  if constexpr (kOp == '*') {
    return MapTotal2<Int128, Int128, Int128>(call, input, [](Int128 a, Int128 b) {
      return static_cast<Int128>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
    });
  } else {
    const auto up_a = static_cast<unsigned __int128>(data::PowerOfTen(scale - input.arguments[0]->type().scale()));
    const auto up_b = static_cast<unsigned __int128>(data::PowerOfTen(scale - input.arguments[1]->type().scale()));
    return MapTotal2<Int128, Int128, Int128>(call, input, [=](Int128 a, Int128 b) {
      const auto x = static_cast<unsigned __int128>(a) * up_a;
      const auto y = static_cast<unsigned __int128>(b) * up_b;
      return static_cast<Int128>(kOp == '+' ? x + y : x - y);
    });
  }
}

Result<ColumnPtr> IntegralDivideDecimal(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const int s1 = input.arguments[0]->type().scale();
  const int s2 = input.arguments[1]->type().scale();
  return MapChecked<int64_t, Int128, Int128>(call, input, [&](Int128 a, Int128 b, std::optional<int64_t>* out) -> Status {
    if (b == 0) {
      if (call.mode != EvalMode::kAnsi) return {};
      return Error("DIVIDE_BY_ZERO").With("config", "\"spark.sql.ansi.enabled\"");
    }
    int64_t value = 0;
    if (data::DecimalIntegralDivide(a, s1, b, s2, &value)) {
      *out = value;
      return {};
    }
    if (call.mode == EvalMode::kAnsi) return OverflowError("Overflow in integral divide", "try_divide");
    return {};
  });
}

}  // namespace

DataType DecimalResultType(char op, const DataType& left, const DataType& right) {
  const Shape shape = ExactShape(op, left, right);
  return AdjustedDecimal(shape.precision, shape.scale);
}

ScalarKernel DecimalKernel(char op, const DataType& left, const DataType& right) {
  const bool exact = ExactShape(op, left, right).precision <= data::kMaxDecimalPrecision;
  switch (op) {
    case '+': return exact ? &ExactKernel<'+'> : &GeneralKernel<'+'>;
    case '-': return exact ? &ExactKernel<'-'> : &GeneralKernel<'-'>;
    case '*': return exact ? &ExactKernel<'*'> : &GeneralKernel<'*'>;
    case '/': return &GeneralKernel<'/'>;
    case 'd': return &IntegralDivideDecimal;
    case 'p': return &GeneralKernel<'p'>;
    default: return &GeneralKernel<'%'>;
  }
}

}  // namespace thalweg::sql
