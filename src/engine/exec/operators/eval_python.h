#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "engine/exec/operators/project.h"
#include "engine/pyworker/udf_task.h"

namespace thalweg::engine {

struct EvalPythonParams {
  std::shared_ptr<const sql::Program> arguments;  ///< the columns that are sent; null: none (functions without arguments)
  std::vector<int> carried;                       ///< columns of the input that the output begins with
  std::shared_ptr<const UdfParams> udfs;          ///< their results follow
};

/// Each row with the results of Python functions beside it. A worker per instance and epoch, from the first row on; rows go to it as they
/// come and their results come back in order.
/// Blocks: while rows wait to be sent (UdfTask::HasRoom), and at the end for what is under way. What is under way is charged to the
/// query. Errors: the task's. An epoch that is abandoned kills the worker.
class EvalPython final : public EvaluatingOperator {
 public:
  explicit EvalPython(std::shared_ptr<const EvalPythonParams> params) : params_(std::move(params)) {}
  Status Open(const TaskContext& context) override;
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;
  Result<data::Chunk> Process(data::Chunk chunk) override;
  Result<OperatorState> OnMarker(const Marker& marker) override;
  std::shared_ptr<Signal> blocked_on() const override { return blocked_on_; }
  Result<bool> Prepare(const sql::EpochContext& epoch) override;
  void Abort(const sql::EpochContext& epoch) override;
  void Close() override;

 private:
  void Clear();
  Status TakeResults();
  Result<OperatorState> NextState();
  data::Chunk NextChunk();

  const std::shared_ptr<const EvalPythonParams> params_;
  int32_t partition_ = 0;
  std::optional<int64_t> batch_id_;
  MemoryReservation memory_;             ///< of waiting_ and results_
  std::function<MemoryReservation()> task_memory_;
  std::unique_ptr<UdfTask> task_;        ///< null before the first row and after the last
  bool input_ended_ = false;
  bool at_marker_ = false;               ///< of a long-lived run: the task has got its last rows
  std::deque<data::Chunk> waiting_;      ///< rows whose results are not out
  int64_t waiting_done_ = 0;             ///< rows of the first one that are out
  std::deque<data::Chunk> results_;
  int64_t results_done_ = 0;
  std::shared_ptr<Signal> blocked_on_;
};

}  // namespace thalweg::engine
