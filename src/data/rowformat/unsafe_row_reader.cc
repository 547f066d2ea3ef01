// Two shapes of values: fixed ones behind a pointer (null pointer: null) and variable ones as views (null data: null).
// A level of nesting turns the views of one column into pointers and views of its children.

#include "data/rowformat/unsafe_row_reader.h"

#include "data/columnar/builder.h"
#include "data/rowformat/unsafe_row_format.h"

namespace thalweg::data {
namespace {

using Pointers = std::span<const uint8_t* const>;
using Views = std::span<const std::string_view>;

Status Malformed(std::string_view reason) { return Error("MALFORMED_STATE_ROW").With("reason", reason); }

const uint8_t* Bytes(std::string_view view) { return reinterpret_cast<const uint8_t*>(view.data()); }

// The value that a slot at `slot` of `container` describes; false when it lies outside.
bool Locate(std::string_view container, const uint8_t* slot, std::string_view* value) {
  const auto word = LoadAs<int64_t>(slot);
  const int64_t offset = word >> 32;
  const int64_t size = word & 0xffffffff;
  if (offset < 0 || size > INT32_MAX || offset + size > static_cast<int64_t>(container.size())) return false;
  *value = container.substr(static_cast<size_t>(offset), static_cast<size_t>(size));
  return true;
}

template <typename T, typename Load>
ColumnPtr BuildFixed(const DataType& type, Pointers pointers, Load load) {
  FixedBuilder<T> builder(type);
  builder.Reserve(static_cast<int64_t>(pointers.size()));
  for (const uint8_t* pointer : pointers) {
    if (pointer == nullptr) {
      builder.AppendNull();
    } else {
      builder.Append(load(pointer));
    }
  }
  return builder.Finish();
}

template <typename T>
ColumnPtr BuildLoaded(const DataType& type, Pointers pointers) {
  return BuildFixed<T>(type, pointers, [](const uint8_t* at) { return LoadAs<T>(at); });
}

ColumnPtr ReadFixed(const DataType& type, Pointers pointers) {
  switch (type.physical()) {
    case PhysicalType::kBool:
      return BuildFixed<uint8_t>(type, pointers, [](const uint8_t* at) { return static_cast<uint8_t>(*at != 0); });
    case PhysicalType::kInt8: return BuildLoaded<int8_t>(type, pointers);
    case PhysicalType::kInt16: return BuildLoaded<int16_t>(type, pointers);
    case PhysicalType::kInt32: return BuildLoaded<int32_t>(type, pointers);
    case PhysicalType::kInt64: return BuildLoaded<int64_t>(type, pointers);
    case PhysicalType::kFloat: return BuildLoaded<float>(type, pointers);
    case PhysicalType::kDouble: return BuildLoaded<double>(type, pointers);
    case PhysicalType::kInt128:
      return BuildFixed<Int128>(type, pointers, [](const uint8_t* at) { return Int128{LoadAs<int64_t>(at)}; });
    default: return Flatten(Column::Nulls(type, static_cast<int64_t>(pointers.size())));
  }
}

Result<ColumnPtr> ReadVariable(const DataType& type, Views values);

// One column of rows (null data: null row). Rows are at least as long as their fixed part.
Result<ColumnPtr> ReadColumn(const DataType& type, size_t index, size_t columns, Views rows) {
  const auto slot = static_cast<size_t>(NullBitsBytes(static_cast<int64_t>(columns))) + 8 * index;
  if (!IsVariable(type)) {
    std::vector<const uint8_t*> pointers(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const uint8_t* row = Bytes(rows[i]);
      pointers[i] = row == nullptr || NullBit(row, static_cast<int64_t>(index)) ? nullptr : row + slot;
    }
    return ReadFixed(type, pointers);
  }
  std::vector<std::string_view> values(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint8_t* row = Bytes(rows[i]);
    if (row == nullptr || NullBit(row, static_cast<int64_t>(index))) continue;
    if (!Locate(rows[i], row + slot, &values[i])) return Malformed("a value lies outside of its row");
  }
  return ReadVariable(type, values);
}

Status CheckLengths(Views rows, size_t columns) {
  const auto least = static_cast<size_t>(RowFixedBytes(static_cast<int64_t>(columns)));
  for (const std::string_view row : rows) {
    if (row.data() != nullptr && row.size() < least) return Malformed("a row is shorter than its fixed part");
  }
  return Status::OK();
}

Column::Parts NestedParts(const DataType& type, Views values) {
  Column::Parts parts;
  parts.type = type;
  ValidityBuilder validity;
  for (const std::string_view value : values) value.data() == nullptr ? validity.AppendNull() : validity.AppendValid();
  parts.length = validity.length();
  parts.null_count = validity.null_count();
  parts.validity = validity.Finish();
  return parts;
}

Result<ColumnPtr> ReadStructs(const DataType& type, Views values) {
  const auto& fields = type.fields();
  TW_RETURN_NOT_OK(CheckLengths(values, fields.size()));
  Column::Parts parts = NestedParts(type, values);
  for (size_t i = 0; i < fields.size(); ++i) {
    TW_ASSIGN_OR_RETURN(ColumnPtr child, ReadColumn(fields[i].type, i, fields.size(), values));
    parts.children.push_back(std::move(child));
  }
  return Column::Make(std::move(parts));
}

// Elements of all arrays, one after the other, and where each array's begin.
class ArrayReader {
 public:
  explicit ArrayReader(const DataType& element) : element_(element), width_(UnsafeFixedWidth(element)) {
    offsets_.Append(0);
  }
  Status Add(std::string_view array) {
    if (array.data() != nullptr) TW_RETURN_NOT_OK(AddElements(array));
    const size_t count = width_ >= 0 ? pointers_.size() : views_.size();
    if (count > INT32_MAX) return Malformed("more than 2^31 elements");
    offsets_.Append(static_cast<int32_t>(count));
    return Status::OK();
  }
  Result<ColumnPtr> Elements() const {
    if (width_ >= 0) return ReadFixed(element_, pointers_);
    return ReadVariable(element_, views_);
  }
  BufferPtr Offsets() { return offsets_.Finish(); }
  size_t num_elements() const { return width_ >= 0 ? pointers_.size() : views_.size(); }

