#include "data/formats/parquet/column_adapter.h"

#include "base/string_case.h"
#include "data/columnar/buffer_builder.h"
#include "data/text/decimal128.h"

namespace thalweg::data {

namespace {

constexpr int64_t kMicrosPerDay = int64_t{86400} * 1000000;

bool IntegerOrDate(const DataType& type) { return type.IsIntegral(); }

bool CanWiden(const DataType& from, const DataType& to) {
  switch (to.kind()) {
    case TypeKind::kShort:
    case TypeKind::kInteger:
    case TypeKind::kLong: return IntegerOrDate(from) && from.byte_width() <= to.byte_width();
    case TypeKind::kDouble: return from.Is(TypeKind::kFloat) || (from.IsIntegral() && from.byte_width() <= 4);
    case TypeKind::kDecimal:
      if (from.Is(TypeKind::kDecimal)) {
        return to.scale() >= from.scale() && to.precision() - to.scale() >= from.precision() - from.scale();
      }
      return from.IsIntegral() && to.precision() - to.scale() >= (from.byte_width() <= 4 ? 10 : 19);
    case TypeKind::kTimestampNtz: return from.Is(TypeKind::kDate) || from.Is(TypeKind::kTimestamp);
    case TypeKind::kTimestamp: return from.Is(TypeKind::kTimestampNtz);
    case TypeKind::kBinary: return from.Is(TypeKind::kString);
    case TypeKind::kString: return from.Is(TypeKind::kBinary) || from.Is(TypeKind::kString);
    default: return false;
  }
}

Column::Parts SameRows(const Column& column, const DataType& type) {
  Column::Parts parts;
  parts.type = type;
  parts.length = column.length();
  parts.null_count = column.null_count();
  parts.validity = column.parts().validity;
  return parts;
}

template <typename From, typename To, typename Convert>
ColumnPtr Map(const Column& column, const DataType& type, Convert convert) {
  auto buffer = Buffer::Allocate(column.length() * static_cast<int64_t>(sizeof(To)));
  To* to = reinterpret_cast<To*>(buffer->mutable_data());
  const From* from = column.values<From>().data();
  for (int64_t i = 0; i < column.length(); ++i) to[i] = convert(from[i]);
  Column::Parts parts = SameRows(column, type);
  parts.values = std::move(buffer);
  return Column::Make(std::move(parts));
}

template <typename From>
Result<ColumnPtr> WidenInteger(const Column& column, const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kShort: return Map<From, int16_t>(column, type, [](From v) { return static_cast<int16_t>(v); });
    case TypeKind::kInteger: return Map<From, int32_t>(column, type, [](From v) { return static_cast<int32_t>(v); });
    case TypeKind::kLong: return Map<From, int64_t>(column, type, [](From v) { return static_cast<int64_t>(v); });
    case TypeKind::kDouble: return Map<From, double>(column, type, [](From v) { return static_cast<double>(v); });
    case TypeKind::kDecimal: {
      const Int128 factor = PowerOfTen(type.scale());
      return Map<From, Int128>(column, type, [factor](From v) { return static_cast<Int128>(v) * factor; });
    }
    case TypeKind::kTimestampNtz:
      return Map<From, int64_t>(column, type, [](From v) { return static_cast<int64_t>(v) * kMicrosPerDay; });
    default: return InternalError("no widening to " + type.Sql());
  }
}

Result<ColumnPtr> Widen(const Column& column, const DataType& type) {
  switch (column.physical()) {
    case PhysicalType::kInt8: return WidenInteger<int8_t>(column, type);
    case PhysicalType::kInt16: return WidenInteger<int16_t>(column, type);
    case PhysicalType::kInt32: return WidenInteger<int32_t>(column, type);
    case PhysicalType::kInt64: return WidenInteger<int64_t>(column, type);
    case PhysicalType::kFloat: return Map<float, double>(column, type, [](float v) { return static_cast<double>(v); });
    case PhysicalType::kInt128: {
      const Int128 factor = PowerOfTen(type.scale() - column.type().scale());
      return Map<Int128, Int128>(column, type, [factor](const Int128& v) {
        return static_cast<Int128>(static_cast<unsigned __int128>(v) * static_cast<unsigned __int128>(factor));
      });
    }
    default: return InternalError("no widening of " + column.type().Sql());
  }
}

DataType VariantParts() {
  return DataType::Struct({{.name = "value", .type = DataType::Binary(), .nullable = false},
                           {.name = "metadata", .type = DataType::Binary(), .nullable = false}});
}

bool CanAdaptStruct(const DataType& from, const DataType& wanted, bool case_sensitive) {
  for (const StructField& field : wanted.fields()) {
    const int at = FindField(from.fields(), field.name, case_sensitive);
    if (at >= 0 && !CanAdapt(from.fields()[static_cast<size_t>(at)].type, field.type, case_sensitive)) return false;
  }
  return true;
}

Result<ColumnPtr> AdaptChildren(const Column& column, const DataType& wanted, bool case_sensitive) {
  Column::Parts parts = SameRows(column, wanted);
  parts.values = column.parts().values;
  if (wanted.Is(TypeKind::kStruct)) {
    for (const StructField& field : wanted.fields()) {
      const int at = FindField(column.type().fields(), field.name, case_sensitive);
      if (at < 0) {
        parts.children.push_back(Flatten(Column::Nulls(field.type, column.length())));
        continue;
      }
      TW_ASSIGN_OR_RETURN(ColumnPtr child, AdaptColumn(column.child(at), field.type, case_sensitive));
      parts.children.push_back(std::move(child));
    }
    return Column::Make(std::move(parts));
  }
  const bool is_map = wanted.Is(TypeKind::kMap);
  TW_ASSIGN_OR_RETURN(ColumnPtr first, AdaptColumn(column.child(0), is_map ? wanted.key() : wanted.element(), case_sensitive));
  parts.children.push_back(std::move(first));
  if (is_map) {
    TW_ASSIGN_OR_RETURN(ColumnPtr second, AdaptColumn(column.child(1), wanted.value(), case_sensitive));
    parts.children.push_back(std::move(second));
  }
  return Column::Make(std::move(parts));
}

}  // namespace

