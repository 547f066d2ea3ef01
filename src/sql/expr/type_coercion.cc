#include "sql/expr/type_coercion.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "data/text/decimal128.h"

namespace thalweg::sql {

using data::StructField;
using data::TypeKind;

namespace {

bool IsDateOrTimestamp(const DataType& t) {
  return t.Is(TypeKind::kDate) || t.Is(TypeKind::kTimestamp) || t.Is(TypeKind::kTimestampNtz);
}
bool IsAtomic(const DataType& t) { return !t.IsNested() && !t.Is(TypeKind::kNull) && !t.Is(TypeKind::kCalendarInterval); }

bool SameName(const std::string& a, const std::string& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](unsigned char x, unsigned char y) {
           return std::tolower(x) == std::tolower(y);
         });
}

/// byte < short < int < long < float < double; -1 for others.
int NumericRank(const DataType& t) {
  switch (t.kind()) {
    case TypeKind::kByte: return 0;
    case TypeKind::kShort: return 1;
    case TypeKind::kInteger: return 2;
    case TypeKind::kLong: return 3;
    case TypeKind::kFloat: return 4;
    case TypeKind::kDouble: return 5;
    default: return -1;
  }
}

DataType OfRank(int rank) {
  switch (rank) {
    case 0: return DataType::Byte();
    case 1: return DataType::Short();
    case 2: return DataType::Integer();
    case 3: return DataType::Long();
    case 4: return DataType::Float();
    default: return DataType::Double();
  }
}

/// Whether the decimal holds every value of the integral type.
bool DecimalHolds(const DataType& decimal, const DataType& integral) {
  const DataType other = DecimalForType(integral);
  return decimal.precision() - decimal.scale() >= other.precision() && decimal.scale() >= 0;
}

std::optional<DataType> WidenDecimals(const DataType& a, const DataType& b) {
  const int scale = std::max(a.scale(), b.scale());
  const int range = std::max(a.precision() - a.scale(), b.precision() - b.scale());
  const int precision = range + scale;
  if (precision <= data::kMaxDecimalPrecision) return DataType::Decimal(precision, scale);
  return DataType::Decimal(38, std::max(0, scale - (precision - 38)));
}

std::optional<DataType> WiderWithDecimal(const DataType& a, const DataType& b) {
  if (a.Is(TypeKind::kDecimal) && b.Is(TypeKind::kDecimal)) return WidenDecimals(a, b);
  const bool a_decimal = a.Is(TypeKind::kDecimal);
  if (!a_decimal && !b.Is(TypeKind::kDecimal)) return {};
  const DataType& other = a_decimal ? b : a;
  if (other.IsIntegral()) return WidenDecimals(a_decimal ? a : b, DecimalForType(other));
  if (other.Is(TypeKind::kFloat) || other.Is(TypeKind::kDouble)) return DataType::Double();
  return {};
}

/// Bytes, the collation of literals and of what says nothing, give way to another one.
std::optional<DataType> CommonCollation(const DataType& a, const DataType& b) {
  if (a.collation() == b.collation() || b.collation() == "UTF8_BINARY") return a;
  if (a.collation() == "UTF8_BINARY") return b;
  return {};
}

/// A string beside another type.
std::optional<DataType> PromoteString(const DataType& string, const DataType& other, bool ansi) {
  if (other.Is(TypeKind::kString)) return CommonCollation(string, other);
  if (ansi) {
    if (other.IsIntegral()) return DataType::Long();
    if (other.IsFractional()) return DataType::Double();
    if (other.Is(TypeKind::kNull)) return string;
    if (other.IsAnsiInterval() || !IsAtomic(other)) return {};
    return other;
  }
  if (IsAtomic(other) && !other.Is(TypeKind::kBinary) && !other.Is(TypeKind::kBoolean)) return string;
  return {};
}

template <typename Find>
std::optional<DataType> MergeComplex(const DataType& a, const DataType& b, Find&& find) {
  if (a.kind() != b.kind()) return {};
  switch (a.kind()) {
    case TypeKind::kArray: {
      auto element = find(a.element(), b.element());
      if (!element) return {};
      return DataType::Array(*element, a.contains_null() || b.contains_null());
    }
    case TypeKind::kMap: {
      auto key = find(a.key(), b.key());
      auto value = find(a.value(), b.value());
      if (!key || !value) return {};
      return DataType::Map(*key, *value, a.contains_null() || b.contains_null());
    }
    case TypeKind::kStruct: {
      if (a.fields().size() != b.fields().size()) return {};
      std::vector<StructField> fields;
      for (size_t i = 0; i < a.fields().size(); ++i) {
        const StructField& left = a.fields()[i];
        const StructField& right = b.fields()[i];
        if (!SameName(left.name, right.name)) return {};
        auto type = find(left.type, right.type);
        if (!type) return {};
        fields.push_back({left.name, *type, left.nullable || right.nullable, "{}"});
      }
      return DataType::Struct(std::move(fields));
    }
    default: return {};
  }
}

