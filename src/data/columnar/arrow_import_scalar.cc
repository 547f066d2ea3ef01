#include <arrow/array.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include <cstring>

#include "data/columnar/arrow_import.h"
#include "data/columnar/bitmap.h"
#include "data/columnar/fixed_width.h"

namespace thalweg::data {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;

// Values of the same width by reference, unless their address does not suit the type.
ColumnPtr ImportSameWidth(const arrow::Array& array, const DataType& type) {
  Column::Parts parts;
  parts.type = type;
  ImportValidity(array, &parts);
  const int width = WidthOf(type.physical());
  const auto& owner = array.data()->buffers[1];
  if (array.length() == 0 || owner == nullptr) {
    parts.values = Buffer::AllocateZeroed(array.length() * width);
    return Column::Make(std::move(parts));
  }
  const int64_t size = array.length() * width;
  const uint8_t* first = owner->data() + array.offset() * width;
  if (reinterpret_cast<uintptr_t>(first) % static_cast<uintptr_t>(width) == 0) {
    parts.values = Buffer::SliceOf(Buffer::FromArrow(owner), array.offset() * width, size);
  } else {
    auto copy = Buffer::Allocate(size);
    std::memcpy(copy->mutable_data(), first, static_cast<size_t>(size));
    parts.values = std::move(copy);
  }
  return Column::Make(std::move(parts));
}

// `convert(From, To*)` answers whether the value fits; null slots are not asked.
template <typename From, typename To, typename Convert>
Result<ColumnPtr> ImportConverted(const arrow::Array& array, const DataType& type, const char* operation,
                                  Convert convert) {
  Column::Parts parts;
  parts.type = type;
  ImportValidity(array, &parts);
  auto buffer = Buffer::AllocateZeroed(array.length() * static_cast<int64_t>(sizeof(To)));
  auto* to = reinterpret_cast<To*>(buffer->mutable_data());
  if (array.length() > 0) {
    const uint8_t* from = array.data()->buffers[1]->data() + array.offset() * static_cast<int64_t>(sizeof(From));
    const auto* words = parts.validity ? reinterpret_cast<const uint64_t*>(parts.validity->data()) : nullptr;
    for (int64_t i = 0; i < array.length(); ++i) {
      if (words != nullptr && !BitAt(words, i)) continue;
      From value;
      std::memcpy(&value, from + i * static_cast<int64_t>(sizeof(From)), sizeof(From));
      if (!convert(value, to + i)) return Error("DATETIME_OVERFLOW").With("operation", operation);
    }
  }
  parts.values = std::move(buffer);
  return Column::Make(std::move(parts));
}

template <typename From, typename To>
Result<ColumnPtr> Widen(const arrow::Array& array, const DataType& type) {
  return ImportConverted<From, To>(array, type, "", [](From value, To* to) {
    *to = static_cast<To>(value);
    return true;
  });
}

template <typename From>
Result<ColumnPtr> ImportInteger(const arrow::Array& array, const DataType& type) {
  constexpr int kBits = static_cast<int>(sizeof(From)) * 8 + (std::is_unsigned_v<From> ? 1 : 0);
  if (!type.IsIntegral() && !type.Is(TypeKind::kDecimal)) return ImpossibleImport(array, type);
  if (std::is_signed_v<From> && WidthOf(type.physical()) == static_cast<int>(sizeof(From))) {
    return ImportSameWidth(array, type);
  }
  switch (type.physical()) {
    case PhysicalType::kInt16:
      if (kBits <= 16) return Widen<From, int16_t>(array, type);
      break;
    case PhysicalType::kInt32:
      if (kBits <= 32) return Widen<From, int32_t>(array, type);
      break;
    case PhysicalType::kInt64:
      if (kBits <= 64) return Widen<From, int64_t>(array, type);
      break;
    case PhysicalType::kInt128:
      if (type.scale() == 0 && type.precision() >= (kBits + 2) * 3 / 10) return Widen<From, Int128>(array, type);
      break;
    default: break;
  }
  return ImpossibleImport(array, type);
}

Result<ColumnPtr> ImportBoolean(const arrow::Array& array, const DataType& type) {
  if (!type.Is(TypeKind::kBoolean)) return ImpossibleImport(array, type);
  Column::Parts parts;
  parts.type = type;
  ImportValidity(array, &parts);
  auto buffer = Buffer::Allocate(array.length());
  if (array.length() > 0) {
    const uint8_t* bits = array.data()->buffers[1]->data();
    uint8_t* to = buffer->mutable_data();
    for (int64_t i = 0, bit = array.offset(); i < array.length(); ++i, ++bit) to[i] = bits[bit >> 3] >> (bit & 7) & 1;
  }
  parts.values = std::move(buffer);
  return Column::Make(std::move(parts));
}

Result<ColumnPtr> ImportDecimal(const arrow::Array& array, const DataType& type) {
  const auto& decimal = static_cast<const arrow::DecimalType&>(*array.type());
  if (!type.Is(TypeKind::kDecimal) || decimal.scale() != type.scale() || decimal.precision() > type.precision()) {
    return ImpossibleImport(array, type);
  }
  switch (array.type_id()) {
    case arrow::Type::DECIMAL32: return Widen<int32_t, Int128>(array, type);
    case arrow::Type::DECIMAL64: return Widen<int64_t, Int128>(array, type);
    case arrow::Type::DECIMAL128: return ImportSameWidth(array, type);
    default: break;
  }
  struct Wide {
    uint64_t words[4];
  };
  // A precision of at most 38 digits fits the lower half.
  return ImportConverted<Wide, Int128>(array, type, "", [](const Wide& value, Int128* to) {
    std::memcpy(to, value.words, sizeof(Int128));
    return true;
  });
}

// Multiplies or divides (rounding down) to get from a unit to microseconds or nanoseconds.
Result<ColumnPtr> ImportScaled(const arrow::Array& array, const DataType& type, int64_t multiply, int64_t divide) {
  if (multiply == 1 && divide == 1) return ImportSameWidth(array, type);
  return ImportConverted<int64_t, int64_t>(
      array, type, "convert Arrow time to microseconds", [multiply, divide](int64_t value, int64_t* to) {
        if (divide != 1) {
          *to = value / divide - (value % divide < 0);
          return true;
        }
        return !__builtin_mul_overflow(value, multiply, to);
      });
}

Result<ColumnPtr> ImportMicros(const arrow::Array& array, const DataType& type, arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND: return ImportScaled(array, type, kMicrosPerSecond, 1);
    case arrow::TimeUnit::MILLI: return ImportScaled(array, type, 1000, 1);
    case arrow::TimeUnit::MICRO: return ImportScaled(array, type, 1, 1);
    case arrow::TimeUnit::NANO: return ImportScaled(array, type, 1, 1000);
  }
  return ImpossibleImport(array, type);
}

