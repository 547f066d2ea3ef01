#pragma once

// Client-side streaming listeners: one stream per session that delivers the events of all its queries.
// Source: spark/connect/commands.proto.

#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "front/connect/operation.h"
#include "front/session/session.h"

namespace thalweg::front {

/// Thread: synchronised. Holds no thread: events go from the drivers into the operation's buffer.
class ListenerBus {
 public:
  explicit ListenerBus(Session& session);
  ~ListenerBus();

  /// Makes `operation` the stream of events; false when there is one already.
  bool Add(const std::shared_ptr<Operation>& operation);
  /// Ends the stream of events. Nothing happens without one.
  void Remove();
  bool active() const;
  /// The started event of a run, if a stream of events was there when it started.
  std::optional<std::string> StartedEvent(const std::string& run_id) const;
  bool Uses(const Operation& operation) const;

 private:
  class Listener;
  Session& session_;
  mutable Mutex mutex_;
  std::shared_ptr<Operation> operation_ TW_GUARDED_BY(mutex_);
  std::shared_ptr<Listener> listener_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg::front
