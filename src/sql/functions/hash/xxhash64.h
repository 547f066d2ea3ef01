#pragma once

#include <cstdint>

#include "sql/expr/kernels.h"

namespace thalweg::sql {

/// Spark's xxhash64 of one value with the hash of what came before as seed (42 at first); nulls leave it unchanged. Flat or
/// constant columns. Source: Spark's XxHash64Function.
uint64_t XxHashRow(const Column& column, int64_t row, uint64_t seed);

}  // namespace thalweg::sql
