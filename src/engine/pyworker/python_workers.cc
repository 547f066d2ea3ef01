#include "engine/pyworker/python_workers.h"

#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "base/thread.h"
#include "engine/pyworker/daemon.h"
#include "engine/pyworker/pyworker_settings.h"
#include "engine/pyworker/stand_alone_worker.h"

namespace thalweg::engine {

namespace {

constexpr std::chrono::seconds kIdleLimit{60};
constexpr std::chrono::seconds kTendInterval{5};
constexpr int kLaunchTries = 2;
constexpr size_t kMaxRuntimes = 1000;  // answers that are kept; there may be one per session

std::string JoinPath(const std::vector<std::string>& parts, const std::string& rest) {
  std::string joined;
  for (const std::string& part : parts) joined += part + ":";
  joined += rest;
  if (!joined.empty() && joined.back() == ':') joined.pop_back();
  return joined;
}

// What every worker gets, of either kind. Source: Spark's PythonWorkerFactory and PythonUtils.
std::map<std::string, std::string> WorkerEnvironment(const WorkerRequest& request) {
  std::map<std::string, std::string> environment = OwnEnvironment();
  // Ours, set for the client's process: a worker that took them for its own would open a session of its own.
  for (const char* name : {"SPARK_REMOTE", "SPARK_LOCAL_REMOTE", "SPARK_API_MODE"}) environment.erase(name);
  if (const std::string path = JoinPath(request.python_path, environment["PYTHONPATH"]); !path.empty()) {
    environment["PYTHONPATH"] = path;
  } else {
    environment.erase("PYTHONPATH");
  }
  environment["PYTHONUNBUFFERED"] = "YES";
  environment["SPARK_AUTH_SOCKET_TIMEOUT"] = "15";
  environment["SPARK_BUFFER_SIZE"] = "65536";
  environment["SPARK_PYTHON_RUNTIME"] = "PYTHON_WORKER";
  environment["SPARK_SIMPLIFIED_TRACEBACK"] = "1";
  for (const auto& [name, value] : request.environment) environment[name] = value;
  return environment;
}

class Workers final : public PythonWorkers {
 public:
  explicit Workers(Output output) : output_(std::move(output)) {}
  ~Workers() override { Close(); }

  Result<PythonRuntime> Runtime(const WorkerRequest& request, std::stop_token stop) override;
  Result<std::unique_ptr<PooledWorker>> Acquire(const WorkerRequest& request, std::stop_token stop) override;
  void Release(std::unique_ptr<PooledWorker> worker) override;
  Result<std::unique_ptr<StandAloneWorker>> Launch(const WorkerRequest& request, const std::string& module,
                                                   std::chrono::milliseconds timeout, std::stop_token stop) override;
  void OwnerGone(const std::string& owner) override;
  void Close() override;
  Census Count() const override;

 private:
  // Whose it is, and all that its processes are launched with.
  using Key = std::pair<std::string, std::string>;
  struct Slot {
    std::shared_ptr<Daemon> daemon;
    std::shared_ptr<Signal> launching;  // set when the launch is over; null: none is
  };
  struct Lent;

  Result<PythonRuntime> Probe(const std::string& executable, const WorkerRequest& request, std::stop_token stop);
  Result<std::shared_ptr<Daemon>> FindDaemon(const Key& key, const PythonRuntime& runtime,
                                             const std::map<std::string, std::string>& environment,
                                             std::chrono::milliseconds timeout, std::stop_token stop);
  void Forget(const Key& key, const std::shared_ptr<Daemon>& daemon);
  void StartTending() TW_REQUIRES(mutex_);
  void Tend();

  const Output output_;
  mutable Mutex mutex_;
  bool closed_ TW_GUARDED_BY(mutex_) = false;
  std::map<std::string, PythonRuntime> runtimes_ TW_GUARDED_BY(mutex_);
  std::map<Key, Slot> daemons_ TW_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Daemon>> ending_ TW_GUARDED_BY(mutex_);  // of owners that are gone
  Signal tend_;  // there is something in ending_
  std::jthread tending_;  // last; set under mutex_
};

// A worker on loan: knows what keeping it means.
struct Workers::Lent final : public PooledWorker {
  WorkerSocket& socket() override { return worker->socket(); }
  const PythonRuntime& runtime() const override { return worker->runtime(); }
  int pid() const override { return worker->pid(); }

