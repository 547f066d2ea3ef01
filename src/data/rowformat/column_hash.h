#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "data/columnar/column.h"
#include "data/rowformat/murmur3.h"

namespace thalweg::data {

/// Whether HashColumns knows all the types. Errors: UNSUPPORTED_FEATURE.THALWEG for collated strings and variants.
Status CheckHashable(std::span<const DataType> types);

/// Spark's hash(columns...), the seed of a column being the hash after the one before; nulls leave it unchanged.
/// One result per entry of `rows` (physical rows of the columns), or one per row when `rows` is null. Columns of any
/// encoding; types as CheckHashable allows. No columns: the seed. Thread: pure.
void HashColumns(std::span<const ColumnPtr> columns, const std::vector<int32_t>* rows, std::span<int32_t> hashes,
                 uint32_t seed = kMurmur3Seed);

/// The partition of a hash: its non-negative remainder.
inline int32_t PartitionOf(int32_t hash, int32_t num_partitions) {
  const int32_t remainder = hash % num_partitions;
  return remainder < 0 ? remainder + num_partitions : remainder;
}

}  // namespace thalweg::data
