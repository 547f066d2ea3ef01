#include "streaming/query/query_events.h"

#include <algorithm>

namespace thalweg::streaming {

void QueryEvents::Add(std::shared_ptr<StreamingListener> listener) {
  const MutexLock lock(mutex_);
  listeners_.push_back(std::move(listener));
}

void QueryEvents::Remove(const std::shared_ptr<StreamingListener>& listener) {
  const MutexLock lock(mutex_);
  std::erase(listeners_, listener);
}

std::vector<std::shared_ptr<StreamingListener>> QueryEvents::Listeners() const {
  const MutexLock lock(mutex_);
  return listeners_;
}

void QueryEvents::Started(const std::string& json) const {
  for (const auto& listener : Listeners()) listener->OnStarted(json);
}

void QueryEvents::Progress(const std::string& json) const {
  for (const auto& listener : Listeners()) listener->OnProgress(json);
}

void QueryEvents::Idle(const std::string& json) const {
  for (const auto& listener : Listeners()) listener->OnIdle(json);
}

void QueryEvents::Terminated(const std::string& json) const {
  for (const auto& listener : Listeners()) listener->OnTerminated(json);
}

}  // namespace thalweg::streaming
