#include "engine/pyworker/child_process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/thread.h"
#include "engine/pyworker/fork_thread.h"

namespace thalweg::engine {

namespace {

constexpr size_t kTailBytes = 8192;
constexpr size_t kLineBytes = 64 * 1024;  // a longer line is handed out in pieces

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() { Reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&& other) noexcept {
    Reset();
    std::swap(value_, other.value_);
    return *this;
  }
  void Reset() {
    if (value_ >= 0) close(value_);
    value_ = -1;
  }
  int get() const { return value_; }

 private:
  int value_ = -1;
};

struct Pipe {
  Descriptor read, write;
  Status Open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return IoError("make a pipe", errno);
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
    return Status::OK();
  }
  // Unlike a pipe it can be written to without a SIGPIPE when nobody reads any more: the program around us may not ignore that.
  Status OpenSocket() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return IoError("make a pair of sockets", errno);
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
    return Status::OK();
  }
  Status OpenNull() {
    read = Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
    return read.get() < 0 ? IoError("open /dev/null", errno) : Status::OK();
  }
};

// What the child needs between fork and exec, where nothing may be allocated.
struct ChildPlan {
  const char* program = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  int in = -1, out = -1, err = -1, report = -1;
  bool dies_with_server = false;
  int64_t memory_limit_bytes = 0;
  pid_t parent = 0;
};

[[noreturn]] void RunChild(const ChildPlan& plan) {
  setpgid(0, 0);
  if (plan.dies_with_server) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != plan.parent) _exit(127);  // it ended before we had asked
  }
  if (plan.memory_limit_bytes > 0) {
    const rlim_t bytes = static_cast<rlim_t>(plan.memory_limit_bytes);
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
  }
  dup2(plan.in, 0);
  dup2(plan.out, 1);
  dup2(plan.err, 2);
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGUSR1, SIGUSR2}) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(plan.program, plan.arguments, plan.environment);
  const int error = errno;
  const ssize_t told = write(plan.report, &error, sizeof(error));
  _exit(told == sizeof(error) ? 127 : 126);
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

struct ChildProcess::Pipes {
  Pipe in, out, err;
  Descriptor process;  // pidfd; -1 where the kernel has none
};

Result<std::unique_ptr<ChildProcess>> ChildProcess::Launch(ChildSpec spec) {
  const std::string program = spec.arguments.empty() ? std::string() : FindProgram(spec.arguments[0]);
  if (program.empty()) return IoError("start " + (spec.arguments.empty() ? std::string("a program") : spec.arguments[0]), ENOENT);
  std::unique_ptr<ChildProcess> child(new ChildProcess());
  child->pipes_ = std::make_unique<Pipes>();
  Pipes& pipes = *child->pipes_;
  Pipe report;
  TW_RETURN_NOT_OK(spec.has_stdin ? pipes.in.OpenSocket() : pipes.in.OpenNull());
  TW_RETURN_NOT_OK(pipes.out.Open());
  TW_RETURN_NOT_OK(pipes.err.Open());
  TW_RETURN_NOT_OK(report.Open());

  std::vector<std::string> variables;
  for (const auto& [name, value] : spec.environment) variables.push_back(name + "=" + value);
  const std::vector<char*> arguments = Pointers(spec.arguments);
  const std::vector<char*> environment = Pointers(variables);
  ChildPlan plan{program.c_str(), arguments.data(), environment.data(), pipes.in.read.get(), pipes.out.write.get(),
                 pipes.err.write.get(), report.write.get(), spec.dies_with_server, spec.memory_limit_bytes, getpid()};
  pid_t pid = -1;
  int error = 0;
  ForkThread::Get().Run([&] {
    pid = fork();
    if (pid == 0) RunChild(plan);
    error = errno;
  });
  if (pid < 0) return IoError("start " + program, error);
  report.write.Reset();
  pipes.in.read.Reset();
  pipes.out.write.Reset();
  pipes.err.write.Reset();
  ssize_t told = 0;
  while ((told = read(report.read.get(), &error, sizeof(error))) < 0 && errno == EINTR) {
  }
  const bool failed = told == sizeof(error);
  pipes.process = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  for (const int descriptor : {pipes.out.read.get(), pipes.err.read.get()}) fcntl(descriptor, F_SETFL, O_NONBLOCK);
  child->pid_ = pid;
  child->spec_ = std::move(spec);
  child->watcher_ = StartLoop("child output", [raw = child.get()](const std::stop_token&) {
    raw->Watch();
    return false;
  });
  if (failed) return IoError("start " + program, error);
  return child;
}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0) return;
  Kill();
  ended_->Wait({});
}

