#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "base/bounded_queue.h"

namespace thalweg::engine {

/// Forks for everybody. The kernel's "kill the child when its parent ends" watches the thread that forked, not the process, so
/// that thread must live as long as the process. Thread: any.
class ForkThread {
 public:
  static ForkThread& Get();
  /// Runs `body` there; blocks until it has run.
  void Run(const std::function<void()>& body);

 private:
  ForkThread();
  ~ForkThread();
  BoundedQueue<std::function<void()>> work_{64};
  std::jthread thread_;
};

}  // namespace thalweg::engine