 private:
  Status AddElements(std::string_view array) {
    if (array.size() < 8) return Malformed("an array of less than 8 bytes");
    const auto count = LoadAs<int64_t>(Bytes(array));
    const int64_t width = width_ >= 0 ? width_ : 8;
    // Every element takes a null bit, so this bounds count by the bytes there are.
    if (count < 0 || count / 8 > static_cast<int64_t>(array.size()) ||
        8 + NullBitsBytes(count) + count * width > static_cast<int64_t>(array.size())) {
      return Malformed("an array is shorter than its elements");
    }
    const uint8_t* bits = Bytes(array) + 8;
    const uint8_t* slots = bits + NullBitsBytes(count);
    for (int64_t i = 0; i < count; ++i) {
      const bool null = NullBit(bits, i);
      if (width_ >= 0) {
        pointers_.push_back(null ? nullptr : slots + i * width);
        continue;
      }
      std::string_view value;
      if (!null && !Locate(array, slots + i * 8, &value)) return Malformed("an element lies outside of its array");
      views_.push_back(value);
    }
    return Status::OK();
  }

  const DataType& element_;
  int width_;
  BufferBuilder<int32_t> offsets_;
  std::vector<const uint8_t*> pointers_;
  std::vector<std::string_view> views_;
};

Result<ColumnPtr> ReadArrays(const DataType& type, Views values) {
  ArrayReader reader(type.element());
  for (const std::string_view value : values) TW_RETURN_NOT_OK(reader.Add(value));
  Column::Parts parts = NestedParts(type, values);
  TW_ASSIGN_OR_RETURN(ColumnPtr child, reader.Elements());
  parts.values = reader.Offsets();
  parts.children.push_back(std::move(child));
  return Column::Make(std::move(parts));
}

Result<ColumnPtr> ReadMaps(const DataType& type, Views values) {
  ArrayReader keys(type.key());
  ArrayReader items(type.value());
  for (const std::string_view value : values) {
    std::string_view key_array;
    std::string_view item_array;
    if (value.data() != nullptr) {
      if (value.size() < 8) return Malformed("a map of less than 8 bytes");
      const auto key_bytes = LoadAs<int64_t>(Bytes(value));
      if (key_bytes < 0 || key_bytes > static_cast<int64_t>(value.size()) - 8) {
        return Malformed("the keys of a map lie outside of it");
      }
      key_array = value.substr(8, static_cast<size_t>(key_bytes));
      item_array = value.substr(8 + static_cast<size_t>(key_bytes));
    }
    TW_RETURN_NOT_OK(keys.Add(key_array));
    TW_RETURN_NOT_OK(items.Add(item_array));
    if (keys.num_elements() != items.num_elements()) return Malformed("a map with more keys than values, or less");
  }
  Column::Parts parts = NestedParts(type, values);
  TW_ASSIGN_OR_RETURN(ColumnPtr key_column, keys.Elements());
  TW_ASSIGN_OR_RETURN(ColumnPtr item_column, items.Elements());
  parts.values = keys.Offsets();
  parts.children = {std::move(key_column), std::move(item_column)};
  return Column::Make(std::move(parts));
}

Result<ColumnPtr> ReadVariants(const DataType& type, Views values) {
  std::vector<std::string_view> value_parts(values.size());
  std::vector<std::string_view> metadata_parts(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].data() == nullptr) continue;
    if (values[i].size() < 4) return Malformed("a variant of less than 4 bytes");
    const auto size = LoadAs<int32_t>(Bytes(values[i]));
    if (size < 0 || static_cast<size_t>(size) > values[i].size() - 4) return Malformed("a variant shorter than its value");
    value_parts[i] = values[i].substr(4, static_cast<size_t>(size));
    metadata_parts[i] = values[i].substr(4 + static_cast<size_t>(size));
  }
  Column::Parts parts = NestedParts(type, values);
  for (const auto& bytes : {value_parts, metadata_parts}) {
    TW_ASSIGN_OR_RETURN(ColumnPtr child, ReadVariable(DataType::Binary(), bytes));
    parts.children.push_back(std::move(child));
  }
  return Column::Make(std::move(parts));
}

