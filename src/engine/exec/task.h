#pragma once

// What the scheduler runs: tasks of groups. Internal to this room.

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>

#include "base/mutex.h"
#include "engine/exec/execution.h"

namespace thalweg::engine {

class TaskGroup;
struct SchedulerCore;

/// When a slice has to end. Thread: the slice's.
class SliceLimit {
 public:
  SliceLimit(int64_t start_ns, const std::atomic<int>& waiting) : start_ns_(start_ns), waiting_(waiting) {}
  /// Asked after each chunk: 2 ms are over, or a fifth of a millisecond while other tasks wait.
  bool ShouldYield() const;

 private:
  int64_t start_ns_;
  const std::atomic<int>& waiting_;
};

/// Something that makes progress in slices. Owner: outlives its Task's group being open.
class TaskRunner {
 public:
  enum class SliceEnd : uint8_t {
    kAgain,  ///< more to do now
    kIdle,   ///< until Task::Wake
  };
  virtual ~TaskRunner() = default;
  virtual SliceEnd RunSlice(const SliceLimit& limit) = 0;
};

/// A strand: its runner is on one worker at most. A wake during a slice gives one more slice, so no wake is lost.
/// Owner: shared with the callbacks of signals. Thread: Wake from any.
class Task : public std::enable_shared_from_this<Task> {
 public:
  Task(std::shared_ptr<TaskGroup> group, TaskRunner& runner) : group_(std::move(group)), runner_(runner) {}
  /// Queues it unless it is queued already. Nothing happens while the group is closed.
  void Wake();

 private:
  friend class TaskGroup;
  friend struct SchedulerCore;
  enum class State : uint8_t { kIdle, kQueued, kRunning, kRunningWoken };
  std::atomic<State> state_{State::kIdle};
  const std::shared_ptr<TaskGroup> group_;
  TaskRunner& runner_;
};

/// All tasks of one query: what fairness is measured between. Thread: synchronised.
class TaskGroup : public std::enable_shared_from_this<TaskGroup> {
 public:
  TaskGroup(std::shared_ptr<SchedulerCore> core, QueryClass query_class);
  /// From now on woken tasks run.
  void Open();
  /// Drops queued tasks and waits until no slice runs. Afterwards the caller alone touches the runners.
  void Close();

 private:
  friend class Task;
  friend struct SchedulerCore;
  const std::shared_ptr<SchedulerCore> core_;
  const QueryClass class_;
  // Guarded by the core's mutex.
  bool open_ = false;
  bool in_ring_ = false;
  int running_ = 0;
  std::deque<std::shared_ptr<Task>> ready_;
};

std::shared_ptr<TaskGroup> NewTaskGroup(Scheduler& scheduler, QueryClass query_class);

/// Monotonic nanoseconds.
int64_t MonotonicNs();

}  // namespace thalweg::engine
