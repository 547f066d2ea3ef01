#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/status.h"
#include "engine/pyworker/java_data.h"

namespace thalweg::engine {

/// Our end of the socket to one Python worker. Thread: confined to one at a time, which it blocks: never an engine worker's.
/// Errors of every call: PYTHON_WORKER_CRASHED (the other end is gone), PYTHON_WORKER_TIMEOUT (silent for longer than its limit),
/// OPERATION_CANCELED (stop requested). After an error nothing but closing is of use.
class WorkerSocket {
 public:
  /// Takes the descriptor. `how_it_ended` tells what is known of the process when its end of the socket closes; it may wait to hear it.
  WorkerSocket(int descriptor, std::function<std::string(const std::stop_token&)> how_it_ended);
  ~WorkerSocket();
  WorkerSocket(const WorkerSocket&) = delete;

  /// Longest silence while something is awaited; zero (as at first): none. More than 24 days are 24 days.
  void set_silence_limit(std::chrono::milliseconds limit) { silence_limit_ = limit; }
  /// The worker said that an exception was thrown. Its text comes at once or never: one that cannot encode it waits for us to hang up.
  /// From now on silence is at most ten seconds long and the error PYTHON_WORKER_CRASHED.
  void AwaitTraceback() { awaits_traceback_ = true; }

  /// Waits until at least one byte of `*unsent` could be sent or one has arrived, and moves what can be moved: sent bytes leave
  /// `*unsent`, arrived ones stand behind input(). With nothing to send: waits for input. The primitive for conversations in which
  /// both sides stream; a worker that has failed no longer reads, so look at input() between the calls.
  Status Step(std::string_view* unsent, std::stop_token stop);
  /// What has arrived and is not consumed. Valid until the next call.
  std::string_view input() const { return std::string_view(input_).substr(consumed_); }
  void Consume(size_t bytes);

  /// Sends all of it. A traceback that arrives meanwhile, at the start of input(), is the error PYTHON_EXCEPTION.
  Status Write(std::string_view bytes, std::stop_token stop);
  Result<int32_t> ReadInt(std::stop_token stop);
  Result<int64_t> ReadLong(std::stop_token stop);
  /// Length and bytes. Errors: INTERNAL_ERROR for lengths that are negative or over 1 GiB.
  Result<std::string> ReadBytes(std::stop_token stop);
  /// The next length or tag. kPythonExceptionThrown: reads the traceback, answers it as PYTHON_EXCEPTION.
  Result<int32_t> ReadTag(std::stop_token stop);

  /// Nothing is waiting to be read and the other end is open: what is asked before a worker is used again.
  bool IsQuiet() const;

 private:
  Status Fill(size_t bytes, std::stop_token stop);
  Status Crashed(const std::stop_token& stop) const;

  const int descriptor_;
  const std::function<std::string(const std::stop_token&)> how_it_ended_;
  std::chrono::milliseconds silence_limit_{0};
  bool awaits_traceback_ = false;
  std::string input_;
  size_t consumed_ = 0;
};

/// "[PYTHON_EXCEPTION] An exception was thrown from the Python worker: <traceback>"; the user's text first and whole.
Status PythonException(std::string_view traceback);

}  // namespace thalweg::engine
