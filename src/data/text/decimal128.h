#pragma once

// Arithmetic of Spark's DECIMAL(p, s), p <= 38, on unscaled 128-bit integers. All functions are pure and made for row loops.
// `false` always means: the result does not fit the given precision (or a division by zero); the caller decides between
// NULL and an ANSI error. Rounding is HALF_UP unless said otherwise.
// Source: org.apache.spark.sql.types.Decimal; products and quotients keep 39 digits before the final rounding, as there.

#include <cstdint>

#include "data/types/value.h"

namespace thalweg::data {

inline constexpr int kMaxDecimalPrecision = 38;

enum class Rounding : uint8_t { kHalfUp, kHalfEven, kDown, kUp, kFloor, kCeiling };

/// 10^exponent, 0 <= exponent <= 38.
Int128 PowerOfTen(int exponent);
/// Decimal digits of |value|; 1 for 0.
int DecimalDigits(Int128 value);
/// Whether |unscaled| < 10^precision.
bool DecimalFits(Int128 unscaled, int precision);

/// unscaled * 10^-from_scale as DECIMAL(to_precision, to_scale).
bool DecimalRescale(Int128 unscaled, int from_scale, int to_precision, int to_scale, Int128* out,
                    Rounding rounding = Rounding::kHalfUp);

/// a op b as DECIMAL(precision, scale).
bool DecimalAdd(Int128 a, int a_scale, Int128 b, int b_scale, int precision, int scale, Int128* out);
bool DecimalSubtract(Int128 a, int a_scale, Int128 b, int b_scale, int precision, int scale, Int128* out);
bool DecimalMultiply(Int128 a, int a_scale, Int128 b, int b_scale, int precision, int scale, Int128* out);
/// False also when b is 0, as for the two below.
bool DecimalDivide(Int128 a, int a_scale, Int128 b, int b_scale, int precision, int scale, Int128* out);
/// Sign of the dividend.
bool DecimalRemainder(Int128 a, int a_scale, Int128 b, int b_scale, int precision, int scale, Int128* out);
/// The quotient cut towards zero (`div`), false when it does not fit a BIGINT.
bool DecimalIntegralDivide(Int128 a, int a_scale, Int128 b, int b_scale, int64_t* out);

/// -1, 0, 1; exact for any two scales.
int DecimalCompare(Int128 a, int a_scale, Int128 b, int b_scale);

/// Correctly rounded.
double DecimalToDouble(Int128 unscaled, int scale);
float DecimalToFloat(Int128 unscaled, int scale);
/// By the digits of Double.toString, as Spark does. False: NaN, infinite, or does not fit.
bool DecimalFromDouble(double value, int precision, int scale, Int128* out);
/// By way of double, as Spark does: CAST(1.1F AS DECIMAL(20, 15)) has the digits of 1.10000002384185791015625.
bool DecimalFromFloat(float value, int precision, int scale, Int128* out);
bool DecimalFromInt64(int64_t value, int precision, int scale, Int128* out);
/// Cut towards zero; false when out of range of BIGINT.
bool DecimalToInt64(Int128 unscaled, int scale, int64_t* out);

/// a + b without any check of precision; false on overflow of 128 bits (sums).
inline bool AddInt128(Int128 a, Int128 b, Int128* out) { return !__builtin_add_overflow(a, b, out); }

}  // namespace thalweg::data
