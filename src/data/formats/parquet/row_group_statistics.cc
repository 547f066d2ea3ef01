#include "data/formats/parquet/row_group_statistics.h"

#include <parquet/statistics.h>
#include <parquet/types.h>

#include <cmath>

namespace thalweg::data {

namespace {

Int128 FromBigEndian(const uint8_t* bytes, int size) {
  unsigned __int128 value = size > 0 && (bytes[0] & 0x80) != 0 ? ~static_cast<unsigned __int128>(0) : 0;
  for (int i = 0; i < size; ++i) value = (value << 8) | bytes[i];
  return static_cast<Int128>(value);
}

// Units per microsecond (negative: microseconds per unit) of a timestamp annotation.
std::optional<Value> TimestampBound(int64_t raw, const parquet::LogicalType* logical, bool is_max) {
  if (logical == nullptr || !logical->is_timestamp()) return {};
  switch (static_cast<const parquet::TimestampLogicalType*>(logical)->time_unit()) {
    case parquet::LogicalType::TimeUnit::MICROS: return Value(raw);
    case parquet::LogicalType::TimeUnit::MILLIS: {
      int64_t micros = 0;
      if (__builtin_mul_overflow(raw, int64_t{1000}, &micros)) return {};
      return Value(micros);
    }
    case parquet::LogicalType::TimeUnit::NANOS: return Value(raw / 1000 + (is_max ? 1 : -1));
    default: return {};
  }
}

bool IsUnsigned(const parquet::ColumnDescriptor& column) {
  const auto* logical = column.logical_type().get();
  return logical != nullptr && logical->is_int() && !static_cast<const parquet::IntLogicalType*>(logical)->is_signed();
}

std::optional<Value> IntegerBound(Int128 raw128, const DataType& type, const parquet::ColumnDescriptor& column, bool is_max) {
  const parquet::LogicalType* logical = column.logical_type().get();
  if (type.Is(TypeKind::kDecimal)) return Value(raw128);
  const auto raw = static_cast<int64_t>(raw128);
  switch (type.kind()) {
    case TypeKind::kByte: return Value(static_cast<int8_t>(raw));
    case TypeKind::kShort: return Value(static_cast<int16_t>(raw));
    case TypeKind::kInteger:
    case TypeKind::kDate:
    case TypeKind::kYearMonthInterval: return Value(static_cast<int32_t>(raw));
    case TypeKind::kLong:
    case TypeKind::kDayTimeInterval: return Value(raw);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampNtz: return TimestampBound(raw, logical, is_max);
    default: return {};
  }
}

template <typename T>
bool BothNumbers(const T& statistics) {
  return !std::isnan(statistics.min()) && !std::isnan(statistics.max());
}

void SetBounds(const parquet::Statistics& statistics, const parquet::ColumnDescriptor& column, const DataType& type,
               ColumnRange* range) {
  switch (statistics.physical_type()) {
    case parquet::Type::BOOLEAN: {
      const auto& typed = static_cast<const parquet::BoolStatistics&>(statistics);
      if (!type.Is(TypeKind::kBoolean)) return;
      range->min = Value(typed.min());
      range->max = Value(typed.max());
      return;
    }
    case parquet::Type::INT32: {
      const auto& typed = static_cast<const parquet::Int32Statistics&>(statistics);
      const auto wide = [&](int32_t raw) { return IsUnsigned(column) ? Int128{static_cast<uint32_t>(raw)} : Int128{raw}; };
      range->min = IntegerBound(wide(typed.min()), type, column, false);
      range->max = IntegerBound(wide(typed.max()), type, column, true);
      return;
    }
    case parquet::Type::INT64: {
      const auto& typed = static_cast<const parquet::Int64Statistics&>(statistics);
      const auto wide = [&](int64_t raw) { return IsUnsigned(column) ? Int128{static_cast<uint64_t>(raw)} : Int128{raw}; };
      range->min = IntegerBound(wide(typed.min()), type, column, false);
      range->max = IntegerBound(wide(typed.max()), type, column, true);
      return;
    }
    case parquet::Type::FLOAT: {
      const auto& typed = static_cast<const parquet::FloatStatistics&>(statistics);
      if (type.Is(TypeKind::kFloat) && BothNumbers(typed)) range->min = Value(typed.min());
      return;
    }
    case parquet::Type::DOUBLE: {
      const auto& typed = static_cast<const parquet::DoubleStatistics&>(statistics);
      if (type.Is(TypeKind::kDouble) && BothNumbers(typed)) range->min = Value(typed.min());
      return;
    }
    case parquet::Type::BYTE_ARRAY: {
      const auto& typed = static_cast<const parquet::ByteArrayStatistics&>(statistics);
      if (!type.Is(TypeKind::kString) && !type.Is(TypeKind::kBinary)) return;
      const auto text = [](const parquet::ByteArray& bytes) {
        return Value(std::string(reinterpret_cast<const char*>(bytes.ptr), bytes.len));
      };
      range->min = text(typed.min());
      range->max = text(typed.max());
      return;
    }
    case parquet::Type::FIXED_LEN_BYTE_ARRAY: {
      const auto& typed = static_cast<const parquet::FLBAStatistics&>(statistics);
      if (!type.Is(TypeKind::kDecimal) || column.type_length() > 16) return;
      range->min = Value(FromBigEndian(typed.min().ptr, column.type_length()));
      range->max = Value(FromBigEndian(typed.max().ptr, column.type_length()));
      return;
    }
    default: return;
  }
}

}  // namespace

ColumnRange RowGroupRange(const parquet::RowGroupMetaData& row_group, int leaf, const DataType& type) {
  ColumnRange range;
  range.row_count = row_group.num_rows();
  const auto chunk = row_group.ColumnChunk(leaf);
  const auto statistics = chunk->is_stats_set() ? chunk->statistics() : nullptr;
  if (statistics == nullptr) return range;
  if (statistics->HasNullCount()) range.null_count = statistics->null_count();
  const parquet::ColumnDescriptor* column = row_group.schema()->Column(leaf);
  if (statistics->HasMinMax() && column->max_repetition_level() == 0) SetBounds(*statistics, *column, type, &range);
  return range;
}

}  // namespace thalweg::data
