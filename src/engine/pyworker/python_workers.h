#pragma once

// Contract: the user's Python, launched, lent and ended. One service per server; users are front/foreach and the operators that
// evaluate Python functions. Source: PySpark's worker_util.py, serializers.py.

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "base/status.h"
#include "engine/pyworker/child_process.h"
#include "engine/pyworker/python_runtime.h"
#include "engine/pyworker/worker_socket.h"

namespace thalweg::engine {

/// What a worker is launched with: equal ones share a daemon.
struct WorkerRequest {
  std::string owner;                        ///< the session: no other one is lent its workers or told what they print
  std::string python_version;               ///< the client's "3.x"; empty: any
  SettingsMap settings;                     ///< of the session: interpreter, memory limit, time-outs (pyworker_settings.h)
  std::vector<std::string> python_path;     ///< folders and archives before the inherited PYTHONPATH: the session's artifacts
  std::map<std::string, std::string> environment;  ///< added to the inherited one
};

/// A forked `pyspark.worker` of a daemon, ready for the init section of a task. Thread: confined.
class PooledWorker {
 public:
  virtual ~PooledWorker() = default;        ///< without Release(): closed and killed (after an error, at a cancel)
  virtual WorkerSocket& socket() = 0;
  virtual const PythonRuntime& runtime() const = 0;
  virtual int pid() const = 0;
};

/// A `python -m <module>` of its own, connected and greeted. Thread: confined, but for Kill().
class StandAloneWorker {
 public:
  virtual ~StandAloneWorker() = default;    ///< SIGTERM, then SIGKILL; waits
  virtual WorkerSocket& socket() = 0;
  virtual const PythonRuntime& runtime() const = 0;
  virtual ChildProcess& process() = 0;
  /// Any thread: the process group is killed, what waits for its answer fails.
  virtual void Kill() = 0;
};

/// Thread: synchronised; calls block on processes, so none is for an engine worker. Owner: the server.
class PythonWorkers {
 public:
  /// Where lines go that workers print: standard output and standard error of the user's functions. Called from any thread.
  using Output = std::function<void(std::string_view line, bool is_stderr)>;

  static std::unique_ptr<PythonWorkers> Make(Output output);
  virtual ~PythonWorkers() = default;       ///< Close()

  /// The interpreter for a request, asked once per program and path.
  /// Errors: PYTHON_WORKER_UNAVAILABLE (no interpreter, no pyspark), PYTHON_VERSION_MISMATCH.
  virtual Result<PythonRuntime> Runtime(const WorkerRequest& request, std::stop_token stop) = 0;
  /// An idle worker of the request's daemon, or a new one: about 1 ms, 400 ms for the daemon's first (of a session, that is).
  /// Errors: those of Runtime; PYTHON_WORKER_CRASHED, PYTHON_WORKER_TIMEOUT.
  virtual Result<std::unique_ptr<PooledWorker>> Acquire(const WorkerRequest& request, std::stop_token stop) = 0;
  /// Back to the pool after a clean trailer; ended when it stays idle for a minute or the pool is full.
  virtual void Release(std::unique_ptr<PooledWorker> worker) = 0;
  /// Launches `python -m module` (in effect) and greets it. `timeout`: from launch to greeting.
  /// Errors: those of Runtime; PYTHON_WORKER_CRASHED with what it printed, PYTHON_WORKER_TIMEOUT.
  virtual Result<std::unique_ptr<StandAloneWorker>> Launch(const WorkerRequest& request, const std::string& module,
                                                           std::chrono::milliseconds timeout, std::stop_token stop) = 0;
  /// The session is over: ends its daemons and idle workers, soon; what is lent is no longer counted and ends when it comes back.
  virtual void OwnerGone(const std::string& owner) = 0;
  /// Ends daemons and idle workers; later calls fail. Idempotent.
  virtual void Close() = 0;
  /// Processes that are there now: daemons and pooled workers, idle or lent. For tests and the UI.
  struct Census { int daemons = 0, idle = 0, lent = 0; };
  virtual Census Count() const = 0;
};

}  // namespace thalweg::engine
