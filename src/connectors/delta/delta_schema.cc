#include "connectors/delta/delta_schema.h"

#include "base/string_case.h"
#include "data/io/path.h"
#include "data/text/datetime.h"
#include "data/text/literal.h"
#include "data/text/numbers.h"

namespace thalweg::connectors {

using data::DataType;
using data::StructField;
using data::TypeKind;
using data::Value;

namespace {

DataType PhysicalType(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kArray: return DataType::Array(PhysicalType(type.element()), type.contains_null());
    case TypeKind::kMap: return DataType::Map(PhysicalType(type.key()), PhysicalType(type.value()), type.contains_null());
    case TypeKind::kStruct: {
      std::vector<StructField> fields;
      for (const StructField& field : type.fields()) fields.push_back(PhysicalField(field, true));
      return DataType::Struct(std::move(fields));
    }
    default: return type;
  }
}

DataType PublicType(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kArray: return DataType::Array(PublicType(type.element()), type.contains_null());
    case TypeKind::kMap: return DataType::Map(PublicType(type.key()), PublicType(type.value()), type.contains_null());
    case TypeKind::kStruct: return DataType::Struct(PublicSchema(type.fields()));
    default: return type;
  }
}

std::string PublicMetadata(const StructField& field) {
  if (field.metadata_json.find("\"delta.") == std::string::npos) return field.metadata_json;
  StringPairs kept;
  if (const auto comment = field.Comment()) kept.emplace_back("comment", *comment);
  if (const auto text = field.MetadataString(kCharVarcharHint)) kept.emplace_back(kCharVarcharHint, *text);
  std::string json;
  AppendJsonObject(kept, &json);
  return json;
}

template <typename T>
std::optional<Value> ParsedInteger(std::string_view text) {
  int64_t number = 0;
  if (!data::ParseJavaLong(text, &number) || number < std::numeric_limits<T>::min() || number > std::numeric_limits<T>::max()) {
    return {};
  }
  return Value(static_cast<T>(number));
}

std::optional<Value> Parsed(const std::string& text, const DataType& type, const data::TimeZone& zone) {
  switch (type.kind()) {
    case TypeKind::kString:
    case TypeKind::kBinary: return Value(text);
    case TypeKind::kBoolean: {
      bool flag = false;
      if (!data::ParseBoolean(text, &flag)) return {};
      return Value(flag);
    }
    case TypeKind::kByte: return ParsedInteger<int8_t>(text);
    case TypeKind::kShort: return ParsedInteger<int16_t>(text);
    case TypeKind::kInteger: return ParsedInteger<int32_t>(text);
    case TypeKind::kLong: return ParsedInteger<int64_t>(text);
    case TypeKind::kFloat: {
      float number = 0;
      if (!data::ParseFloat(text, &number)) return {};
      return Value(number);
    }
    case TypeKind::kDouble: {
      double number = 0;
      if (!data::ParseDouble(text, &number)) return {};
      return Value(number);
    }
    case TypeKind::kDecimal: {
      data::Int128 unscaled = 0;
      if (data::ParseDecimal(text, type.precision(), type.scale(), &unscaled) != data::DecimalOutcome::kOk) return {};
      return Value(unscaled);
    }
    case TypeKind::kDate: {
      int32_t days = 0;
      if (!data::ParseDate(text, &days)) return {};
      return Value(days);
    }
    case TypeKind::kTimestamp: {
      int64_t micros = 0;
      if (!data::ParseTimestamp(text, zone, 0, &micros)) return {};
      return Value(micros);
    }
    case TypeKind::kTimestampNtz: {
      int64_t micros = 0;
      if (!data::ParseTimestampNtz(text, true, &micros)) return {};
      return Value(micros);
    }
    default: return {};
  }
}

// yyyy-MM-dd'T'HH:mm:ss.SSSSSSZ
std::string UtcTimestampText(int64_t micros) {
  std::string text;
  data::AppendTimestampNtz(micros, &text);
  const size_t blank = text.find(' ');
  if (blank != std::string::npos) text[blank] = 'T';
  const size_t dot = text.find('.', blank == std::string::npos ? 0 : blank);
  if (dot == std::string::npos) {
    text += ".000000";
  } else {
    text.append(6 - (text.size() - dot - 1), '0');
  }
  return text + "Z";
}

}  // namespace

bool HasColumnMapping(const DeltaMetadata& metadata) {
  const auto mode = metadata.Property("delta.columnMapping.mode");
  return mode && *mode != "none";
}

StructField PhysicalField(const StructField& field, bool mapped) {
  if (!mapped) return field;
  StructField out{.name = field.name, .type = PhysicalType(field.type), .nullable = field.nullable};
  if (const auto name = field.MetadataString("delta.columnMapping.physicalName")) out.name = *name;
  return out;
}

data::Schema PublicSchema(const data::Schema& schema) {
  data::Schema out;
  for (const StructField& field : schema) {
    out.push_back({.name = field.name, .type = PublicType(field.type), .nullable = field.nullable,
                   .metadata_json = PublicMetadata(field)});
  }
  return out;
}

int FindColumn(const data::Schema& schema, std::string_view name, bool case_sensitive) {
  for (size_t i = 0; i < schema.size(); ++i) {
    if (schema[i].name == name) return static_cast<int>(i);
  }
  for (size_t i = 0; !case_sensitive && i < schema.size(); ++i) {
    if (EqualsIgnoreCase(schema[i].name, name)) return static_cast<int>(i);
  }
  return -1;
}

Result<Value> ParsePartitionValue(const std::optional<std::string>& text, const DataType& type, const data::TimeZone& zone) {
  if (!text || text->empty()) return Value();
  auto value = Parsed(*text, type, zone);
  if (value) return *value;
  return Error("DELTA_FAILED_CAST_PARTITION_VALUE").With("value", *text).With("dataType", type.Sql());
}

std::optional<std::string> PartitionValueText(const Value& value, const DataType& type) {
  if (value.is_null()) return {};
  if (type.Is(TypeKind::kTimestamp)) return UtcTimestampText(value.get<int64_t>());
  std::string text = PartitionDirectoryText(value, type, data::TimeZone::Utc());
  if (text.empty() || text == data::kDefaultPartitionName) return {};  // Spark reads the value back from the directory's name
  return text;
}

std::string PartitionDirectoryText(const Value& value, const DataType& type, const data::TimeZone& zone) {
  if (value.is_null()) return "";
  if (type.Is(TypeKind::kBinary)) return value.get<std::string>();
  return data::ValueText(value, type, zone);
}

}  // namespace thalweg::connectors
