#include "data/formats/orc/orc_schema.h"

#include <arrow/util/key_value_metadata.h>

#include <algorithm>

#include "data/columnar/arrow_bridge.h"
#include "data/formats/parquet/column_adapter.h"

namespace thalweg::data {

namespace {

// The attribute in which Spark notes its type. On disk: do not change.
constexpr const char* kCatalystType = "spark.sql.catalyst.type";  // tidy: allow(setting) an attribute of ORC types
constexpr int kMaxOrcDepth = 200;

/// Spark's note, when it fits what is stored.
std::optional<DataType> NotedType(const arrow::Field& field, const DataType& stored) {
  if (field.metadata() == nullptr) return std::nullopt;
  const auto noted = field.metadata()->Get(kCatalystType);
  if (!noted.ok()) return std::nullopt;
  auto type = ParseTypeDdl(*noted);
  if (!type.ok() || type->IsNested() || type->physical() != stored.physical()) return std::nullopt;
  return *type;
}

struct Types {
  DataType type;
  DataType stored;
};

Result<Types> TypesOf(const arrow::Field& field, int depth);

Result<Types> StructTypes(const arrow::DataType& type, int depth) {
  std::vector<StructField> fields;
  std::vector<StructField> stored;
  for (const auto& child : type.fields()) {
    TW_ASSIGN_OR_RETURN(Types types, TypesOf(*child, depth + 1));
    fields.push_back({.name = child->name(), .type = std::move(types.type)});
    stored.push_back({.name = child->name(), .type = std::move(types.stored)});
  }
  return Types{DataType::Struct(std::move(fields)), DataType::Struct(std::move(stored))};
}

Result<Types> TypesOf(const arrow::Field& field, int depth) {
  if (depth > kMaxOrcDepth) return Unsupported("ORC columns nested more than 200 levels deep");
  const arrow::DataType& type = *field.type();
  switch (type.id()) {
    case arrow::Type::STRUCT: return StructTypes(type, depth);
    case arrow::Type::LIST: {
      TW_ASSIGN_OR_RETURN(const Types element, TypesOf(*type.field(0), depth + 1));
      return Types{DataType::Array(element.type), DataType::Array(element.stored)};
    }
    case arrow::Type::MAP: {
      const auto& map = static_cast<const arrow::MapType&>(type);
      TW_ASSIGN_OR_RETURN(const Types key, TypesOf(*map.key_field(), depth + 1));
      TW_ASSIGN_OR_RETURN(const Types value, TypesOf(*map.item_field(), depth + 1));
      return Types{DataType::Map(key.type, value.type), DataType::Map(key.stored, value.stored)};
    }
    case arrow::Type::TIMESTAMP: {
      const bool instant = !static_cast<const arrow::TimestampType&>(type).timezone().empty();
      const DataType stored = instant ? DataType::Timestamp() : DataType::TimestampNtz();
      const auto noted = NotedType(field, stored);
      return Types{noted ? *noted : DataType::Timestamp(), stored};
    }
    default: {
      auto stored = FromArrowType(type);
      if (!stored.ok()) return Unsupported("ORC columns of type " + type.ToString());
      const auto noted = NotedType(field, *stored);
      return Types{noted ? *noted : *stored, *stored};
    }
  }
}

/// A field to write: Arrow's with its note, and what is stored.
struct WriteField {
  std::shared_ptr<arrow::Field> arrow;
  DataType stored;
};

class OrcFieldMaker {
 public:
  explicit OrcFieldMaker(std::string column, DataType whole) : column_(std::move(column)), whole_(std::move(whole)) {}

  Result<WriteField> Field(const std::string& name, const DataType& type, bool nullable, int depth) const {
    if (depth > kMaxOrcDepth) return Unsupported("ORC columns nested more than 200 levels deep");
    switch (type.kind()) {
      case TypeKind::kStruct: {
        arrow::FieldVector children;
        std::vector<StructField> stored;
        for (const StructField& field : type.fields()) {
          TW_ASSIGN_OR_RETURN(WriteField child, Field(field.name, field.type, field.nullable, depth + 1));
          children.push_back(std::move(child.arrow));
          stored.push_back({.name = field.name, .type = std::move(child.stored), .nullable = field.nullable});
        }
        if (children.empty()) return Refused();
        return WriteField{arrow::field(name, arrow::struct_(children), nullable), DataType::Struct(std::move(stored))};
      }
      case TypeKind::kArray: {
        TW_ASSIGN_OR_RETURN(const WriteField element, Field("element", type.element(), type.contains_null(), depth + 1));
        return WriteField{arrow::field(name, arrow::list(element.arrow), nullable), DataType::Array(element.stored, type.contains_null())};
      }
      case TypeKind::kMap: {
        TW_ASSIGN_OR_RETURN(const WriteField key, Field("key", type.key(), false, depth + 1));
        TW_ASSIGN_OR_RETURN(const WriteField value, Field("value", type.value(), type.contains_null(), depth + 1));
        auto map = std::make_shared<arrow::MapType>(key.arrow, value.arrow);
        return WriteField{arrow::field(name, std::move(map), nullable), DataType::Map(key.stored, value.stored, type.contains_null())};
      }
      default: return Leaf(name, type, nullable);
    }
  }

