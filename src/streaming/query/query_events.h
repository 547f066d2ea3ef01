#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "streaming/query/query_manager.h"

namespace thalweg::streaming {

/// Hands query events to the listeners of one session. A listener that blocks delays the query's
/// driver: listeners hand over and return. Thread: synchronised.
class QueryEvents {
 public:
  void Add(std::shared_ptr<StreamingListener> listener);
  void Remove(const std::shared_ptr<StreamingListener>& listener);
  void Started(const std::string& json) const;
  void Progress(const std::string& json) const;
  void Idle(const std::string& json) const;
  void Terminated(const std::string& json) const;

 private:
  std::vector<std::shared_ptr<StreamingListener>> Listeners() const;
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<StreamingListener>> listeners_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg::streaming
