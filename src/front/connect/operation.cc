#include "front/connect/operation.h"

#include <grpcpp/support/slice.h>
#include <spark/connect/base.pb.h>

#include "base/uuid.h"
#include "front/connect/grpc_errors.h"

namespace thalweg::front {

namespace {

constexpr int64_t kMaxUnsentBytes = 64 << 20;
constexpr int64_t kResumeUnsentBytes = 16 << 20;
// A client continues after the last response that it has or released: older ids need not be known for ever.
constexpr size_t kMaxDroppedIds = 1000;

std::shared_ptr<const grpc::ByteBuffer> Serialize(const ::spark::connect::ExecutePlanResponse& response, size_t* size) {
  *size = response.ByteSizeLong();
  grpc_slice raw = grpc_slice_malloc(*size);
  response.SerializeWithCachedSizesToArray(GRPC_SLICE_START_PTR(raw));
  const grpc::Slice slice(raw, grpc::Slice::STEAL_REF);
  return std::make_shared<const grpc::ByteBuffer>(&slice, 1);
}

}  // namespace

Operation::Operation(OperationIds ids, bool reattachable, std::string fingerprint, std::vector<std::string> tags,
                     int64_t retry_buffer_bytes)
    : ids_(std::move(ids)),
      reattachable_(reattachable),
      fingerprint_(std::move(fingerprint)),
      tags_(std::move(tags)),
      retry_buffer_bytes_(retry_buffer_bytes) {}

Operation::Response Operation::MakeResponse(::spark::connect::ExecutePlanResponse* message) const {
  Response response;
  response.id = Uuid::MakeRandom().ToString();
  message->set_session_id(ids_.session_id);
  message->set_server_side_session_id(ids_.server_side_session_id);
  message->set_operation_id(ids_.operation_id);
  message->set_response_id(response.id);
  response.bytes = Serialize(*message, &response.size);
  return response;
}

void Operation::AppendLocked(Response response) {
  index_[response.id] = first_index_ + static_cast<int64_t>(responses_.size());
  unsent_bytes_ += static_cast<int64_t>(response.size);
  responses_.push_back(std::move(response));
}

void Operation::Send(::spark::connect::ExecutePlanResponse* message) {
  Response response = MakeResponse(message);
  std::function<void()> wake;
  {
    const MutexLock lock(mutex_);
    if (finished_) return;
    AppendLocked(std::move(response));
    wake = wake_;
  }
  if (wake) wake();
}

void Operation::Finish(const Status& error, const grpc::Status& wire_error) {
  std::optional<Response> complete;
  if (error.ok() && reattachable_) {
    ::spark::connect::ExecutePlanResponse message;
    message.mutable_result_complete();
    complete = MakeResponse(&message);
  }
  std::function<void()> wake;
  {
    const MutexLock lock(mutex_);
    if (finished_) return;
    // Together, so that a stream can send the last message and its status as one.
    if (complete) AppendLocked(std::move(*complete));
    finished_ = true;
    error_ = wire_error;
    cancelled_ = error.kind() == ErrorKind::kCancelled && !error.ok();
    if (drained_ != nullptr) drained_->Set();
    wake = wake_;
  }
  if (wake) wake();
}

std::shared_ptr<Signal> Operation::Throttle() {
  const MutexLock lock(mutex_);
  if (unsent_bytes_ <= kMaxUnsentBytes || finished_ || stop_.stop_requested()) return nullptr;
  if (drained_ == nullptr) drained_ = std::make_shared<Signal>();
  return drained_;
}

bool Operation::Interrupt() {
  std::shared_ptr<Signal> drained;
  {
    const MutexLock lock(mutex_);
    if (finished_) return false;
    drained = std::move(drained_);
  }
  stop_.request_stop();
  if (drained != nullptr) drained->Set();
  return true;
}

int64_t Operation::Attach(std::function<void()> wake) {
  std::function<void()> former;
  int64_t stream = 0;
  {
    const MutexLock lock(mutex_);
    former = std::move(wake_);
    wake_ = std::move(wake);
    stream = stream_ = next_stream_++;
    detached_at_ms_ = -1;
  }
  if (former) former();
  return stream;
}

void Operation::Detach(int64_t stream) {
  std::function<void()> dropped;
  const MutexLock lock(mutex_);
  if (stream != stream_) return;
  stream_ = 0;
  dropped = std::move(wake_);
  wake_ = nullptr;
}

StreamStep Operation::Next(int64_t stream, int64_t* cursor) {
  StreamStep step;
  std::shared_ptr<Signal> drained;
  {
    const MutexLock lock(mutex_);
    if (stream != stream_) {
      step.kind = StreamStep::Kind::kEnd;
      step.status = ToGrpcStatus(Error("INVALID_CURSOR.DISCONNECTED"), "");
      return step;
    }
    const int64_t next = *cursor + 1;
    if (next < first_index_) {
      step.kind = StreamStep::Kind::kEnd;
      step.status = ToGrpcStatus(
          Error("INVALID_CURSOR.POSITION_NOT_AVAILABLE").With("index", next).With("responseId", "?"), "");
      return step;
    }
    const int64_t at = next - first_index_;
    if (at < static_cast<int64_t>(responses_.size())) {
      const Response& response = responses_[at];
      step.kind = StreamStep::Kind::kResponse;
      step.response = response.bytes;
      step.bytes = response.size;
      step.last = finished_ && error_.ok() && at + 1 == static_cast<int64_t>(responses_.size());
      *cursor = next;
      if (next > highest_sent_) {
        highest_sent_ = next;
        unsent_bytes_ -= static_cast<int64_t>(response.size);
        sent_bytes_ += static_cast<int64_t>(response.size);
        if (drained_ != nullptr && unsent_bytes_ <= kResumeUnsentBytes) drained = std::move(drained_);
        EvictLocked();
      }
    } else if (finished_) {
      step.kind = StreamStep::Kind::kEnd;
      step.status = error_;
    }
  }
  if (drained != nullptr) drained->Set();
  return step;
}

void Operation::EvictLocked() {
  const int64_t keep = reattachable_ ? retry_buffer_bytes_ : 0;
  while (!responses_.empty() && first_index_ <= highest_sent_ && sent_bytes_ > keep) {
    // The last one sent stays: its id is where a client continues.
    if (reattachable_ && first_index_ == highest_sent_) return;
    DropFrontLocked();
  }
}

std::shared_ptr<const grpc::ByteBuffer> Operation::DropFrontLocked() {
  Response& front = responses_.front();
  std::shared_ptr<const grpc::ByteBuffer> bytes = std::move(front.bytes);
  sent_bytes_ -= static_cast<int64_t>(front.size);
  dropped_ids_.push_back(std::move(front.id));
  if (dropped_ids_.size() > kMaxDroppedIds) {
    index_.erase(dropped_ids_.front());
    dropped_ids_.pop_front();
  }
  responses_.pop_front();
  ++first_index_;
  return bytes;
}

Result<int64_t> Operation::IndexOf(const std::string& response_id) const {
  const MutexLock lock(mutex_);
  const auto found = index_.find(response_id);
  if (found == index_.end()) return Error("INVALID_CURSOR.POSITION_NOT_FOUND").With("responseId", response_id);
  if (found->second + 1 < first_index_) {
    return Error("INVALID_CURSOR.POSITION_NOT_AVAILABLE").With("responseId", response_id).With("index", found->second);
  }
  return found->second;
}

void Operation::ReleaseUntil(const std::string& response_id) {
  std::vector<std::shared_ptr<const grpc::ByteBuffer>> dropped;  // freed outside of the lock
  const MutexLock lock(mutex_);
  const auto found = index_.find(response_id);
  if (found == index_.end()) return;
  const int64_t until = found->second;
  while (!responses_.empty() && first_index_ <= until && first_index_ <= highest_sent_) dropped.push_back(DropFrontLocked());
}

OperationState Operation::state() const {
  const MutexLock lock(mutex_);
  if (!finished_) return OperationState::kRunning;
  if (cancelled_) return OperationState::kCancelled;
  return error_.ok() ? OperationState::kSucceeded : OperationState::kFailed;
}

bool Operation::finished() const {
  const MutexLock lock(mutex_);
  return finished_;
}

std::optional<int64_t> Operation::detached_ms(int64_t now_ms) const {
  const MutexLock lock(mutex_);
  if (stream_ != 0 || detached_at_ms_ < 0) return std::nullopt;
  return now_ms - detached_at_ms_;
}

void Operation::NoteDetached(int64_t now_ms) {
  const MutexLock lock(mutex_);
  if (stream_ == 0 && detached_at_ms_ < 0) detached_at_ms_ = now_ms;
}

bool Operation::ProgressDue(int64_t now_ms, int64_t interval_ms) {
  const MutexLock lock(mutex_);
  if (finished_) return false;
  if (last_progress_ms_ < 0) {
    last_progress_ms_ = now_ms;
    return false;
  }
  if (now_ms - last_progress_ms_ < interval_ms) return false;
  last_progress_ms_ = now_ms;
  return true;
}

void Operation::Wake() {
  std::function<void()> wake;
  {
    const MutexLock lock(mutex_);
    wake = wake_;
  }
  if (wake) wake();
}

}  // namespace thalweg::front
