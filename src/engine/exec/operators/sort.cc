#include "engine/exec/operators/sort.h"

#include <utility>

namespace thalweg::engine {

Status Sort::Open(const TaskContext& context) {
  sorter_ = std::make_unique<Sorter>(keys_, types_, limit_, context.NewReservation());
  return Status::OK();
}

Result<OperatorState> Sort::Push(int, data::Chunk chunk) {
  TW_RETURN_NOT_OK(sorter_->Add(chunk));
  return OperatorState::kNeedInput;
}

Result<OperatorState> Sort::EndInput(int) {
  TW_RETURN_NOT_OK(sorter_->Finish());
  return sorter_->done() ? OperatorState::kFinished : OperatorState::kHaveOutput;
}

Result<std::optional<data::Chunk>> Sort::Pull(OperatorState* state) {
  std::optional<data::Chunk> out = sorter_->Next();
  *state = sorter_->done() ? OperatorState::kFinished : OperatorState::kHaveOutput;
  return out;
}

void Sort::Abort(const sql::EpochContext&) { sorter_->Clear(); }

}  // namespace thalweg::engine
