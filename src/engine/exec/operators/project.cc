#include "engine/exec/operators/project.h"

#include <utility>

namespace thalweg::engine {

Status EvaluatingOperator::Open(const TaskContext& context) {
  eval_.config = context.config.get();
  eval_.partition = context.partition.value();
  return Status::OK();
}

Status EvaluatingOperator::BeginEpoch(const sql::EpochContext& epoch) {
  eval_.epoch = &epoch;
  eval_.row_base = 0;
  return Status::OK();
}

Result<data::Chunk> Project::Process(data::Chunk chunk) {
  const int64_t rows = chunk.num_rows();
  TW_ASSIGN_OR_RETURN(data::Chunk out, program_->Run(chunk, eval_));
  eval_.row_base += rows;
  return out;
}

Result<data::Chunk> PickColumns::Process(data::Chunk chunk) {
  std::vector<data::ColumnPtr> columns;
  columns.reserve(columns_.size());
  for (const int column : columns_) columns.push_back(chunk.column(column));
  data::Chunk out(std::move(columns), chunk.physical_rows());
  out.set_selection(chunk.selection());
  out.set_change_kinds(chunk.change_kinds());
  return out;
}

Result<data::Chunk> Filter::Process(data::Chunk chunk) {
  const int64_t rows = chunk.num_rows();
  TW_ASSIGN_OR_RETURN(data::Chunk out, condition_->Filter(chunk, eval_));
  eval_.row_base += rows;
  return out;
}

Result<OperatorState> Expand::Push(int, data::Chunk chunk) {
  input_ = std::move(chunk);
  next_ = 0;
  return projections_.empty() ? OperatorState::kNeedInput : OperatorState::kHaveOutput;
}

Result<std::optional<data::Chunk>> Expand::Pull(OperatorState* state) {
  TW_ASSIGN_OR_RETURN(data::Chunk out, projections_[next_++]->Run(input_, eval_));
  *state = OperatorState::kHaveOutput;
  if (next_ == projections_.size()) {
    eval_.row_base += input_.num_rows();
    input_ = {};
    *state = OperatorState::kNeedInput;
  }
  return std::optional<data::Chunk>(std::move(out));
}

Result<data::Chunk> Expand::Process(data::Chunk chunk) { return chunk; }

}  // namespace thalweg::engine
