#include "engine/exec/operators/union_all.h"

#include <utility>

namespace thalweg::engine {

Status UnionAll::BeginEpoch(const sql::EpochContext&) {
  ended_ = 0;
  pending_.reset();
  return Status::OK();
}

Result<OperatorState> UnionAll::Push(int, data::Chunk chunk) {
  pending_ = std::move(chunk);
  return OperatorState::kHaveOutput;
}

Result<OperatorState> UnionAll::EndInput(int) {
  return ++ended_ == ports_ ? OperatorState::kFinished : OperatorState::kNeedInput;
}

Result<std::optional<data::Chunk>> UnionAll::Pull(OperatorState* state) {
  *state = OperatorState::kNeedInput;
  return std::exchange(pending_, std::nullopt);
}

}  // namespace thalweg::engine
