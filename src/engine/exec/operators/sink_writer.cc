#include "engine/exec/operators/sink_writer.h"

#include <utility>

#include "base/no_throw.h"

namespace thalweg::engine {

Status SinkWriter::Open(const TaskContext& context) {
  context_ = &context;
  return Status::OK();
}

Status SinkWriter::BeginEpoch(const sql::EpochContext& epoch) {
  epoch_ = epoch.batch_id;
  DropWriter();
  message_.reset();
  sealed_ = false;
  return Status::OK();
}

Result<OperatorState> SinkWriter::Push(int, data::Chunk chunk) {
  if (writer_ == nullptr) {
    TW_ASSIGN_OR_RETURN(writer_, make_(context_->partition, epoch_));
  }
  TW_RETURN_NOT_OK(writer_->Write(chunk));
  return OperatorState::kNeedInput;
}

Result<OperatorState> SinkWriter::EndInput(int) { return OperatorState::kFinished; }

OperatorState SinkWriter::StartFinish() {
  finishing_ = std::make_shared<Finished>();
  asked_again_ = false;
  auto work = [writer = writer_, finishing = finishing_] {
    const Status thrown = NoThrow([&] {
      finishing->message = writer->Finish(&finishing->blocked);
      return Status::OK();
    });
    if (!thrown.ok()) finishing->message = thrown;
  };
  if (context_->scheduler == nullptr) {
    work();
    blocked_on_ = std::make_shared<Signal>();
    blocked_on_->Set();
  } else {
    blocked_on_ = context_->scheduler->RunBlocking(std::move(work));
  }
  return OperatorState::kBlocked;
}

Result<OperatorState> SinkWriter::Seal() {
  sealed_ = true;
  return writer_ == nullptr ? OperatorState::kFinished : StartFinish();
}

Result<OperatorState> SinkWriter::OnMarker(const Marker& marker) {
  if (marker.kind != Marker::Kind::kBarrier) return OperatorState::kNeedInput;
  epoch_ = BatchId(marker.value + 1);
  return writer_ == nullptr ? OperatorState::kNeedInput : StartFinish();
}

// After blocked_on_ was set: the call on the I/O pool is over, or what the writer itself waits for has come.
Result<std::optional<data::Chunk>> SinkWriter::Pull(OperatorState* state) {
  *state = sealed_ ? OperatorState::kFinished : OperatorState::kNeedInput;
  if (finishing_ == nullptr) return std::optional<data::Chunk>{};
  if (asked_again_) {
    *state = StartFinish();
    return std::optional<data::Chunk>{};
  }
  TW_RETURN_NOT_OK(finishing_->message->status());
  if (finishing_->blocked != nullptr) {
    blocked_on_ = finishing_->blocked;
    asked_again_ = true;
    *state = OperatorState::kBlocked;
    return std::optional<data::Chunk>{};
  }
  message_ = **finishing_->message;
  finishing_.reset();
  writer_.reset();
  blocked_on_.reset();
  return std::optional<data::Chunk>{};
}

void SinkWriter::DropWriter() {
  // A Finish may still run on the I/O pool; until it ends the writer is its own.
  if (finishing_ != nullptr && !asked_again_) blocked_on_->Wait({});
  finishing_.reset();
  blocked_on_.reset();
  if (writer_ != nullptr) writer_->Abort();
  writer_.reset();
}

void SinkWriter::Abort(const sql::EpochContext&) { DropWriter(); }
void SinkWriter::Close() { DropWriter(); }

void SinkWriter::AddReport(bool ran, EpochResult* result) {
  if (ran && message_ != nullptr) result->messages.push_back(std::exchange(message_, nullptr));
}

}  // namespace thalweg::engine
