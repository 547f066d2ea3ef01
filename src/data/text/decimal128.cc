#include "data/text/decimal128.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "data/text/numbers.h"
#include "data/text/uint256.h"
#include "data/types/java_double.h"

namespace thalweg::data {
namespace {

using internal::Uint128;
using internal::Uint256;

constexpr std::array<Uint128, 39> MakePowers() {
  std::array<Uint128, 39> powers{};
  Uint128 power = 1;
  for (Uint128& p : powers) {
    p = power;
    power *= 10;
  }
  return powers;
}
constexpr std::array<Uint128, 39> kPowers = MakePowers();

Uint128 Magnitude(Int128 value) { return value < 0 ? 0 - static_cast<Uint128>(value) : static_cast<Uint128>(value); }

// |value| * 10^exponent, exponent up to 76; false beyond 256 bits.
bool ScaleUp(const Uint256& value, int exponent, Uint256* out) {
  Uint256 result = value;
  while (exponent > 0) {
    const int step = exponent < 38 ? exponent : 38;
    if (!internal::Multiply(result, kPowers[static_cast<size_t>(step)], &result)) return false;
    exponent -= step;
  }
  *out = result;
  return true;
}

// Divides by 10^exponent, rounding halves away from zero.
Uint256 ScaleDownHalfUp(const Uint256& value, int exponent) {
  if (exponent <= 0) return value;
  if (exponent > 77) return {};
  Uint256 quotient = value;
  if (exponent > 38) {
    quotient = internal::Divide(quotient, kPowers[static_cast<size_t>(exponent - 38)]).quotient;
    exponent = 38;  // the digits that were cut can not make a half: at least one digit remains to be looked at
  }
  const Uint128 divisor = kPowers[static_cast<size_t>(exponent)];
  const auto result = internal::Divide(quotient, divisor);
  const Uint128 rest = result.remainder.low;
  quotient = result.quotient;
  if (rest >= divisor - rest) quotient = internal::Add(quotient, Uint256{1, 0});
  return quotient;
}

// The magnitude at `scale` as DECIMAL(precision, to_scale).
bool FinishWide(bool negative, const Uint256& magnitude, int scale, int precision, int to_scale, Int128* out) {
  Uint256 rounded;
  if (to_scale < scale) {
    rounded = ScaleDownHalfUp(magnitude, scale - to_scale);
  } else if (!ScaleUp(magnitude, to_scale - scale, &rounded)) {
    return false;
  }
  if (rounded.high != 0 || rounded.low >= kPowers[static_cast<size_t>(precision)]) return false;
  *out = negative ? -static_cast<Int128>(rounded.low) : static_cast<Int128>(rounded.low);
  return true;
}

int WideDigits(const Uint256& value) {
  int digits = 1;
  Uint256 power{10, 0};
  while (digits < 78 && internal::Compare(value, power) >= 0) {
    ++digits;
    if (!internal::Multiply(power, 10, &power)) break;
  }
  return digits;
}

// Both at the larger scale, in 256 bits.
void Align(Int128 a, int a_scale, Int128 b, int b_scale, Uint256* wide_a, Uint256* wide_b, int* scale) {
  *scale = a_scale > b_scale ? a_scale : b_scale;
  // Scales of decimals differ by at most 38, so 77 digits are enough and this never fails.
  (void)ScaleUp({Magnitude(a), 0}, *scale - a_scale, wide_a);
  (void)ScaleUp({Magnitude(b), 0}, *scale - b_scale, wide_b);
}

bool ScaleNarrow(Int128 value, int exponent, Int128* out) {
  if (exponent == 0) return *out = value, true;
  if (exponent > 38) return value == 0 ? (*out = 0, true) : false;
  return !__builtin_mul_overflow(value, static_cast<Int128>(kPowers[static_cast<size_t>(exponent)]), out);
}

bool RoundsUp(Rounding rounding, bool negative, Uint128 quotient, Uint128 rest, Uint128 divisor) {
  switch (rounding) {
    case Rounding::kHalfUp: return rest >= divisor - rest;
    case Rounding::kHalfEven: return rest > divisor - rest || (rest == divisor - rest && (quotient & 1) != 0);
    case Rounding::kDown: return false;
    case Rounding::kUp: return rest != 0;
    case Rounding::kFloor: return negative && rest != 0;
    case Rounding::kCeiling: return !negative && rest != 0;
  }
  return false;
}

}  // namespace

Int128 PowerOfTen(int exponent) { return static_cast<Int128>(kPowers[static_cast<size_t>(exponent)]); }

int DecimalDigits(Int128 value) {
  const Uint128 magnitude = Magnitude(value);
  const auto high = static_cast<uint64_t>(magnitude >> 64);
  const int bits = high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(static_cast<uint64_t>(magnitude));
  const int estimate = bits * 1233 >> 12;  // log10(2) as a fraction
  if (estimate >= 39) return 39;
  return magnitude >= kPowers[static_cast<size_t>(estimate)] ? estimate + 1 : (estimate == 0 ? 1 : estimate);
}

bool DecimalFits(Int128 unscaled, int precision) {
  return Magnitude(unscaled) < kPowers[static_cast<size_t>(precision)];
}

bool DecimalRescale(Int128 unscaled, int from_scale, int to_precision, int to_scale, Int128* out, Rounding rounding) {
  const int up = to_scale - from_scale;
  if (up >= 0) return ScaleNarrow(unscaled, up, out) && DecimalFits(*out, to_precision);
  const bool negative = unscaled < 0;
  const Uint128 magnitude = Magnitude(unscaled);
  Uint128 quotient = 0;
  if (-up > 38) {
    // Everything is behind the point, and less than a half.
    const bool away = rounding == Rounding::kUp || (rounding == Rounding::kFloor && negative) ||
                      (rounding == Rounding::kCeiling && !negative);
    quotient = away && magnitude != 0 ? 1 : 0;
  } else {
    const Uint128 divisor = kPowers[static_cast<size_t>(-up)];
    quotient = magnitude / divisor;
    if (RoundsUp(rounding, negative, quotient, magnitude - quotient * divisor, divisor)) ++quotient;
  }
  *out = negative ? -static_cast<Int128>(quotient) : static_cast<Int128>(quotient);
  return DecimalFits(*out, to_precision);
}

bool DecimalAdd(Int128 a, int a_scale, Int128 b, int b_scale, int precision, int scale, Int128* out) {
  const int common = a_scale > b_scale ? a_scale : b_scale;
  Int128 narrow_a = 0;
  Int128 narrow_b = 0;
  Int128 sum = 0;
  if (ScaleNarrow(a, common - a_scale, &narrow_a) && ScaleNarrow(b, common - b_scale, &narrow_b) &&
      AddInt128(narrow_a, narrow_b, &sum)) [[likely]] {
    return DecimalRescale(sum, common, precision, scale, out);
  }
  Uint256 wide_a;
  Uint256 wide_b;
  int wide_scale = 0;
  Align(a, a_scale, b, b_scale, &wide_a, &wide_b, &wide_scale);
  if ((a < 0) == (b < 0)) return FinishWide(a < 0, internal::Add(wide_a, wide_b), wide_scale, precision, scale, out);
  const bool a_larger = internal::Compare(wide_a, wide_b) >= 0;
  const Uint256 difference = a_larger ? internal::Subtract(wide_a, wide_b) : internal::Subtract(wide_b, wide_a);
  return FinishWide(a_larger ? a < 0 : b < 0, difference, wide_scale, precision, scale, out);
}

bool DecimalSubtract(Int128 a, int a_scale, Int128 b, int b_scale, int precision, int scale, Int128* out) {
  return DecimalAdd(a, a_scale, -b, b_scale, precision, scale, out);
}

bool DecimalMultiply(Int128 a, int a_scale, Int128 b, int b_scale, int precision, int scale, Int128* out) {
  Int128 product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) [[likely]] {
    return DecimalRescale(product, a_scale + b_scale, precision, scale, out);
  }
  Uint256 wide = internal::Multiply(Magnitude(a), Magnitude(b));
  int wide_scale = a_scale + b_scale;
  const int spare = WideDigits(wide) - (kMaxDecimalPrecision + 1);
  if (spare > 0) {
    wide = ScaleDownHalfUp(wide, spare);
    wide_scale -= spare;
  }
  return FinishWide((a < 0) != (b < 0), wide, wide_scale, precision, scale, out);
}

