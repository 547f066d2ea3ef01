#include "sql/protocol/literal_proto.h"

#include <spark/connect/expressions.pb.h>

#include <algorithm>

#include "data/text/decimal128.h"
#include "data/text/numbers.h"
#include "sql/protocol/protocol_errors.h"
#include "sql/protocol/type_proto.h"

// Clients before 4.1 still send the deprecated fields.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace thalweg::sql {

namespace {

namespace pb = ::spark::connect;
using PbLiteral = ::spark::connect::Expression_Literal;
using data::DataType;
using data::Value;
using data::ValueList;

Result<TypedValue> DecimalFromProto(const PbLiteral::Decimal& message) {
  data::Int128 exact = 0;
  int exact_scale = 0;
  if (!data::ParseDecimalExact(message.value(), &exact, &exact_scale) || exact_scale > 38 || exact_scale < -38) {
    return InvalidPlan("The decimal literal '" + message.value() + "' is not a decimal of at most 38 digits.");
  }
  // PySpark says DECIMAL(10,0) for every decimal it infers: the type is as wide as the text needs, and never narrower.
  const int digits = data::DecimalDigits(exact) - std::min(exact_scale, 0);
  const int scale = std::max({message.has_scale() ? message.scale() : 0, exact_scale, 0});
  const int precision = std::max({message.has_precision() ? message.precision() : 0, digits, scale, 1});
  if (precision < 1 || precision > 38 || scale < 0 || scale > precision) {
    return InvalidPlan("The precision and scale of the decimal literal '" + message.value() + "' are out of range.");
  }
  data::Int128 unscaled = 0;
  if (data::ParseDecimal(message.value(), precision, scale, &unscaled) != data::DecimalOutcome::kOk) {
    return InvalidPlan("The decimal literal '" + message.value() + "' does not fit its precision.");
  }
  return TypedValue{Value(unscaled), DataType::Decimal(precision, scale)};
}

template <typename List, typename Make>
TypedValue PackedArray(const List& list, DataType element, Make make) {
  ValueList values;
  values.reserve(list.size());
  for (const auto& item : list) values.push_back(make(item));
  return TypedValue{Value(std::move(values)), DataType::Array(std::move(element), false)};
}

Result<TypedValue> SpecializedFromProto(const PbLiteral::SpecializedArray& message) {
  switch (message.value_type_case()) {
    case PbLiteral::SpecializedArray::kBools:
      return PackedArray(message.bools().values(), DataType::Boolean(), [](bool v) { return Value(v); });
    case PbLiteral::SpecializedArray::kInts:
      return PackedArray(message.ints().values(), DataType::Integer(), [](int32_t v) { return Value(v); });
    case PbLiteral::SpecializedArray::kLongs:
      return PackedArray(message.longs().values(), DataType::Long(), [](int64_t v) { return Value(v); });
    case PbLiteral::SpecializedArray::kFloats:
      return PackedArray(message.floats().values(), DataType::Float(), [](float v) { return Value(v); });
    case PbLiteral::SpecializedArray::kDoubles:
      return PackedArray(message.doubles().values(), DataType::Double(), [](double v) { return Value(v); });
    case PbLiteral::SpecializedArray::kStrings:
      return PackedArray(message.strings().values(), DataType::String(), [](const std::string& v) { return Value(v); });
    case PbLiteral::SpecializedArray::VALUE_TYPE_NOT_SET: break;
  }
  return OneOfNotSet(message.GetTypeName(), "VALUETYPE_NOT_SET");
}

Status CheckElement(const TypedValue& element, const DataType& expected) {
  if (element.value.is_null() || element.type.SameType(expected)) return Status::OK();
  return Error("CONNECT_INVALID_PLAN.INCOMPATIBLE_LITERAL_DATA_TYPE")
      .With("dataTypeCase", expected.Sql())
      .With("literalCase", element.type.Sql());
}

Result<TypedValue> ArrayFromProto(const PbLiteral& literal) {
  const PbLiteral::Array& message = literal.array();
  ValueList values;
  DataType element_type;
  bool known = false;
  if (literal.has_data_type()) {
    TW_ASSIGN_OR_RETURN(DataType type, TypeFromProto(literal.data_type()));
    if (!type.Is(data::TypeKind::kArray)) return InvalidPlan("An array literal has a data type that is not an array.");
    element_type = type.element();
    known = true;
  } else if (message.has_element_type()) {
    TW_ASSIGN_OR_RETURN(element_type, TypeFromProto(message.element_type()));
    known = true;
  }
  for (const PbLiteral& item : message.elements()) {
    TW_ASSIGN_OR_RETURN(TypedValue element, ValueFromProto(item));
    if (!known) {
      element_type = element.type;
      known = true;
    }
    TW_RETURN_NOT_OK(CheckElement(element, element_type));
    values.push_back(std::move(element.value));
  }
  if (!known) return Error("CONNECT_INVALID_PLAN.ARRAY_LITERAL_MISSING_DATA_TYPE");
  return TypedValue{Value(std::move(values)), DataType::Array(std::move(element_type), true)};
}

Result<TypedValue> MapFromProto(const PbLiteral& literal) {
  const PbLiteral::Map& message = literal.map();
  if (message.keys_size() != message.values_size()) return InvalidPlan("A map literal has unequal numbers of keys and values.");
  DataType type;
  if (literal.has_data_type()) {
    TW_ASSIGN_OR_RETURN(type, TypeFromProto(literal.data_type()));
    if (!type.Is(data::TypeKind::kMap)) return InvalidPlan("A map literal has a data type that is not a map.");
  } else if (message.has_key_type() && message.has_value_type()) {
    TW_ASSIGN_OR_RETURN(DataType key, TypeFromProto(message.key_type()));
    TW_ASSIGN_OR_RETURN(DataType value, TypeFromProto(message.value_type()));
    type = DataType::Map(std::move(key), std::move(value));
  } else if (message.keys_size() > 0) {
    TW_ASSIGN_OR_RETURN(TypedValue key, ValueFromProto(message.keys(0)));
    TW_ASSIGN_OR_RETURN(TypedValue value, ValueFromProto(message.values(0)));
    type = DataType::Map(std::move(key.type), std::move(value.type));
  } else {
    return Error("CONNECT_INVALID_PLAN.MAP_LITERAL_MISSING_DATA_TYPE");
  }
  ValueList values;
  for (int i = 0; i < message.keys_size(); ++i) {
    TW_ASSIGN_OR_RETURN(TypedValue key, ValueFromProto(message.keys(i)));
    TW_ASSIGN_OR_RETURN(TypedValue value, ValueFromProto(message.values(i)));
    TW_RETURN_NOT_OK(CheckElement(key, type.key()));
    TW_RETURN_NOT_OK(CheckElement(value, type.value()));
    values.push_back(std::move(key.value));
    values.push_back(std::move(value.value));
  }
  return TypedValue{Value(std::move(values)), std::move(type)};
}

Result<TypedValue> StructFromProto(const PbLiteral& literal) {
  const PbLiteral::Struct& message = literal.struct_();
  const bool own = literal.has_data_type();
  if (!own && !message.has_struct_type()) return Error("CONNECT_INVALID_PLAN.STRUCT_LITERAL_MISSING_DATA_TYPE");
  TW_ASSIGN_OR_RETURN(DataType type, TypeFromProto(own ? literal.data_type() : message.struct_type()));
  if (!type.Is(data::TypeKind::kStruct) || type.fields().size() != static_cast<size_t>(message.elements_size())) {
    return InvalidPlan("A struct literal does not fit its data type.");
  }
  ValueList values;
  std::vector<data::StructField> fields = type.fields();
  for (int i = 0; i < message.elements_size(); ++i) {
    TW_ASSIGN_OR_RETURN(TypedValue element, ValueFromProto(message.elements(i)));
    TW_RETURN_NOT_OK(CheckElement(element, fields[i].type));
    values.push_back(std::move(element.value));
  }
  return TypedValue{Value(std::move(values)), std::move(type)};
}

}  // namespace

