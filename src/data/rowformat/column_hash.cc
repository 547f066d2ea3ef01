#include "data/rowformat/column_hash.h"

#include "data/rowformat/unsafe_row_format.h"

namespace thalweg::data {
namespace {

uint32_t HashInterval(const CalendarInterval& interval, uint32_t seed) {
  return murmur3::Int(interval.months, murmur3::Int(interval.days, murmur3::Long(interval.microseconds, seed)));
}

uint32_t HashLargeDecimal(Int128 value, uint32_t seed) {
  char bytes[16];
  const int size = BigEndianBytes(value, reinterpret_cast<uint8_t*>(bytes));
  return murmur3::Bytes({bytes, static_cast<size_t>(size)}, seed);
}

// One value of a flat column and all below it; for what lies inside arrays and maps.
uint32_t HashValue(const Column& column, int64_t row, uint32_t seed) {
  if (column.IsNull(row)) return seed;
  const auto i = static_cast<size_t>(row);
  switch (column.physical()) {
    case PhysicalType::kNull: return seed;
    case PhysicalType::kBool: return murmur3::Int(column.values<uint8_t>()[i] != 0, seed);
    case PhysicalType::kInt8: return murmur3::Int(column.values<int8_t>()[i], seed);
    case PhysicalType::kInt16: return murmur3::Int(column.values<int16_t>()[i], seed);
    case PhysicalType::kInt32: return murmur3::Int(column.values<int32_t>()[i], seed);
    case PhysicalType::kInt64: return murmur3::Long(column.values<int64_t>()[i], seed);
    case PhysicalType::kFloat: return murmur3::Float(column.values<float>()[i], seed);
    case PhysicalType::kDouble: return murmur3::Double(column.values<double>()[i], seed);
    case PhysicalType::kText: return murmur3::Bytes(column.values<TextView>()[i].view(), seed);
    case PhysicalType::kInterval: return HashInterval(column.values<CalendarInterval>()[i], seed);
    case PhysicalType::kInt128: {
      const Int128 value = column.values<Int128>()[i];
      return IsLargeDecimal(column.type()) ? HashLargeDecimal(value, seed)
                                           : murmur3::Long(static_cast<int64_t>(value), seed);
    }
    case PhysicalType::kList:
    case PhysicalType::kMap:
      for (int64_t k = column.offsets()[i]; k < column.offsets()[i + 1]; ++k) {
        for (const auto& child : column.parts().children) seed = HashValue(*child, k, seed);
      }
      return seed;
    case PhysicalType::kStruct:
      for (const auto& child : column.parts().children) seed = HashValue(*child, row, seed);
      return seed;
  }
  return seed;
}

using Rows = std::span<const int32_t>;

// hashes[k] = mix(value of rows[k], hashes[k]) where that is not null.
template <typename T, typename Mix>
void Update(const Column& column, Rows rows, uint32_t* hashes, Mix mix) {
  const T* values = column.values<T>().data();
  if (!column.has_nulls()) {
    for (size_t k = 0; k < rows.size(); ++k) hashes[k] = mix(values[rows[k]], hashes[k]);
    return;
  }
  for (size_t k = 0; k < rows.size(); ++k) {
    if (!column.IsNull(rows[k])) hashes[k] = mix(values[rows[k]], hashes[k]);
  }
}

void UpdateColumn(const Column& column, Rows rows, uint32_t* hashes);

void UpdateStruct(const Column& column, Rows rows, uint32_t* hashes) {
  if (!column.has_nulls()) {
    for (const auto& child : column.parts().children) UpdateColumn(*child, rows, hashes);
    return;
  }
  std::vector<int32_t> valid;
  std::vector<uint32_t> valid_hashes;
  for (size_t k = 0; k < rows.size(); ++k) {
    if (column.IsNull(rows[k])) continue;
    valid.push_back(rows[k]);
    valid_hashes.push_back(hashes[k]);
  }
  for (const auto& child : column.parts().children) UpdateColumn(*child, valid, valid_hashes.data());
  size_t next = 0;
  for (size_t k = 0; k < rows.size(); ++k) {
    if (!column.IsNull(rows[k])) hashes[k] = valid_hashes[next++];
  }
}

void UpdateColumn(const Column& column, Rows rows, uint32_t* hashes) {
  switch (column.physical()) {
    case PhysicalType::kNull: return;
    case PhysicalType::kBool:
      return Update<uint8_t>(column, rows, hashes, [](uint8_t v, uint32_t h) { return murmur3::Int(v != 0, h); });
    case PhysicalType::kInt8: return Update<int8_t>(column, rows, hashes, murmur3::Int);
    case PhysicalType::kInt16: return Update<int16_t>(column, rows, hashes, murmur3::Int);
    case PhysicalType::kInt32: return Update<int32_t>(column, rows, hashes, murmur3::Int);
    case PhysicalType::kInt64: return Update<int64_t>(column, rows, hashes, murmur3::Long);
    case PhysicalType::kFloat: return Update<float>(column, rows, hashes, murmur3::Float);
    case PhysicalType::kDouble: return Update<double>(column, rows, hashes, murmur3::Double);
    case PhysicalType::kText:
      return Update<TextView>(column, rows, hashes,
                              [](const TextView& v, uint32_t h) { return murmur3::Bytes(v.view(), h); });
    case PhysicalType::kInterval: return Update<CalendarInterval>(column, rows, hashes, HashInterval);
    case PhysicalType::kInt128:
      if (IsLargeDecimal(column.type())) return Update<Int128>(column, rows, hashes, HashLargeDecimal);
      return Update<Int128>(column, rows, hashes,
                            [](Int128 v, uint32_t h) { return murmur3::Long(static_cast<int64_t>(v), h); });
    case PhysicalType::kStruct: return UpdateStruct(column, rows, hashes);
    case PhysicalType::kList:
    case PhysicalType::kMap:
      for (size_t k = 0; k < rows.size(); ++k) hashes[k] = HashValue(column, rows[k], hashes[k]);
      return;
  }
}

Status CheckType(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kVariant: return Unsupported("hash of a variant");
    case TypeKind::kString:
      return type.collation() == "UTF8_BINARY" ? Status::OK() : Unsupported("hash of a string with a collation");
    case TypeKind::kArray: return CheckType(type.element());
    case TypeKind::kMap:
      TW_RETURN_NOT_OK(CheckType(type.key()));
      return CheckType(type.value());
    case TypeKind::kStruct:
      for (const auto& field : type.fields()) TW_RETURN_NOT_OK(CheckType(field.type));
      return Status::OK();
    default: return Status::OK();
  }
}

}  // namespace

Status CheckHashable(std::span<const DataType> types) {
  for (const DataType& type : types) TW_RETURN_NOT_OK(CheckType(type));
  return Status::OK();
}

void HashColumns(std::span<const ColumnPtr> columns, const std::vector<int32_t>* rows, std::span<int32_t> hashes,
                 uint32_t seed) {
  std::vector<int32_t> all;
  if (rows == nullptr) {
    all.resize(hashes.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
    rows = &all;
  }
  TW_DCHECK(rows->size() == hashes.size());
  auto* words = reinterpret_cast<uint32_t*>(hashes.data());
  for (size_t k = 0; k < hashes.size(); ++k) words[k] = seed;
  for (const auto& column : columns) UpdateColumn(*Flatten(column), *rows, words);
}

}  // namespace thalweg::data
