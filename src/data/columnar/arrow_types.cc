// Types and statuses between Arrow and Spark, as Spark's ArrowUtils maps them.

#include <arrow/extension_type.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <map>
#include <new>

#include "base/process_memory.h"
#include "data/columnar/arrow_bridge.h"

namespace thalweg::data {

Status FromArrowStatus(const arrow::Status& status, std::string_view attempted) {
  if (status.ok()) return Status::OK();
  if (status.IsIOError()) {
    return Error("IO_ERROR").With("attempted", attempted).With("error", status.message()).Kind(ErrorKind::kEnvironment);
  }
  if (status.IsOutOfMemory()) return OutOfMemoryStatus(std::bad_alloc());
  return InternalError(std::string(attempted) + ": " + status.ToString());
}

namespace {

constexpr int kMaxDepth = 200;

std::shared_ptr<arrow::KeyValueMetadata> Marker(const char* key) {
  return arrow::KeyValueMetadata::Make({key}, {"true"});
}

Result<std::shared_ptr<arrow::Field>> ToArrowField(const std::string& name, const DataType& type, bool nullable,
                                                   const ExportOptions& options) {
  TW_ASSIGN_OR_RETURN(auto arrow_type, ToArrowType(type, options));
  return arrow::field(name, std::move(arrow_type), nullable);
}

// Names that occur more than once inside a struct become name_0, name_1, ...
std::vector<std::string> UniqueNames(const std::vector<StructField>& fields) {
  std::map<std::string, int> count;
  for (const auto& field : fields) ++count[field.name];
  std::map<std::string, int> next;
  std::vector<std::string> names;
  for (const auto& field : fields) {
    const bool unique = count[field.name] == 1;
    names.push_back(unique ? field.name : field.name + "_" + std::to_string(next[field.name]++));
  }
  return names;
}

Result<std::shared_ptr<arrow::DataType>> ToArrowStruct(const DataType& type, const ExportOptions& options) {
  const auto names = UniqueNames(type.fields());
  arrow::FieldVector fields;
  for (size_t i = 0; i < names.size(); ++i) {
    const StructField& field = type.fields()[i];
    TW_ASSIGN_OR_RETURN(auto arrow_field, ToArrowField(names[i], field.type, field.nullable, options));
    fields.push_back(std::move(arrow_field));
  }
  return std::shared_ptr<arrow::DataType>(arrow::struct_(std::move(fields)));
}

Result<std::shared_ptr<arrow::DataType>> ToArrowNested(const DataType& type, const ExportOptions& options) {
  if (type.Is(TypeKind::kStruct)) return ToArrowStruct(type, options);
  if (type.Is(TypeKind::kArray)) {
    TW_ASSIGN_OR_RETURN(auto element, ToArrowField("element", type.element(), type.contains_null(), options));
    if (options.large_var_types) return std::shared_ptr<arrow::DataType>(arrow::large_list(std::move(element)));
    return std::shared_ptr<arrow::DataType>(arrow::list(std::move(element)));
  }
  if (type.Is(TypeKind::kMap)) {
    TW_ASSIGN_OR_RETURN(auto key, ToArrowField("key", type.key(), false, options));
    TW_ASSIGN_OR_RETURN(auto value, ToArrowField("value", type.value(), type.contains_null(), options));
    auto entries = arrow::field("entries", arrow::struct_({std::move(key), std::move(value)}), false);
    return std::shared_ptr<arrow::DataType>(std::make_shared<arrow::MapType>(std::move(entries)));
  }
  const auto binary = options.large_var_types ? arrow::large_binary() : arrow::binary();
  return std::shared_ptr<arrow::DataType>(arrow::struct_(
      {arrow::field("value", binary, false), arrow::field("metadata", binary, false, Marker("variant"))}));
}

}  // namespace

Result<std::shared_ptr<arrow::DataType>> ToArrowType(const DataType& type, const ExportOptions& options) {
  using Out = std::shared_ptr<arrow::DataType>;
  switch (type.kind()) {
    case TypeKind::kNull: return Out(arrow::null());
    case TypeKind::kBoolean: return Out(arrow::boolean());
    case TypeKind::kByte: return Out(arrow::int8());
    case TypeKind::kShort: return Out(arrow::int16());
    case TypeKind::kInteger: return Out(arrow::int32());
    case TypeKind::kLong: return Out(arrow::int64());
    case TypeKind::kFloat: return Out(arrow::float32());
    case TypeKind::kDouble: return Out(arrow::float64());
    case TypeKind::kDecimal: return Out(arrow::decimal128(type.precision(), type.scale()));
    case TypeKind::kString: return Out(options.large_var_types ? arrow::large_utf8() : arrow::utf8());
    case TypeKind::kBinary: return Out(options.large_var_types ? arrow::large_binary() : arrow::binary());
    case TypeKind::kDate: return Out(arrow::date32());
    case TypeKind::kTimestamp: return Out(arrow::timestamp(arrow::TimeUnit::MICRO, options.time_zone));
    case TypeKind::kTimestampNtz: return Out(arrow::timestamp(arrow::TimeUnit::MICRO));
    case TypeKind::kTime: return Out(arrow::time64(arrow::TimeUnit::NANO));
    case TypeKind::kYearMonthInterval: return Out(arrow::month_interval());
    case TypeKind::kDayTimeInterval: return Out(arrow::duration(arrow::TimeUnit::MICRO));
    case TypeKind::kCalendarInterval: return Out(arrow::month_day_nano_interval());
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kStruct:
    case TypeKind::kVariant: return ToArrowNested(type, options);
  }
  return InternalError("type without an Arrow form");
}

Result<std::shared_ptr<arrow::Schema>> ToArrowSchema(const Schema& schema, const ExportOptions& options) {
  arrow::FieldVector fields;
  for (const StructField& field : schema) {
    TW_ASSIGN_OR_RETURN(auto arrow_field, ToArrowField(field.name, field.type, field.nullable, options));
    fields.push_back(std::move(arrow_field));
  }
  return arrow::schema(std::move(fields));
}

namespace {

Result<DataType> FromArrow(const arrow::DataType& type, int depth);

bool IsVariant(const arrow::DataType& type) {
  for (const auto& field : type.fields()) {
    if (field->name() != "metadata" || field->metadata() == nullptr) continue;
    const auto marker = field->metadata()->Get("variant");
    if (marker.ok() && *marker == "true" && type.num_fields() == 2) return true;
  }
  return false;
}

Result<DataType> FromArrowStruct(const arrow::DataType& type, int depth) {
  if (IsVariant(type)) return DataType::Variant();
  std::vector<StructField> fields;
  for (const auto& field : type.fields()) {
    TW_ASSIGN_OR_RETURN(DataType field_type, FromArrow(*field->type(), depth + 1));
    fields.push_back({.name = field->name(), .type = std::move(field_type), .nullable = field->nullable()});
  }
  return DataType::Struct(std::move(fields));
}

Result<DataType> FromArrowMap(const arrow::MapType& type, int depth) {
  TW_ASSIGN_OR_RETURN(DataType key, FromArrow(*type.key_type(), depth + 1));
  TW_ASSIGN_OR_RETURN(DataType value, FromArrow(*type.item_type(), depth + 1));
  return DataType::Map(std::move(key), std::move(value), type.item_field()->nullable());
}

Result<DataType> FromArrowDecimal(const arrow::DataType& type) {
  const auto& decimal = static_cast<const arrow::DecimalType&>(type);
  if (decimal.precision() > 38 || decimal.scale() < 0 || decimal.scale() > decimal.precision()) {
    return Unsupported("Arrow type " + type.ToString());
  }
  return DataType::Decimal(decimal.precision(), decimal.scale());
}

Result<DataType> FromArrow(const arrow::DataType& type, int depth) {
  if (depth > kMaxDepth) return Unsupported("Arrow types nested deeper than 200 levels");
  switch (type.id()) {
    case arrow::Type::NA: return DataType::Null();
    case arrow::Type::BOOL: return DataType::Boolean();
    case arrow::Type::INT8: return DataType::Byte();
    case arrow::Type::INT16:
    case arrow::Type::UINT8: return DataType::Short();
    case arrow::Type::INT32:
    case arrow::Type::UINT16: return DataType::Integer();
    case arrow::Type::INT64:
    case arrow::Type::UINT32: return DataType::Long();
    case arrow::Type::UINT64: return DataType::Decimal(20, 0);
    case arrow::Type::FLOAT: return DataType::Float();
    case arrow::Type::DOUBLE: return DataType::Double();
    case arrow::Type::DECIMAL32:
    case arrow::Type::DECIMAL64:
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256: return FromArrowDecimal(type);
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW: return DataType::String();
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::BINARY_VIEW:
    case arrow::Type::FIXED_SIZE_BINARY: return DataType::Binary();
    case arrow::Type::DATE32:
    case arrow::Type::DATE64: return DataType::Date();
    case arrow::Type::TIMESTAMP:
      return static_cast<const arrow::TimestampType&>(type).timezone().empty() ? DataType::TimestampNtz()
                                                                              : DataType::Timestamp();
    case arrow::Type::TIME32:
    case arrow::Type::TIME64: return DataType::Time();
    case arrow::Type::DURATION: return DataType::DayTimeInterval();
    case arrow::Type::INTERVAL_MONTHS: return DataType::YearMonthInterval();
    case arrow::Type::INTERVAL_MONTH_DAY_NANO:
    case arrow::Type::INTERVAL_DAY_TIME: return DataType::CalendarInterval();
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::FIXED_SIZE_LIST: {
      TW_ASSIGN_OR_RETURN(DataType element, FromArrow(*type.field(0)->type(), depth + 1));
      return DataType::Array(std::move(element), type.field(0)->nullable());
    }
    case arrow::Type::MAP: return FromArrowMap(static_cast<const arrow::MapType&>(type), depth);
    case arrow::Type::STRUCT: return FromArrowStruct(type, depth);
    case arrow::Type::DICTIONARY:
      return FromArrow(*static_cast<const arrow::DictionaryType&>(type).value_type(), depth + 1);
    case arrow::Type::RUN_END_ENCODED:
      return FromArrow(*static_cast<const arrow::RunEndEncodedType&>(type).value_type(), depth + 1);
    case arrow::Type::EXTENSION:
      return FromArrow(*static_cast<const arrow::ExtensionType&>(type).storage_type(), depth + 1);
    default: return Unsupported("Arrow type " + type.ToString());
  }
}

}  // namespace

Result<DataType> FromArrowType(const arrow::DataType& type) { return FromArrow(type, 0); }

}  // namespace thalweg::data
