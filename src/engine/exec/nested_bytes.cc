#include "engine/exec/nested_bytes.h"

#include <cmath>
#include <cstring>

namespace thalweg::engine {
namespace {

using data::Column;
using data::DataType;
using data::PhysicalType;
using data::Value;

template <typename T>
void AppendPlain(const T& value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <typename T>
void AppendFloat(T value, std::string* out) {
  if (value == 0) value = 0;
  if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
  AppendPlain(value, out);
}

void AppendNullable(const Column& column, int64_t row, std::string* out) {
  const bool null = column.physical() == PhysicalType::kNull || column.IsNull(row);
  out->push_back(null ? 1 : 0);
  if (!null) AppendNestedBytes(column, row, out);
}

template <typename T>
T TakePlain(std::string_view* bytes) {
  T value;
  std::memcpy(&value, bytes->data(), sizeof(value));
  bytes->remove_prefix(sizeof(value));
  return value;
}

Value TakeValue(const DataType& type, std::string_view* bytes);

Value TakeNullable(const DataType& type, std::string_view* bytes) {
  return TakePlain<char>(bytes) != 0 ? Value() : TakeValue(type, bytes);
}

Value TakeValue(const DataType& type, std::string_view* bytes) {
  switch (type.physical()) {
    case PhysicalType::kBool: return Value(TakePlain<uint8_t>(bytes) != 0);
    case PhysicalType::kInt8: return Value(TakePlain<int8_t>(bytes));
    case PhysicalType::kInt16: return Value(TakePlain<int16_t>(bytes));
    case PhysicalType::kInt32: return Value(TakePlain<int32_t>(bytes));
    case PhysicalType::kInt64: return Value(TakePlain<int64_t>(bytes));
    case PhysicalType::kFloat: return Value(TakePlain<float>(bytes));
    case PhysicalType::kDouble: return Value(TakePlain<double>(bytes));
    case PhysicalType::kInt128: return Value(TakePlain<data::Int128>(bytes));
    case PhysicalType::kInterval: return Value(TakePlain<data::CalendarInterval>(bytes));
    case PhysicalType::kText: {
      const auto size = TakePlain<uint32_t>(bytes);
      std::string text(bytes->substr(0, size));
      bytes->remove_prefix(size);
      return Value(std::move(text));
    }
    case PhysicalType::kList: {
      const auto size = TakePlain<uint32_t>(bytes);
      data::ValueList values;
      for (uint32_t i = 0; i < size; ++i) values.push_back(TakeNullable(type.element(), bytes));
      return Value(std::move(values));
    }
    case PhysicalType::kStruct: {
      data::ValueList values;
      for (const auto& field : type.fields()) values.push_back(TakeNullable(field.type, bytes));
      return Value(std::move(values));
    }
    case PhysicalType::kNull:
    case PhysicalType::kMap: return Value();
  }
  return Value();
}

}  // namespace

void AppendNestedBytes(const Column& column, int64_t row, std::string* out) {
  switch (column.physical()) {
    case PhysicalType::kBool: return AppendPlain(column.values<uint8_t>()[row], out);
    case PhysicalType::kInt8: return AppendPlain(column.values<int8_t>()[row], out);
    case PhysicalType::kInt16: return AppendPlain(column.values<int16_t>()[row], out);
    case PhysicalType::kInt32: return AppendPlain(column.values<int32_t>()[row], out);
    case PhysicalType::kInt64: return AppendPlain(column.values<int64_t>()[row], out);
    case PhysicalType::kFloat: return AppendFloat(column.values<float>()[row], out);
    case PhysicalType::kDouble: return AppendFloat(column.values<double>()[row], out);
    case PhysicalType::kInt128: return AppendPlain(column.values<data::Int128>()[row], out);
    case PhysicalType::kInterval: return AppendPlain(column.values<data::CalendarInterval>()[row], out);
    case PhysicalType::kText: {
      const std::string_view text = column.values<data::TextView>()[row].view();
      AppendPlain(static_cast<uint32_t>(text.size()), out);
      out->append(text);
      return;
    }
    case PhysicalType::kList: {
      const auto offsets = column.offsets();
      AppendPlain(static_cast<uint32_t>(offsets[row + 1] - offsets[row]), out);
      for (int32_t i = offsets[row]; i < offsets[row + 1]; ++i) AppendNullable(*column.child(0), i, out);
      return;
    }
    case PhysicalType::kStruct:
      for (int i = 0; i < column.num_children(); ++i) AppendNullable(*column.child(i), row, out);
      return;
    case PhysicalType::kNull:
    case PhysicalType::kMap: return;
  }
}

void AppendFromNestedBytes(const DataType& type, std::string_view bytes, data::ColumnBuilder* builder) {
  builder->AppendValue(TakeValue(type, &bytes));
}

}  // namespace thalweg::engine
