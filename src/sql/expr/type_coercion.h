#pragma once

// Which types meet where: Spark's implicit casts, ANSI and not. Pure functions.
// Source: TypeCoercion, AnsiTypeCoercion, DecimalPrecision of Spark 4.2.

#include <optional>
#include <span>
#include <vector>

#include "sql/expr/expression.h"
#include "sql/expr/function.h"

namespace thalweg::sql {

/// The type both convert to without loss, strings and decimals of other shapes excepted; nullopt when there is none.
std::optional<DataType> TightestCommonType(const DataType& a, const DataType& b, bool ansi);
/// As above, with decimals widened and strings promoted: for branches of CASE, COALESCE, IN, arrays, set operations.
std::optional<DataType> WiderType(const DataType& a, const DataType& b, bool ansi);
/// As WiderType, but a string meets strings only: greatest, least, array_contains.
std::optional<DataType> WiderTypeWithoutPromotion(const DataType& a, const DataType& b, bool ansi);
/// The widest of all; nullopt when two do not meet. VOID when the list is empty.
std::optional<DataType> WiderTypeOf(std::span<const DataType> types, bool ansi);
/// The type both sides of a comparison are cast to.
std::optional<DataType> ComparisonType(const DataType& a, const DataType& b, bool ansi);
/// What an argument of type `from` becomes where `target` is asked for; nullopt when it may not.
std::optional<DataType> ImplicitCastType(const DataType& from, const DataType& target, bool ansi);

/// DECIMAL(precision, scale), cut to 38 digits the way Spark's DecimalType.adjustPrecisionScale does.
DataType AdjustedDecimal(int precision, int scale);
/// The decimal that holds every value of an integral type; DECIMAL(14, 7) and (30, 15) for FLOAT and DOUBLE.
DataType DecimalForType(const DataType& type);
/// The decimal of an operand: for an integral literal just its digits.
DataType DecimalForOperand(const ExprPtr& operand);

/// The expression as `type`: itself when it has that type already (nullability aside), else a coercion cast.
ExprPtr Coerce(const ExprPtr& expression, const DataType& type, const EvalConfig& config);
/// CHAR and VARCHAR as STRING.
DataType WithoutLength(const DataType& type);

/// Whether CAST(from AS to) is allowed at all. Source: Cast.canCast, Cast.canAnsiCast, Cast.canTryCast.
bool CanCast(const DataType& from, const DataType& to, EvalMode mode);
/// The error for a cast that is not allowed: DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION and kin.
Status CastTypeError(const Expr& cast, const DataType& from, const DataType& to, EvalMode mode);

}  // namespace thalweg::sql
