#pragma once

// The stream that carries an operation's responses to a client: ExecutePlan and ReattachExecute.

#include <atomic>
#include <memory>

#include <grpcpp/support/server_callback.h>

#include "base/clock.h"
#include "base/mutex.h"
#include "front/connect/operation.h"

namespace thalweg::front {

struct StreamLimits {
  int64_t max_duration_ms = 120'000;
  int64_t max_bytes = 1 << 30;
};

/// A reactor without a thread: each event of the operation or of gRPC moves it one step. It frees itself when gRPC is done.
class ExecuteStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  /// Starts behind response `cursor` (0: from the first).
  static ExecuteStream* Start(std::shared_ptr<Operation> operation, int64_t cursor, StreamLimits limits);
  /// A stream that ends at once.
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* Refuse(const grpc::Status& status);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  ExecuteStream(std::shared_ptr<Operation> operation, int64_t cursor, StreamLimits limits);
  void Pump();
  void End(const grpc::Status& status);

  std::shared_ptr<Operation> operation_;
  const StreamLimits limits_;
  const int64_t deadline_ms_;
  std::shared_ptr<ExecuteStream> self_;  // until OnDone
  Mutex mutex_;
  int64_t stream_ TW_GUARDED_BY(mutex_) = 0;
  int64_t cursor_ TW_GUARDED_BY(mutex_);
  int64_t sent_bytes_ TW_GUARDED_BY(mutex_) = 0;
  bool writing_ TW_GUARDED_BY(mutex_) = false;
  bool ended_ TW_GUARDED_BY(mutex_) = false;
  bool cancelled_ TW_GUARDED_BY(mutex_) = false;
  std::shared_ptr<const grpc::ByteBuffer> current_ TW_GUARDED_BY(mutex_);
};

/// Milliseconds of the monotonic clock.
int64_t SteadyMillis();

}  // namespace thalweg::front
