// State schema files, versions 1 to 3.

#include "data/io/atomic_write.h"
#include "data/io/path.h"
#include "engine/state/java_data.h"
#include "engine/state/state_metadata.h"
#include "engine/state/state_store_id.h"

namespace thalweg::engine {
namespace {

constexpr int64_t kMostBytes = 64 << 20;
constexpr std::string_view kNoUserKey = "{    }";  // four blanks

std::string SchemaJson(const data::Schema& schema) { return data::DataType::Struct(schema).Json(); }

Result<data::Schema> ParseSchemaJson(std::string_view json) {
  TW_ASSIGN_OR_RETURN(const data::DataType type, data::ParseTypeJson(json));
  if (!type.Is(data::TypeKind::kStruct)) {
    return Error("MALFORMED_LOG_FILE").With("text", json.substr(0, 200));
  }
  return data::Schema(type.fields());
}

data::Schema AllNullable(const data::Schema& schema) {
  data::Schema nullable = schema;
  for (data::StructField& field : nullable) {
    field.type = field.type.AsNullable();
    field.nullable = true;
  }
  return nullable;
}

bool MayContinue(const data::DataType& stored, const data::DataType& now);

bool MayContinueField(bool stored_nullable, bool now_nullable, const data::DataType& stored, const data::DataType& now) {
  return (stored_nullable || !now_nullable) && MayContinue(stored, now);
}

// Equal types but for names and metadata; nothing stored as non-null may become nullable.
bool MayContinue(const data::DataType& stored, const data::DataType& now) {
  if (stored.kind() != now.kind()) return false;
  switch (stored.kind()) {
    case data::TypeKind::kStruct: {
      if (stored.fields().size() != now.fields().size()) return false;
      for (size_t i = 0; i < stored.fields().size(); ++i) {
        const auto& a = stored.fields()[i];
        const auto& b = now.fields()[i];
        if (!MayContinueField(a.nullable, b.nullable, a.type, b.type)) return false;
      }
      return true;
    }
    case data::TypeKind::kArray:
      return MayContinueField(stored.contains_null(), now.contains_null(), stored.element(), now.element());
    case data::TypeKind::kMap:
      return MayContinue(stored.key(), now.key()) &&
             MayContinueField(stored.contains_null(), now.contains_null(), stored.value(), now.value());
    default: return stored.SameType(now);
  }
}

}  // namespace

std::string StateSchemaBytes(const std::vector<StateSchema>& families, int version) {
  JavaDataWriter out;
  out.Utf("v" + std::to_string(version));
  if (version <= 2) {
    out.ChunkedUtf(SchemaJson(families[0].key));
    out.ChunkedUtf(SchemaJson(families[0].value));
    return out.bytes();
  }
  out.Int(static_cast<int32_t>(families.size()));
  for (const StateSchema& family : families) {
    out.Utf(family.family);
    out.Short(family.key_schema_id);
    out.ChunkedUtf(SchemaJson(family.key));
    out.Short(family.value_schema_id);
    out.ChunkedUtf(SchemaJson(family.value));
    out.ChunkedUtf(family.encoder_json);
    out.ChunkedUtf(family.user_key_json.empty() ? kNoUserKey : std::string_view(family.user_key_json));
  }
  return out.bytes();
}

Result<std::vector<StateSchema>> ParseStateSchema(std::string_view bytes) {
  JavaDataReader in(bytes);
  TW_ASSIGN_OR_RETURN(const std::string version, in.Utf());
  std::vector<StateSchema> families;
  if (version == "v1" || version == "v2") {
    const auto read = [&]() { return version == "v1" ? in.Utf() : in.ChunkedUtf(); };
    StateSchema schema;
    TW_ASSIGN_OR_RETURN(const std::string key, read());
    TW_ASSIGN_OR_RETURN(const std::string value, read());
    TW_ASSIGN_OR_RETURN(schema.key, ParseSchemaJson(key));
    TW_ASSIGN_OR_RETURN(schema.value, ParseSchemaJson(value));
    families.push_back(std::move(schema));
    return families;
  }
  if (version != "v3") return Error("MALFORMED_LOG_FILE").With("text", version.substr(0, 100));
  TW_ASSIGN_OR_RETURN(const int32_t count, in.Int());
  for (int32_t i = 0; i < count; ++i) {
    StateSchema schema;
    TW_ASSIGN_OR_RETURN(schema.family, in.Utf());
    TW_ASSIGN_OR_RETURN(schema.key_schema_id, in.Short());
    TW_ASSIGN_OR_RETURN(const std::string key, in.ChunkedUtf());
    TW_ASSIGN_OR_RETURN(schema.value_schema_id, in.Short());
    TW_ASSIGN_OR_RETURN(const std::string value, in.ChunkedUtf());
    TW_ASSIGN_OR_RETURN(schema.encoder_json, in.ChunkedUtf());
    TW_ASSIGN_OR_RETURN(schema.user_key_json, in.ChunkedUtf());
    if (schema.user_key_json == kNoUserKey) schema.user_key_json.clear();
    TW_ASSIGN_OR_RETURN(schema.key, ParseSchemaJson(key));
    TW_ASSIGN_OR_RETURN(schema.value, ParseSchemaJson(value));
    families.push_back(std::move(schema));
  }
  return families;
}

std::string StateSchemaPath(const std::string& checkpoint_root, OperatorId operator_id, std::string_view store_name) {
  const StateStoreId id{checkpoint_root, operator_id, PartitionId(0), std::string(store_name)};
  return data::JoinPath(data::JoinPath(id.Directory(), "_metadata"), "schema");
}

Result<std::optional<StateSchema>> ReadStateSchema(data::FileSystem& file_system, const std::string& checkpoint_root,
                                                   OperatorId operator_id, std::string_view store_name) {
  auto bytes = file_system.ReadWhole(StateSchemaPath(checkpoint_root, operator_id, store_name), kMostBytes);
  if (!bytes.ok()) {
    if (data::IsNotFound(bytes.status())) return std::optional<StateSchema>();
    return bytes.status();
  }
  TW_ASSIGN_OR_RETURN(auto families, ParseStateSchema(*bytes));
  if (families.empty()) return std::optional<StateSchema>();
  return std::optional<StateSchema>(std::move(families[0]));
}

Status WriteOrCheckStateSchema(data::FileSystem& file_system, const std::string& checkpoint_root,
                               OperatorId operator_id, std::string_view store_name, const StateSchema& schema,
                               bool check_value) {
  TW_ASSIGN_OR_RETURN(const auto stored, ReadStateSchema(file_system, checkpoint_root, operator_id, store_name));
  if (!stored) {
    StateSchema nullable = schema;
    nullable.key = AllNullable(schema.key);
    nullable.value = AllNullable(schema.value);
    return data::AtomicWriteFile(file_system, StateSchemaPath(checkpoint_root, operator_id, store_name),
                                 StateSchemaBytes({nullable}, 2));
  }
  if (!MayContinue(data::DataType::Struct(stored->key), data::DataType::Struct(schema.key))) {
    return Error("STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE")
        .With("storedKeySchema", SchemaJson(stored->key))
        .With("newKeySchema", SchemaJson(schema.key));
  }
  if (check_value && !MayContinue(data::DataType::Struct(stored->value), data::DataType::Struct(schema.value))) {
    return Error("STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE")
        .With("storedValueSchema", SchemaJson(stored->value))
        .With("newValueSchema", SchemaJson(schema.value));
  }
  return Status::OK();
}

}  // namespace thalweg::engine
