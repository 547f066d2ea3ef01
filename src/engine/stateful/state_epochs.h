#pragma once

#include <chrono>
#include <cstdint>

#include "engine/exec/operator.h"
#include "engine/stateful/state_progress.h"

namespace thalweg::engine {

inline int64_t MillisSinceStart(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
}

/// The epochs of an operator with one store (StateTable or StateStore): which version the store holds, up to which watermark
/// nothing is left to evict, and the counters of the micro-batch. Thread: confined to the strand.
template <typename Store>
class StateEpochs {
 public:
  StateWork work;  ///< of the micro-batch

  /// Whether an epoch without rows may find something to evict.
  bool MayEvict(const sql::EpochContext& epoch) const {
    return loaded_version_ != epoch.batch_id.value() || epoch.eviction_watermark_ms > evicted_to_ms_;
  }
  Status Begin(Store& store, const sql::EpochContext& epoch) {
    work = {};
    TW_RETURN_NOT_OK(store.BeginVersion(StateVersion(epoch.batch_id.value())));
    counted_batch_ = loaded_version_ = epoch.batch_id.value();
    return Status::OK();
  }
  /// What expires at or before the epoch's eviction watermark has been removed.
  void Evicted(const sql::EpochContext& epoch) { evicted_to_ms_ = epoch.eviction_watermark_ms; }
  /// Whether the epoch had a task here; if not, the operator's own counters are those of an earlier one.
  bool ran(const sql::EpochContext& epoch) const { return counted_batch_ == epoch.batch_id.value(); }
  /// For Operator::Prepare: writes the epoch's version; fills the metrics once it is durable.
  Result<bool> Prepare(Store& store, const sql::EpochContext& epoch, PartitionId partition, OperatorMetrics* metrics) {
    if (!ran(epoch)) TW_RETURN_NOT_OK(Begin(store, epoch));
    TW_ASSIGN_OR_RETURN(const bool durable, store.Commit(StateVersionAfter(epoch.batch_id)));
    if (!durable) return false;
    loaded_version_ = epoch.batch_id.value() + 1;
    PutStoreProgress(store, partition, work, metrics);
    return true;
  }
  void Abort(Store* store) {
    if (store != nullptr) store->Abort();
    loaded_version_ = counted_batch_ = evicted_to_ms_ = -1;
  }

 private:
  int64_t loaded_version_ = -1;  // what the store holds; -1: nothing
  int64_t counted_batch_ = -1;   // the micro-batch that the counters are of
  int64_t evicted_to_ms_ = -1;
};

}  // namespace thalweg::engine
