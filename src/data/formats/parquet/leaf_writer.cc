#include "data/formats/parquet/leaf_writer.h"

#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "data/formats/parquet/parquet_schema.h"

namespace thalweg::data {

namespace {

static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");

struct Same {
  template <typename T>
  T operator()(T value) const {
    return value;
  }
};

/// Physical values of our type From as Parquet's To (with the writer of type Writer), through `Convert`.
template <typename Writer, typename From, typename To, typename Convert>
class PlainLeafWriter final : public LeafWriter {
 public:
  void Write(parquet::ColumnWriter* writer, const Column& column, const int32_t* rows, int64_t count, int64_t levels,
             const int16_t* def, const int16_t* rep) override {
    auto* typed = static_cast<Writer*>(writer);
    const From* values = column.values<From>().data();
    if constexpr (std::is_same_v<Convert, Same> && sizeof(From) == sizeof(To)) {
      if (rows == nullptr) {
        typed->WriteBatch(levels, def, rep, reinterpret_cast<const To*>(values));
        return;
      }
    }
    if (static_cast<int64_t>(scratch_.size()) < count) scratch_.resize(static_cast<size_t>(count));
    const Convert convert;
    if (rows == nullptr) {
      for (int64_t i = 0; i < count; ++i) scratch_[static_cast<size_t>(i)] = static_cast<To>(convert(values[i]));
    } else {
      for (int64_t i = 0; i < count; ++i) scratch_[static_cast<size_t>(i)] = static_cast<To>(convert(values[rows[i]]));
    }
    typed->WriteBatch(levels, def, rep, scratch_.data());
  }

 private:
  std::vector<To> scratch_;
};

struct ToInt96 {
  parquet::Int96 operator()(int64_t micros) const {
    parquet::Int96 out;
    parquet::internal::MicrosecondsToImpalaTimestamp(micros, &out);
    return out;
  }
};

struct NanosToMicros {
  int64_t operator()(int64_t nanos) const { return nanos / 1000; }
};

struct ToByteArray {
  // By reference: short texts lie inside the view itself.
  parquet::ByteArray operator()(const TextView& view) const {
    return {view.size(), reinterpret_cast<const uint8_t*>(view.data())};
  }
};

/// Booleans: std::vector<bool> has no array, so a block of bytes.
class BooleanLeafWriter final : public LeafWriter {
 public:
  void Write(parquet::ColumnWriter* writer, const Column& column, const int32_t* rows, int64_t count, int64_t levels,
             const int16_t* def, const int16_t* rep) override {
    const uint8_t* values = column.values<uint8_t>().data();
    if (rows != nullptr) {
      scratch_.resize(static_cast<size_t>(count));
      for (int64_t i = 0; i < count; ++i) scratch_[static_cast<size_t>(i)] = values[rows[i]];
      values = scratch_.data();
    }
    static_cast<parquet::BoolWriter*>(writer)->WriteBatch(levels, def, rep, reinterpret_cast<const bool*>(values));
  }

 private:
  std::vector<uint8_t> scratch_;
};

/// Decimals of more than 18 digits: big-endian, as short as the precision allows.
class FixedDecimalLeafWriter final : public LeafWriter {
 public:
  explicit FixedDecimalLeafWriter(int width) : width_(static_cast<size_t>(width)) {}
  void Write(parquet::ColumnWriter* writer, const Column& column, const int32_t* rows, int64_t count, int64_t levels,
             const int16_t* def, const int16_t* rep) override {
    const Int128* values = column.values<Int128>().data();
    const auto size = static_cast<size_t>(count);
    bytes_.resize(size * width_);
    pointers_.resize(size);
    for (size_t i = 0; i < size; ++i) {
      Int128 value;
      std::memcpy(&value, &values[rows == nullptr ? static_cast<int64_t>(i) : rows[i]], sizeof(value));
      uint8_t* to = bytes_.data() + i * width_;
      for (size_t byte = width_; byte-- > 0; value >>= 8) to[byte] = static_cast<uint8_t>(value & 0xff);
      pointers_[i].ptr = to;
    }
    static_cast<parquet::FixedLenByteArrayWriter*>(writer)->WriteBatch(levels, def, rep, pointers_.data());
  }

 private:
  size_t width_;
  std::vector<uint8_t> bytes_;
  std::vector<parquet::FixedLenByteArray> pointers_;
};

template <typename Writer, typename From, typename To, typename Convert = Same>
std::unique_ptr<LeafWriter> Plain() {
  return std::make_unique<PlainLeafWriter<Writer, From, To, Convert>>();
}

struct NarrowToInt32 {
  int32_t operator()(const Int128& value) const { return static_cast<int32_t>(value); }
};
struct NarrowToInt64 {
  int64_t operator()(const Int128& value) const { return static_cast<int64_t>(value); }
};

}  // namespace

std::unique_ptr<LeafWriter> LeafWriter::Make(const DataType& type, bool int96) {
  switch (type.kind()) {
    case TypeKind::kDecimal:
      if (type.precision() > 18) return std::make_unique<FixedDecimalLeafWriter>(DecimalBytes(type.precision()));
      if (type.precision() > 9) return Plain<parquet::Int64Writer, Int128, int64_t, NarrowToInt64>();
      return Plain<parquet::Int32Writer, Int128, int32_t, NarrowToInt32>();
    case TypeKind::kTimestamp:
      if (int96) return Plain<parquet::Int96Writer, int64_t, parquet::Int96, ToInt96>();
      break;
    case TypeKind::kTime: return Plain<parquet::Int64Writer, int64_t, int64_t, NanosToMicros>();
    default: break;
  }
  switch (type.physical()) {
    case PhysicalType::kBool: return std::make_unique<BooleanLeafWriter>();
    case PhysicalType::kInt8: return Plain<parquet::Int32Writer, int8_t, int32_t>();
    case PhysicalType::kInt16: return Plain<parquet::Int32Writer, int16_t, int32_t>();
    case PhysicalType::kInt32: return Plain<parquet::Int32Writer, int32_t, int32_t>();
    case PhysicalType::kInt64: return Plain<parquet::Int64Writer, int64_t, int64_t>();
    case PhysicalType::kFloat: return Plain<parquet::FloatWriter, float, float>();
    case PhysicalType::kDouble: return Plain<parquet::DoubleWriter, double, double>();
    case PhysicalType::kText: return Plain<parquet::ByteArrayWriter, TextView, parquet::ByteArray, ToByteArray>();
    default: return nullptr;
  }
}

}  // namespace thalweg::data
