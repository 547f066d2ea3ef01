#include "engine/state/store_schema.h"

#include <cctype>

#include "data/io/atomic_write.h"
#include "engine/checkpoint/state_schema_file.h"

namespace thalweg::engine {
namespace {

constexpr int64_t kMostBytes = 64 << 20;

std::string SchemaJson(const data::Schema& schema) { return data::DataType::Struct(schema).Json(); }

Result<data::Schema> ParseSchemaJson(std::string_view json) {
  TW_ASSIGN_OR_RETURN(const data::DataType type, data::ParseTypeJson(json));
  if (!type.Is(data::TypeKind::kStruct)) return InternalError("a state schema that is no struct");
  return data::Schema(type.fields());
}

bool MayContinue(const data::DataType& stored, const data::DataType& now);

bool MayContinuePart(bool stored_nullable, bool now_nullable, const data::DataType& stored, const data::DataType& now) {
  return (stored_nullable || !now_nullable) && MayContinue(stored, now);
}

bool MayContinue(const data::DataType& stored, const data::DataType& now) {
  if (stored.kind() != now.kind()) return false;
  switch (stored.kind()) {
    case data::TypeKind::kStruct: {
      if (stored.fields().size() != now.fields().size()) return false;
      for (size_t i = 0; i < stored.fields().size(); ++i) {
        const auto& a = stored.fields()[i];
        const auto& b = now.fields()[i];
        if (!MayContinuePart(a.nullable, b.nullable, a.type, b.type)) return false;
      }
      return true;
    }
    case data::TypeKind::kArray:
      return MayContinuePart(stored.contains_null(), now.contains_null(), stored.element(), now.element());
    case data::TypeKind::kMap:
      return MayContinue(stored.key(), now.key()) &&
             MayContinuePart(stored.contains_null(), now.contains_null(), stored.value(), now.value());
    default: return stored.SameType(now);
  }
}

// As Scala prints the objects: StructType(StructField(k,StringType,true)).
std::string TypeText(const data::DataType& type);

std::string SchemaText(const data::Schema& schema) {
  std::string text = "StructType(";
  for (const data::StructField& field : schema) {
    if (&field != &schema.front()) text += ",";
    text += "StructField(" + field.name + "," + TypeText(field.type) + (field.nullable ? ",true)" : ",false)");
  }
  return text + ")";
}

std::string TypeText(const data::DataType& type) {
  const auto flag = [](bool value) { return value ? ",true)" : ",false)"; };
  switch (type.kind()) {
    case data::TypeKind::kStruct: return SchemaText(type.fields());
    case data::TypeKind::kArray: return "ArrayType(" + TypeText(type.element()) + flag(type.contains_null());
    case data::TypeKind::kMap: return "MapType(" + TypeText(type.key()) + "," + TypeText(type.value()) + flag(type.contains_null());
    case data::TypeKind::kDecimal: return "DecimalType(" + std::to_string(type.precision()) + "," + std::to_string(type.scale()) + ")";
    case data::TypeKind::kByte: return "ByteType";
    case data::TypeKind::kShort: return "ShortType";
    case data::TypeKind::kLong: return "LongType";
    case data::TypeKind::kTimestampNtz: return "TimestampNTZType";
    default: break;
  }
  std::string name = type.SimpleString();
  if (name == "int") return "IntegerType";
  if (!name.empty()) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name + "Type";
}

}  // namespace

Result<std::optional<StoreSchema>> ReadStoreSchema(data::FileSystem& file_system, const CheckpointLayout& layout,
                                                   OperatorId operator_id, std::string_view store_name) {
  auto bytes = file_system.ReadWhole(layout.StateSchemaFile(operator_id, store_name), kMostBytes);
  if (!bytes.ok()) {
    if (data::IsNotFound(bytes.status())) return std::optional<StoreSchema>();
    return bytes.status();
  }
  TW_ASSIGN_OR_RETURN(const auto file, ParseStateSchemaFile(*bytes));
  if (file.families.empty()) return std::optional<StoreSchema>();
  StoreSchema schema;
  TW_ASSIGN_OR_RETURN(schema.key, ParseSchemaJson(file.families[0].key_json));
  TW_ASSIGN_OR_RETURN(schema.value, ParseSchemaJson(file.families[0].value_json));
  return std::optional<StoreSchema>(std::move(schema));
}

Status WriteOrCheckStoreSchema(data::FileSystem& file_system, const CheckpointLayout& layout, OperatorId operator_id,
                               std::string_view store_name, const StoreSchema& schema, bool check_value) {
  TW_ASSIGN_OR_RETURN(const auto stored, ReadStoreSchema(file_system, layout, operator_id, store_name));
  if (!stored) {
    StateSchema family;
    family.key_json = SchemaJson(schema.key);
    family.value_json = SchemaJson(schema.value);
    TW_ASSIGN_OR_RETURN(const std::string bytes, FormatStateSchemaFile({.version = 2, .families = {family}}));
    return data::AtomicWriteFile(file_system, layout.StateSchemaFile(operator_id, store_name), bytes);
  }
  if (!MayContinue(data::DataType::Struct(stored->key), data::DataType::Struct(schema.key))) {
    return Error("STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE")
        .With("storedKeySchema", SchemaText(stored->key))
        .With("newKeySchema", SchemaText(schema.key));
  }
  if (check_value && !MayContinue(data::DataType::Struct(stored->value), data::DataType::Struct(schema.value))) {
    return Error("STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE")
        .With("storedValueSchema", SchemaText(stored->value))
        .With("newValueSchema", SchemaText(schema.value));
  }
  return Status::OK();
}

}  // namespace thalweg::engine
