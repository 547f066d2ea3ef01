#include "connectors/delta/delta_text_limits.h"

#include <utility>

#include "connectors/delta/delta_actions.h"
#include "connectors/delta/delta_schema.h"
#include "data/columnar/column.h"
#include "data/text/utf8.h"
#include "data/types/field_comment.h"

namespace thalweg::connectors {

using data::ColumnPtr;
using data::DataType;
using data::StructField;
using data::TypeKind;

namespace {

constexpr int kMaxPadded = 1 << 20;  // characters: a damaged hint must not cost more memory

bool IsLimited(const DataType& type) {
  return type.Is(TypeKind::kString) && type.string_constraint() != data::StringConstraint::kNone;
}

bool HoldsLimits(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kArray: return HoldsLimits(type.element());
    case TypeKind::kMap: return HoldsLimits(type.key()) || HoldsLimits(type.value());
    case TypeKind::kStruct: {
      for (const StructField& field : type.fields()) {
        if (HoldsLimits(field.type)) return true;
      }
      return false;
    }
    default: return IsLimited(type);
  }
}

DataType WithoutLimits(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kArray: return DataType::Array(WithoutLimits(type.element()), type.contains_null());
    case TypeKind::kMap: return DataType::Map(WithoutLimits(type.key()), WithoutLimits(type.value()), type.contains_null());
    case TypeKind::kStruct: {
      std::vector<StructField> fields = type.fields();
      for (StructField& field : fields) field.type = WithoutLimits(field.type);
      return DataType::Struct(std::move(fields));
    }
    default: return IsLimited(type) ? DataType::String() : type;
  }
}

Status CheckTexts(const DataType& type, const data::Column& column, const std::string& path) {
  const auto texts = column.values<data::TextView>();
  const auto limit = static_cast<size_t>(type.length());
  for (int64_t row = 0; row < column.length(); ++row) {
    if (column.IsNull(row)) continue;
    const std::string_view text = texts[static_cast<size_t>(row)].view();
    if (text.size() <= limit || data::Utf8Length(text) <= limit) continue;
    const std::string length = std::to_string(type.length());
    return Error("DELTA_EXCEED_CHAR_VARCHAR_LIMIT")
        .With("value", text)
        .With("expr", "((" + path + " IS NULL) OR (length(" + path + ") <= " + length + "))");
  }
  return Status::OK();
}

/// The rows of a child column that belong to rows which are not null.
ColumnPtr RowsOfPresent(const data::Column& parent, const ColumnPtr& child) {
  if (!parent.has_nulls()) return child;
  std::vector<int32_t> rows;
  for (int64_t row = 0; row < parent.length(); ++row) {
    if (!parent.IsNull(row)) rows.push_back(static_cast<int32_t>(row));
  }
  return data::Take(child, rows);
}

ColumnPtr ElementsOfPresent(const data::Column& parent, const ColumnPtr& elements) {
  std::vector<int32_t> rows;
  const auto offsets = parent.offsets();
  for (int64_t row = 0; row < parent.length(); ++row) {
    if (parent.IsNull(row)) continue;
    for (int32_t at = offsets[static_cast<size_t>(row)]; at < offsets[static_cast<size_t>(row) + 1]; ++at) rows.push_back(at);
  }
  return data::Take(elements, rows);
}

Status CheckColumn(const DataType& type, const ColumnPtr& given, const std::string& path) {
  if (!HoldsLimits(type) || given->length() == 0 || given->physical() == data::PhysicalType::kNull) return Status::OK();
  const ColumnPtr column = data::Flatten(given);
  switch (type.kind()) {
    case TypeKind::kArray: return CheckColumn(type.element(), ElementsOfPresent(*column, column->child(0)), path + ".element");
    case TypeKind::kMap:
      TW_RETURN_NOT_OK(CheckColumn(type.key(), ElementsOfPresent(*column, column->child(0)), path + ".key"));
      return CheckColumn(type.value(), ElementsOfPresent(*column, column->child(1)), path + ".value");
    case TypeKind::kStruct:
      for (size_t i = 0; i < type.fields().size(); ++i) {
        const StructField& field = type.fields()[i];
        TW_RETURN_NOT_OK(CheckColumn(field.type, RowsOfPresent(*column, column->child(static_cast<int>(i))), path + "." + field.name));
      }
      return Status::OK();
    default: return CheckTexts(type, *column, path);
  }
}

}  // namespace

TextLimits::TextLimits(const data::Schema& schema) {
  for (size_t i = 0; i < schema.size(); ++i) {
    if (std::optional<DataType> declared = DeclaredTextType(schema[i])) {
      limited_.push_back({static_cast<int>(i), schema[i].name, *std::move(declared)});
    }
  }
}

Status TextLimits::Check(const data::Chunk& chunk) const {
  for (const Limited& one : limited_) TW_RETURN_NOT_OK(CheckColumn(one.type, chunk.column(one.column), one.name));
  return Status::OK();
}

std::optional<DataType> DeclaredTextType(const StructField& field) {
  if (field.metadata_json.find(kCharVarcharHint) == std::string::npos) return std::nullopt;
  const auto text = field.MetadataString(kCharVarcharHint);
  if (!text) return std::nullopt;
  Result<DataType> declared = data::ParseTypeDdl(*text);
  if (!declared.ok() || !WithoutLimits(*declared).AsNullable().SameType(field.type.AsNullable())) return std::nullopt;
  return std::move(*declared);
}

int CharLength(const StructField& field) {
  const std::optional<DataType> declared = DeclaredTextType(field);
  if (!declared || !declared->Is(TypeKind::kString) || declared->string_constraint() != data::StringConstraint::kChar) return 0;
  return declared->length() < kMaxPadded ? declared->length() : 0;
}

void StoreTextLimits(StructField* field) {
  if (!HoldsLimits(field->type)) return;
  data::SetMetadataText(field, std::string(kCharVarcharHint).c_str(), field->type.SimpleString());
  field->type = WithoutLimits(field->type);
}

}  // namespace thalweg::connectors
