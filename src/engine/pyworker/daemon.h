#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "engine/pyworker/python_workers.h"

namespace thalweg::engine {

/// One `python -m pyspark.daemon pyspark.worker`: forks workers, keeps idle ones. Thread: synchronised. Its workers hold it.
class Daemon : public std::enable_shared_from_this<Daemon> {
 public:
  static Result<std::shared_ptr<Daemon>> Launch(PythonRuntime runtime, std::map<std::string, std::string> environment,
                                                PythonWorkers::Output output, std::chrono::milliseconds timeout, std::stop_token stop);
  ~Daemon();

  /// An idle worker, or null.
  std::unique_ptr<PooledWorker> TakeIdle();
  Result<std::unique_ptr<PooledWorker>> Fork(std::chrono::milliseconds timeout, std::stop_token stop);
  /// False when it is not kept.
  bool Keep(std::unique_ptr<PooledWorker> worker, size_t max_idle, std::chrono::nanoseconds now);
  /// Ends what has been idle since before `since`. True when nothing is left and nothing was lent for so long.
  bool EndIdle(std::chrono::nanoseconds since);
  /// Ends the idle ones and keeps none from now on: idle workers hold their daemon, so this comes before it is let go.
  void EndAllIdle();
  bool has_ended() const { return process_->has_ended(); }
  void Count(PythonWorkers::Census* census) const;

  /// Called by its workers.
  void Forked(int pid);
  void KillWorker(int pid);
  void Returned(int pid);
  /// Lines of standard error so far, of the daemon and all its workers.
  int64_t stderr_lines() const;
  /// How a worker ended, as far as the daemon has told, and what was printed on standard error from line `first_line` on: the text of
  /// PYTHON_WORKER_CRASHED. Blocks: a second at most, until the daemon has told.
  std::string Fate(int pid, int64_t first_line, const std::stop_token& stop);

 private:
  class Forking;
  Daemon() = default;
  void TakeLine(std::string_view line, bool is_stderr);
  struct Idle {
    std::unique_ptr<PooledWorker> worker;
    std::chrono::nanoseconds since;
  };

  PythonRuntime runtime_;
  PythonWorkers::Output output_;
  std::string secret_;
  int port_ = 0;
  std::unique_ptr<ChildProcess> process_;
  mutable Mutex mutex_;
  std::deque<Idle> idle_ TW_GUARDED_BY(mutex_);  // newest last
  bool closed_ TW_GUARDED_BY(mutex_) = false;
  int live_ TW_GUARDED_BY(mutex_) = 0;           // idle and lent
  std::chrono::nanoseconds used_ TW_GUARDED_BY(mutex_){0};
  std::map<int, std::optional<int>> ends_ TW_GUARDED_BY(mutex_);  // of live workers: wait status once ended
  int forking_ TW_GUARDED_BY(mutex_) = 0;                         // calls of Fork
  std::map<int, int> ends_of_new_ TW_GUARDED_BY(mutex_);          // of workers whose id none of those calls has read so far
  CondVar ended_;
  std::deque<std::string> stderr_tail_ TW_GUARDED_BY(mutex_);
  size_t stderr_tail_bytes_ TW_GUARDED_BY(mutex_) = 0;
  int64_t stderr_lines_ TW_GUARDED_BY(mutex_) = 0;
};

/// 64 hexadecimal digits from the system's generator.
std::string NewSecret();

}  // namespace thalweg::engine