std::optional<DataType> TightestInterval(const DataType& a, const DataType& b) {
  if (a.Is(TypeKind::kDayTimeInterval) && b.Is(TypeKind::kDayTimeInterval)) {
    return DataType::DayTimeInterval(std::min(a.day_time_start(), b.day_time_start()),
                                     std::max(a.day_time_end(), b.day_time_end()));
  }
  if (a.Is(TypeKind::kYearMonthInterval) && b.Is(TypeKind::kYearMonthInterval)) {
    return DataType::YearMonthInterval(std::min(a.year_month_start(), b.year_month_start()),
                                       std::max(a.year_month_end(), b.year_month_end()));
  }
  return {};
}

std::optional<DataType> TightestDatetime(const DataType& a, const DataType& b) {
  if (!IsDateOrTimestamp(a) || !IsDateOrTimestamp(b)) return {};
  if (a.Is(TypeKind::kTimestamp) || b.Is(TypeKind::kTimestamp)) return DataType::Timestamp();
  return DataType::TimestampNtz();
}

}  // namespace

std::optional<DataType> TightestCommonType(const DataType& left, const DataType& right, bool ansi) {
  const DataType a = WithoutLength(left);
  const DataType b = WithoutLength(right);
  if (a == b) return a;
  if (a.Is(TypeKind::kNull)) return b;
  if (b.Is(TypeKind::kNull)) return a;
  if (a.IsIntegral() && b.Is(TypeKind::kDecimal)) {
    if (DecimalHolds(b, a)) return b;
    return {};
  }
  if (a.Is(TypeKind::kDecimal) && b.IsIntegral()) return TightestCommonType(b, a, ansi);
  const int a_rank = NumericRank(a);
  const int b_rank = NumericRank(b);
  if (a_rank >= 0 && b_rank >= 0) {
    const int rank = std::max(a_rank, b_rank);
    if (rank == 4 && ansi) return DataType::Double();  // an integer and a FLOAT: DOUBLE keeps the digits
    return OfRank(rank);
  }
  if (auto interval = TightestInterval(a, b)) return interval;
  if (auto datetime = TightestDatetime(a, b)) return datetime;
  if (a.IsNested() && a.SameType(b)) {
    return MergeComplex(a, b, [&](const DataType& x, const DataType& y) { return TightestCommonType(x, y, ansi); });
  }
  return {};
}

std::optional<DataType> WiderType(const DataType& left, const DataType& right, bool ansi) {
  const DataType a = WithoutLength(left);
  const DataType b = WithoutLength(right);
  if (auto type = TightestCommonType(a, b, ansi)) return type;
  if (auto type = WiderWithDecimal(a, b)) return type;
  if (a.Is(TypeKind::kString)) {
    if (auto type = PromoteString(a, b, ansi)) return type;
  } else if (b.Is(TypeKind::kString)) {
    if (auto type = PromoteString(b, a, ansi)) return type;
  }
  return MergeComplex(a, b, [&](const DataType& x, const DataType& y) { return WiderType(x, y, ansi); });
}

std::optional<DataType> WiderTypeWithoutPromotion(const DataType& left, const DataType& right, bool ansi) {
  const DataType a = WithoutLength(left);
  const DataType b = WithoutLength(right);
  if (auto type = TightestCommonType(a, b, ansi)) return type;
  if (auto type = WiderWithDecimal(a, b)) return type;
  return MergeComplex(a, b, [&](const DataType& x, const DataType& y) { return WiderTypeWithoutPromotion(x, y, ansi); });
}

std::optional<DataType> WiderTypeOf(std::span<const DataType> types, bool ansi) {
  // Strings come first without ANSI, as in Spark, so that the result does not depend on the order.
  std::vector<DataType> ordered(types.begin(), types.end());
  if (!ansi) {
    std::stable_partition(ordered.begin(), ordered.end(), [](const DataType& t) { return t.Is(TypeKind::kString); });
  }
  DataType result = DataType::Null();
  for (const DataType& type : ordered) {
    auto wider = WiderType(result, type, ansi);
    if (!wider) return {};
    result = *wider;
  }
  return result;
}

namespace {

/// Structs of the same types are compared field by field, whatever the fields are called: `type` under the names that `names` has in
/// the same places.
DataType WithFieldNamesOf(const DataType& type, const DataType& names) {
  if (type.kind() != names.kind()) return type;
  switch (type.kind()) {
    case TypeKind::kArray: return DataType::Array(WithFieldNamesOf(type.element(), names.element()), type.contains_null());
    case TypeKind::kMap:
      return DataType::Map(WithFieldNamesOf(type.key(), names.key()), WithFieldNamesOf(type.value(), names.value()), type.contains_null());
    case TypeKind::kStruct: {
      if (type.fields().size() != names.fields().size()) return type;
      std::vector<StructField> fields = type.fields();
      for (size_t i = 0; i < fields.size(); ++i) {
        fields[i].name = names.fields()[i].name;
        fields[i].type = WithFieldNamesOf(fields[i].type, names.fields()[i].type);
      }
      return DataType::Struct(std::move(fields));
    }
    default: return type;
  }
}

}  // namespace