Result<ColumnPtr> ImportTimeOfDay(const arrow::Array& array, const DataType& type) {
  if (!type.Is(TypeKind::kTime)) return ImpossibleImport(array, type);
  const auto unit = static_cast<const arrow::TimeType&>(*array.type()).unit();
  if (array.type_id() == arrow::Type::TIME32) {
    const int64_t factor = unit == arrow::TimeUnit::SECOND ? 1'000'000'000 : 1'000'000;
    return ImportConverted<int32_t, int64_t>(array, type, "", [factor](int32_t value, int64_t* to) {
      *to = value * factor;
      return true;
    });
  }
  return ImportScaled(array, type, unit == arrow::TimeUnit::MICRO ? 1000 : 1, 1);
}

Result<ColumnPtr> ImportTemporal(const arrow::Array& array, const DataType& type) {
  switch (array.type_id()) {
    case arrow::Type::DATE32:
      if (type.Is(TypeKind::kDate)) return ImportSameWidth(array, type);
      break;
    case arrow::Type::DATE64:
      if (!type.Is(TypeKind::kDate)) break;
      return ImportConverted<int64_t, int32_t>(array, type, "convert Arrow date to days", [](int64_t ms, int32_t* to) {
        const int64_t days = ms / 86'400'000 - (ms % 86'400'000 < 0);
        *to = static_cast<int32_t>(days);
        return *to == days;
      });
    case arrow::Type::TIMESTAMP:
      if (!type.Is(TypeKind::kTimestamp) && !type.Is(TypeKind::kTimestampNtz)) break;
      return ImportMicros(array, type, static_cast<const arrow::TimestampType&>(*array.type()).unit());
    case arrow::Type::DURATION:
      if (!type.Is(TypeKind::kDayTimeInterval)) break;
      return ImportMicros(array, type, static_cast<const arrow::DurationType&>(*array.type()).unit());
    case arrow::Type::TIME32:
    case arrow::Type::TIME64: return ImportTimeOfDay(array, type);
    default: break;
  }
  return ImpossibleImport(array, type);
}

Result<ColumnPtr> ImportInterval(const arrow::Array& array, const DataType& type) {
  if (array.type_id() == arrow::Type::INTERVAL_MONTHS && type.Is(TypeKind::kYearMonthInterval)) {
    return ImportSameWidth(array, type);
  }
  if (!type.Is(TypeKind::kCalendarInterval)) return ImpossibleImport(array, type);
  if (array.type_id() == arrow::Type::INTERVAL_MONTH_DAY_NANO) {
    using From = arrow::MonthDayNanoIntervalType::MonthDayNanos;
    return ImportConverted<From, CalendarInterval>(array, type, "", [](From value, CalendarInterval* to) {
      *to = {value.months, value.days, value.nanoseconds / 1000};
      return true;
    });
  }
  if (array.type_id() == arrow::Type::INTERVAL_DAY_TIME) {
    using From = arrow::DayTimeIntervalType::DayMilliseconds;
    return ImportConverted<From, CalendarInterval>(array, type, "", [](From value, CalendarInterval* to) {
      *to = {0, value.days, int64_t{value.milliseconds} * 1000};
      return true;
    });
  }
  return ImpossibleImport(array, type);
}

