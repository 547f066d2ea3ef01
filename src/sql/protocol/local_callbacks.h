#pragma once

// Functions of this very process that a message names by an opaque id: foreachBatch of the C++ API on an embedded engine. They
// mean nothing to another process, which refuses them.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/status.h"

namespace thalweg::sql {

/// `relation_id`: a CachedRemoteRelation of the session, there while the call runs.
using BatchCallback = std::function<Status(const std::string& relation_id, int64_t batch_id)>;

/// An id to put into StreamingForeachFunction.scala_function.payload. Thread: any.
std::string RegisterBatchCallback(BatchCallback callback);
/// Hands the function over, once; nothing for what is no id of this process.
std::optional<BatchCallback> TakeBatchCallback(const std::string& id);

/// While it lives, requests of this thread begin their client_type with `agent`: the server then knows whose function calls, and does
/// not let a query wait for itself.
class CallbackScope {
 public:
  explicit CallbackScope(std::string agent);
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  /// Of the calling thread; empty outside of callbacks.
  static const std::string& agent();

 private:
  std::string outer_;
};

}  // namespace thalweg::sql