Result<TypedValue> ValueFromProto(const PbLiteral& message) {
  switch (message.literal_type_case()) {
    case PbLiteral::kNull: {
      TW_ASSIGN_OR_RETURN(DataType type, TypeFromProto(message.null()));
      return TypedValue{Value(), std::move(type)};
    }
    case PbLiteral::kBinary: return TypedValue{Value(message.binary()), DataType::Binary()};
    case PbLiteral::kBoolean: return TypedValue{Value(message.boolean()), DataType::Boolean()};
    case PbLiteral::kByte: return TypedValue{Value(static_cast<int8_t>(message.byte())), DataType::Byte()};
    case PbLiteral::kShort: return TypedValue{Value(static_cast<int16_t>(message.short_())), DataType::Short()};
    case PbLiteral::kInteger: return TypedValue{Value(message.integer()), DataType::Integer()};
    case PbLiteral::kLong: return TypedValue{Value(static_cast<int64_t>(message.long_())), DataType::Long()};
    case PbLiteral::kFloat: return TypedValue{Value(message.float_()), DataType::Float()};
    case PbLiteral::kDouble: return TypedValue{Value(message.double_()), DataType::Double()};
    case PbLiteral::kDecimal: return DecimalFromProto(message.decimal());
    case PbLiteral::kString: return TypedValue{Value(message.string()), DataType::String()};
    case PbLiteral::kDate: return TypedValue{Value(message.date()), DataType::Date()};
    case PbLiteral::kTimestamp: return TypedValue{Value(static_cast<int64_t>(message.timestamp())), DataType::Timestamp()};
    case PbLiteral::kTimestampNtz:
      return TypedValue{Value(static_cast<int64_t>(message.timestamp_ntz())), DataType::TimestampNtz()};
    case PbLiteral::kCalendarInterval: {
      const auto& interval = message.calendar_interval();
      return TypedValue{Value(data::CalendarInterval{interval.months(), interval.days(), interval.microseconds()}),
                        DataType::CalendarInterval()};
    }
    case PbLiteral::kYearMonthInterval:
      return TypedValue{Value(message.year_month_interval()), DataType::YearMonthInterval()};
    case PbLiteral::kDayTimeInterval:
      return TypedValue{Value(static_cast<int64_t>(message.day_time_interval())), DataType::DayTimeInterval()};
    case PbLiteral::kArray: return ArrayFromProto(message);
    case PbLiteral::kMap: return MapFromProto(message);
    case PbLiteral::kStruct: return StructFromProto(message);
    case PbLiteral::kSpecializedArray: return SpecializedFromProto(message.specialized_array());
    case PbLiteral::kTime: {
      const int precision = message.time().has_precision() ? message.time().precision() : 6;
      if (precision < 0 || precision > 6) return InvalidPlan("The precision of a TIME literal must be between 0 and 6.");
      return TypedValue{Value(static_cast<int64_t>(message.time().nano())), DataType::Time(precision)};
    }
    case PbLiteral::LITERAL_TYPE_NOT_SET: break;
  }
  return OneOfNotSet(message.GetTypeName(), "LITERALTYPE_NOT_SET");
}

