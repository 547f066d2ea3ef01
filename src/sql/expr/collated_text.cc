#include "sql/expr/collated_text.h"

#include <algorithm>
#include <array>
#include <string>

namespace thalweg::sql {
namespace {

using data::DataType;
using data::TypeKind;

constexpr std::string_view kCompareText[] = {
    "!=", "<", "<=", "<=>", "<>", "=", "==", ">", ">=", "array_contains", "array_distinct", "array_except", "array_intersect",
    "array_max", "array_min", "array_position", "array_remove", "array_union", "arrays_overlap", "between", "btrim", "charindex",
    "collect_set", "contains", "decode", "element_at", "endswith", "find_in_set", "greatest", "ilike", "in", "initcap", "instr", "least",
    "like", "locate", "ltrim", "map", "map_concat", "map_contains_key", "map_from_arrays", "map_from_entries", "max", "max_by", "min",
    "min_by", "mode", "nullif", "position", "regexp", "regexp_count", "regexp_extract", "regexp_extract_all", "regexp_instr",
    "regexp_like", "regexp_replace", "regexp_substr", "replace", "rlike", "rtrim", "sort_array", "split", "split_part", "startswith",
    "str_to_map", "substring_index", "translate", "trim", "try_element_at"};

/// The first collation in it that is not bytes; empty: none.
std::string CollationIn(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kString: return type.collation() == "UTF8_BINARY" ? std::string() : type.collation();
    case TypeKind::kArray: return CollationIn(type.element());
    case TypeKind::kMap: {
      std::string key = CollationIn(type.key());
      return key.empty() ? CollationIn(type.value()) : key;
    }
    case TypeKind::kStruct:
      for (const auto& field : type.fields()) {
        std::string found = CollationIn(field.type);
        if (!found.empty()) return found;
      }
      return {};
    default: return {};
  }
}

}  // namespace

Status CheckCollations(std::string_view function, const ExprList& arguments) {
  for (const ExprPtr& argument : arguments) {
    const DataType& type = argument->type();
    if (!type.Is(TypeKind::kString) && !type.IsNested()) continue;
    const std::string collation = CollationIn(type);
    if (collation.empty() || !std::binary_search(std::begin(kCompareText), std::end(kCompareText), function)) continue;
    return Unsupported(std::string(function) + " of text under the collation " + collation);
  }
  return Status::OK();
}

}  // namespace thalweg::sql
