#pragma once

#include "engine/exec/operator.h"
#include "engine/state/state_metrics.h"

namespace thalweg::engine {

/// What one store tells for progress, under Spark's names; summed over partitions. `loads`: times
/// it was read from disk.
void PutStateMetrics(const StateMetrics& state, PartitionId partition, int64_t rows_dropped,
                     int64_t updates_ms, int64_t removals_ms, OperatorMetrics* metrics);

/// The same for a join: `state` is the sum over its two sides, of four stores.
void PutJoinStateMetrics(const StateMetrics& state, PartitionId partition, int64_t rows_dropped,
                         int64_t updates_ms, int64_t removals_ms, OperatorMetrics* metrics);

}  // namespace thalweg::engine