Result<ExprPtr> LiteralFromProto(const PbLiteral& message) {
  TW_ASSIGN_OR_RETURN(TypedValue typed, ValueFromProto(message));
  return Literal::Make(std::move(typed.value), std::move(typed.type));
}

namespace {

Status NestedToProto(const Value& value, const DataType& type, PbLiteral* out) {
  const ValueList& items = value.get<ValueList>();
  switch (type.kind()) {
    case data::TypeKind::kArray:
      out->mutable_array();
      for (const Value& item : items) TW_RETURN_NOT_OK(LiteralToProto(item, type.element(), out->mutable_array()->add_elements()));
      TypeToProto(type.element(), out->mutable_array()->mutable_element_type());
      return Status::OK();
    case data::TypeKind::kMap:
      out->mutable_map();
      for (size_t i = 0; i + 1 < items.size(); i += 2) {
        TW_RETURN_NOT_OK(LiteralToProto(items[i], type.key(), out->mutable_map()->add_keys()));
        TW_RETURN_NOT_OK(LiteralToProto(items[i + 1], type.value(), out->mutable_map()->add_values()));
      }
      TypeToProto(type.key(), out->mutable_map()->mutable_key_type());
      TypeToProto(type.value(), out->mutable_map()->mutable_value_type());
      return Status::OK();
    case data::TypeKind::kStruct:
      out->mutable_struct_();
      for (size_t i = 0; i < items.size(); ++i) {
        TW_RETURN_NOT_OK(LiteralToProto(items[i], type.fields()[i].type, out->mutable_struct_()->add_elements()));
      }
      TypeToProto(type, out->mutable_struct_()->mutable_struct_type());
      return Status::OK();
    default: return Unsupported("literals of the type " + type.Sql());
  }
}

}  // namespace

