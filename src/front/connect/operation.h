#pragma once

// One ExecutePlan operation: its responses are kept in an indexed buffer, independent of the stream that carries them.
// Source: spark/connect/base.proto.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include "base/mutex.h"
#include "base/signal.h"
#include "base/status.h"
#include "engine/exec/execution.h"

namespace spark::connect {
class ExecutePlanResponse;
}

namespace thalweg::front {

struct OperationIds {
  std::string session_id;
  std::string server_side_session_id;
  std::string operation_id;
};

enum class OperationState : uint8_t { kUnknown, kRunning, kTerminating, kSucceeded, kFailed, kCancelled };

/// What a stream does next.
struct StreamStep {
  enum class Kind : uint8_t { kResponse, kWait, kEnd };
  Kind kind = Kind::kWait;
  std::shared_ptr<const grpc::ByteBuffer> response;
  size_t bytes = 0;
  bool last = false;    ///< kResponse: nothing follows but the status
  grpc::Status status;  ///< kEnd, or kResponse that is the last one
};

/// Thread: synchronised. Callbacks (wake) are called outside of the lock.
class Operation {
 public:
  Operation(OperationIds ids, bool reattachable, std::string fingerprint, std::vector<std::string> tags,
            int64_t retry_buffer_bytes);

  const OperationIds& ids() const { return ids_; }
  bool reattachable() const { return reattachable_; }
  /// Equal for equal plans: a repeated ExecutePlan with the same id and plan is a reattach.
  const std::string& fingerprint() const { return fingerprint_; }
  const std::vector<std::string>& tags() const { return tags_; }

  // --- producer ---
  /// Completes the ids and appends. Ignored after Finish.
  void Send(::spark::connect::ExecutePlanResponse* response);
  /// Ends the operation; `error` ok: with result_complete when it is reattachable. The first call counts.
  void Finish(const Status& error, const grpc::Status& wire_error);
  /// Null, or a signal to wait for while the client is behind.
  std::shared_ptr<Signal> Throttle();
  std::stop_token stop_token() const { return stop_.get_token(); }
  /// Asks the work to stop; it then finishes with OPERATION_CANCELED. Answers whether it was still running.
  bool Interrupt();
  bool interrupted() const { return stop_.stop_requested(); }

  /// What its query is doing.
  engine::ExecutionView& view() { return view_; }

  // --- streams ---
  /// Takes the operation over from any other stream, whose next step ends with INVALID_CURSOR.DISCONNECTED.
  int64_t Attach(std::function<void()> wake);
  void Detach(int64_t stream);
  /// The response after index `*cursor` (which it advances), or what else to do.
  StreamStep Next(int64_t stream, int64_t* cursor);
  /// The index of a response. Errors: INVALID_CURSOR.POSITION_NOT_FOUND, .POSITION_NOT_AVAILABLE.
  Result<int64_t> IndexOf(const std::string& response_id) const;
  void ReleaseUntil(const std::string& response_id);

  OperationState state() const;
  bool finished() const;
  /// Steady time since the last stream left; nullopt while one is attached.
  std::optional<int64_t> detached_ms(int64_t now_ms) const;
  void NoteDetached(int64_t now_ms);
  /// Wakes the attached stream, which checks its limits.
  void Wake();
  /// Whether a progress message is due at that steady time; then the next one is counted from it.
  bool ProgressDue(int64_t now_ms, int64_t interval_ms);

 private:
  struct Response {
    std::string id;
    std::shared_ptr<const grpc::ByteBuffer> bytes;
    size_t size = 0;
  };
  Response MakeResponse(::spark::connect::ExecutePlanResponse* message) const;
  void AppendLocked(Response response) TW_REQUIRES(mutex_);
  void EvictLocked() TW_REQUIRES(mutex_);
  /// Forgets the oldest response but not yet its id; answers what to free.
  std::shared_ptr<const grpc::ByteBuffer> DropFrontLocked() TW_REQUIRES(mutex_);

  const OperationIds ids_;
  const bool reattachable_;
  const std::string fingerprint_;
  const std::vector<std::string> tags_;
  const int64_t retry_buffer_bytes_;
  std::stop_source stop_;
  engine::ExecutionView view_;

  mutable Mutex mutex_;
  std::deque<Response> responses_ TW_GUARDED_BY(mutex_);
  int64_t first_index_ TW_GUARDED_BY(mutex_) = 1;        // of responses_.front()
  int64_t highest_sent_ TW_GUARDED_BY(mutex_) = 0;
  int64_t unsent_bytes_ TW_GUARDED_BY(mutex_) = 0;
  int64_t sent_bytes_ TW_GUARDED_BY(mutex_) = 0;         // kept, already sent
  std::unordered_map<std::string, int64_t> index_ TW_GUARDED_BY(mutex_);
  std::deque<std::string> dropped_ids_ TW_GUARDED_BY(mutex_);  // still in index_, their responses are gone
  int64_t last_progress_ms_ TW_GUARDED_BY(mutex_) = -1;   // -1: not asked yet
  bool finished_ TW_GUARDED_BY(mutex_) = false;
  bool cancelled_ TW_GUARDED_BY(mutex_) = false;
  grpc::Status error_ TW_GUARDED_BY(mutex_);
  int64_t stream_ TW_GUARDED_BY(mutex_) = 0;             // the attached one; 0: none
  int64_t next_stream_ TW_GUARDED_BY(mutex_) = 1;
  int64_t detached_at_ms_ TW_GUARDED_BY(mutex_) = -1;
  std::function<void()> wake_ TW_GUARDED_BY(mutex_);
  std::shared_ptr<Signal> drained_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg::front
