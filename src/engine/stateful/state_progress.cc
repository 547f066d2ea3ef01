#include "engine/stateful/state_progress.h"

#include <string>

namespace thalweg::engine {
namespace {

constexpr int kReportedInstances = 5;  // Spark's numStateStoreInstanceMetricsToReport

}  // namespace

void PutStateMetrics(const StateMetrics& state, int64_t num_stores, const StateWork& work, OperatorMetrics* metrics) {
  auto& custom = metrics->custom;
  custom.clear();
  custom["numRowsTotal"] = state.num_rows_total;
  custom["numRowsUpdated"] = state.num_rows_updated;
  custom["allUpdatesTimeMs"] = work.updates_ms;
  custom["numRowsRemoved"] = state.num_rows_removed;
  custom["allRemovalsTimeMs"] = work.removals_ms;
  custom["commitTimeMs"] = state.commit_time_ms;
  custom["memoryUsedBytes"] = state.memory_used_bytes;
  custom["numRowsDroppedByWatermark"] = work.rows_dropped;
  custom["numStateStoreInstances"] = num_stores;
}

void PutNewestSnapshot(const StatePersister& persister, PartitionId partition, int index, int num_stores, std::string_view store_name,
                       OperatorMetrics* metrics) {
  if (partition.value() * num_stores + index >= kReportedInstances) return;
  std::string name = "SnapshotLastUploaded.partition_" + std::to_string(partition.value()) + "_";
  name += store_name;
  metrics->custom[name] = persister.newest_snapshot();
}

}  // namespace thalweg::engine
