#pragma once

// A process of ours: its output by lines, its end, and that it never outlives this one.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/signal.h"
#include "base/status.h"

namespace thalweg::engine {

struct ChildSpec {
  std::vector<std::string> arguments;                 ///< [0]: a program, looked up on PATH
  std::map<std::string, std::string> environment;     ///< all of it
  bool has_stdin = false;                             ///< a stream that ends with us; otherwise /dev/null
  size_t stdout_prefix_bytes = 0;                     ///< so many bytes of its output are for StdoutPrefix, not lines
  bool dies_with_server = true;                       ///< SIGKILL by the kernel when this process ends, however it ends
  int64_t memory_limit_bytes = 0;                     ///< of its address space; 0: none
  /// Each line of its output, from a thread of the child's own. May be empty.
  std::function<void(std::string_view line, bool is_stderr)> on_line;
};

/// Thread: synchronised. Owner: whoever launched it; the destructor ends it.
class ChildProcess {
 public:
  /// Forks on a thread that lives as long as the process, which is what "dies with the server" hangs on.
  /// Errors: IO_ERROR with the program's name.
  static Result<std::unique_ptr<ChildProcess>> Launch(ChildSpec spec);
  ~ChildProcess();  ///< Kill(), then waits for the end

  int pid() const { return pid_; }
  /// Set when it has ended and all it printed is here.
  const std::shared_ptr<Signal>& ended() const { return ended_; }
  bool has_ended() const { return ended_->IsSet(); }
  /// "exit status 1", "signal 9 (Killed)"; "running".
  std::string HowItEnded() const;
  std::optional<int> exit_status() const;  ///< nothing while it runs and after a signal
  /// The last lines it printed on standard error, at most 8 KiB.
  std::string StderrTail() const;
  /// The first bytes of its output. Blocks. Errors: PYTHON_WORKER_CRASHED, PYTHON_WORKER_TIMEOUT, OPERATION_CANCELED.
  Result<std::string> StdoutPrefix(std::chrono::milliseconds timeout, std::stop_token stop);
  /// All of it or nothing is written; false when it no longer reads.
  bool WriteStdin(std::string_view bytes);

  void Terminate();                                  ///< SIGTERM to its process group
  void Kill();                                       ///< SIGKILL to its process group
  /// SIGTERM, and SIGKILL when that does not help in time. Blocks until it has ended.
  void End(std::chrono::milliseconds grace);

 private:
  struct Pipes;
  ChildProcess() = default;
  void Watch();
  void SignalGroup(int number);
  void TakeOutput(std::string_view bytes, bool is_stderr);
  void Line(std::string_view line, bool is_stderr);
  void Reap();

  ChildSpec spec_;
  int pid_ = -1;
  std::unique_ptr<Pipes> pipes_;
  const std::shared_ptr<Signal> ended_ = std::make_shared<Signal>();
  const std::shared_ptr<Signal> prefix_read_ = std::make_shared<Signal>();
  std::string partial_[2];  // the watcher's
  mutable Mutex mutex_;
  bool reaped_ TW_GUARDED_BY(mutex_) = false;
  int wait_status_ TW_GUARDED_BY(mutex_) = 0;
  std::string prefix_ TW_GUARDED_BY(mutex_);
  std::string stderr_tail_ TW_GUARDED_BY(mutex_);
  std::jthread watcher_;  // last
};

/// "exit status 1", "signal 9 (Killed)": what a wait status says.
std::string DescribeEnd(int wait_status);
/// A program's path: as given with a slash, otherwise the first on PATH; empty when there is none.
std::string FindProgram(const std::string& name);
/// This process's environment.
std::map<std::string, std::string> OwnEnvironment();

}  // namespace thalweg::engine
