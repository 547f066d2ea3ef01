#pragma once

#include "sql/expr/kernels.h"

namespace thalweg::sql {

/// Where the elements of one list stand in its child.
struct ListRange {
  int32_t begin;
  int32_t end;
};

/// Of a valid row of a flat or constant list column.
inline ListRange RangeOf(const Column& list, int64_t row) {
  const auto slot = static_cast<size_t>(SlotOf(list, row));
  return {list.offsets()[slot], list.offsets()[slot + 1]};
}

}  // namespace thalweg::sql
