#include "engine/pyworker/daemon.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "base/clock.h"

namespace thalweg::engine {

namespace {

constexpr std::chrono::milliseconds kEndGrace{300};
constexpr std::chrono::milliseconds kFateLimit{1000};
constexpr size_t kTailBytes = 8192;
constexpr std::string_view kWorkerEnded = "thalweg: Python worker ended ";

// pyspark.daemon as `python -m` would run it, but that it tells how its workers end, a line of standard error each, where it would have them
// forgotten (SIGCHLD ignored).
constexpr const char* kRunDaemon = R"(
import os, runpy, signal, sys
def reap(*_):
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        os.write(2, b'thalweg: Python worker ended %d %d\n' % (pid, status))
set_handler = signal.signal
def set_first(number, handler):
    if (number, handler) != (signal.SIGCHLD, signal.SIG_IGN):
        return set_handler(number, handler)
    signal.signal = set_handler
    return set_handler(number, reap)
signal.signal = set_first
__file__ = 'thalweg'
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)
)";

class DaemonWorker final : public PooledWorker {
 public:
  DaemonWorker(std::shared_ptr<Daemon> daemon, const PythonRuntime& runtime, int descriptor)
      : daemon_(std::move(daemon)), runtime_(runtime), socket_(std::make_unique<WorkerSocket>(descriptor, [this](const std::stop_token& stop) { return daemon_->Fate(pid_, first_line_, stop); })) {
    Lend();
  }
  ~DaemonWorker() override {
    socket_.reset();
    if (pid_ > 0) daemon_->KillWorker(pid_);
    daemon_->Returned(pid_);
  }
  WorkerSocket& socket() override { return *socket_; }
  const PythonRuntime& runtime() const override { return runtime_; }
  int pid() const override { return pid_; }
  void set_pid(int pid) {
    pid_ = pid;
    daemon_->Forked(pid);
  }
  /// What is printed from now on is the new task's.
  void Lend() { first_line_ = daemon_->stderr_lines(); }

 private:
  const std::shared_ptr<Daemon> daemon_;
  const PythonRuntime& runtime_;  // the daemon's
  std::unique_ptr<WorkerSocket> socket_;
  int pid_ = 0;
  int64_t first_line_ = 0;
};

Result<int> Connect(int port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return IoError("open a socket", errno);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    const int error = errno;
    close(descriptor);
    return IoError("connect to pyspark.daemon", error);
  }
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return descriptor;
}

}  // namespace

std::string NewSecret() {
  std::array<unsigned char, 32> bytes{};
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (got > 0) have += static_cast<size_t>(got);
  }
  std::string text;
  for (const unsigned char byte : bytes) {
    text.push_back("0123456789abcdef"[byte >> 4]);
    text.push_back("0123456789abcdef"[byte & 15]);
  }
  return text;
}

Result<std::shared_ptr<Daemon>> Daemon::Launch(PythonRuntime runtime, std::map<std::string, std::string> environment,
                                               PythonWorkers::Output output, std::chrono::milliseconds timeout, std::stop_token stop) {
  std::shared_ptr<Daemon> daemon(new Daemon());
  daemon->secret_ = NewSecret();
  environment["PYTHON_WORKER_FACTORY_SECRET"] = daemon->secret_;
  ChildSpec spec;
  spec.arguments = {runtime.executable, "-c", kRunDaemon, "pyspark.daemon", "pyspark.worker"};
  spec.environment = std::move(environment);
  spec.has_stdin = true;
  // It hangs its workers up when its input ends: killed by the kernel it could not.
  spec.dies_with_server = false;
  spec.stdout_prefix_bytes = 4;
  daemon->output_ = std::move(output);
  spec.on_line = [raw = daemon.get()](std::string_view line, bool is_stderr) { raw->TakeLine(line, is_stderr); };
  daemon->runtime_ = std::move(runtime);
  TW_ASSIGN_OR_RETURN(daemon->process_, ChildProcess::Launch(std::move(spec)));
  TW_ASSIGN_OR_RETURN(const std::string port, daemon->process_->StdoutPrefix(timeout, stop));
  daemon->port_ = ReadJavaInt(port.data());
  if (daemon->port_ <= 0 || daemon->port_ > 65535) {
    return Error("PYTHON_WORKER_CRASHED")
        .With("detail", "pyspark.daemon began its output with something else than a port; does a module print when it is imported?")
        .Kind(ErrorKind::kEnvironment);
  }
  return daemon;
}

Daemon::~Daemon() {
  if (process_ != nullptr) process_->End(kEndGrace);
}

std::unique_ptr<PooledWorker> Daemon::TakeIdle() {
  while (true) {
    std::unique_ptr<PooledWorker> worker;
    {
      const MutexLock lock(mutex_);
      if (idle_.empty()) return nullptr;
      worker = std::move(idle_.back().worker);
      idle_.pop_back();
    }
    if (!worker->socket().IsQuiet()) continue;  // it has died in the meantime
    static_cast<DaemonWorker&>(*worker).Lend();
    return worker;
  }
}

// While one lives, ends of workers that nobody knows are kept.
class Daemon::Forking {
 public:
  explicit Forking(Daemon& daemon) : daemon_(daemon) {
    const MutexLock lock(daemon_.mutex_);
    ++daemon_.forking_;
  }
  ~Forking() {
    const MutexLock lock(daemon_.mutex_);
    if (--daemon_.forking_ == 0) daemon_.ends_of_new_.clear();
  }
  Forking(const Forking&) = delete;

