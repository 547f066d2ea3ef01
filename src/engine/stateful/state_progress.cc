#include "engine/stateful/state_progress.h"

namespace thalweg::engine {

void PutStateMetrics(const StateMetrics& state, PartitionId partition, int64_t rows_dropped,
                     int64_t updates_ms, int64_t removals_ms, OperatorMetrics* metrics) {
  auto& custom = metrics->custom;
  custom["numRowsTotal"] = state.num_rows_total;
  custom["numRowsUpdated"] = state.num_rows_updated;
  custom["allUpdatesTimeMs"] = updates_ms;
  custom["numRowsRemoved"] = state.num_rows_removed;
  custom["allRemovalsTimeMs"] = removals_ms;
  custom["commitTimeMs"] = state.commit_time_ms;
  custom["memoryUsedBytes"] = state.memory_used_bytes;
  custom["numRowsDroppedByWatermark"] = rows_dropped;
  custom["numStateStoreInstances"] = 1;
  // Spark's HDFS provider: a version is read from disk, or found in memory.
  custom["forceSnapshotCount"] = 0;
  custom["loadedMapCacheHitCount"] = state.loads == 0 ? 1 : 0;
  custom["loadedMapCacheMissCount"] = state.loads;
  custom["numSnapshotsAutoRepaired"] = 0;
  custom["stateOnCurrentVersionSizeBytes"] = state.memory_used_bytes;
  constexpr int kReportedInstances = 5;
  if (partition.value() < kReportedInstances) {
    custom["SnapshotLastUploaded.partition_" + std::to_string(partition.value()) + "_default"] = -1;
  }
}

}  // namespace thalweg::engine