  std::shared_ptr<Daemon> daemon;
  std::unique_ptr<PooledWorker> worker;
  size_t max_idle = 0;
};

Result<PythonRuntime> Workers::Probe(const std::string& executable, const WorkerRequest& request, std::stop_token stop) {
  const std::map<std::string, std::string> environment = WorkerEnvironment(request);
  const auto path = environment.find("PYTHONPATH");
  const std::string key = executable + "\n" + (path == environment.end() ? std::string() : path->second);
  {
    const MutexLock lock(mutex_);
    if (closed_) return Cancelled();
    if (const auto found = runtimes_.find(key); found != runtimes_.end()) return found->second;
  }
  TW_ASSIGN_OR_RETURN(const PythonRuntime runtime, ProbePython(executable, environment, std::chrono::milliseconds(request.settings.Get(kWorkerStartMs)), stop));
  TW_LOG(kInfo, "python found", {"executable", executable}, {"python", runtime.python_version}, {"pyspark", runtime.pyspark_version});
  const MutexLock lock(mutex_);
  if (runtimes_.size() >= kMaxRuntimes) runtimes_.clear();
  return runtimes_.emplace(key, runtime).first->second;
}

Result<PythonRuntime> Workers::Runtime(const WorkerRequest& request, std::stop_token stop) {
  Status failure;
  for (const std::string& candidate : PythonCandidates(request.settings, request.python_version)) {
    Result<PythonRuntime> runtime = Probe(candidate, request, stop);
    if (stop.stop_requested()) return Cancelled();
    if (runtime.ok() && (request.python_version.empty() || runtime->python_version == request.python_version)) return runtime;
    if (runtime.ok()) {
      failure = Error("PYTHON_VERSION_MISMATCH").With("worker_version", runtime->python_version).With("driver_version", request.python_version);
    } else if (failure.ok()) {
      failure = std::move(runtime).status();
    }
  }
  return failure;
}

Result<std::shared_ptr<Daemon>> Workers::FindDaemon(const Key& key, const PythonRuntime& runtime,
                                                    const std::map<std::string, std::string>& environment,
                                                    std::chrono::milliseconds timeout, std::stop_token stop) {
  std::shared_ptr<Signal> launch;
  while (launch == nullptr) {
    std::shared_ptr<Signal> others;
    std::shared_ptr<Daemon> ended;
    {
      const MutexLock lock(mutex_);
      if (closed_) return Cancelled();
      Slot& slot = daemons_[key];
      if (slot.daemon != nullptr && !slot.daemon->has_ended()) return slot.daemon;
      ended = std::move(slot.daemon);
      slot.daemon = nullptr;
      others = slot.launching;
      if (others == nullptr) slot.launching = launch = std::make_shared<Signal>();
    }
    if (ended != nullptr) ended->EndAllIdle();
    if (others != nullptr && !others->Wait(stop)) return Cancelled();
  }
  Result<std::shared_ptr<Daemon>> daemon = Daemon::Launch(runtime, environment, output_, timeout, stop);
  {
    const MutexLock lock(mutex_);
    Slot& slot = daemons_[key];
    slot.launching = nullptr;
    if (daemon.ok() && !closed_) {
      slot.daemon = *daemon;
      StartTending();
    }
  }
  launch->Set();
  return daemon;
}

void Workers::Forget(const Key& key, const std::shared_ptr<Daemon>& daemon) {
  {
    const MutexLock lock(mutex_);
    const auto found = daemons_.find(key);
    if (found != daemons_.end() && found->second.daemon == daemon) {
      found->second.daemon = nullptr;
      if (found->second.launching == nullptr) daemons_.erase(found);  // keys are of sessions, which end
    }
  }
  daemon->EndAllIdle();
}

Result<std::unique_ptr<PooledWorker>> Workers::Acquire(const WorkerRequest& request, std::stop_token stop) {
  TW_ASSIGN_OR_RETURN(const PythonRuntime runtime, Runtime(request, stop));
  std::map<std::string, std::string> environment = WorkerEnvironment(request);
  const bool reuse = request.settings.Get(kReuseWorkers);
  if (reuse) environment["SPARK_REUSE_WORKER"] = "1";
  environment["PYTHON_UDF_BATCH_SIZE"] = "100";
  environment["PYTHON_DAEMON_KILL_WORKER_ON_FLUSH_FAILURE"] = "1";
  environment.emplace("OMP_NUM_THREADS", "1");
  if (const int64_t bytes = request.settings.Get(kPythonMemoryBytes); bytes > 0) {
    environment["PYSPARK_EXECUTOR_MEMORY_MB"] = std::to_string(std::max<int64_t>(bytes >> 20, 1));
  }
  Key key(request.owner, runtime.executable);
  for (const auto& [name, value] : environment) key.second += "\n" + name + "=" + value;

  const std::chrono::milliseconds timeout(request.settings.Get(kWorkerStartMs));
  for (int tries = 1;; ++tries) {
    TW_ASSIGN_OR_RETURN(const std::shared_ptr<Daemon> daemon, FindDaemon(key, runtime, environment, timeout, stop));
    auto lent = std::make_unique<Lent>();
    lent->daemon = daemon;
    lent->max_idle = reuse ? static_cast<size_t>(request.settings.Get(kIdleWorkers)) : 0;
    lent->worker = daemon->TakeIdle();
    if (lent->worker == nullptr) {
      Result<std::unique_ptr<PooledWorker>> forked = daemon->Fork(timeout, stop);
      if (!forked.ok()) {
        if (stop.stop_requested()) return Cancelled();
        if (tries >= kLaunchTries) return std::move(forked).status();
        TW_PROBE("python worker: daemon gone, another one is launched");
        Forget(key, daemon);
        continue;
      }
      lent->worker = std::move(*forked);
    }
    lent->worker->socket().set_silence_limit(std::chrono::seconds(request.settings.Get(kWorkerSilenceSeconds)));
    return std::unique_ptr<PooledWorker>(std::move(lent));
  }
}

void Workers::Release(std::unique_ptr<PooledWorker> worker) {
  auto& lent = static_cast<Lent&>(*worker);
  if (lent.max_idle == 0) return;
  lent.daemon->Keep(std::move(lent.worker), lent.max_idle, SystemClock::Get().NowMonotonic());
}

Result<std::unique_ptr<StandAloneWorker>> Workers::Launch(const WorkerRequest& request, const std::string& module,
                                                          std::chrono::milliseconds timeout, std::stop_token stop) {
  TW_ASSIGN_OR_RETURN(const PythonRuntime runtime, Runtime(request, stop));
  TW_ASSIGN_OR_RETURN(std::unique_ptr<StandAloneWorker> worker,
                      LaunchStandAlone(runtime, WorkerEnvironment(request), module, request.settings.Get(kPythonMemoryBytes),
                                       output_, timeout, stop));
  worker->socket().set_silence_limit(std::chrono::seconds(request.settings.Get(kWorkerSilenceSeconds)));
  return worker;
}

void Workers::StartTending() {
  if (tending_.joinable() || closed_) return;
  tending_ = StartLoop("python idle", [this](const std::stop_token& stop) {
    if (SystemClock::Get().WaitFor(kTendInterval, &tend_, stop) == Clock::Wake::kStop) return false;
    Tend();
    return true;
  });
}

void Workers::Tend() {
  const std::chrono::nanoseconds since = SystemClock::Get().NowMonotonic() - kIdleLimit;
  std::vector<std::pair<Key, std::shared_ptr<Daemon>>> daemons;
  std::vector<std::shared_ptr<Daemon>> ending;
  tend_.Reset();
  {
    const MutexLock lock(mutex_);
    ending.swap(ending_);
    for (const auto& [key, slot] : daemons_) {
      if (slot.daemon != nullptr) daemons.emplace_back(key, slot.daemon);
    }
  }
  for (const std::shared_ptr<Daemon>& daemon : ending) daemon->EndAllIdle();
  for (const auto& [key, daemon] : daemons) {
    if (daemon->EndIdle(since) || daemon->has_ended()) Forget(key, daemon);
  }
}

void Workers::OwnerGone(const std::string& owner) {
  {
    const MutexLock lock(mutex_);
    for (auto slot = daemons_.lower_bound({owner, std::string()}); slot != daemons_.end() && slot->first.first == owner;) {
      if (slot->second.daemon != nullptr) ending_.push_back(std::move(slot->second.daemon));
      slot->second.daemon = nullptr;
      slot = slot->second.launching == nullptr ? daemons_.erase(slot) : std::next(slot);
    }
    if (ending_.empty()) return;
  }
  tend_.Set();
}

void Workers::Close() {
  std::map<Key, Slot> daemons;
  std::vector<std::shared_ptr<Daemon>> ending;
  std::jthread tending;
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    daemons.swap(daemons_);
    ending.swap(ending_);
    tending = std::move(tending_);
  }
  tending = {};
  for (const std::shared_ptr<Daemon>& daemon : ending) daemon->EndAllIdle();
  for (auto& [key, slot] : daemons) {
    if (slot.daemon != nullptr) slot.daemon->EndAllIdle();
  }
}

PythonWorkers::Census Workers::Count() const {
  Census census;
  const MutexLock lock(mutex_);
  for (const auto& [key, slot] : daemons_) {
    if (slot.daemon != nullptr) slot.daemon->Count(&census);
  }
  return census;
}

}  // namespace

std::unique_ptr<PythonWorkers> PythonWorkers::Make(Output output) { return std::make_unique<Workers>(std::move(output)); }

}  // namespace thalweg::engine
