#include "engine/exec/operators/hash_aggregate.h"

#include <algorithm>
#include <utility>

namespace thalweg::engine {
namespace {

/// A partial aggregation hands its groups on when they take more than this: later rows then still find their groups in cache.
constexpr int64_t kPartialBytes = 32 << 20;

}  // namespace

HashAggregate::HashAggregate(std::shared_ptr<const HashAggregateParams> params)
    : params_(std::move(params)), aggregator_(params_->spec) {}

Status HashAggregate::Open(const TaskContext& context) {
  eval_.config = context.config.get();
  eval_.partition = context.partition.value();
  memory_ = context.NewReservation();
  return Status::OK();
}

Status HashAggregate::BeginEpoch(const sql::EpochContext& epoch) {
  eval_.epoch = &epoch;
  eval_.row_base = 0;
  ended_ = false;
  next_group_ = 0;
  return Status::OK();
}

bool HashAggregate::NeedsEpoch(const sql::EpochContext&) const {
  return params_->spec->key_columns.empty() && !params_->repeats;
}

Result<OperatorState> HashAggregate::Push(int, data::Chunk chunk) {
  const int64_t rows = chunk.num_rows();
  if (params_->input != nullptr) {
    TW_ASSIGN_OR_RETURN(chunk, params_->input->Run(chunk, eval_));
  }
  TW_RETURN_NOT_OK(aggregator_.Add(chunk, eval_));
  eval_.row_base += rows;
  const int64_t bytes = aggregator_.bytes();
  if (bytes != memory_.bytes()) TW_RETURN_NOT_OK(memory_.Resize(bytes));
  return params_->repeats && bytes > kPartialBytes ? OperatorState::kHaveOutput : OperatorState::kNeedInput;
}

Result<OperatorState> HashAggregate::EndInput(int) {
  ended_ = true;
  if (!params_->repeats) aggregator_.AddEmptyGroup();
  return aggregator_.groups() > 0 ? OperatorState::kHaveOutput : OperatorState::kFinished;
}

Result<std::optional<data::Chunk>> HashAggregate::Pull(OperatorState* state) {
  const int64_t count = std::min(data::kChunkRows, aggregator_.groups() - next_group_);
  TW_ASSIGN_OR_RETURN(data::Chunk out, aggregator_.Emit(next_group_, count, params_->buffers, eval_));
  next_group_ += count;
  *state = OperatorState::kHaveOutput;
  if (next_group_ == aggregator_.groups()) {
    aggregator_.Clear();
    memory_.Release();
    next_group_ = 0;
    *state = ended_ ? OperatorState::kFinished : OperatorState::kNeedInput;
  }
  return std::optional<data::Chunk>(std::move(out));
}

void HashAggregate::Abort(const sql::EpochContext&) {
  aggregator_.Clear();
  memory_.Release();
}

}  // namespace thalweg::engine
