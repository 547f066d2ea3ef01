#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <vector>

#include "base/mutex.h"

namespace thalweg {

/// A wake-up: something an operator or a driver is blocked on. Shared by who waits and who sets.
/// States: unset, set; Reset() makes it unset again (a one-shot signal is simply never reset).
/// Thread: any. Callbacks run on the thread that calls Set(), or at once in OnSet() when it is already set; each runs
/// once, outside the signal's lock, and must be short and never block.
class Signal {
 public:
  Signal() = default;
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  /// Sets it, wakes every waiter and runs the callbacks. Setting a set signal does nothing.
  void Set() TW_EXCLUDES(mutex_);
  bool IsSet() const TW_EXCLUDES(mutex_);
  /// Makes it unset. Callbacks that ran are gone.
  void Reset() TW_EXCLUDES(mutex_);
  /// Runs `callback` when it is set next, or now when it is set.
  void OnSet(std::function<void()> callback) TW_EXCLUDES(mutex_);

  /// Blocks until it is set (true) or the stop is requested (false).
  bool Wait(std::stop_token stop) TW_EXCLUDES(mutex_);
  /// Blocks until it is set (true), or the stop is requested or the wall time is over (false).
  bool WaitFor(std::stop_token stop, std::chrono::microseconds timeout) TW_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  bool set_ TW_GUARDED_BY(mutex_) = false;
  std::vector<std::function<void()>> callbacks_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg
