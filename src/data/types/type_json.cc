// DataType.json and DataType.fromJson of Spark.

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/types/data_type.h"
#include "data/types/java_double.h"
#include "data/types/type_node.h"

namespace thalweg::data {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxJsonDepth = 1000;
constexpr std::string_view kCollationsKey = "__COLLATIONS";

Status InvalidType(std::string_view what) { return Error("INVALID_JSON_DATA_TYPE").With("invalidType", what); }

// ---- writing ----

void AppendMetadataValue(const Json& value, std::string* out);

void AppendMetadataObject(const Json& object, std::string* out) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  internal::SortAsScalaMap(&keys);
  out->push_back('{');
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i > 0) out->push_back(',');
    internal::AppendJsonString(keys[i], out);
    out->push_back(':');
    AppendMetadataValue(object.at(keys[i]), out);
  }
  out->push_back('}');
}

void AppendMetadataValue(const Json& value, std::string* out) {
  switch (value.type()) {
    case Json::value_t::object: return AppendMetadataObject(value, out);
    case Json::value_t::array: {
      out->push_back('[');
      bool first = true;
      for (const Json& element : value) {
        if (!first) out->push_back(',');
        first = false;
        AppendMetadataValue(element, out);
      }
      out->push_back(']');
      return;
    }
    case Json::value_t::string: return internal::AppendJsonString(value.get_ref<const std::string&>(), out);
    case Json::value_t::boolean: out->append(value.get<bool>() ? "true" : "false"); return;
    case Json::value_t::number_integer: out->append(std::to_string(value.get<int64_t>())); return;
    case Json::value_t::number_unsigned: out->append(std::to_string(value.get<uint64_t>())); return;
    case Json::value_t::number_float: return AppendJavaDouble(value.get<double>(), out);
    default: out->append("null");
  }
}

using Collations = std::vector<std::pair<std::string, std::string>>;  // path of the field, provider.name

void CollectCollations(const DataType& type, const std::string& path, Collations* out) {
  if (type.Is(TypeKind::kArray)) {
    CollectCollations(type.element(), path + ".element", out);
  } else if (type.Is(TypeKind::kMap)) {
    CollectCollations(type.key(), path + ".key", out);
    CollectCollations(type.value(), path + ".value", out);
  } else if (type.Is(TypeKind::kString) && type.string_constraint() == StringConstraint::kNone &&
             type.collation() != "UTF8_BINARY") {
    out->emplace_back(path, std::string(internal::CollationProvider(type.collation())) + "." + type.collation());
  }
}

void AppendMetadata(const StructField& field, std::string* out) {
  Collations collations;
  CollectCollations(field.type, field.name, &collations);
  const size_t start = out->size();
  if (field.metadata_json.empty() || field.metadata_json == "{}") {
    out->append("{}");
  } else {
    const Json metadata = Json::parse(field.metadata_json, nullptr, false);
    if (metadata.is_object()) {
      AppendMetadataObject(metadata, out);
    } else {
      out->append("{}");
    }
  }
  if (collations.empty()) return;
  out->pop_back();
  if (out->size() > start + 1) out->push_back(',');
  internal::AppendJsonString(kCollationsKey, out);
  out->append(":{");
  std::vector<std::string> paths;
  for (const auto& [path, name] : collations) paths.push_back(path);
  internal::SortAsScalaMutableMap(&paths);
  for (size_t i = 0; i < paths.size(); ++i) {
    if (i > 0) out->push_back(',');
    internal::AppendJsonString(paths[i], out);
    out->push_back(':');
    for (const auto& [path, name] : collations) {
      if (path == paths[i]) {
        internal::AppendJsonString(name, out);
        break;
      }
    }
  }
  out->append("}}");
}

// Inside a field, collations stand in the metadata and the type is plain.
void AppendType(const DataType& type, bool in_field, std::string* out) {
  switch (type.kind()) {
    case TypeKind::kArray:
      out->append(R"({"type":"array","elementType":)");
      AppendType(type.element(), in_field, out);
      out->append(R"(,"containsNull":)").append(type.contains_null() ? "true}" : "false}");
      return;
    case TypeKind::kMap:
      out->append(R"({"type":"map","keyType":)");
      AppendType(type.key(), in_field, out);
      out->append(R"(,"valueType":)");
      AppendType(type.value(), in_field, out);
      out->append(R"(,"valueContainsNull":)").append(type.contains_null() ? "true}" : "false}");
      return;
    case TypeKind::kStruct: {
      out->append(R"({"type":"struct","fields":[)");
      bool first = true;
      for (const StructField& field : type.fields()) {
        if (!first) out->push_back(',');
        first = false;
        out->append(R"({"name":)");
        internal::AppendJsonString(field.name, out);
        out->append(R"(,"type":)");
        AppendType(field.type, true, out);
        out->append(R"(,"nullable":)").append(field.nullable ? "true" : "false").append(R"(,"metadata":)");
        AppendMetadata(field, out);
        out->push_back('}');
      }
      out->append("]}");
      return;
    }
    case TypeKind::kString:
      if (in_field && type.string_constraint() == StringConstraint::kNone) {
        out->append("\"string\"");
        return;
      }
      [[fallthrough]];
    default: internal::AppendJsonString(type.TypeName(), out);
  }
}