std::optional<DataType> ComparisonType(const DataType& left, const DataType& right, bool ansi) {
  const DataType a = WithoutLength(left);
  const DataType b = WithoutLength(right);
  if (ansi || (!a.Is(TypeKind::kString) && !b.Is(TypeKind::kString)) || a == b) {
    auto type = WiderType(a, b, ansi);
    if (type || !a.IsNested()) return type;
    const DataType renamed = WithFieldNamesOf(b, a);
    if (renamed.SameType(a)) type = WiderType(a, renamed, ansi);
    return type;
  }
  const DataType& other = a.Is(TypeKind::kString) ? b : a;
  if (other.Is(TypeKind::kString)) return CommonCollation(a, b);
  if (other.Is(TypeKind::kNull)) return DataType::String();
  if (other.Is(TypeKind::kDecimal)) return DataType::Double();
  if (other.Is(TypeKind::kBinary)) return DataType::Binary();
  if (IsAtomic(other)) return other;
  return {};
}

std::optional<DataType> ImplicitCastType(const DataType& from_type, const DataType& target, bool ansi) {
  const DataType from = WithoutLength(from_type);
  if (from == target || from.SameType(target)) return from;
  if (from.Is(TypeKind::kNull)) return target;
  if (from.Is(TypeKind::kString) && target.Is(TypeKind::kString)) return from;
  if (from.IsNumeric() && target.IsNumeric()) return target;
  if (target.Is(TypeKind::kDayTimeInterval) && from.Is(TypeKind::kDayTimeInterval)) return target;
  if (target.Is(TypeKind::kYearMonthInterval) && from.Is(TypeKind::kYearMonthInterval)) return target;
  if (from.Is(TypeKind::kString) && IsAtomic(target) && !target.IsAnsiInterval()) return target;
  if (IsDateOrTimestamp(from) && IsDateOrTimestamp(target)) return target;
  if (target.Is(TypeKind::kString) && IsAtomic(from)) return target;
  if (from.Is(TypeKind::kArray) && target.Is(TypeKind::kArray)) {
    auto element = ImplicitCastType(from.element(), target.element(), ansi);
    if (!element) return {};
    return DataType::Array(*element, from.contains_null());
  }
  if (from.Is(TypeKind::kMap) && target.Is(TypeKind::kMap)) {
    auto key = ImplicitCastType(from.key(), target.key(), ansi);
    auto value = ImplicitCastType(from.value(), target.value(), ansi);
    if (!key || !value) return {};
    return DataType::Map(*key, *value, from.contains_null());
  }
  return {};
}

DataType AdjustedDecimal(int precision, int scale) {
  if (precision <= data::kMaxDecimalPrecision) return DataType::Decimal(precision, scale);
  const int whole = precision - scale;
  constexpr int kMinimumAdjustedScale = 6;
  const int least = std::min(scale, kMinimumAdjustedScale);
  return DataType::Decimal(38, std::max(38 - whole, least));
}

DataType DecimalForType(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kByte: return DataType::Decimal(3, 0);
    case TypeKind::kShort: return DataType::Decimal(5, 0);
    case TypeKind::kInteger: return DataType::Decimal(10, 0);
    case TypeKind::kLong: return DataType::Decimal(20, 0);
    case TypeKind::kFloat: return DataType::Decimal(14, 7);
    case TypeKind::kDouble: return DataType::Decimal(30, 15);
    case TypeKind::kDecimal: return type;
    default: return DataType::Decimal(38, 18);
  }
}

DataType DecimalForOperand(const ExprPtr& operand) {
  if (const auto* literal = operand->As<Literal>();
      literal != nullptr && literal->type().IsIntegral() && !literal->value().is_null()) {
    return DataType::Decimal(data::DecimalDigits(literal->value().AsInt64()), 0);
  }
  return DecimalForType(operand->type());
}

ExprPtr Coerce(const ExprPtr& expression, const DataType& type, const EvalConfig& config) {
  if (expression->type().SameType(type)) return expression;
  if (const auto* literal = expression->As<Literal>(); literal != nullptr && literal->value().is_null()) {
    return Literal::Null(type);
  }
  return Cast::Make(expression, type, config.ansi ? EvalMode::kAnsi : EvalMode::kLegacy);
}

DataType WithoutLength(const DataType& type) {
  if (type.Is(TypeKind::kString) && type.string_constraint() != data::StringConstraint::kNone) return DataType::String();
  return type;
}

}  // namespace thalweg::sql