// Views over text that Arrow holds; `at(i)` gives the bytes of a valid row.
template <typename At>
ColumnPtr ImportText(const arrow::Array& array, const DataType& type, std::vector<BufferPtr> text, At at) {
  Column::Parts parts;
  parts.type = type;
  ImportValidity(array, &parts);
  auto buffer = Buffer::Allocate(array.length() * static_cast<int64_t>(sizeof(TextView)));
  const auto views = buffer->as_mutable<TextView>();
  const auto* words = parts.validity ? reinterpret_cast<const uint64_t*>(parts.validity->data()) : nullptr;
  bool any_long = false;
  for (int64_t i = 0; i < array.length(); ++i) {
    if (words != nullptr && !BitAt(words, i)) {
      views[static_cast<size_t>(i)] = TextView();
      continue;
    }
    const std::string_view bytes = at(i);
    views[static_cast<size_t>(i)] = TextView(bytes.data(), static_cast<uint32_t>(bytes.size()));
    any_long |= bytes.size() > TextView::kInline;
  }
  parts.values = std::move(buffer);
  if (any_long) parts.text = std::move(text);
  return Column::Make(std::move(parts));
}

std::vector<BufferPtr> TextBuffers(const arrow::Array& array, size_t first) {
  std::vector<BufferPtr> text;
  const auto& buffers = array.data()->buffers;
  for (size_t i = first; i < buffers.size(); ++i) {
    if (buffers[i] != nullptr) text.push_back(Buffer::FromArrow(buffers[i]));
  }
  return text;
}

Result<ColumnPtr> ImportAnyText(const arrow::Array& array, const DataType& type) {
  if (!type.Is(TypeKind::kString) && !type.Is(TypeKind::kBinary)) return ImpossibleImport(array, type);
  const auto import = [&](const auto& typed, size_t first_text_buffer) {
    return ImportText(array, type, TextBuffers(array, first_text_buffer),
                      [&typed](int64_t i) { return std::string_view(typed.GetView(i)); });
  };
  switch (array.type_id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY: return import(static_cast<const arrow::BinaryArray&>(array), 2);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY: return import(static_cast<const arrow::LargeBinaryArray&>(array), 2);
    case arrow::Type::FIXED_SIZE_BINARY: return import(static_cast<const arrow::FixedSizeBinaryArray&>(array), 1);
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW: return import(static_cast<const arrow::BinaryViewArray&>(array), 2);
    default: return ImpossibleImport(array, type);
  }
}

}  // namespace

Result<ColumnPtr> ImportScalarArray(const arrow::Array& array, const DataType& type) {
  switch (array.type_id()) {
    case arrow::Type::BOOL: return ImportBoolean(array, type);
    case arrow::Type::INT8: return ImportInteger<int8_t>(array, type);
    case arrow::Type::INT16: return ImportInteger<int16_t>(array, type);
    case arrow::Type::INT32: return ImportInteger<int32_t>(array, type);
    case arrow::Type::INT64: return ImportInteger<int64_t>(array, type);
    case arrow::Type::UINT8: return ImportInteger<uint8_t>(array, type);
    case arrow::Type::UINT16: return ImportInteger<uint16_t>(array, type);
    case arrow::Type::UINT32: return ImportInteger<uint32_t>(array, type);
    case arrow::Type::UINT64: return ImportInteger<uint64_t>(array, type);
    case arrow::Type::FLOAT:
      if (type.Is(TypeKind::kFloat)) return ImportSameWidth(array, type);
      if (type.Is(TypeKind::kDouble)) return Widen<float, double>(array, type);
      return ImpossibleImport(array, type);
    case arrow::Type::DOUBLE:
      if (type.Is(TypeKind::kDouble)) return ImportSameWidth(array, type);
      return ImpossibleImport(array, type);
    case arrow::Type::DECIMAL32:
    case arrow::Type::DECIMAL64:
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256: return ImportDecimal(array, type);
    case arrow::Type::DATE32:
    case arrow::Type::DATE64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DURATION:
    case arrow::Type::TIME32:
    case arrow::Type::TIME64: return ImportTemporal(array, type);
    case arrow::Type::INTERVAL_MONTHS:
    case arrow::Type::INTERVAL_MONTH_DAY_NANO:
    case arrow::Type::INTERVAL_DAY_TIME: return ImportInterval(array, type);
    default: return ImportAnyText(array, type);
  }
}

}  // namespace thalweg::data
