#include "engine/exec/operator.h"

#include <utility>

namespace thalweg::engine {

MemoryReservation TaskContext::NewReservation() const {
  if (memory == nullptr || memory->account() == nullptr) return {};
  return MemoryReservation(*memory->account());
}

Status Operator::Open(const TaskContext&) { return Status::OK(); }
Status Operator::BeginEpoch(const sql::EpochContext&) { return Status::OK(); }
bool Operator::NeedsEpoch(const sql::EpochContext&) const { return true; }
bool Operator::CanReuse(int) const { return false; }
void Operator::Reuse(int) {}
Result<OperatorState> Operator::OnMarker(const Marker&) { return OperatorState::kNeedInput; }
Result<OperatorState> Operator::Seal() { return OperatorState::kFinished; }
Result<bool> Operator::Prepare(const sql::EpochContext&) { return true; }
Status Operator::Committed(const sql::EpochContext&) { return Status::OK(); }
void Operator::Abort(const sql::EpochContext&) {}
void Operator::Close() {}
void Operator::AddReport(bool, EpochResult*) {}

Result<OperatorState> MapOperator::Push(int, data::Chunk chunk) {
  TW_ASSIGN_OR_RETURN(data::Chunk out, Process(std::move(chunk)));
  if (out.num_rows() == 0) return OperatorState::kNeedInput;
  pending_ = std::move(out);
  return OperatorState::kHaveOutput;
}

Result<OperatorState> MapOperator::EndInput(int) { return OperatorState::kFinished; }

Result<std::optional<data::Chunk>> MapOperator::Pull(OperatorState* state) {
  *state = OperatorState::kNeedInput;
  return std::exchange(pending_, std::nullopt);
}

}  // namespace thalweg::engine