void ChildProcess::Watch() {
  std::array<char, 16384> buffer{};
  const auto drain = [&](Descriptor& from, bool is_stderr) {
    while (from.get() >= 0) {
      const ssize_t got = read(from.get(), buffer.data(), buffer.size());
      if (got > 0) {
        TakeOutput({buffer.data(), static_cast<size_t>(got)}, is_stderr);
      } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        from.Reset();
      } else if (errno == EAGAIN) {
        return;
      }
    }
  };
  const int interval_ms = pipes_->process.get() >= 0 ? -1 : 20;
  while (true) {
    std::array<pollfd, 3> waits{pollfd{pipes_->out.read.get(), POLLIN, 0}, pollfd{pipes_->err.read.get(), POLLIN, 0},
                                pollfd{pipes_->process.get(), POLLIN, 0}};
    if (poll(waits.data(), waits.size(), interval_ms) < 0 && errno != EINTR) break;
    drain(pipes_->out.read, false);
    drain(pipes_->err.read, true);
    siginfo_t info{};
    // Left as a zombie until Reap holds the lock: the id stays ours while somebody may signal it.
    const int asked = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    if (asked == 0 ? info.si_pid == pid_ : errno == ECHILD) break;  // a host program may have reaped it
  }
  drain(pipes_->out.read, false);
  drain(pipes_->err.read, true);
  for (const bool is_stderr : {false, true}) {
    if (!partial_[is_stderr].empty()) Line(std::exchange(partial_[is_stderr], {}), is_stderr);
  }
  Reap();
  prefix_read_->Set();
  ended_->Set();
}

void ChildProcess::Reap() {
  int wait_status = 0;
  const MutexLock lock(mutex_);
  while (waitpid(pid_, &wait_status, 0) < 0 && errno == EINTR) {
  }
  kill(-pid_, SIGKILL);  // what it has left of its group
  wait_status_ = wait_status;
  reaped_ = true;
}

void ChildProcess::TakeOutput(std::string_view bytes, bool is_stderr) {
  if (!is_stderr && spec_.stdout_prefix_bytes > 0) {
    bool complete = false;
    {
      const MutexLock lock(mutex_);
      const size_t missing = spec_.stdout_prefix_bytes - prefix_.size();
      prefix_.append(bytes.substr(0, missing));
      bytes.remove_prefix(std::min(missing, bytes.size()));
      complete = missing > 0 && prefix_.size() == spec_.stdout_prefix_bytes;
    }
    if (complete) prefix_read_->Set();
  }
  std::string& partial = partial_[is_stderr];
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    partial.append(bytes.substr(0, end));
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    if (end == std::string_view::npos && partial.size() < kLineBytes) return;
    Line(std::exchange(partial, {}), is_stderr);
  }
}

void ChildProcess::Line(std::string_view line, bool is_stderr) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (is_stderr) {
    const MutexLock lock(mutex_);
    stderr_tail_.append(line).push_back('\n');
    if (stderr_tail_.size() > kTailBytes) {
      const size_t from = stderr_tail_.find('\n', stderr_tail_.size() - kTailBytes);
      stderr_tail_.erase(0, from == std::string::npos ? stderr_tail_.size() - kTailBytes : from + 1);
    }
  }
  if (spec_.on_line) spec_.on_line(line, is_stderr);
}

std::string ChildProcess::HowItEnded() const {
  const MutexLock lock(mutex_);
  return reaped_ ? DescribeEnd(wait_status_) : "running";
}

std::string DescribeEnd(int wait_status) {
  if (WIFEXITED(wait_status)) return "exit status " + std::to_string(WEXITSTATUS(wait_status));
  const int number = WTERMSIG(wait_status);
  const char* name = sigdescr_np(number);
  return "signal " + std::to_string(number) + (name == nullptr ? "" : " (" + std::string(name) + ")");
}

std::optional<int> ChildProcess::exit_status() const {
  const MutexLock lock(mutex_);
  if (!reaped_ || !WIFEXITED(wait_status_)) return std::nullopt;
  return WEXITSTATUS(wait_status_);
}

std::string ChildProcess::StderrTail() const {
  const MutexLock lock(mutex_);
  return stderr_tail_;
}

Result<std::string> ChildProcess::StdoutPrefix(std::chrono::milliseconds timeout, std::stop_token stop) {
  const bool set = prefix_read_->WaitFor(stop, timeout);
  if (stop.stop_requested()) return Cancelled();
  if (!set) return Error("PYTHON_WORKER_TIMEOUT").With("what", "its start").With("detail", StderrTail()).Kind(ErrorKind::kEnvironment);
  const MutexLock lock(mutex_);
  if (prefix_.size() == spec_.stdout_prefix_bytes) return prefix_;
  return Error("PYTHON_WORKER_CRASHED").With("detail", "it ended before it had started\n" + stderr_tail_).Kind(ErrorKind::kEnvironment);
}

bool ChildProcess::WriteStdin(std::string_view bytes) {
  return send(pipes_->in.write.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(bytes.size());
}

void ChildProcess::SignalGroup(int number) {
  const MutexLock lock(mutex_);
  if (reaped_) return;
  if (kill(-pid_, number) != 0) kill(pid_, number);
}

void ChildProcess::Terminate() { SignalGroup(SIGTERM); }
void ChildProcess::Kill() { SignalGroup(SIGKILL); }

void ChildProcess::End(std::chrono::milliseconds grace) {
  Terminate();
  if (!ended_->WaitFor({}, grace)) Kill();
  ended_->Wait({});
}

std::string FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : std::string();
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const size_t end = rest.find(':');
    const std::string candidate = std::string(rest.substr(0, end)) + "/" + name;
    if (!name.empty() && access(candidate.c_str(), X_OK) == 0) return candidate;
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
}

std::map<std::string, std::string> OwnEnvironment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos && equals > 0) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace thalweg::engine
