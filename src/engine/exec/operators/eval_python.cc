#include "engine/exec/operators/eval_python.h"

#include <algorithm>
#include <utility>

namespace thalweg::engine {

Status EvalPython::Open(const TaskContext& context) {
  partition_ = context.partition.value();
  memory_ = context.NewReservation();
  task_memory_ = [context] { return context.NewReservation(); };
  return EvaluatingOperator::Open(context);
}

Status EvalPython::BeginEpoch(const sql::EpochContext& epoch) {
  Clear();
  batch_id_ = epoch.batch_id.value();
  return EvaluatingOperator::BeginEpoch(epoch);
}

void EvalPython::Clear() {
  task_.reset();
  waiting_.clear();
  results_.clear();
  waiting_done_ = results_done_ = 0;
  memory_.Shrink(memory_.bytes());
  blocked_on_.reset();
  input_ended_ = at_marker_ = false;
}

Result<bool> EvalPython::Prepare(const sql::EpochContext&) {
  Clear();  // a limit above may have ended the epoch early
  return true;
}
void EvalPython::Abort(const sql::EpochContext&) { Clear(); }
void EvalPython::Close() { Clear(); }
Result<data::Chunk> EvalPython::Process(data::Chunk chunk) { return chunk; }

Result<OperatorState> EvalPython::Push(int, data::Chunk chunk) {
  const int64_t rows = chunk.num_rows();
  if (rows > 0) {
    data::Chunk arguments(std::vector<data::ColumnPtr>(), rows);
    if (params_->arguments != nullptr) {
      TW_ASSIGN_OR_RETURN(arguments, params_->arguments->Run(chunk, eval_));
      arguments.set_change_kinds(nullptr);
      arguments = arguments.Compacted();
    }
    eval_.row_base += rows;
    std::vector<data::ColumnPtr> columns;
    for (const int column : params_->carried) columns.push_back(chunk.column(column));
    data::Chunk carried(std::move(columns), chunk.physical_rows());
    carried.set_selection(chunk.selection());
    carried.set_change_kinds(chunk.change_kinds());
    carried = carried.Compacted();
    TW_RETURN_NOT_OK(memory_.Grow(carried.bytes()));
    waiting_.push_back(std::move(carried));
    if (task_ == nullptr) task_ = std::make_unique<UdfTask>(params_->udfs, partition_, batch_id_, task_memory_());
    TW_RETURN_NOT_OK(task_->Add(std::move(arguments)));
  }
  return NextState();
}

Result<OperatorState> EvalPython::EndInput(int) {
  input_ended_ = true;
  if (task_ != nullptr) task_->CloseInput();
  return NextState();
}

/// A long-lived run's task ends at every marker: nothing else makes a worker give what it has in its buffers.
Result<OperatorState> EvalPython::OnMarker(const Marker&) {
  if (task_ == nullptr) return OperatorState::kNeedInput;
  task_->CloseInput();
  at_marker_ = true;
  return NextState();
}

Status EvalPython::TakeResults() {
  if (task_ == nullptr) return Status::OK();
  TW_ASSIGN_OR_RETURN(UdfTask::Output output, task_->Take());
  for (data::Chunk& chunk : output.results) {
    TW_RETURN_NOT_OK(memory_.Grow(chunk.bytes()));
    results_.push_back(std::move(chunk));
  }
  if (!output.ended) return Status::OK();
  task_.reset();
  at_marker_ = false;
  return Status::OK();
}

Result<OperatorState> EvalPython::NextState() {
  // The signal is asked for first: what changes after the questions below sets it.
  blocked_on_ = task_ == nullptr ? nullptr : task_->NextChange();
  TW_RETURN_NOT_OK(TakeResults());
  if (!results_.empty()) return OperatorState::kHaveOutput;
  if (task_ == nullptr) return input_ended_ ? OperatorState::kFinished : OperatorState::kNeedInput;
  if (!input_ended_ && !at_marker_ && task_->HasRoom()) return OperatorState::kNeedInput;
  return OperatorState::kBlocked;
}

data::Chunk EvalPython::NextChunk() {
  const data::Chunk& rows = waiting_.front();
  const data::Chunk& values = results_.front();
  const int64_t count = std::min(rows.num_rows() - waiting_done_, values.num_rows() - results_done_);
  const data::Chunk left = count == rows.num_rows() ? rows : rows.Slice(waiting_done_, count);
  const data::Chunk right = count == values.num_rows() ? values : values.Slice(results_done_, count);
  std::vector<data::ColumnPtr> columns = left.columns();
  columns.insert(columns.end(), right.columns().begin(), right.columns().end());
  data::Chunk out(std::move(columns), count);
  out.set_change_kinds(left.change_kinds());
  waiting_done_ += count;
  results_done_ += count;
  if (waiting_done_ == rows.num_rows()) {
    memory_.Shrink(rows.bytes());
    waiting_.pop_front();
    waiting_done_ = 0;
  }
  if (results_done_ == values.num_rows()) {
    memory_.Shrink(values.bytes());
    results_.pop_front();
    results_done_ = 0;
  }
  return out;
}

Result<std::optional<data::Chunk>> EvalPython::Pull(OperatorState* state) {
  std::optional<data::Chunk> out;
  if (results_.empty()) TW_RETURN_NOT_OK(TakeResults());
  if (!results_.empty()) {
    if (waiting_.empty()) return InternalError("a Python worker answered more rows than it was sent");
    out = NextChunk();
  }
  if (!results_.empty()) {
    *state = OperatorState::kHaveOutput;
    return out;
  }
  TW_ASSIGN_OR_RETURN(*state, NextState());
  return out;
}

}  // namespace thalweg::engine
