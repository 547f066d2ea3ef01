#include "base/signal.h"

#include <utility>

namespace thalweg {

void Signal::Set() {
  std::vector<std::function<void()>> callbacks;
  {
    MutexLock lock(mutex_);
    if (set_) return;
    set_ = true;
    callbacks.swap(callbacks_);
    changed_.NotifyAll();  // under the lock: a waiter may destroy the signal as soon as it sees it set
  }
  for (const auto& callback : callbacks) callback();
}

bool Signal::IsSet() const {
  MutexLock lock(mutex_);
  return set_;
}

void Signal::Reset() {
  MutexLock lock(mutex_);
  set_ = false;
}

void Signal::OnSet(std::function<void()> callback) {
  {
    MutexLock lock(mutex_);
    if (!set_) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

bool Signal::Wait(std::stop_token stop) {
  MutexLock lock(mutex_);
  return changed_.Wait(mutex_, std::move(stop), [this] { return set_; });
}

bool Signal::WaitFor(std::stop_token stop, std::chrono::microseconds timeout) {
  MutexLock lock(mutex_);
  return changed_.WaitFor(mutex_, std::move(stop), timeout, [this] { return set_; });
}

}  // namespace thalweg
