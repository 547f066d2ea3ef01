#include "sql/protocol/type_proto.h"

#include <spark/connect/types.pb.h>

#include "sql/protocol/protocol_errors.h"

namespace thalweg::sql {

namespace {

namespace pb = ::spark::connect;
using data::DataType;

Result<DataType> DecimalFromProto(const pb::DataType::Decimal& message) {
  const int precision = message.has_precision() ? message.precision() : 10;
  const int scale = message.has_scale() ? message.scale() : 0;
  if (precision < 1 || precision > 38 || scale < 0 || scale > precision) {
    return Error("CONNECT_INVALID_PLAN.ASSERTION_FAILURE")
        .With("message", "Decimal type (" + std::to_string(precision) + "," + std::to_string(scale) + ") is out of range.");
  }
  return DataType::Decimal(precision, scale);
}

Result<DataType> IntervalFromProto(const pb::DataType::DayTimeInterval& message) {
  const int start = message.has_start_field() ? message.start_field() : 0;
  const int end = message.has_end_field() ? message.end_field() : (message.has_start_field() ? start : 3);
  if (start < 0 || start > end || end > 3) return InvalidPlan("The fields of a day-time interval are out of order.");
  return DataType::DayTimeInterval(static_cast<data::DayTimeField>(start), static_cast<data::DayTimeField>(end));
}

Result<DataType> IntervalFromProto(const pb::DataType::YearMonthInterval& message) {
  const int start = message.has_start_field() ? message.start_field() : 0;
  const int end = message.has_end_field() ? message.end_field() : (message.has_start_field() ? start : 1);
  if (start < 0 || start > end || end > 1) return InvalidPlan("The fields of a year-month interval are out of order.");
  return DataType::YearMonthInterval(static_cast<data::YearMonthField>(start), static_cast<data::YearMonthField>(end));
}

Result<DataType> StructFromProto(const pb::DataType::Struct& message) {
  std::vector<data::StructField> fields;
  fields.reserve(message.fields_size());
  for (const pb::DataType::StructField& field : message.fields()) {
    TW_ASSIGN_OR_RETURN(DataType type, TypeFromProto(field.data_type()));
    fields.push_back({field.name(), std::move(type), field.nullable(), field.metadata().empty() ? "{}" : field.metadata()});
  }
  return DataType::Struct(std::move(fields));
}

Result<DataType> StringFromProto(const pb::DataType::String& message) {
  return message.collation().empty() ? DataType::String() : DataType::String(message.collation());
}

Result<DataType> SizedString(const char* what, int length, DataType (*make)(int)) {
  if (length < 1) return InvalidPlan(std::string("The length of ") + what + " must be positive.");
  return make(length);
}

}  // namespace

Result<DataType> TypeFromProto(const pb::DataType& message) {
  switch (message.kind_case()) {
    case pb::DataType::kNull: return DataType::Null();
    case pb::DataType::kBinary: return DataType::Binary();
    case pb::DataType::kBoolean: return DataType::Boolean();
    case pb::DataType::kByte: return DataType::Byte();
    case pb::DataType::kShort: return DataType::Short();
    case pb::DataType::kInteger: return DataType::Integer();
    case pb::DataType::kLong: return DataType::Long();
    case pb::DataType::kFloat: return DataType::Float();
    case pb::DataType::kDouble: return DataType::Double();
    case pb::DataType::kDecimal: return DecimalFromProto(message.decimal());
    case pb::DataType::kString: return StringFromProto(message.string());
    case pb::DataType::kChar: return SizedString("CHAR", message.char_().length(), &DataType::Char);
    case pb::DataType::kVarChar: return SizedString("VARCHAR", message.var_char().length(), &DataType::Varchar);
    case pb::DataType::kDate: return DataType::Date();
    case pb::DataType::kTimestamp: return DataType::Timestamp();
    case pb::DataType::kTimestampNtz: return DataType::TimestampNtz();
    case pb::DataType::kCalendarInterval: return DataType::CalendarInterval();
    case pb::DataType::kYearMonthInterval: return IntervalFromProto(message.year_month_interval());
    case pb::DataType::kDayTimeInterval: return IntervalFromProto(message.day_time_interval());
    case pb::DataType::kArray: {
      TW_ASSIGN_OR_RETURN(DataType element, TypeFromProto(message.array().element_type()));
      return DataType::Array(std::move(element), message.array().contains_null());
    }
    case pb::DataType::kStruct: return StructFromProto(message.struct_());
    case pb::DataType::kMap: {
      TW_ASSIGN_OR_RETURN(DataType key, TypeFromProto(message.map().key_type()));
      TW_ASSIGN_OR_RETURN(DataType value, TypeFromProto(message.map().value_type()));
      return DataType::Map(std::move(key), std::move(value), message.map().value_contains_null());
    }
    case pb::DataType::kVariant: return DataType::Variant();
    case pb::DataType::kTime: {
      const int precision = message.time().has_precision() ? message.time().precision() : 6;
      if (precision < 0 || precision > 6) return InvalidPlan("The precision of TIME must be between 0 and 6.");
      return DataType::Time(precision);
    }
    case pb::DataType::kUnparsed: {
      const std::string& text = message.unparsed().data_type_string();
      Result<DataType> type = data::ParseTypeDdl(text);
      if (type.ok()) return type;
      Result<data::Schema> schema = data::ParseSchemaDdl(text);
      if (schema.ok()) return DataType::Struct(std::move(*schema));
      Result<DataType> json = data::ParseTypeJson(text);
      if (json.ok()) return json;
      return type;
    }
    case pb::DataType::kUdt: return Unsupported("user-defined types (UDT)");
    case pb::DataType::kGeometry: return Unsupported("the type GEOMETRY");
    case pb::DataType::kGeography: return Unsupported("the type GEOGRAPHY");
    case pb::DataType::KIND_NOT_SET: break;
  }
  return OneOfNotSet(message.GetTypeName(), "KIND_NOT_SET");
}

void SchemaToProto(const data::Schema& schema, pb::DataType* out) {
  pb::DataType::Struct* structure = out->mutable_struct_();
  for (const data::StructField& field : schema) {
    pb::DataType::StructField* to = structure->add_fields();
    to->set_name(field.name);
    TypeToProto(field.type, to->mutable_data_type());
    to->set_nullable(field.nullable);
    if (!field.metadata_json.empty() && field.metadata_json != "{}") to->set_metadata(field.metadata_json);
  }
}

void TypeToProto(const DataType& type, pb::DataType* out) {
  switch (type.kind()) {
    case data::TypeKind::kNull: out->mutable_null(); return;
    case data::TypeKind::kBoolean: out->mutable_boolean(); return;
    case data::TypeKind::kByte: out->mutable_byte(); return;
    case data::TypeKind::kShort: out->mutable_short_(); return;
    case data::TypeKind::kInteger: out->mutable_integer(); return;
    case data::TypeKind::kLong: out->mutable_long_(); return;
    case data::TypeKind::kFloat: out->mutable_float_(); return;
    case data::TypeKind::kDouble: out->mutable_double_(); return;
    case data::TypeKind::kDecimal:
      out->mutable_decimal()->set_precision(type.precision());
      out->mutable_decimal()->set_scale(type.scale());
      return;
    case data::TypeKind::kString:
      if (type.string_constraint() == data::StringConstraint::kChar) {
        out->mutable_char_()->set_length(type.length());
      } else if (type.string_constraint() == data::StringConstraint::kVarchar) {
        out->mutable_var_char()->set_length(type.length());
      } else {
        // The default collation goes without saying.
        out->mutable_string();
        if (type.collation() != "UTF8_BINARY") out->mutable_string()->set_collation(type.collation());
      }
      return;
    case data::TypeKind::kBinary: out->mutable_binary(); return;
    case data::TypeKind::kDate: out->mutable_date(); return;
    case data::TypeKind::kTimestamp: out->mutable_timestamp(); return;
    case data::TypeKind::kTimestampNtz: out->mutable_timestamp_ntz(); return;
    case data::TypeKind::kTime: out->mutable_time()->set_precision(type.precision()); return;
    case data::TypeKind::kYearMonthInterval:
      out->mutable_year_month_interval()->set_start_field(static_cast<int>(type.year_month_start()));
      out->mutable_year_month_interval()->set_end_field(static_cast<int>(type.year_month_end()));
      return;
    case data::TypeKind::kDayTimeInterval:
      out->mutable_day_time_interval()->set_start_field(static_cast<int>(type.day_time_start()));
      out->mutable_day_time_interval()->set_end_field(static_cast<int>(type.day_time_end()));
      return;
    case data::TypeKind::kCalendarInterval: out->mutable_calendar_interval(); return;
    case data::TypeKind::kArray:
      TypeToProto(type.element(), out->mutable_array()->mutable_element_type());
      out->mutable_array()->set_contains_null(type.contains_null());
      return;
    case data::TypeKind::kMap:
      TypeToProto(type.key(), out->mutable_map()->mutable_key_type());
      TypeToProto(type.value(), out->mutable_map()->mutable_value_type());
      out->mutable_map()->set_value_contains_null(type.contains_null());
      return;
    case data::TypeKind::kStruct: SchemaToProto(type.fields(), out); return;
    case data::TypeKind::kVariant: out->mutable_variant(); return;
  }
}

}  // namespace thalweg::sql
