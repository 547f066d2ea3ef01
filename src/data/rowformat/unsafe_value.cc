#include "data/rowformat/unsafe_value.h"

#include <bit>

namespace thalweg::data {

bool StoredAsNull(const Column& column, int64_t row) {
  if (column.IsNull(row) || column.physical() == PhysicalType::kNull) return true;
  if (column.physical() != PhysicalType::kInt128) return false;
  return !FitsPrecision(column.values<Int128>()[static_cast<size_t>(row)], column.type().precision());
}

bool UnsafeValue::WriteFixed(const Column& column, int64_t row, uint8_t* to) const {
  const auto i = static_cast<size_t>(row);
  switch (column.physical()) {
    case PhysicalType::kBool: *to = column.values<uint8_t>()[i] != 0; break;
    case PhysicalType::kInt8: *to = column.values<uint8_t>()[i]; break;
    case PhysicalType::kInt16: StoreAs(to, column.values<int16_t>()[i]); break;
    case PhysicalType::kInt32: StoreAs(to, column.values<int32_t>()[i]); break;
    case PhysicalType::kInt64: StoreAs(to, column.values<int64_t>()[i]); break;
    case PhysicalType::kFloat: StoreAs(to, StoredFloat(column.values<float>()[i], normalize_zero_)); break;
    case PhysicalType::kDouble: StoreAs(to, StoredDouble(column.values<double>()[i], normalize_zero_)); break;
    case PhysicalType::kInt128: {
      const Int128 value = column.values<Int128>()[i];
      if (!FitsPrecision(value, column.type().precision())) return false;
      StoreAs(to, static_cast<int64_t>(value));
      break;
    }
    default: break;
  }
  return true;
}

int64_t UnsafeValue::Size(const Column& column, int64_t row) const {
  const auto i = static_cast<size_t>(row);
  switch (column.physical()) {
    case PhysicalType::kText: return column.values<TextView>()[i].size();
    case PhysicalType::kInt128: {
      uint8_t bytes[16];
      return BigEndianBytes(column.values<Int128>()[i], bytes);
    }
    case PhysicalType::kInterval: return kReservedBytes;
    case PhysicalType::kList: return ArraySize(*column.child(0), column.offsets()[i], column.offsets()[i + 1]);
    case PhysicalType::kMap:
      return 8 + ArraySize(*column.child(0), column.offsets()[i], column.offsets()[i + 1]) +
             ArraySize(*column.child(1), column.offsets()[i], column.offsets()[i + 1]);
    case PhysicalType::kStruct: return StructSize(column, row);
    default: return 0;
  }
}

int64_t UnsafeValue::Write(const Column& column, int64_t row, uint8_t* to) const {
  const auto i = static_cast<size_t>(row);
  switch (column.physical()) {
    case PhysicalType::kText: {
      const TextView& text = column.values<TextView>()[i];
      std::memcpy(to, text.data(), text.size());
      return text.size();
    }
    case PhysicalType::kInt128: return BigEndianBytes(column.values<Int128>()[i], to);
    case PhysicalType::kInterval: {
      const CalendarInterval& interval = column.values<CalendarInterval>()[i];
      StoreAs(to, interval.months);
      StoreAs(to + 4, interval.days);
      StoreAs(to + 8, interval.microseconds);
      return kReservedBytes;
    }
    case PhysicalType::kList: return WriteArray(*column.child(0), column.offsets()[i], column.offsets()[i + 1], to);
    case PhysicalType::kMap: {
      const int64_t keys = WriteArray(*column.child(0), column.offsets()[i], column.offsets()[i + 1], to + 8);
      StoreAs(to, keys);
      return 8 + keys + WriteArray(*column.child(1), column.offsets()[i], column.offsets()[i + 1], to + 8 + keys);
    }
    case PhysicalType::kStruct: return WriteStruct(column, row, to);
    default: return 0;
  }
}

int64_t UnsafeValue::ArraySize(const Column& elements, int64_t begin, int64_t end) const {
  const int64_t count = end - begin;
  const int width = UnsafeFixedWidth(elements.type());
  const int64_t header = 8 + NullBitsBytes(count);
  if (width >= 0) return header + RoundUp8(count * width);
  int64_t size = header + 8 * count;
  for (int64_t i = begin; i < end; ++i) {
    if (!StoredAsNull(elements, i)) size += RoundUp8(Size(elements, i));
  }
  return size;
}

int64_t UnsafeValue::WriteArray(const Column& elements, int64_t begin, int64_t end, uint8_t* to) const {
  const int64_t count = end - begin;
  const int fixed = UnsafeFixedWidth(elements.type());
  const int width = fixed >= 0 ? fixed : 8;
  StoreAs(to, count);
  uint8_t* bits = to + 8;
  uint8_t* slots = bits + NullBitsBytes(count);
  int64_t end_offset = (slots - to) + RoundUp8(count * width);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = begin + i;
    if (StoredAsNull(elements, row)) {
      SetNullBit(bits, i);
    } else if (fixed >= 0) {
      WriteFixed(elements, row, slots + i * width);
    } else {
      const int64_t size = Write(elements, row, to + end_offset);
      StoreSlot(slots + i * 8, end_offset, size);
      end_offset += RoundUp8(size);
    }
  }
  return end_offset;
}

int64_t UnsafeValue::StructSize(const Column& column, int64_t row) const {
  if (column.type().Is(TypeKind::kVariant)) {
    const auto i = static_cast<size_t>(row);
    return 4 + column.child(0)->values<TextView>()[i].size() + column.child(1)->values<TextView>()[i].size();
  }
  int64_t size = RowFixedBytes(column.num_children());
  for (const auto& child : column.parts().children) {
    if (!IsVariable(child->type())) continue;
    if (IsLargeDecimal(child->type()) || child->physical() == PhysicalType::kInterval) {
      size += kReservedBytes;
    } else if (!StoredAsNull(*child, row)) {
      size += RoundUp8(Size(*child, row));
    }
  }
  return size;
}

int64_t UnsafeValue::WriteStruct(const Column& column, int64_t row, uint8_t* to) const {
  if (column.type().Is(TypeKind::kVariant)) {
    const auto i = static_cast<size_t>(row);
    const TextView& value = column.child(0)->values<TextView>()[i];
    const TextView& metadata = column.child(1)->values<TextView>()[i];
    StoreAs(to, static_cast<int32_t>(value.size()));
    std::memcpy(to + 4, value.data(), value.size());
    std::memcpy(to + 4 + value.size(), metadata.data(), metadata.size());
    return 4 + int64_t{value.size()} + metadata.size();
  }
  const int columns = column.num_children();
  uint8_t* slots = to + NullBitsBytes(columns);
  int64_t end = RowFixedBytes(columns);
  for (int c = 0; c < columns; ++c) {
    const Column& child = *column.child(c);
    const bool null = StoredAsNull(child, row);
    if (null) SetNullBit(to, c);
    if (!IsVariable(child.type())) {
      if (!null) WriteFixed(child, row, slots + 8 * c);
      continue;
    }
    const bool interval = child.physical() == PhysicalType::kInterval;
    if (IsLargeDecimal(child.type()) || interval) {
      const int64_t size = null ? (interval ? kReservedBytes : 0) : Write(child, row, to + end);
      StoreSlot(slots + 8 * c, end, size);
      end += kReservedBytes;
    } else if (!null) {
      const int64_t size = Write(child, row, to + end);
      StoreSlot(slots + 8 * c, end, size);
      end += RoundUp8(size);
    }
  }
  return end;
}

}  // namespace thalweg::data
