#pragma once

// Dispatch by the width of a value, for kernels that only move bytes.

#include <cstdint>
#include <utility>

#include "data/types/data_type.h"

namespace thalweg::data {

/// 16 bytes that move as two words: decimals, text views, calendar intervals.
struct alignas(8) Word128 {
  uint64_t low = 0;
  uint64_t high = 0;
};

/// Bytes of a value of that physical type in the values buffer; 0 for void and struct, 4 (an offset) for lists, maps.
constexpr int WidthOf(PhysicalType physical) {
  switch (physical) {
    case PhysicalType::kNull:
    case PhysicalType::kStruct: return 0;
    case PhysicalType::kBool:
    case PhysicalType::kInt8: return 1;
    case PhysicalType::kInt16: return 2;
    case PhysicalType::kInt32:
    case PhysicalType::kFloat:
    case PhysicalType::kList:
    case PhysicalType::kMap: return 4;
    case PhysicalType::kInt64:
    case PhysicalType::kDouble: return 8;
    case PhysicalType::kInt128:
    case PhysicalType::kText:
    case PhysicalType::kInterval: return 16;
  }
  return 0;
}

/// Calls `visit(T{})` with an unsigned word of that width (1, 2, 4, 8 or 16 bytes).
template <typename Visit>
decltype(auto) VisitWidth(int width, Visit&& visit) {
  switch (width) {
    case 1: return visit(uint8_t{});
    case 2: return visit(uint16_t{});
    case 4: return visit(uint32_t{});
    case 8: return visit(uint64_t{});
    default: return visit(Word128{});
  }
}

}  // namespace thalweg::data
