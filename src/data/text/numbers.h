#pragma once

// Numbers as text, as Spark's casts read and write them. Every function here is made for row loops: no Status, no virtual
// call; parsers answer false for malformed text and leave `*out` unspecified, writers append to the caller's buffer.
// Source: UTF8String.toLong/toInt, Cast.castToDouble, Decimal.fromString, java.lang.Double.toString of Java 17.

#include <cstdint>
#include <string>
#include <string_view>

#include "data/types/value.h"

namespace thalweg::data {

/// `text` without leading and trailing ASCII white space and control characters (UTF8String.trimAll): bytes 0 to 32 and 127.
std::string_view TrimAll(std::string_view text);

/// CAST(string AS TINYINT/SMALLINT/INT/BIGINT): trimmed, sign, decimal digits; false when malformed or out of range.
/// `allow_fraction` (ANSI off): "1.9" is 1 and "." is 0.
bool ParseInt8(std::string_view text, bool allow_fraction, int8_t* out);
bool ParseInt16(std::string_view text, bool allow_fraction, int16_t* out);
bool ParseInt32(std::string_view text, bool allow_fraction, int32_t* out);
bool ParseInt64(std::string_view text, bool allow_fraction, int64_t* out);
/// java.lang.Long.parseLong: sign and digits, nothing trimmed (CSV fields, partition values, offsets).
bool ParseJavaLong(std::string_view text, int64_t* out);

/// CAST(string AS DOUBLE/FLOAT): java.lang.Double.parseDouble (spaces around, "1e3", "1.", ".5", suffix d/f, hexadecimal
/// "0x1p3", "NaN", "-Infinity"), else, in any case of letters, inf, infinity, nan. Overflow gives infinity, underflow zero.
bool ParseDouble(std::string_view text, double* out);
bool ParseFloat(std::string_view text, float* out);
/// java.lang.Double.parseDouble alone: case-sensitive "NaN" and "Infinity".
bool ParseJavaDouble(std::string_view text, double* out);
bool ParseJavaFloat(std::string_view text, float* out);

/// CAST(string AS BOOLEAN): t, true, y, yes, 1 and f, false, n, no, 0, trimmed, in any case of letters.
bool ParseBoolean(std::string_view text, bool* out);

enum class DecimalOutcome : uint8_t { kOk, kMalformed, kOverflow };
/// CAST(string AS DECIMAL(precision, scale)): "1", "-1.5", "1e3", ".5", "1."; trimmed; rounded HALF_UP to `scale`.
/// kOverflow: a number, but it does not fit.
DecimalOutcome ParseDecimal(std::string_view text, int precision, int scale, Int128* unscaled);
/// A decimal of any shape: the exact number is unscaled * 10^-scale (scale may be negative). False: malformed, or more
/// than 38 significant digits. For literals, whose type follows from the text.
bool ParseDecimalExact(std::string_view text, Int128* unscaled, int* scale);

void AppendBoolean(bool value, std::string* out);
void AppendInt64(int64_t value, std::string* out);
void AppendInt128(Int128 value, std::string* out);
/// java.lang.Double.toString / Float.toString: "1.0", "1.0E10", "NaN", "-Infinity".
void AppendDouble(double value, std::string* out);
void AppendFloat(float value, std::string* out);
/// BigDecimal.toPlainString: "0.000000001", "123.40". CAST(decimal AS STRING) with ANSI on.
void AppendDecimal(Int128 unscaled, int scale, std::string* out);
/// BigDecimal.toString: as above, with an exponent when it is below -6 ("1E-9", "0E-18"). CAST with ANSI off.
void AppendDecimalScientific(Int128 unscaled, int scale, std::string* out);

}  // namespace thalweg::data
