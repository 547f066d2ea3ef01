#pragma once

// Contract: the streaming queries of one session (Spark's StreamingQueryManager), and the
// process-wide registry that refuses a second run on the same checkpoint.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "streaming/query/streaming_query.h"

namespace thalweg::streaming {

/// Receives query events; calls come from drivers, in order per query. JSON as
/// Spark's StreamingQueryListener gives it.
class StreamingListener {
 public:
  virtual ~StreamingListener() = default;
  virtual void OnStarted(const std::string& event_json) = 0;
  virtual void OnProgress(const std::string& event_json) = 0;
  virtual void OnIdle(const std::string& event_json) = 0;
  virtual void OnTerminated(const std::string& event_json) = 0;
};

/// Thread: synchronised.
class StreamingQueryManager {
 public:
  StreamingQueryManager();
  ~StreamingQueryManager();  ///< stops all
  /// Starts the driver and returns at once (batch 0 may not have begun). Errors: duplicate name,
  /// same query active, a checkpoint that cannot be read or created, metadata mismatch.
  Result<std::shared_ptr<StreamingQuery>> Start(StreamingQuerySpec spec);
  std::vector<std::shared_ptr<StreamingQuery>> Active() const;
  /// Active or recently terminated (connect keeps terminated ones for a while), by id and, if
  /// given, run id.
  std::shared_ptr<StreamingQuery> Find(const std::string& id,
                                       const std::optional<std::string>& run_id) const;
  /// True when any query terminated since the last ResetTerminated; the failure of one that failed
  /// as the error.
  Result<bool> AwaitAnyTermination(std::optional<std::chrono::milliseconds> timeout);
  void ResetTerminated();
  void AddListener(std::shared_ptr<StreamingListener> listener);
  void RemoveListener(const std::shared_ptr<StreamingListener>& listener);
  void StopAll();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace thalweg::streaming
