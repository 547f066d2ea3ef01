#include "data/columnar/column.h"

#include <cstring>

#include "base/status.h"
#include "data/columnar/bitmap.h"
#include "data/columnar/builder.h"
#include "data/columnar/fixed_width.h"

namespace thalweg::data {
namespace {

ValueList ListValues(const Column& child, int64_t begin, int64_t end) {
  ValueList values;
  values.reserve(static_cast<size_t>(end - begin));
  for (int64_t i = begin; i < end; ++i) values.push_back(child.GetValue(i));
  return values;
}

Value FlatValue(const Column& column, int64_t slot) {
  const auto index = static_cast<size_t>(slot);
  switch (column.physical()) {
    case PhysicalType::kNull: return {};
    case PhysicalType::kBool: return Value(column.values<uint8_t>()[index] != 0);
    case PhysicalType::kInt8: return Value(column.values<int8_t>()[index]);
    case PhysicalType::kInt16: return Value(column.values<int16_t>()[index]);
    case PhysicalType::kInt32: return Value(column.values<int32_t>()[index]);
    case PhysicalType::kInt64: return Value(column.values<int64_t>()[index]);
    case PhysicalType::kFloat: return Value(column.values<float>()[index]);
    case PhysicalType::kDouble: return Value(column.values<double>()[index]);
    case PhysicalType::kInt128: return Value(column.values<Int128>()[index]);
    case PhysicalType::kText: return Value(std::string(column.values<TextView>()[index].view()));
    case PhysicalType::kInterval: return Value(column.values<CalendarInterval>()[index]);
    case PhysicalType::kList: {
      const auto offsets = column.offsets();
      return Value(ListValues(*column.child(0), offsets[index], offsets[index + 1]));
    }
    case PhysicalType::kMap: {
      const auto offsets = column.offsets();
      ValueList entries;
      for (int64_t i = offsets[index]; i < offsets[index + 1]; ++i) {
        entries.push_back(column.child(0)->GetValue(i));
        entries.push_back(column.child(1)->GetValue(i));
      }
      return Value(std::move(entries));
    }
    case PhysicalType::kStruct: {
      ValueList fields;
      for (int i = 0; i < column.num_children(); ++i) fields.push_back(column.child(i)->GetValue(slot));
      return Value(std::move(fields));
    }
  }
  return {};
}

// One defined slot for a null constant of any type.
ColumnPtr NullConstant(const DataType& type, int64_t length) {
  auto builder = ColumnBuilder::Make(type);
  builder->AppendNull();
  Column::Parts parts = builder->Finish()->parts();
  parts.encoding = Encoding::kConstant;
  parts.length = parts.null_count = length;
  parts.validity.reset();
  return Column::Make(std::move(parts));
}

}  // namespace

Column::Column(Parts parts) : parts_(std::move(parts)), physical_(parts_.type.physical()) {
  if (parts_.null_count == 0 || is_constant()) {
    parts_.validity.reset();
  } else if (parts_.validity == nullptr) {
    // Only VOID columns come without a bitmap; with one, kernels that read words need no case of their own.
    TW_DCHECK(parts_.null_count == parts_.length);
    parts_.validity = MakeBitmap(parts_.length, false);
  }
  TW_DCHECK(!is_constant() || parts_.null_count == 0 || parts_.null_count == parts_.length);
  TW_DCHECK(parts_.encoding != Encoding::kDictionary || dictionary()->encoding() == Encoding::kFlat);
}

ColumnPtr Column::Make(Parts parts) { return std::make_shared<const Column>(std::move(parts)); }

ColumnPtr Column::Constant(const DataType& type, const Value& value, int64_t length) {
  if (value.is_null()) return Nulls(type, length);
  auto builder = ColumnBuilder::Make(type);
  builder->AppendValue(value);
  Parts parts = builder->Finish()->parts();
  parts.encoding = Encoding::kConstant;
  parts.length = length;
  return Make(std::move(parts));
}

ColumnPtr Column::Nulls(const DataType& type, int64_t length) {
  if (type.physical() == PhysicalType::kNull) {
    Parts parts;
    parts.type = type;
    parts.encoding = Encoding::kConstant;
    parts.length = parts.null_count = length;
    return Make(std::move(parts));
  }
  return NullConstant(type, length);
}

Value Column::GetValue(int64_t row) const {
  TW_DCHECK(row >= 0 && row < parts_.length);
  if (IsNull(row)) return {};
  if (is_constant()) return FlatValue(*this, 0);
  if (encoding() == Encoding::kDictionary) return dictionary()->GetValue(indices()[static_cast<size_t>(row)]);
  return FlatValue(*this, row);
}

int64_t Column::bytes() const {
  int64_t total = static_cast<int64_t>(sizeof(Column));
  if (parts_.validity) total += parts_.validity->held_bytes();
  if (parts_.values) total += parts_.values->held_bytes();
  for (const auto& buffer : parts_.text) total += buffer->held_bytes();
  for (const auto& child : parts_.children) total += child->bytes();
  return total;
}

ColumnPtr WithType(const ColumnPtr& column, const DataType& type) {
  TW_DCHECK(column->type().physical() == type.physical());
  Column::Parts parts = column->parts();
  parts.type = type;
  if (parts.encoding == Encoding::kDictionary) {
    parts.children[0] = WithType(parts.children[0], type);
  } else if (type.Is(TypeKind::kArray)) {
    parts.children[0] = WithType(parts.children[0], type.element());
  } else if (type.Is(TypeKind::kMap)) {
    parts.children[0] = WithType(parts.children[0], type.key());
    parts.children[1] = WithType(parts.children[1], type.value());
  } else if (type.Is(TypeKind::kStruct)) {
    for (size_t i = 0; i < parts.children.size(); ++i) {
      parts.children[i] = WithType(parts.children[i], type.fields()[i].type);
    }
  }
  return Column::Make(std::move(parts));
}

ColumnPtr WithValidity(const ColumnPtr& column, BufferPtr validity, int64_t null_count) {
  if (null_count == 0 || validity == nullptr) return column;
  const ColumnPtr source = column->encoding() == Encoding::kDictionary ? column : Flatten(column);
  const int64_t length = source->length();
  if (source->physical() == PhysicalType::kNull) return source;
  Column::Parts parts = source->parts();
  parts.null_count = null_count;
  if (source->has_nulls()) {
    auto both = Buffer::Allocate(BitmapBytes(length));
    const auto words = both->as_mutable<uint64_t>();
    const auto* theirs = reinterpret_cast<const uint64_t*>(validity->data());
    for (size_t i = 0; i < words.size(); ++i) words[i] = theirs[i] & source->validity_words()[i];
    parts.null_count = length - CountBits(words.data(), length);
    parts.validity = std::move(both);
  } else if (validity->size() < BitmapBytes(length)) {
    auto padded = Buffer::AllocateZeroed(BitmapBytes(length));
    std::memcpy(padded->mutable_data(), validity->data(), static_cast<size_t>(validity->size()));
    parts.validity = std::move(padded);
  } else {
    parts.validity = std::move(validity);
  }
  if (source->physical() == PhysicalType::kText && source->encoding() == Encoding::kFlat) {
    // Text slots of null rows are empty views.
    auto views = Buffer::Allocate(length * static_cast<int64_t>(sizeof(TextView)));
    const auto* words = reinterpret_cast<const uint64_t*>(parts.validity->data());
    const auto from = source->values<TextView>();
    const auto to = views->as_mutable<TextView>();
    for (int64_t i = 0; i < length; ++i) {
      to[static_cast<size_t>(i)] = BitAt(words, i) ? from[static_cast<size_t>(i)] : TextView();
    }
    parts.values = std::move(views);
  }
  return Column::Make(std::move(parts));
}

}  // namespace thalweg::data
