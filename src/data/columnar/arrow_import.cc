// Arrow arrays as columns: nested types, dictionaries and the dispatch. Scalars: arrow_import_scalar.cc.

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include <algorithm>

#include "data/columnar/arrow_bridge.h"
#include "data/columnar/arrow_import.h"
#include "data/columnar/bitmap.h"

namespace thalweg::data {

Status ImpossibleImport(const arrow::Array& array, const DataType& type) {
  return InternalError("cannot read Arrow type " + array.type()->ToString() + " as " + type.Sql());
}

void ImportValidity(const arrow::Array& array, Column::Parts* parts) {
  parts->length = array.length();
  parts->null_count = array.null_count();
  if (parts->null_count == 0 || array.null_bitmap_data() == nullptr) {
    parts->null_count = 0;
    return;
  }
  auto bitmap = Buffer::AllocateZeroed(BitmapBytes(parts->length));
  uint8_t* to = bitmap->mutable_data();
  const uint8_t* from = array.null_bitmap_data();
  const int64_t offset = array.offset();
  const int64_t bytes = (parts->length + 7) / 8;
  const int shift = static_cast<int>(offset & 7);
  const uint8_t* first = from + (offset >> 3);
  for (int64_t i = 0; i < bytes; ++i) {
    unsigned bits = static_cast<unsigned>(first[i]) >> shift;
    // The byte behind is read only where it holds bits of this array.
    if (shift != 0 && i * 8 + 8 - shift < parts->length) bits |= static_cast<unsigned>(first[i + 1]) << (8 - shift);
    to[i] = static_cast<uint8_t>(bits);
  }
  if ((parts->length & 63) != 0) {
    bitmap->as_mutable<uint64_t>().back() &= LowBits(parts->length & 63);
  }
  parts->validity = std::move(bitmap);
}

namespace {

Result<ColumnPtr> FlatChild(const std::shared_ptr<arrow::Array>& array, const DataType& type) {
  TW_ASSIGN_OR_RETURN(ColumnPtr child, ImportArray(array, type));
  return Flatten(child);
}

// Offsets of `length` lists, as 32 bits; by reference where they are.
template <typename Offset>
Result<BufferPtr> ImportOffsets(const Offset* offsets, int64_t length, const std::shared_ptr<arrow::Buffer>& owner) {
  if (length == 0 || offsets == nullptr) return BufferPtr(Buffer::AllocateZeroed(4));
  if constexpr (sizeof(Offset) == 4) {
    const auto whole = Buffer::FromArrow(owner);
    const int64_t start = reinterpret_cast<const uint8_t*>(offsets) - whole->data();
    return Buffer::SliceOf(whole, start, (length + 1) * 4);
  } else {
    auto buffer = Buffer::Allocate((length + 1) * 4);
    const auto to = buffer->as_mutable<int32_t>();
    if (offsets[length] > INT32_MAX) return InternalError("Arrow list with more than 2^31 elements in one batch");
    for (int64_t i = 0; i <= length; ++i) to[static_cast<size_t>(i)] = static_cast<int32_t>(offsets[i]);
    return BufferPtr(std::move(buffer));
  }
}

template <typename ListArray>
Result<ColumnPtr> ImportList(const arrow::Array& array, const DataType& type) {
  if (!type.Is(TypeKind::kArray)) return ImpossibleImport(array, type);
  const auto& list = static_cast<const ListArray&>(array);
  Column::Parts parts;
  parts.type = type;
  ImportValidity(array, &parts);
  TW_ASSIGN_OR_RETURN(parts.values, ImportOffsets(list.raw_value_offsets(), list.length(), list.value_offsets()));
  TW_ASSIGN_OR_RETURN(ColumnPtr child, FlatChild(list.values(), type.element()));
  parts.children.push_back(std::move(child));
  return Column::Make(std::move(parts));
}

Result<ColumnPtr> ImportFixedSizeList(const arrow::Array& array, const DataType& type) {
  if (!type.Is(TypeKind::kArray)) return ImpossibleImport(array, type);
  const auto& list = static_cast<const arrow::FixedSizeListArray&>(array);
  Column::Parts parts;
  parts.type = type;
  ImportValidity(array, &parts);
  if (list.value_offset(list.length()) > INT32_MAX) {
    return InternalError("Arrow list with more than 2^31 elements in one batch");
  }
  auto buffer = Buffer::Allocate((list.length() + 1) * 4);
  const auto to = buffer->as_mutable<int32_t>();
  for (int64_t i = 0; i <= list.length(); ++i) to[static_cast<size_t>(i)] = static_cast<int32_t>(list.value_offset(i));
  parts.values = std::move(buffer);
  TW_ASSIGN_OR_RETURN(ColumnPtr child, FlatChild(list.values(), type.element()));
  parts.children.push_back(std::move(child));
  return Column::Make(std::move(parts));
}

Result<ColumnPtr> ImportMap(const arrow::Array& array, const DataType& type) {
  if (!type.Is(TypeKind::kMap)) return ImpossibleImport(array, type);
  const auto& map = static_cast<const arrow::MapArray&>(array);
  Column::Parts parts;
  parts.type = type;
  ImportValidity(array, &parts);
  TW_ASSIGN_OR_RETURN(parts.values, ImportOffsets(map.raw_value_offsets(), map.length(), map.value_offsets()));
  TW_ASSIGN_OR_RETURN(ColumnPtr keys, FlatChild(map.keys(), type.key()));
  TW_ASSIGN_OR_RETURN(ColumnPtr items, FlatChild(map.items(), type.value()));
  parts.children.push_back(std::move(keys));
  parts.children.push_back(std::move(items));
  return Column::Make(std::move(parts));
}

Result<ColumnPtr> ImportStruct(const arrow::Array& array, const DataType& type) {
  const auto& structs = static_cast<const arrow::StructArray&>(array);
  Column::Parts parts;
  parts.type = type;
  ImportValidity(array, &parts);
  if (type.Is(TypeKind::kVariant)) {
    for (const char* name : {"value", "metadata"}) {
      const auto child = structs.GetFieldByName(name);
      if (child == nullptr) return ImpossibleImport(array, type);
      TW_ASSIGN_OR_RETURN(ColumnPtr column, FlatChild(child, DataType::Binary()));
      parts.children.push_back(std::move(column));
    }
    return Column::Make(std::move(parts));
  }
  if (!type.Is(TypeKind::kStruct) || static_cast<int>(type.fields().size()) != structs.num_fields()) {
    return ImpossibleImport(array, type);
  }
  for (int i = 0; i < structs.num_fields(); ++i) {
    TW_ASSIGN_OR_RETURN(ColumnPtr child, FlatChild(structs.field(i), type.fields()[static_cast<size_t>(i)].type));
    parts.children.push_back(std::move(child));
  }
  return Column::Make(std::move(parts));
}

Result<ColumnPtr> ImportDictionary(const arrow::Array& array, const DataType& type) {
  const auto& encoded = static_cast<const arrow::DictionaryArray&>(array);
  TW_ASSIGN_OR_RETURN(ColumnPtr dictionary, FlatChild(encoded.dictionary(), type));
  auto indices = Buffer::AllocateZeroed(encoded.length() * 4);
  const auto to = indices->as_mutable<int32_t>();
  ValidityBuilder validity;
  for (int64_t i = 0; i < encoded.length(); ++i) {
    if (encoded.IsNull(i)) {
      validity.AppendNull();
      continue;
    }
    const int64_t index = encoded.GetValueIndex(i);
    if (index < 0 || index >= dictionary->length()) return InternalError("Arrow dictionary index out of range");
    to[static_cast<size_t>(i)] = static_cast<int32_t>(index);
    dictionary->IsNull(index) ? validity.AppendNull() : validity.AppendValid();
  }
  if (validity.null_count() == encoded.length()) return Column::Nulls(type, encoded.length());
  Column::Parts parts;
  parts.type = type;
  parts.encoding = Encoding::kDictionary;
  parts.length = encoded.length();
  parts.null_count = validity.null_count();
  parts.validity = validity.Finish();
  parts.values = std::move(indices);
  parts.children.push_back(std::move(dictionary));
  return Column::Make(std::move(parts));
}

Result<int64_t> RunEnd(const arrow::Array& run_ends, int64_t i) {
  switch (run_ends.type_id()) {
    case arrow::Type::INT16: return int64_t{static_cast<const arrow::Int16Array&>(run_ends).Value(i)};
    case arrow::Type::INT32: return int64_t{static_cast<const arrow::Int32Array&>(run_ends).Value(i)};
    case arrow::Type::INT64: return static_cast<const arrow::Int64Array&>(run_ends).Value(i);
    default: return InternalError("Arrow run ends of type " + run_ends.type()->ToString());
  }
}

Result<ColumnPtr> ImportRuns(const arrow::Array& array, const DataType& type) {
  const auto& runs = static_cast<const arrow::RunEndEncodedArray&>(array);
  TW_ASSIGN_OR_RETURN(ColumnPtr values, ImportArray(runs.values(), type));
  std::vector<int32_t> rows;
  rows.reserve(static_cast<size_t>(runs.length()));
  const auto& run_ends = *runs.run_ends();
  int64_t position = runs.offset();
  const int64_t end = runs.offset() + runs.length();
  for (int64_t run = 0; run < run_ends.length() && position < end; ++run) {
    TW_ASSIGN_OR_RETURN(const int64_t run_end, RunEnd(run_ends, run));
    for (; position < std::min(run_end, end); ++position) rows.push_back(static_cast<int32_t>(run));
  }
  if (position != end) return InternalError("Arrow run ends do not cover the array");
  return Take(values, rows);
}

}  // namespace

Result<ColumnPtr> ImportArray(const std::shared_ptr<arrow::Array>& array, const DataType& type) {
  switch (array->type_id()) {
    case arrow::Type::NA: return Column::Nulls(type, array->length());
    case arrow::Type::LIST: return ImportList<arrow::ListArray>(*array, type);
    case arrow::Type::LARGE_LIST: return ImportList<arrow::LargeListArray>(*array, type);
    case arrow::Type::FIXED_SIZE_LIST: return ImportFixedSizeList(*array, type);
    case arrow::Type::MAP: return ImportMap(*array, type);
    case arrow::Type::STRUCT: return ImportStruct(*array, type);
    case arrow::Type::DICTIONARY: return ImportDictionary(*array, type);
    case arrow::Type::RUN_END_ENCODED: return ImportRuns(*array, type);
    case arrow::Type::EXTENSION:
      return ImportArray(static_cast<const arrow::ExtensionArray&>(*array).storage(), type);
    default: return ImportScalarArray(*array, type);
  }
}

}  // namespace thalweg::data