// ---- reading ----

bool ParseNumber(std::string_view text, int* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc{} && end == text.data() + text.size();
}

std::string_view TrimSpaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// "name(1, 2)": the numbers; false when `text` has another form.
bool ParseArguments(std::string_view text, std::string_view name, std::vector<int>* out) {
  if (!text.starts_with(name)) return false;
  text.remove_prefix(name.size());
  if (text.size() < 3 || text.front() != '(' || text.back() != ')') return false;
  text = text.substr(1, text.size() - 2);
  while (true) {
    const size_t comma = text.find(',');
    int number = 0;
    if (!ParseNumber(TrimSpaces(text.substr(0, comma)), &number)) return false;
    out->push_back(number);
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

std::optional<DataType> IntervalFromName(std::string_view name) {
  for (int first = 0; first < 4; ++first) {
    for (int last = first; last < 4; ++last) {
      if (internal::IntervalName(TypeKind::kDayTimeInterval, first, last) == name) {
        return DataType::DayTimeInterval(static_cast<DayTimeField>(first), static_cast<DayTimeField>(last));
      }
      if (last < 2 && internal::IntervalName(TypeKind::kYearMonthInterval, first, last) == name) {
        return DataType::YearMonthInterval(static_cast<YearMonthField>(first), static_cast<YearMonthField>(last));
      }
    }
  }
  return std::nullopt;
}

std::optional<DataType> ParameterisedFromName(std::string_view name) {
  std::vector<int> n;
  if (ParseArguments(name, "decimal", &n) && n.size() == 2 && n[0] >= 0 && n[0] <= 38 && n[1] <= n[0]) {
    return DataType::Decimal(n[0], n[1]);
  }
  n.clear();
  if (ParseArguments(name, "char", &n) && n.size() == 1 && n[0] >= 0) return DataType::Char(n[0]);
  n.clear();
  if (ParseArguments(name, "varchar", &n) && n.size() == 1 && n[0] >= 0) return DataType::Varchar(n[0]);
  n.clear();
  if (ParseArguments(name, "time", &n) && n.size() == 1 && n[0] >= 0 && n[0] <= 6) return DataType::Time(n[0]);
  constexpr std::string_view kCollate = "string collate ";
  if (name.starts_with(kCollate)) {
    if (auto collation = internal::CanonicalCollation(name.substr(kCollate.size()))) {
      return DataType::String(std::move(*collation));
    }
  }
  return IntervalFromName(name);
}

Result<DataType> TypeFromName(const std::string& name) {
  using Maker = DataType (*)();
  static constexpr std::array<std::pair<std::string_view, Maker>, 18> kNames = {{
      {"void", &DataType::Null},
      {"null", &DataType::Null},
      {"boolean", &DataType::Boolean},
      {"byte", &DataType::Byte},
      {"short", &DataType::Short},
      {"integer", &DataType::Integer},
      {"long", &DataType::Long},
      {"float", &DataType::Float},
      {"double", &DataType::Double},
      {"string", static_cast<Maker>(&DataType::String)},
      {"binary", &DataType::Binary},
      {"date", &DataType::Date},
      {"timestamp", &DataType::Timestamp},
      {"timestamp_ltz", &DataType::Timestamp},
      {"timestamp_ntz", &DataType::TimestampNtz},
      {"interval", &DataType::CalendarInterval},
      {"variant", &DataType::Variant},
      {"decimal", [] { return DataType::Decimal(10, 0); }},
  }};
  for (const auto& [known, make] : kNames) {
    if (known == name) return make();
  }
  if (auto type = ParameterisedFromName(name)) return *std::move(type);
  return InvalidType(name);
}

// The type with the collations that the metadata of its field names by path.
DataType WithCollations(const DataType& type, const std::string& path, const Json& collations) {
  if (type.Is(TypeKind::kArray)) {
    return DataType::Array(WithCollations(type.element(), path + ".element", collations), type.contains_null());
  }
  if (type.Is(TypeKind::kMap)) {
    return DataType::Map(WithCollations(type.key(), path + ".key", collations),
                         WithCollations(type.value(), path + ".value", collations), type.contains_null());
  }
  if (!type.Is(TypeKind::kString)) return type;
  const auto found = collations.find(path);
  if (found == collations.end() || !found->is_string()) return type;
  std::string name = found->get<std::string>();
  const size_t dot = name.find('.');
  if (dot != std::string::npos) name.erase(0, dot + 1);
  if (auto collation = internal::CanonicalCollation(name)) return DataType::String(std::move(*collation));
  return type;
}

Result<DataType> TypeFromJson(const Json& json);

Result<StructField> FieldFromJson(const Json& json) {
  const size_t known = json.is_object() ? json.count("name") + json.count("type") + json.count("nullable") +
                                              json.count("metadata")
                                        : 0;
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string() || !json.contains("type") ||
      known != json.size() || (json.contains("nullable") && !json["nullable"].is_boolean()) ||
      (json.contains("metadata") && (!json["metadata"].is_object() || !json.contains("nullable")))) {
    return InvalidType(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  StructField field;
  field.name = json["name"].get<std::string>();
  TW_ASSIGN_OR_RETURN(field.type, TypeFromJson(json["type"]));
  if (json.contains("nullable")) field.nullable = json["nullable"].get<bool>();
  if (json.contains("metadata")) {
    Json metadata = json["metadata"];
    const auto collations = metadata.find(kCollationsKey);
    if (collations != metadata.end() && collations->is_object()) {
      field.type = WithCollations(field.type, field.name, *collations);
      metadata.erase(std::string(kCollationsKey));
    }
    field.metadata_json.clear();
    AppendMetadataObject(metadata, &field.metadata_json);
  }
  return field;
}

Result<DataType> TypeFromJson(const Json& json) {
  if (json.is_string()) return TypeFromName(json.get<std::string>());
  const auto invalid = [&] { return InvalidType(json.dump(-1, ' ', false, Json::error_handler_t::replace)); };
  if (!json.is_object() || !json.contains("type") || !json["type"].is_string()) return invalid();
  const std::string& kind = json["type"].get_ref<const std::string&>();
  if (kind == "array" && json.size() == 3 && json.contains("elementType") && json.contains("containsNull") &&
      json["containsNull"].is_boolean()) {
    TW_ASSIGN_OR_RETURN(DataType element, TypeFromJson(json["elementType"]));
    return DataType::Array(std::move(element), json["containsNull"].get<bool>());
  }
  if (kind == "map" && json.size() == 4 && json.contains("keyType") && json.contains("valueType") &&
      json.contains("valueContainsNull") && json["valueContainsNull"].is_boolean()) {
    TW_ASSIGN_OR_RETURN(DataType key, TypeFromJson(json["keyType"]));
    TW_ASSIGN_OR_RETURN(DataType value, TypeFromJson(json["valueType"]));
    return DataType::Map(std::move(key), std::move(value), json["valueContainsNull"].get<bool>());
  }
  if (kind == "struct" && json.size() == 2 && json.contains("fields") && json["fields"].is_array()) {
    std::vector<StructField> fields;
    for (const Json& item : json["fields"]) {
      TW_ASSIGN_OR_RETURN(StructField field, FieldFromJson(item));
      fields.push_back(std::move(field));
    }
    return DataType::Struct(std::move(fields));
  }
  // A user-defined type is read as the type it is stored as.
  if (kind == "udt" && json.contains("sqlType")) return TypeFromJson(json["sqlType"]);
  return invalid();
}

bool IsTooDeep(std::string_view json) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxJsonDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

}  // namespace

void internal::AppendJsonString(std::string_view text, std::string* out) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  out->push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"': out->append("\\\""); break;
      case '\\': out->append("\\\\"); break;
      case '\b': out->append("\\b"); break;
      case '\f': out->append("\\f"); break;
      case '\n': out->append("\\n"); break;
      case '\r': out->append("\\r"); break;
      case '\t': out->append("\\t"); break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out->append("\\u00");
          out->push_back(kHex[static_cast<unsigned char>(c) >> 4]);
          out->push_back(kHex[static_cast<unsigned char>(c) & 15]);
        } else {
          out->push_back(c);
        }
    }
  }
  out->push_back('"');
}

std::string DataType::Json() const {
  std::string out;
  AppendType(*this, false, &out);
  return out;
}

Result<DataType> ParseTypeJson(std::string_view json) {
  if (IsTooDeep(json)) return InvalidType("a type nested too deeply");
  const Json parsed = Json::parse(json.begin(), json.end(), nullptr, false);
  if (parsed.is_discarded()) return InvalidType(json);
  return TypeFromJson(parsed);
}

std::optional<std::string> StructField::Comment() const { return MetadataString("comment"); }

std::optional<std::string> StructField::MetadataString(std::string_view key) const {
  if (metadata_json.empty() || metadata_json == "{}") return std::nullopt;
  const Json metadata = Json::parse(metadata_json, nullptr, false);
  if (!metadata.is_object()) return std::nullopt;
  const auto found = metadata.find(key);
  if (found == metadata.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

}  // namespace thalweg::data
