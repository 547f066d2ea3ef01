#include "connectors/file/schema_merge.h"

#include <algorithm>
#include <optional>

#include "connectors/file/partitions.h"

namespace thalweg::connectors {
namespace {

using data::DataType;
using data::TypeKind;

/// Nothing when the two have no type in common.
std::optional<DataType> Merged(const DataType& left, const DataType& right, bool case_sensitive);

std::optional<data::Schema> MergedFields(const data::Schema& left, const data::Schema& right, bool case_sensitive) {
  data::Schema merged = left;
  for (const data::StructField& field : right) {
    const auto old = std::find_if(merged.begin(), merged.end(), [&](const data::StructField& other) {
      return SameName(other.name, field.name, case_sensitive);
    });
    if (old == merged.end()) {
      merged.push_back(field);
      continue;
    }
    std::optional<DataType> type = Merged(old->type, field.type, case_sensitive);
    if (!type) return std::nullopt;
    old->type = std::move(*type);
  }
  return merged;
}

std::optional<DataType> Merged(const DataType& left, const DataType& right, bool case_sensitive) {
  if (left.kind() != right.kind()) return std::nullopt;
  switch (left.kind()) {
    case TypeKind::kStruct: {
      auto fields = MergedFields(left.fields(), right.fields(), case_sensitive);
      if (!fields) return std::nullopt;
      return DataType::Struct(std::move(*fields));
    }
    case TypeKind::kArray: {
      auto element = Merged(left.element(), right.element(), case_sensitive);
      if (!element) return std::nullopt;
      return DataType::Array(std::move(*element), left.contains_null() || right.contains_null());
    }
    case TypeKind::kMap: {
      auto key = Merged(left.key(), right.key(), case_sensitive);
      auto value = Merged(left.value(), right.value(), case_sensitive);
      if (!key || !value) return std::nullopt;
      return DataType::Map(std::move(*key), std::move(*value), left.contains_null() || right.contains_null());
    }
    case TypeKind::kDecimal:
      if (left.scale() != right.scale()) return std::nullopt;
      return left.precision() >= right.precision() ? left : right;
    default: return left.SameType(right) ? std::optional(left) : std::nullopt;
  }
}

}  // namespace

Status MergeSchema(const data::Schema& schema, bool case_sensitive, data::Schema* merged) {
  auto fields = MergedFields(*merged, schema, case_sensitive);
  if (!fields) {
    return Error("CANNOT_MERGE_SCHEMAS")
        .With("left", "\"" + DataType::Struct(*merged).Sql() + "\"")
        .With("right", "\"" + DataType::Struct(schema).Sql() + "\"");
  }
  *merged = std::move(*fields);
  return Status::OK();
}

}  // namespace thalweg::connectors
