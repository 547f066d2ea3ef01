// printSchema: the tree that Spark's StructType.treeString draws.

#include <limits>

#include "data/types/data_type.h"

namespace thalweg::data {
namespace {

std::string EscapeMetaCharacters(std::string_view name) {
  std::string out;
  for (const char c : name) {
    switch (c) {
      case '\n': out.append("\\n"); break;
      case '\r': out.append("\\r"); break;
      case '\t': out.append("\\t"); break;
      case '\f': out.append("\\f"); break;
      case '\b': out.append("\\b"); break;
      case '\v': out.append("\\v"); break;
      case '\a': out.append("\\a"); break;
      default: out.push_back(c);
    }
  }
  return out;
}

const char* TrueFalse(bool value) { return value ? "true" : "false"; }

void AppendTypeLines(const DataType& type, const std::string& prefix, int depth, std::string* out);

void AppendFieldLines(const std::vector<StructField>& fields, const std::string& prefix, int depth, std::string* out) {
  if (depth <= 0) return;
  for (const StructField& field : fields) {
    out->append(prefix).append("-- ").append(EscapeMetaCharacters(field.name)).append(": ");
    out->append(field.type.TypeName()).append(" (nullable = ").append(TrueFalse(field.nullable)).append(")\n");
    AppendTypeLines(field.type, prefix + "    |", depth, out);
  }
}

// The levels below a line whose type is `type`.
void AppendTypeLines(const DataType& type, const std::string& prefix, int depth, std::string* out) {
  if (--depth <= 0) return;
  if (type.Is(TypeKind::kStruct)) {
    AppendFieldLines(type.fields(), prefix, depth, out);
  } else if (type.Is(TypeKind::kArray)) {
    out->append(prefix).append("-- element: ").append(type.element().TypeName());
    out->append(" (containsNull = ").append(TrueFalse(type.contains_null())).append(")\n");
    AppendTypeLines(type.element(), prefix + "    |", depth, out);
  } else if (type.Is(TypeKind::kMap)) {
    out->append(prefix).append("-- key: ").append(type.key().TypeName()).push_back('\n');
    AppendTypeLines(type.key(), prefix + "    |", depth, out);
    out->append(prefix).append("-- value: ").append(type.value().TypeName());
    out->append(" (valueContainsNull = ").append(TrueFalse(type.contains_null())).append(")\n");
    AppendTypeLines(type.value(), prefix + "    |", depth, out);
  }
}

}  // namespace

std::string SchemaTree(const Schema& schema, int max_level) {
  std::string out = "root\n";
  AppendFieldLines(schema, " |", max_level > 0 ? max_level : std::numeric_limits<int>::max(), &out);
  return out;
}

}  // namespace thalweg::data