ColumnPtr ReadText(const DataType& type, Views values) {
  TextBuilder builder(type);
  builder.Reserve(static_cast<int64_t>(values.size()));
  for (const std::string_view value : values) {
    if (value.data() == nullptr) {
      builder.AppendNull();
    } else {
      builder.Append(value);
    }
  }
  return builder.Finish();
}

Result<ColumnPtr> ReadVariable(const DataType& type, Views values) {
  switch (type.physical()) {
    case PhysicalType::kText: return ReadText(type, values);
    case PhysicalType::kInt128: {
      FixedBuilder<Int128> builder(type);
      for (const std::string_view value : values) {
        if (value.size() > 16 || (value.data() != nullptr && value.empty())) return Malformed("a decimal of impossible size");
        if (value.data() == nullptr) {
          builder.AppendNull();
        } else {
          builder.Append(FromBigEndian(Bytes(value), static_cast<int>(value.size())));
        }
      }
      return builder.Finish();
    }
    case PhysicalType::kInterval: {
      FixedBuilder<CalendarInterval> builder(type);
      for (const std::string_view value : values) {
        if (value.data() == nullptr) {
          builder.AppendNull();
          continue;
        }
        if (value.size() != kReservedBytes) return Malformed("an interval that is not of 16 bytes");
        builder.Append({LoadAs<int32_t>(Bytes(value)), LoadAs<int32_t>(Bytes(value) + 4), LoadAs<int64_t>(Bytes(value) + 8)});
      }
      return builder.Finish();
    }
    case PhysicalType::kList: return ReadArrays(type, values);
    case PhysicalType::kMap: return ReadMaps(type, values);
    default: return type.Is(TypeKind::kVariant) ? ReadVariants(type, values) : ReadStructs(type, values);
  }
}

bool AllZero(const uint8_t* bytes, int64_t size) {
  for (int64_t i = 0; i < size; ++i) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

std::optional<std::string> FindSlotFault(const DataType& type, std::string_view row, const uint8_t* slot, bool null,
                                         int64_t fixed, int64_t* sum) {
  const auto word = LoadAs<int64_t>(slot);
  const int64_t offset = word >> 32;
  const int64_t size = word & 0xffffffff;
  const auto length = static_cast<int64_t>(row.size());
  if (null) {
    const bool reserved = IsLargeDecimal(type) || type.Is(TypeKind::kCalendarInterval);
    if (word == 0 || (IsLargeDecimal(type) && size == 0 && offset >= 0 && offset <= length)) return std::nullopt;
    if (reserved && type.Is(TypeKind::kCalendarInterval)) return std::nullopt;
    return "a null slot is not zero";
  }
  if (IsVariable(type)) {
    *sum += size;
    if (size > INT32_MAX || offset < fixed || offset + size > length) return "a variable value lies outside of the row";
    return std::nullopt;
  }
  const int width = UnsafeFixedWidth(type);
  if (!type.Is(TypeKind::kDate) && !AllZero(slot + width, 8 - width)) return "unused bytes of a slot are not zero";
  return std::nullopt;
}

}  // namespace

