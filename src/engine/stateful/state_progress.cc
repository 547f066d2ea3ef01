#include "engine/stateful/state_progress.h"

namespace thalweg::engine {
namespace {

/// The least recently uploaded ones are named, so many of them; here none ever is.
constexpr int kReportedInstances = 5;

void PutCounters(const StateMetrics& state, int64_t rows_dropped, int64_t updates_ms, int64_t removals_ms,
                 OperatorMetrics* metrics) {
  auto& custom = metrics->custom;
  custom["numRowsTotal"] = state.num_rows_total;
  custom["numRowsUpdated"] = state.num_rows_updated;
  custom["allUpdatesTimeMs"] = updates_ms;
  custom["numRowsRemoved"] = state.num_rows_removed;
  custom["allRemovalsTimeMs"] = removals_ms;
  custom["commitTimeMs"] = state.commit_time_ms;
  custom["memoryUsedBytes"] = state.memory_used_bytes;
  custom["numRowsDroppedByWatermark"] = rows_dropped;
  custom["forceSnapshotCount"] = 0;
  custom["loadedMapCacheMissCount"] = state.loads;
  custom["numSnapshotsAutoRepaired"] = 0;
  custom["stateOnCurrentVersionSizeBytes"] = state.memory_used_bytes;
}

}  // namespace

void PutStateMetrics(const StateMetrics& state, PartitionId partition, int64_t rows_dropped,
                     int64_t updates_ms, int64_t removals_ms, OperatorMetrics* metrics) {
  PutCounters(state, rows_dropped, updates_ms, removals_ms, metrics);
  auto& custom = metrics->custom;
  custom["numStateStoreInstances"] = 1;
  // Spark's HDFS provider: a version is read from disk, or found in memory.
  custom["loadedMapCacheHitCount"] = state.loads == 0 ? 1 : 0;
  if (partition.value() < kReportedInstances) {
    custom["SnapshotLastUploaded.partition_" + std::to_string(partition.value()) + "_default"] = -1;
  }
}

void PutJoinStateMetrics(const StateMetrics& state, PartitionId partition, int64_t rows_dropped,
                         int64_t updates_ms, int64_t removals_ms, OperatorMetrics* metrics) {
  PutCounters(state, rows_dropped, updates_ms, removals_ms, metrics);
  auto& custom = metrics->custom;
  static const char* const kStores[] = {"left-keyToNumValues", "left-keyWithIndexToValue", "right-keyToNumValues",
                                        "right-keyWithIndexToValue"};
  constexpr int kNumStores = 4;
  constexpr int kSides = 2;
  custom["numStateStoreInstances"] = kNumStores;
  custom["loadedMapCacheHitCount"] = kSides - state.loads;
  for (int store = 0; store < kNumStores; ++store) {
    if (partition.value() * kNumStores + store >= kReportedInstances) break;
    custom["SnapshotLastUploaded.partition_" + std::to_string(partition.value()) + "_" + kStores[store]] = -1;
  }
}

}  // namespace thalweg::engine
