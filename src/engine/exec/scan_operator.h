#pragma once

// The leaf that reads splits. Internal to this room.

#include <deque>
#include <memory>

#include "base/mutex.h"
#include "engine/exec/operator.h"
#include "engine/exec/physical_plan.h"

namespace thalweg::engine {

/// Reads its splits one after the other and hands on their chunks. Without splits it does not run.
/// Thread: as Operator; Inject from any.
class ScanOperator final : public Operator {
 public:
  Status Open(const TaskContext& context) override;
  /// Before BeginEpoch.
  void SetSplits(SplitList splits);
  bool has_splits() const { return !splits_.empty(); }
  void Inject(const Marker& marker) TW_EXCLUDES(mutex_);

  Status BeginEpoch(const sql::EpochContext& epoch) override;
  bool NeedsEpoch(const sql::EpochContext&) const override { return has_splits(); }
  std::optional<Marker> TakeMarker() override TW_EXCLUDES(mutex_);
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;
  Result<OperatorState> Seal() override;
  std::shared_ptr<Signal> blocked_on() const override { return blocked_on_; }
  void Abort(const sql::EpochContext& epoch) override;
  void Close() override;

 private:
  const TaskContext* context_ = nullptr;
  SplitList splits_;
  size_t next_split_ = 0;
  int64_t bytes_before_ = 0;  // of splits that are done
  std::unique_ptr<sql::PartitionReader> reader_;
  std::shared_ptr<Signal> blocked_on_;
  Mutex mutex_;
  std::deque<Marker> markers_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg::engine
