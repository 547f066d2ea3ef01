#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/signal.h"
#include "base/status.h"

namespace spark::connect {
class StreamingQueryListenerEventsResult;
}

namespace thalweg {
class StreamingQueryListener;
}

namespace thalweg::internal {

class SessionState;

/// The listeners of a session and, while there are any, the stream of events from the server. Source: spark/connect/commands.proto.
/// Thread: every call from any; Add and Remove exclude each other. Listeners are called without a lock.
class ListenerBus {
 public:
  /// `session` outlives it.
  explicit ListenerBus(SessionState& session) : session_(session) {}
  ~ListenerBus() { End(); }

  /// Blocks until the server sends events. Errors: what the server says.
  Status Add(std::shared_ptr<StreamingQueryListener> listener);
  /// Blocks, for the last one, until the stream has ended.
  Status Remove(const std::shared_ptr<StreamingQueryListener>& listener);
  void TellStarted(const std::string& event_json);
  /// Once the server has ended the session, or is gone: blocks until the last events have been told. Idempotent.
  void End();

 private:
  struct Opening;
  using Listeners = std::vector<std::shared_ptr<StreamingQueryListener>>;
  Listeners Current() const;
  Status Open();
  void Read(const std::shared_ptr<Opening>& opening, std::stop_token stop);
  void Tell(const ::spark::connect::StreamingQueryListenerEventsResult& result) const;

  SessionState& session_;
  Mutex changing_;  // held by Add, Remove and End, over calls to the server: there is one stream
  mutable Mutex mutex_;
  Listeners listeners_ TW_GUARDED_BY(mutex_);
  Signal finished_;  ///< the stream has ended
  std::jthread reader_;
};

}  // namespace thalweg::internal
