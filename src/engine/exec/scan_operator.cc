#include "engine/exec/scan_operator.h"

#include <utility>
#include <variant>

namespace thalweg::engine {

Status ScanOperator::Open(const TaskContext& context) {
  context_ = &context;
  return Status::OK();
}

void ScanOperator::SetSplits(SplitList splits) {
  reader_.reset();
  splits_ = std::move(splits);
  MutexLock lock(mutex_);
  markers_.clear();
}

void ScanOperator::Inject(const Marker& marker) {
  MutexLock lock(mutex_);
  markers_.push_back(marker);
}

Status ScanOperator::BeginEpoch(const sql::EpochContext&) {
  next_split_ = 0;
  bytes_before_ = 0;
  blocked_on_.reset();
  return Status::OK();
}

std::optional<Marker> ScanOperator::TakeMarker() {
  MutexLock lock(mutex_);
  if (markers_.empty()) return std::nullopt;
  const Marker marker = markers_.front();
  markers_.pop_front();
  return marker;
}

Result<OperatorState> ScanOperator::Push(int, data::Chunk) { return InternalError("a scan takes no input"); }
Result<OperatorState> ScanOperator::EndInput(int) { return InternalError("a scan takes no input"); }

Result<std::optional<data::Chunk>> ScanOperator::Pull(OperatorState* state) {
  *state = OperatorState::kHaveOutput;
  if (reader_ == nullptr) {
    if (next_split_ == splits_.size()) {
      *state = OperatorState::kFinished;
      return std::optional<data::Chunk>{};
    }
    TW_ASSIGN_OR_RETURN(reader_, splits_[next_split_++]->Open(*context_->config));
  }
  TW_ASSIGN_OR_RETURN(sql::ReadStep step, reader_->Next());
  metrics_.read_bytes.Set(bytes_before_ + reader_->bytes_read());
  if (auto* chunk = std::get_if<sql::ReadChunk>(&step)) return std::optional<data::Chunk>(std::move(chunk->chunk));
  if (auto* blocked = std::get_if<sql::ReadBlocked>(&step)) {
    blocked_on_ = std::move(blocked->signal);
    *state = OperatorState::kBlocked;
    return std::optional<data::Chunk>{};
  }
  bytes_before_ += reader_->bytes_read();
  reader_.reset();
  return std::optional<data::Chunk>{};
}

Result<OperatorState> ScanOperator::Seal() {
  splits_.clear();
  return OperatorState::kFinished;
}

void ScanOperator::Abort(const sql::EpochContext&) { Close(); }

void ScanOperator::Close() {
  reader_.reset();
  splits_.clear();
  blocked_on_.reset();
}

}  // namespace thalweg::engine