Result<std::vector<ColumnPtr>> UnsafeRowReader::Read(std::span<const std::string_view> rows) const {
  TW_RETURN_NOT_OK(CheckLengths(rows, types_.size()));
  std::vector<ColumnPtr> columns;
  for (size_t i = 0; i < types_.size(); ++i) {
    TW_ASSIGN_OR_RETURN(ColumnPtr column, ReadColumn(types_[i], i, types_.size(), rows));
    columns.push_back(std::move(column));
  }
  return columns;
}

Result<std::vector<ColumnPtr>> UnsafeRowReader::Read(std::span<const std::string_view> rows,
                                                     std::span<const int> columns) const {
  TW_RETURN_NOT_OK(CheckLengths(rows, types_.size()));
  std::vector<ColumnPtr> result;
  for (const int column : columns) {
    const auto index = static_cast<size_t>(column);
    TW_ASSIGN_OR_RETURN(ColumnPtr read, ReadColumn(types_[index], index, types_.size(), rows));
    result.push_back(std::move(read));
  }
  return result;
}

Result<std::vector<ColumnPtr>> UnsafeRowReader::Read(const RowBatch& batch) const {
  std::vector<std::string_view> rows(static_cast<size_t>(batch.num_rows()));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = batch.row(static_cast<int64_t>(i));
  return Read(rows);
}

std::optional<std::string> FindRowFault(std::span<const DataType> types, std::string_view row) {
  const auto columns = static_cast<int64_t>(types.size());
  const int64_t fixed = RowFixedBytes(columns);
  if (static_cast<int64_t>(row.size()) < fixed) return "the row is shorter than its fixed part";
  const uint8_t* bytes = Bytes(row);
  for (int64_t bit = columns; bit < NullBitsBytes(columns) * 8; ++bit) {
    if (NullBit(bytes, bit)) return "null bits are set beyond the last column";
  }
  int64_t sum = fixed;
  for (int64_t i = 0; i < columns; ++i) {
    const uint8_t* slot = bytes + NullBitsBytes(columns) + 8 * i;
    auto fault = FindSlotFault(types[static_cast<size_t>(i)], row, slot, NullBit(bytes, i), fixed, &sum);
    if (fault) return "column " + std::to_string(i) + ": " + *fault;
  }
  if (sum > static_cast<int64_t>(row.size())) return "the row is shorter than its values";
  return std::nullopt;
}

bool RowPrefix(std::span<const DataType> types, int columns, std::string_view row, std::string* out) {
  const auto all = static_cast<int64_t>(types.size());
  const int64_t fixed = RowFixedBytes(all);
  const int64_t prefix_fixed = RowFixedBytes(columns);
  if (static_cast<int64_t>(row.size()) < fixed) return false;
  out->assign(static_cast<size_t>(prefix_fixed), '\0');
  auto* to = reinterpret_cast<uint8_t*>(out->data());
  int64_t end = fixed;  // variable parts are dense and in column order: those of the prefix come first
  for (int i = 0; i < columns; ++i) {
    const uint8_t* slot = Bytes(row) + NullBitsBytes(all) + 8 * i;
    uint8_t* to_slot = to + NullBitsBytes(columns) + 8 * i;
    if (NullBit(Bytes(row), i)) SetNullBit(to, i);
    const auto word = LoadAs<int64_t>(slot);
    if (!IsVariable(types[static_cast<size_t>(i)]) || word == 0) {
      StoreAs(to_slot, word);
      continue;
    }
    const int64_t offset = word >> 32;
    const int64_t size = word & 0xffffffff;
    const DataType& type = types[static_cast<size_t>(i)];
    const bool reserved = IsLargeDecimal(type) || type.Is(TypeKind::kCalendarInterval);
    end = std::max(end, offset + (reserved ? kReservedBytes : RoundUp8(size)));
    StoreSlot(to_slot, offset - fixed + prefix_fixed, size);
  }
  if (end > static_cast<int64_t>(row.size())) return false;
  out->append(row.substr(static_cast<size_t>(fixed), static_cast<size_t>(end - fixed)));
  return true;
}

}  // namespace thalweg::data
