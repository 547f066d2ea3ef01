#include "engine/exec/operators/limit.h"

#include <algorithm>
#include <utility>

namespace thalweg::engine {

Status Limit::BeginEpoch(const sql::EpochContext&) {
  skipped_ = taken_ = 0;
  pending_.reset();
  return Status::OK();
}

Result<OperatorState> Limit::Push(int, data::Chunk chunk) {
  const int64_t skip = std::min(offset_ - skipped_, chunk.num_rows());
  const int64_t take = std::min(limit_ - taken_, chunk.num_rows() - skip);
  skipped_ += skip;
  taken_ += take;
  if (take > 0) {
    pending_ = take == chunk.num_rows() ? std::move(chunk) : chunk.Slice(skip, take);
    return OperatorState::kHaveOutput;
  }
  return taken_ == limit_ ? OperatorState::kFinished : OperatorState::kNeedInput;
}

Result<OperatorState> Limit::EndInput(int) { return OperatorState::kFinished; }

Result<std::optional<data::Chunk>> Limit::Pull(OperatorState* state) {
  *state = taken_ == limit_ ? OperatorState::kFinished : OperatorState::kNeedInput;
  return std::exchange(pending_, std::nullopt);
}

Status Tail::Open(const TaskContext& context) {
  memory_ = context.NewReservation();
  return Status::OK();
}

Status Tail::BeginEpoch(const sql::EpochContext&) {
  kept_.clear();
  memory_.Release();
  rows_ = 0;
  return Status::OK();
}

Result<OperatorState> Tail::Push(int, data::Chunk chunk) {
  rows_ += chunk.num_rows();
  kept_.push_back(chunk.Compacted());
  int64_t bytes = memory_.bytes() + kept_.back().bytes();
  while (!kept_.empty() && rows_ - kept_.front().num_rows() >= limit_) {
    rows_ -= kept_.front().num_rows();
    bytes -= kept_.front().bytes();
    kept_.pop_front();
  }
  TW_RETURN_NOT_OK(memory_.Resize(bytes));
  return OperatorState::kNeedInput;
}

Result<OperatorState> Tail::EndInput(int) {
  if (rows_ > limit_) {
    data::Chunk& first = kept_.front();
    const int64_t drop = rows_ - limit_;
    first = first.Slice(drop, first.num_rows() - drop);
  }
  return kept_.empty() ? OperatorState::kFinished : OperatorState::kHaveOutput;
}

Result<std::optional<data::Chunk>> Tail::Pull(OperatorState* state) {
  std::optional<data::Chunk> out(std::move(kept_.front()));
  kept_.pop_front();
  *state = OperatorState::kHaveOutput;
  if (kept_.empty()) {
    memory_.Release();
    *state = OperatorState::kFinished;
  }
  return out;
}

}  // namespace thalweg::engine