bool DecimalDivide(Int128 a, int a_scale, Int128 b, int b_scale, int precision, int scale, Int128* out) {
  if (b == 0) return false;
  const bool negative = (a < 0) != (b < 0);
  Uint256 numerator{Magnitude(a), 0};
  Uint256 denominator{Magnitude(b), 0};
  const int up = scale - a_scale + b_scale;
  if (up >= 0) {
    // More digits than this can not give a quotient of 38.
    if (a != 0 && DecimalDigits(a) + up > 77) return false;
    if (!ScaleUp(numerator, up, &numerator)) return a == 0 ? (*out = 0, true) : false;
  } else if (!ScaleUp(denominator, -up, &denominator)) {
    *out = 0;
    return true;
  }
  auto result = internal::Divide(numerator, denominator);
  // Spark rounds at 39 places behind the point, and then again at `scale`: a rest that is less than a half by no more than
  // half a unit of the 39th place counts as a half. Exactly: (denominator - 2 rest) * 10^k <= denominator, k = 39 - scale.
  const Uint256 rest_to_full = internal::Subtract(denominator, result.remainder);
  bool up_one = internal::Compare(result.remainder, rest_to_full) >= 0;
  if (!up_one) {
    const Uint256 missing = internal::Subtract(rest_to_full, result.remainder);
    Uint256 limit = denominator;
    for (int k = kMaxDecimalPrecision + 1 - scale; k > 0; k -= 38) {
      limit = internal::Divide(limit, kPowers[static_cast<size_t>(k < 38 ? k : 38)]).quotient;
    }
    up_one = internal::Compare(missing, limit) <= 0;
  }
  if (up_one) result.quotient = internal::Add(result.quotient, Uint256{1, 0});
  return FinishWide(negative, result.quotient, scale, precision, scale, out);
}