 private:
  Daemon& daemon_;
};

Result<std::unique_ptr<PooledWorker>> Daemon::Fork(std::chrono::milliseconds timeout, std::stop_token stop) {
  const Forking forking(*this);
  TW_ASSIGN_OR_RETURN(const int descriptor, Connect(port_));
  {
    const MutexLock lock(mutex_);
    ++live_;
    used_ = SystemClock::Get().NowMonotonic();
  }
  auto worker = std::make_unique<DaemonWorker>(shared_from_this(), runtime_, descriptor);
  WorkerSocket& socket = worker->socket();
  socket.set_silence_limit(timeout);
  TW_ASSIGN_OR_RETURN(const int32_t pid, socket.ReadInt(stop));
  if (pid < 0) return Error("PYTHON_WORKER_CRASHED").With("detail", "pyspark.daemon could not fork").Kind(ErrorKind::kEnvironment);
  worker->set_pid(pid);
  TW_RETURN_NOT_OK(socket.Write(JavaData().Bytes(secret_).bytes(), stop));
  TW_ASSIGN_OR_RETURN(const std::string reply, socket.ReadBytes(stop));
  if (reply != "ok") return InternalError("a Python worker refused the secret");
  socket.set_silence_limit({});
  return std::unique_ptr<PooledWorker>(std::move(worker));
}

bool Daemon::Keep(std::unique_ptr<PooledWorker> worker, size_t max_idle, std::chrono::nanoseconds now) {
  if (!worker->socket().IsQuiet()) return false;
  worker->socket().set_silence_limit({});
  const MutexLock lock(mutex_);
  used_ = now;
  if (closed_ || idle_.size() >= max_idle) return false;
  idle_.push_back({std::move(worker), now});
  return true;
}

bool Daemon::EndIdle(std::chrono::nanoseconds since) {
  std::vector<std::unique_ptr<PooledWorker>> ended;
  bool unused = false;
  {
    const MutexLock lock(mutex_);
    while (!idle_.empty() && idle_.front().since < since) {
      ended.push_back(std::move(idle_.front().worker));
      idle_.pop_front();
    }
    unused = live_ == 0 && used_ < since;
  }
  return unused;
}

void Daemon::EndAllIdle() {
  {
    const MutexLock lock(mutex_);
    closed_ = true;
  }
  EndIdle(std::chrono::nanoseconds::max());
}

void Daemon::Count(PythonWorkers::Census* census) const {
  const MutexLock lock(mutex_);
  census->daemons += 1;
  census->idle += static_cast<int>(idle_.size());
  census->lent += live_ - static_cast<int>(idle_.size());
}

void Daemon::KillWorker(int pid) { process_->WriteStdin(JavaData().Int(pid).bytes()); }

void Daemon::Forked(int pid) {
  const MutexLock lock(mutex_);
  std::optional<int>& end = ends_[pid];
  end = std::nullopt;
  const auto told = ends_of_new_.find(pid);
  if (told == ends_of_new_.end()) return;
  end = told->second;
  ends_of_new_.erase(told);
}

void Daemon::Returned(int pid) {
  const MutexLock lock(mutex_);
  --live_;
  ends_.erase(pid);
}

int64_t Daemon::stderr_lines() const {
  const MutexLock lock(mutex_);
  return stderr_lines_;
}

void Daemon::TakeLine(std::string_view line, bool is_stderr) {
  if (is_stderr) {
    const MutexLock lock(mutex_);
    // A worker may have left its last line without an end.
    if (const size_t at = line.find(kWorkerEnded); at != std::string_view::npos) {
      const char* const last = line.data() + line.size();
      int pid = 0, status = 0;
      const char* const blank = std::from_chars(line.data() + at + kWorkerEnded.size(), last, pid).ptr;
      if (blank != last) std::from_chars(blank + 1, last, status);
      if (const auto found = ends_.find(pid); found != ends_.end()) {
        found->second = status;
      } else if (forking_ > 0) {
        ends_of_new_[pid] = status;
      }
      ended_.NotifyAll();
      line = line.substr(0, at);
      if (line.empty()) return;
    }
    stderr_tail_.emplace_back(line);
    stderr_tail_bytes_ += line.size();
    ++stderr_lines_;
    while (stderr_tail_bytes_ > kTailBytes && stderr_tail_.size() > 1) {
      stderr_tail_bytes_ -= stderr_tail_.front().size();
      stderr_tail_.pop_front();
    }
  }
  if (output_) output_(line, is_stderr);
}

std::string Daemon::Fate(int pid, int64_t first_line, const std::stop_token& stop) {
  std::optional<int> end;
  {
    const MutexLock lock(mutex_);
    const auto told = [&] {
      const auto found = ends_.find(pid);
      return found == ends_.end() || found->second.has_value();
    };
    ended_.WaitFor(mutex_, stop, kFateLimit, told);
    if (const auto found = ends_.find(pid); found != ends_.end()) end = found->second;
  }
  std::string text = "its end of the connection is closed";
  if (end) text = DescribeEnd(*end);
  else if (process_->has_ended()) text = "pyspark.daemon has ended: " + process_->HowItEnded();
  const MutexLock lock(mutex_);
  const int64_t tail_begin = stderr_lines_ - static_cast<int64_t>(stderr_tail_.size());
  for (int64_t line = std::max(first_line, tail_begin); line < stderr_lines_; ++line) {
    text += "\n" + stderr_tail_[static_cast<size_t>(line - tail_begin)];
  }
  return text;
}

}  // namespace thalweg::engine
