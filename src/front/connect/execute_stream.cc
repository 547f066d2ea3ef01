#include "front/connect/execute_stream.h"

#include <chrono>

namespace thalweg::front {

int64_t SteadyMillis() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock::Get().NowMonotonic()).count();
}

ExecuteStream::ExecuteStream(std::shared_ptr<Operation> operation, int64_t cursor, StreamLimits limits)
    : operation_(std::move(operation)), limits_(limits), deadline_ms_(SteadyMillis() + limits.max_duration_ms), cursor_(cursor) {}

ExecuteStream* ExecuteStream::Start(std::shared_ptr<Operation> operation, int64_t cursor, StreamLimits limits) {
  std::shared_ptr<ExecuteStream> stream(new ExecuteStream(std::move(operation), cursor, limits));
  stream->self_ = stream;
  const std::weak_ptr<ExecuteStream> weak = stream;
  {
    // A wake-up that comes before the id is stored waits for this lock.
    const MutexLock lock(stream->mutex_);
    stream->stream_ = stream->operation_->Attach([weak] {
      if (const std::shared_ptr<ExecuteStream> alive = weak.lock()) alive->Pump();
    });
  }
  stream->Pump();
  return stream.get();
}

void ExecuteStream::Pump() {
  std::shared_ptr<const grpc::ByteBuffer> response;
  grpc::Status status;
  bool end = false;
  bool last = false;
  int64_t stream = 0;
  {
    const MutexLock lock(mutex_);
    if (writing_ || ended_) return;
    const bool over = operation_->reattachable() && (SteadyMillis() >= deadline_ms_ || sent_bytes_ >= limits_.max_bytes);
    if (cancelled_) {
      end = true;
      status = grpc::Status(grpc::StatusCode::CANCELLED, "the client has gone");
    } else if (over) {
      end = true;  // OK without result_complete: the client attaches again
    } else {
      StreamStep step = operation_->Next(stream_, &cursor_);
      if (step.kind == StreamStep::Kind::kResponse) {
        writing_ = true;
        last = step.last;
        sent_bytes_ += static_cast<int64_t>(step.bytes);
        response = current_ = std::move(step.response);
      } else if (step.kind == StreamStep::Kind::kEnd) {
        end = true;
        status = step.status;
      }
    }
    if (end || last) ended_ = true;
    stream = stream_;
  }
  if (last) {
    // One write: a client that leaves after result_complete has the status too.
    operation_->Detach(stream);
    operation_->NoteDetached(SteadyMillis());
    StartWriteAndFinish(response.get(), grpc::WriteOptions(), grpc::Status::OK);
    return;
  }
  if (response != nullptr) StartWrite(response.get());
  if (end) End(status);
}

void ExecuteStream::End(const grpc::Status& status) {
  int64_t stream = 0;
  {
    const MutexLock lock(mutex_);
    stream = stream_;
  }
  operation_->Detach(stream);
  operation_->NoteDetached(SteadyMillis());
  Finish(status);
}

void ExecuteStream::OnWriteDone(bool ok) {
  {
    const MutexLock lock(mutex_);
    writing_ = false;
    current_ = nullptr;
    if (!ok) cancelled_ = true;
  }
  Pump();
}

void ExecuteStream::OnCancel() {
  {
    const MutexLock lock(mutex_);
    cancelled_ = true;
  }
  if (!operation_->reattachable()) operation_->Interrupt();
  Pump();
}

void ExecuteStream::OnDone() {
  const std::shared_ptr<ExecuteStream> last = std::move(self_);
}

namespace {

class Refusal final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  explicit Refusal(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* ExecuteStream::Refuse(const grpc::Status& status) { return new Refusal(status); }

}  // namespace thalweg::front