int FindField(const std::vector<StructField>& fields, std::string_view name, bool case_sensitive) {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return static_cast<int>(i);
  }
  if (case_sensitive) return -1;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (EqualsIgnoreCase(fields[i].name, name)) return static_cast<int>(i);
  }
  return -1;
}

bool CanAdapt(const DataType& from, const DataType& wanted, bool case_sensitive) {
  if (wanted.Is(TypeKind::kNull)) return true;
  if (from.SameType(wanted) && !wanted.IsNested()) return true;
  switch (wanted.kind()) {
    case TypeKind::kStruct: return from.Is(TypeKind::kStruct) && CanAdaptStruct(from, wanted, case_sensitive);
    case TypeKind::kArray: return from.Is(TypeKind::kArray) && CanAdapt(from.element(), wanted.element(), case_sensitive);
    case TypeKind::kMap:
      return from.Is(TypeKind::kMap) && CanAdapt(from.key(), wanted.key(), case_sensitive) &&
             CanAdapt(from.value(), wanted.value(), case_sensitive);
    case TypeKind::kVariant:  // inside other types the file's schema shows a plain struct of its two parts
      return from.Is(TypeKind::kVariant) || CanAdapt(from, VariantParts(), case_sensitive);
    case TypeKind::kYearMonthInterval: return from.Is(TypeKind::kInteger) || from.Is(wanted.kind());
    case TypeKind::kDayTimeInterval: return from.Is(TypeKind::kLong) || from.Is(wanted.kind());
    default: return CanWiden(from, wanted);
  }
}

Result<ColumnPtr> AdaptColumn(const ColumnPtr& input, const DataType& wanted, bool case_sensitive) {
  if (input->type() == wanted) return input;
  if (wanted.Is(TypeKind::kNull)) return Column::Nulls(wanted, input->length());
  if (!CanAdapt(input->type(), wanted, case_sensitive)) {
    return InternalError("cannot read " + input->type().Sql() + " as " + wanted.Sql());
  }
  const ColumnPtr column = Flatten(input);
  switch (wanted.kind()) {
    case TypeKind::kStruct:
    case TypeKind::kArray:
    case TypeKind::kMap: return AdaptChildren(*column, wanted, case_sensitive);
    case TypeKind::kVariant: {
      TW_ASSIGN_OR_RETURN(const ColumnPtr parts, AdaptColumn(column, VariantParts(), case_sensitive));
      return WithType(parts, wanted);
    }
    case TypeKind::kDecimal:
      if (column->type().SameType(wanted)) return WithType(column, wanted);
      return Widen(*column, wanted);
    default:
      if (column->physical() == wanted.physical()) return WithType(column, wanted);
      return Widen(*column, wanted);
  }
}

}  // namespace thalweg::data
