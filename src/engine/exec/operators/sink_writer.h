#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "engine/exec/execution.h"
#include "engine/exec/operator.h"

namespace thalweg::engine {

/// Makes the writer of one partition and epoch.
using MakeWriter = std::function<Result<std::unique_ptr<sql::DataWriter>>(PartitionId, BatchId)>;

/// Writes its rows by a DataWriter, which is made at the first row: partitions without rows have no writer and no message.
/// At the end of the epoch, or at a barrier, Finish runs on the I/O pool; its message goes into EpochResult::messages.
class SinkWriter final : public Operator {
 public:
  explicit SinkWriter(MakeWriter make) : make_(std::move(make)) {}
  Status Open(const TaskContext& context) override;
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  bool NeedsEpoch(const sql::EpochContext&) const override { return false; }
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;
  Result<OperatorState> Seal() override;
  Result<OperatorState> OnMarker(const Marker& marker) override;
  std::shared_ptr<Signal> blocked_on() const override { return blocked_on_; }
  void Abort(const sql::EpochContext& epoch) override;
  void Close() override;
  void AddReport(bool ran, EpochResult* result) override;

 private:
  struct Finished {
    std::optional<Result<sql::CommitMessagePtr>> message;
    std::shared_ptr<Signal> blocked;
  };
  OperatorState StartFinish();
  void DropWriter();

  const MakeWriter make_;
  const TaskContext* context_ = nullptr;
  BatchId epoch_{0};
  std::shared_ptr<sql::DataWriter> writer_;  // shared with the call on the I/O pool
  std::shared_ptr<Finished> finishing_;
  std::shared_ptr<Signal> blocked_on_;
  bool asked_again_ = false;  // blocked_on_ is the writer's own signal: call Finish again after it
  bool sealed_ = false;
  sql::CommitMessagePtr message_;
};

}  // namespace thalweg::engine
