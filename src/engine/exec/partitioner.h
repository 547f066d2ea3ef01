#pragma once

// Which partition a row belongs to. Internal to this room and the planner.

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "data/columnar/chunk.h"

namespace thalweg::engine {

/// Spark's HashPartitioning: Murmur3 (seed 42) of the key columns, pmod `partitions`; one target per logical row. Rows with
/// the same keys (nulls included) get the same target on Spark, so state partitions are exchangeable.
Status HashPartitions(const data::Chunk& chunk, const std::vector<int>& key_columns, int partitions,
                      std::vector<int32_t>* targets);

}  // namespace thalweg::engine