bool DecimalRemainder(Int128 a, int a_scale, Int128 b, int b_scale, int precision, int scale, Int128* out) {
  if (b == 0) return false;
  Uint256 wide_a;
  Uint256 wide_b;
  int wide_scale = 0;
  Align(a, a_scale, b, b_scale, &wide_a, &wide_b, &wide_scale);
  return FinishWide(a < 0, internal::Divide(wide_a, wide_b).remainder, wide_scale, precision, scale, out);
}

bool DecimalIntegralDivide(Int128 a, int a_scale, Int128 b, int b_scale, int64_t* out) {
  if (b == 0) return false;
  Uint256 wide_a;
  Uint256 wide_b;
  int wide_scale = 0;
  Align(a, a_scale, b, b_scale, &wide_a, &wide_b, &wide_scale);
  const Uint256 quotient = internal::Divide(wide_a, wide_b).quotient;
  const bool negative = (a < 0) != (b < 0);
  constexpr auto kMax = static_cast<Uint128>(std::numeric_limits<int64_t>::max());
  if (quotient.high != 0 || quotient.low > kMax + (negative ? 1 : 0)) return false;
  *out = static_cast<int64_t>(negative ? 0 - static_cast<uint64_t>(quotient.low) : static_cast<uint64_t>(quotient.low));
  return true;
}

int DecimalCompare(Int128 a, int a_scale, Int128 b, int b_scale) {
  if (a_scale == b_scale) return a < b ? -1 : a > b;
  const int common = a_scale > b_scale ? a_scale : b_scale;
  Int128 narrow_a = 0;
  Int128 narrow_b = 0;
  if (ScaleNarrow(a, common - a_scale, &narrow_a) && ScaleNarrow(b, common - b_scale, &narrow_b)) {
    return narrow_a < narrow_b ? -1 : narrow_a > narrow_b;
  }
  if ((a < 0) != (b < 0)) return a < 0 ? -1 : 1;
  Uint256 wide_a;
  Uint256 wide_b;
  int wide_scale = 0;
  Align(a, a_scale, b, b_scale, &wide_a, &wide_b, &wide_scale);
  const int order = internal::Compare(wide_a, wide_b);
  return a < 0 ? -order : order;
}

double DecimalToDouble(Int128 unscaled, int scale) {
  constexpr std::array<double, 23> kExact = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  constexpr Int128 kExactLimit = Int128{1} << 53;
  if (scale >= 0 && scale <= 22 && unscaled <= kExactLimit && unscaled >= -kExactLimit) {
    return static_cast<double>(static_cast<int64_t>(unscaled)) / kExact[static_cast<size_t>(scale)];
  }
  std::string text;
  AppendInt128(unscaled, &text);
  text.append("e").append(std::to_string(-scale));
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

float DecimalToFloat(Int128 unscaled, int scale) {
  std::string text;
  AppendInt128(unscaled, &text);
  text.append("e").append(std::to_string(-scale));
  float value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool DecimalFromDouble(double value, int precision, int scale, Int128* out) {
  if (!std::isfinite(value)) return false;
  std::string text;
  AppendJavaDouble(value, &text);
  return ParseDecimal(text, precision, scale, out) == DecimalOutcome::kOk;
}

bool DecimalFromFloat(float value, int precision, int scale, Int128* out) {
  return DecimalFromDouble(static_cast<double>(value), precision, scale, out);
}

bool DecimalFromInt64(int64_t value, int precision, int scale, Int128* out) {
  return DecimalRescale(value, 0, precision, scale, out);
}

bool DecimalToInt64(Int128 unscaled, int scale, int64_t* out) {
  Int128 whole = unscaled;
  if (scale > 38) {
    whole = 0;
  } else if (scale > 0) {
    whole = unscaled / static_cast<Int128>(kPowers[static_cast<size_t>(scale)]);
  } else if (scale < 0 && !ScaleNarrow(unscaled, -scale, &whole)) {
    return false;
  }
  if (whole < std::numeric_limits<int64_t>::min() || whole > std::numeric_limits<int64_t>::max()) return false;
  *out = static_cast<int64_t>(whole);
  return true;
}

}  // namespace thalweg::data
