#include "data/columnar/random_column.h"

#include <algorithm>
#include <limits>

#include "data/columnar/builder.h"

namespace thalweg::data {
namespace {

constexpr int64_t kMicrosPerDay = 86'400'000'000;

template <typename T>
T RandomInteger(Random& random) {
  switch (random.NextBelow(8)) {
    case 0: return std::numeric_limits<T>::min();
    case 1: return std::numeric_limits<T>::max();
    case 2: return T{0};
    case 3: return static_cast<T>(-1);
    case 4: return static_cast<T>(random.NextUint64());
    default: return static_cast<T>(random.NextBelow(20));
  }
}

template <typename T>
T RandomFloat(Random& random) {
  switch (random.NextBelow(10)) {
    case 0: return std::numeric_limits<T>::quiet_NaN();
    case 1: return std::numeric_limits<T>::infinity();
    case 2: return -std::numeric_limits<T>::infinity();
    case 3: return T{-0.0};
    case 4: return T{0};
    case 5: return std::numeric_limits<T>::denorm_min();
    default: return static_cast<T>(random.NextDouble() * 1000 - 500);
  }
}

Int128 RandomDecimal(Random& random, int precision) {
  Int128 limit = 1;
  for (int i = 0; i < precision; ++i) limit *= 10;
  switch (random.NextBelow(6)) {
    case 0: return limit - 1;
    case 1: return 1 - limit;
    case 2: return 0;
    default: {
      const auto high = static_cast<Int128>(random.NextUint64() >> 1) << 64;
      const Int128 value = (high | static_cast<Int128>(random.NextUint64())) % limit;
      return random.NextBool() ? value : -value;
    }
  }
}

std::string RandomText(Random& random) {
  static constexpr const char* kPieces[] = {"a", "b", "Z", "0", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8c\x8a", " "};
  const uint64_t lengths[] = {0, 1, 4, 11, 12, 13, 40};
  std::string text;
  const uint64_t length = lengths[random.NextBelow(7)];
  while (text.size() < length) text += kPieces[random.NextBelow(8)];
  return text;
}

std::string RandomBytes(Random& random) {
  std::string bytes(random.NextBelow(30), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.NextUint64());
  return bytes;
}

Value RandomNested(Random& random, const DataType& type, double null_probability) {
  ValueList values;
  switch (type.kind()) {
    case TypeKind::kArray:
      for (uint64_t i = random.NextBelow(5); i > 0; --i) {
        values.push_back(RandomValue(random, type.element(), type.contains_null() ? null_probability : 0));
      }
      break;
    case TypeKind::kMap:
      for (uint64_t i = random.NextBelow(4); i > 0; --i) {
        values.push_back(RandomValue(random, type.key(), 0));
        values.push_back(RandomValue(random, type.value(), type.contains_null() ? null_probability : 0));
      }
      break;
    case TypeKind::kStruct:
      for (const auto& field : type.fields()) {
        values.push_back(RandomValue(random, field.type, field.nullable ? null_probability : 0));
      }
      break;
    default: values = {Value(RandomBytes(random)), Value(RandomBytes(random))};
  }
  return Value(std::move(values));
}

}  // namespace

std::vector<DataType> EveryScalarType() {
  return {DataType::Null(),
          DataType::Boolean(),
          DataType::Byte(),
          DataType::Short(),
          DataType::Integer(),
          DataType::Long(),
          DataType::Float(),
          DataType::Double(),
          DataType::Decimal(5, 2),
          DataType::Decimal(18, 6),
          DataType::Decimal(38, 10),
          DataType::String(),
          DataType::Binary(),
          DataType::Date(),
          DataType::Timestamp(),
          DataType::TimestampNtz(),
          DataType::Time(),
          DataType::YearMonthInterval(),
          DataType::DayTimeInterval(),
          DataType::CalendarInterval(),
          DataType::Variant()};
}

DataType RandomType(Random& random, int depth) {
  if (depth <= 0 || random.NextBelow(3) == 0) {
    const auto types = EveryScalarType();
    return types[random.NextBelow(types.size())];
  }
  switch (random.NextBelow(3)) {
    case 0: return DataType::Array(RandomType(random, depth - 1), random.NextBool());
    case 1: {
      DataType key = RandomType(random, 0);
      while (key.Is(TypeKind::kNull) || key.Is(TypeKind::kVariant)) key = RandomType(random, 0);
      return DataType::Map(std::move(key), RandomType(random, depth - 1), random.NextBool());
    }
    default: {
      std::vector<StructField> fields;
      for (uint64_t i = 0, count = 1 + random.NextBelow(4); i < count; ++i) {
        fields.push_back({.name = "f" + std::to_string(i), .type = RandomType(random, depth - 1)});
      }
      return DataType::Struct(std::move(fields));
    }
  }
}

Value RandomValue(Random& random, const DataType& type, double null_probability) {
  if (type.Is(TypeKind::kNull) || random.NextBool(null_probability)) return {};
  switch (type.physical()) {
    case PhysicalType::kNull: return {};
    case PhysicalType::kBool: return Value(random.NextBool());
    case PhysicalType::kInt8: return Value(RandomInteger<int8_t>(random));
    case PhysicalType::kInt16: return Value(RandomInteger<int16_t>(random));
    case PhysicalType::kInt32: return Value(RandomInteger<int32_t>(random));
    case PhysicalType::kInt64:
      if (type.Is(TypeKind::kTime)) return Value(static_cast<int64_t>(random.NextBelow(kMicrosPerDay)) * 1000);
      return Value(RandomInteger<int64_t>(random));
    case PhysicalType::kFloat: return Value(RandomFloat<float>(random));
    case PhysicalType::kDouble: return Value(RandomFloat<double>(random));
    case PhysicalType::kInt128: return Value(RandomDecimal(random, type.precision()));
    case PhysicalType::kText: return Value(type.Is(TypeKind::kBinary) ? RandomBytes(random) : RandomText(random));
    case PhysicalType::kInterval:
      // Within what nanoseconds of Arrow's interval can hold.
      return Value(CalendarInterval{RandomInteger<int32_t>(random), RandomInteger<int32_t>(random),
                                    RandomInteger<int64_t>(random) / 1000});
    case PhysicalType::kList:
    case PhysicalType::kMap:
    case PhysicalType::kStruct: return RandomNested(random, type, null_probability);
  }
  return {};
}

ColumnPtr RandomColumn(Random& random, const DataType& type, int64_t length, double null_probability,
                       Encoding encoding) {
  if (encoding == Encoding::kConstant) {
    return Column::Constant(type, RandomValue(random, type, null_probability), length);
  }
  auto builder = ColumnBuilder::Make(type);
  if (encoding == Encoding::kFlat) {
    for (int64_t i = 0; i < length; ++i) builder->AppendValue(RandomValue(random, type, null_probability));
    return builder->Finish();
  }
  const auto size = static_cast<int64_t>(1 + random.NextBelow(10));
  for (int64_t i = 0; i < size; ++i) builder->AppendValue(RandomValue(random, type, 0));
  auto indices = Buffer::AllocateZeroed(length * 4);
  ValidityBuilder validity;
  for (int64_t i = 0; i < length; ++i) {
    if (random.NextBool(null_probability)) {
      validity.AppendNull();
      continue;
    }
    indices->as_mutable<int32_t>()[static_cast<size_t>(i)] =
        static_cast<int32_t>(random.NextBelow(static_cast<uint64_t>(size)));
    validity.AppendValid();
  }
  Column::Parts parts;
  parts.type = type;
  parts.encoding = Encoding::kDictionary;
  parts.length = length;
  parts.null_count = validity.null_count();
  parts.validity = validity.Finish();
  parts.values = std::move(indices);
  parts.children.push_back(builder->Finish());
  return Column::Make(std::move(parts));
}

ColumnPtr RandomColumn(Random& random, const DataType& type, int64_t length, double null_probability) {
  auto encoding = Encoding::kFlat;
  if (random.NextBelow(3) == 0) encoding = random.NextBool() ? Encoding::kConstant : Encoding::kDictionary;
  // Values of the void type are null, which a dictionary cannot hold.
  if (type.Is(TypeKind::kNull)) encoding = Encoding::kConstant;
  return RandomColumn(random, type, length, null_probability, encoding);
}

ValueList ColumnValues(const Column& column) {
  ValueList values;
  for (int64_t i = 0; i < column.length(); ++i) values.push_back(column.GetValue(i));
  return values;
}

}  // namespace thalweg::data
