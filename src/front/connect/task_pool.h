#pragma once

// Threads that run operations: one per running operation, reused, with stacks that hold deep plans.

#include <functional>
#include <memory>

namespace thalweg::front {

/// Grows with the work, since operations may wait for days (awaitTermination) and must not wait for each other; idle threads
/// leave after ten seconds. Thread: synchronised.
class TaskPool {
 public:
  TaskPool();
  ~TaskPool();  ///< waits for running tasks
  /// Runs `task` soon. False when the system gives no thread, or after Stop.
  bool Run(std::function<void()> task);
  /// Refuses new tasks and waits for the running ones.
  void Stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace thalweg::front