 private:
  Status Refused() const {
    return Error("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE").With("format", "ORC").With("columnName", QuoteIdentifier(column_))
        .With("columnType", "\"" + whole_.Sql() + "\"");
  }

  Result<WriteField> Leaf(const std::string& name, const DataType& type, bool nullable) const {
    DataType stored = type;
    bool noted = true;
    switch (type.kind()) {
      case TypeKind::kString: break;
      case TypeKind::kTimestamp: stored = DataType::TimestampNtz(); break;
      case TypeKind::kTimestampNtz: stored = DataType::Long(); break;
      case TypeKind::kYearMonthInterval: stored = DataType::Integer(); break;
      case TypeKind::kDayTimeInterval: stored = DataType::Long(); break;
      case TypeKind::kNull:
      case TypeKind::kCalendarInterval:
      case TypeKind::kVariant: return Refused();
      case TypeKind::kTime: return Error("UNSUPPORTED_TIME_TYPE");
      default: noted = false;
    }
    TW_ASSIGN_OR_RETURN(auto arrow_type, ToArrowType(stored, {}));
    auto field = arrow::field(name, std::move(arrow_type), nullable);
    if (noted) field = field->WithMetadata(arrow::key_value_metadata({kCatalystType}, {type.SimpleString()}));
    return WriteField{std::move(field), std::move(stored)};
  }

  std::string column_;
  DataType whole_;
};

}  // namespace

Result<OrcField> FromOrcField(const arrow::Field& field) {
  TW_ASSIGN_OR_RETURN(Types types, TypesOf(field, 1));
  return OrcField{.field = {.name = field.name(), .type = std::move(types.type)}, .stored = std::move(types.stored)};
}

Result<OrcWriteSchema> ToOrcSchema(const Schema& schema) {
  OrcWriteSchema out;
  arrow::FieldVector fields;
  for (const StructField& field : schema) {
    if (field.name.empty()) return Unsupported("ORC columns without a name");
    TW_ASSIGN_OR_RETURN(WriteField made, OrcFieldMaker(field.name, field.type).Field(field.name, field.type, field.nullable, 1));
    fields.push_back(std::move(made.arrow));
    out.stored.push_back({.name = field.name, .type = std::move(made.stored), .nullable = field.nullable});
  }
  out.arrow = arrow::schema(std::move(fields));
  return out;
}

bool CanReadOrc(const DataType& from, const DataType& wanted, bool case_sensitive) {
  switch (wanted.kind()) {
    case TypeKind::kString: return from.Is(TypeKind::kString);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampNtz: return from.Is(wanted.kind());
    case TypeKind::kArray: return from.Is(TypeKind::kArray) && CanReadOrc(from.element(), wanted.element(), case_sensitive);
    case TypeKind::kMap:
      return from.Is(TypeKind::kMap) && CanReadOrc(from.key(), wanted.key(), case_sensitive) && CanReadOrc(from.value(), wanted.value(), case_sensitive);
    case TypeKind::kStruct: {
      if (!from.Is(TypeKind::kStruct)) return false;
      for (const StructField& field : wanted.fields()) {
        const int at = FindField(from.fields(), field.name, case_sensitive);
        if (at >= 0 && !CanReadOrc(from.fields()[static_cast<size_t>(at)].type, field.type, case_sensitive)) return false;
      }
      return true;
    }
    default: return CanAdapt(from, wanted, case_sensitive);
  }
}

bool HasFractionBefore1970(const Column& column) {
  if (column.type().Is(TypeKind::kTimestampNtz)) {
    const auto micros = column.values<int64_t>();
    for (size_t i = 0; i < micros.size(); ++i) {
      if (micros[i] < 0 && micros[i] % 1000000 != 0 && !column.IsNull(static_cast<int64_t>(i))) return true;
    }
    return false;
  }
  return column.type().IsNested() && std::any_of(column.parts().children.begin(), column.parts().children.end(),
                                                 [](const ColumnPtr& child) { return HasFractionBefore1970(*child); });
}

ColumnPtr Retyped(const ColumnPtr& input, const DataType& type) {
  if (input->type() == type) return input;
  const ColumnPtr column = Flatten(input);
  Column::Parts parts = column->parts();
  parts.type = type;
  switch (type.kind()) {
    case TypeKind::kStruct:
      for (size_t i = 0; i < parts.children.size(); ++i) parts.children[i] = Retyped(parts.children[i], type.fields()[i].type);
      break;
    case TypeKind::kArray: parts.children[0] = Retyped(parts.children[0], type.element()); break;
    case TypeKind::kMap:
      parts.children[0] = Retyped(parts.children[0], type.key());
      parts.children[1] = Retyped(parts.children[1], type.value());
      break;
    default: break;
  }
  return Column::Make(std::move(parts));
}

}  // namespace thalweg::data