Status LiteralToProto(const Value& value, const DataType& type, PbLiteral* out) {
  if (value.is_null()) {
    TypeToProto(type, out->mutable_null());
    return Status::OK();
  }
  switch (type.kind()) {
    case data::TypeKind::kNull: out->mutable_null()->mutable_null(); return Status::OK();
    case data::TypeKind::kBoolean: out->set_boolean(value.get<bool>()); return Status::OK();
    case data::TypeKind::kByte: out->set_byte(value.get<int8_t>()); return Status::OK();
    case data::TypeKind::kShort: out->set_short_(value.get<int16_t>()); return Status::OK();
    case data::TypeKind::kInteger: out->set_integer(value.get<int32_t>()); return Status::OK();
    case data::TypeKind::kLong: out->set_long_(value.get<int64_t>()); return Status::OK();
    case data::TypeKind::kFloat: out->set_float_(value.get<float>()); return Status::OK();
    case data::TypeKind::kDouble: out->set_double_(value.get<double>()); return Status::OK();
    case data::TypeKind::kDecimal:
      data::AppendDecimal(value.get<data::Int128>(), type.scale(), out->mutable_decimal()->mutable_value());
      out->mutable_decimal()->set_precision(type.precision());
      out->mutable_decimal()->set_scale(type.scale());
      return Status::OK();
    case data::TypeKind::kString: out->set_string(value.get<std::string>()); return Status::OK();
    case data::TypeKind::kBinary: out->set_binary(value.get<std::string>()); return Status::OK();
    case data::TypeKind::kDate: out->set_date(value.get<int32_t>()); return Status::OK();
    case data::TypeKind::kTimestamp: out->set_timestamp(value.get<int64_t>()); return Status::OK();
    case data::TypeKind::kTimestampNtz: out->set_timestamp_ntz(value.get<int64_t>()); return Status::OK();
    case data::TypeKind::kTime:
      out->mutable_time()->set_nano(value.get<int64_t>());
      out->mutable_time()->set_precision(type.precision());
      return Status::OK();
    case data::TypeKind::kYearMonthInterval: out->set_year_month_interval(value.get<int32_t>()); return Status::OK();
    case data::TypeKind::kDayTimeInterval: out->set_day_time_interval(value.get<int64_t>()); return Status::OK();
    case data::TypeKind::kCalendarInterval: {
      const auto& interval = value.get<data::CalendarInterval>();
      out->mutable_calendar_interval()->set_months(interval.months);
      out->mutable_calendar_interval()->set_days(interval.days);
      out->mutable_calendar_interval()->set_microseconds(interval.microseconds);
      return Status::OK();
    }
    default: return NestedToProto(value, type, out);
  }
}

}  // namespace thalweg::sql
