#pragma once

#include <string_view>

#include "engine/exec/operator.h"
#include "engine/state/state_metrics.h"
#include "engine/state/state_persister.h"

namespace thalweg::engine {

/// What an operator did to its state in one micro-batch, beside the counters of its stores.
struct StateWork {
  int64_t rows_dropped = 0;  ///< late ones
  int64_t updates_ms = 0;
  int64_t removals_ms = 0;
};

/// What one partition of a stateful operator tells for progress, under Spark's names; summed over partitions. `state`: the sum
/// over its stores, `num_stores` of them. Begins the micro-batch's report: the calls below add to it.
void PutStateMetrics(const StateMetrics& state, int64_t num_stores, const StateWork& work, OperatorMetrics* metrics);

/// The newest snapshot of a partition's store, the `index`-th of `num_stores`. Spark names the five stores of an operator that
/// wrote theirs longest ago, we the first five.
void PutNewestSnapshot(const StatePersister& persister, PartitionId partition, int index, int num_stores, std::string_view store_name,
                       OperatorMetrics* metrics);

/// All of it for an operator with one store (StateTable or StateStore).
template <typename Store>
void PutStoreProgress(Store& store, PartitionId partition, const StateWork& work, OperatorMetrics* metrics) {
  PutStateMetrics(store.metrics(), 1, work, metrics);
  store.persister().Report(store.metrics(), &metrics->custom);
  PutNewestSnapshot(store.persister(), partition, 0, 1, kDefaultStoreName, metrics);
}

}  // namespace thalweg::engine
