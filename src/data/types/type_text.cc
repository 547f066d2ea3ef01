// Types as text: names, SQL, DDL.

#include <algorithm>
#include <array>
#include <limits>

#include "data/types/data_type.h"
#include "data/types/type_node.h"

namespace thalweg::data {
namespace {

constexpr std::array<std::string_view, 2> kYearMonthFields = {"year", "month"};
constexpr std::array<std::string_view, 4> kDayTimeFields = {"day", "hour", "minute", "second"};

std::string StringName(const DataType& type) {
  switch (type.string_constraint()) {
    case StringConstraint::kChar: return "char(" + std::to_string(type.length()) + ")";
    case StringConstraint::kVarchar: return "varchar(" + std::to_string(type.length()) + ")";
    case StringConstraint::kNone: break;
  }
  return type.collation() == "UTF8_BINARY" ? "string" : "string collate " + type.collation();
}

// Types without children: the name in SQL, lower case; it differs from the name in JSON for some integers.
std::string ScalarSimpleString(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kByte: return "tinyint";
    case TypeKind::kShort: return "smallint";
    case TypeKind::kInteger: return "int";
    case TypeKind::kLong: return "bigint";
    default: return type.TypeName();
  }
}

void AppendSimple(const DataType& type, size_t max_fields, std::string* out) {
  switch (type.kind()) {
    case TypeKind::kArray:
      out->append("array<");
      AppendSimple(type.element(), max_fields, out);
      out->push_back('>');
      return;
    case TypeKind::kMap:
      out->append("map<");
      AppendSimple(type.key(), max_fields, out);
      out->push_back(',');
      AppendSimple(type.value(), max_fields, out);
      out->push_back('>');
      return;
    case TypeKind::kStruct: {
      out->append("struct<");
      const auto& fields = type.fields();
      const size_t shown = std::min(fields.size(), max_fields);
      for (size_t i = 0; i < shown; ++i) {
        if (i > 0) out->push_back(',');
        out->append(fields[i].name).push_back(':');
        AppendSimple(fields[i].type, max_fields, out);
      }
      if (shown < fields.size()) {
        if (shown > 0) out->push_back(',');
        out->append("... ").append(std::to_string(fields.size() - shown)).append(" more fields");
      }
      out->push_back('>');
      return;
    }
    default: out->append(ScalarSimpleString(type));
  }
}

void AppendFieldTail(const StructField& field, std::string* out) {
  if (!field.nullable) out->append(" NOT NULL");
}

void AppendComment(const StructField& field, std::string* out) {
  if (field.metadata_json == "{}") return;
  if (const auto comment = field.Comment()) {
    out->append(" COMMENT '").append(internal::EscapeSingleQuoted(*comment)).push_back('\'');
  }
}

void AppendSql(const DataType& type, std::string* out) {
  switch (type.kind()) {
    case TypeKind::kArray:
      out->append("ARRAY<");
      AppendSql(type.element(), out);
      out->push_back('>');
      return;
    case TypeKind::kMap:
      out->append("MAP<");
      AppendSql(type.key(), out);
      out->append(", ");
      AppendSql(type.value(), out);
      out->push_back('>');
      return;
    case TypeKind::kStruct: {
      out->append("STRUCT<");
      bool first = true;
      for (const StructField& field : type.fields()) {
        if (!first) out->append(", ");
        first = false;
        out->append(QuoteIfNeeded(field.name)).append(": ");
        AppendSql(field.type, out);
        AppendFieldTail(field, out);
        AppendComment(field, out);
      }
      out->push_back('>');
      return;
    }
    case TypeKind::kString:
      if (type.string_constraint() == StringConstraint::kNone && type.collation() != "UTF8_BINARY") {
        out->append("STRING COLLATE ").append(type.collation());
        return;
      }
      [[fallthrough]];
    default: out->append(internal::UpperAscii(ScalarSimpleString(type)));
  }
}

}  // namespace

std::string internal::UpperAscii(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

std::string internal::IntervalName(TypeKind kind, int first, int last) {
  const auto name = [&](int field) {
    return std::string(kind == TypeKind::kYearMonthInterval ? kYearMonthFields[static_cast<size_t>(field)]
                                                            : kDayTimeFields[static_cast<size_t>(field)]);
  };
  return first == last ? "interval " + name(first) : "interval " + name(first) + " to " + name(last);
}

std::string internal::EscapeSingleQuoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

std::string DataType::TypeName() const {
  switch (kind()) {
    case TypeKind::kNull: return "void";
    case TypeKind::kBoolean: return "boolean";
    case TypeKind::kByte: return "byte";
    case TypeKind::kShort: return "short";
    case TypeKind::kInteger: return "integer";
    case TypeKind::kLong: return "long";
    case TypeKind::kFloat: return "float";
    case TypeKind::kDouble: return "double";
    case TypeKind::kDecimal: return "decimal(" + std::to_string(precision()) + "," + std::to_string(scale()) + ")";
    case TypeKind::kString: return StringName(*this);
    case TypeKind::kBinary: return "binary";
    case TypeKind::kDate: return "date";
    case TypeKind::kTimestamp: return "timestamp";
    case TypeKind::kTimestampNtz: return "timestamp_ntz";
    case TypeKind::kTime: return "time(" + std::to_string(precision()) + ")";
    case TypeKind::kYearMonthInterval:
    case TypeKind::kDayTimeInterval: return internal::IntervalName(kind(), node_->first, node_->second);
    case TypeKind::kCalendarInterval: return "interval";
    case TypeKind::kArray: return "array";
    case TypeKind::kMap: return "map";
    case TypeKind::kStruct: return "struct";
    case TypeKind::kVariant: return "variant";
  }
  return {};
}

std::string DataType::SimpleString() const {
  std::string out;
  AppendSimple(*this, std::numeric_limits<size_t>::max(), &out);
  return out;
}

std::string DataType::SimpleString(int max_fields) const {
  std::string out;
  AppendSimple(*this, static_cast<size_t>(std::max(0, max_fields)), &out);
  return out;
}

std::string DataType::Sql() const {
  std::string out;
  AppendSql(*this, &out);
  return out;
}

std::string SchemaDdl(const Schema& schema) {
  std::string out;
  for (const StructField& field : schema) {
    if (!out.empty()) out.push_back(',');
    out.append(QuoteIfNeeded(field.name)).push_back(' ');
    AppendSql(field.type, &out);
    AppendFieldTail(field, &out);
    if (const auto value = field.MetadataString("CURRENT_DEFAULT")) out.append(" DEFAULT ").append(*value);
    AppendComment(field, &out);
  }
  return out;
}

std::string QuoteIdentifier(std::string_view name) {
  std::string out = "`";
  for (const char c : name) {
    if (c == '`') out.push_back('`');
    out.push_back(c);
  }
  out.push_back('`');
  return out;
}

std::string QuoteIfNeeded(std::string_view name) {
  const auto is_start = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const bool plain = !name.empty() && is_start(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_start(c) || (c >= '0' && c <= '9');
  });
  return plain ? std::string(name) : QuoteIdentifier(name);
}

}  // namespace thalweg::data
