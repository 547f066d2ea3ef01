#include "apps/wait_for_signals.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>

#include "base/signal.h"
#include "base/thread.h"

namespace thalweg::apps {

namespace {

constexpr std::chrono::seconds kStopTime{10};
constexpr std::chrono::seconds kCleanUpTime{5};  // of it, for the program
constexpr timespec kTick{0, 20'000'000};

using Deadline = std::chrono::steady_clock::time_point;

sigset_t Signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGCHLD);
  return set;
}

int WaitForOne(siginfo_t* info) {
  const sigset_t set = Signals();
  int signal = -1;
  do {
    signal = sigwaitinfo(&set, info);
  } while (signal < 0 && errno == EINTR);
  return signal;
}

// Whether a stop signal is there now; waits one tick.
bool StopSignalWithinTick() {
  sigset_t set = Signals();
  sigdelset(&set, SIGCHLD);
  siginfo_t info;
  return sigtimedwait(&set, &info, &kTick) > 0;
}

constexpr int kKilled = 128 + SIGKILL;

[[noreturn]] void EndAtOnce(pid_t child, int exit_status) {
  if (child > 0) kill(child, SIGKILL);
  _exit(exit_status);
}

// Runs `stop` beside, until it returns. A signal, or the end of the time, ends this process with `exit_status`, and `child` with it
// when there is one.
void StopInTime(const std::function<void()>& stop, Deadline deadline, pid_t child, int exit_status) {
  const auto done = std::make_shared<Signal>();
  std::jthread stopper = StartThread("tw-stop", [stop, done](std::stop_token) {
    stop();
    done->Set();
  });
  while (!done->IsSet()) {
    if (StopSignalWithinTick() || std::chrono::steady_clock::now() >= deadline) EndAtOnce(child, exit_status);
  }
}

// The exit status once the child has ended.
std::optional<int> ChildStatus(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, WNOHANG) != child) return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The exit status of a child that ends in time; a signal ends this process and the child.
std::optional<int> ChildStatusBefore(pid_t child, Deadline deadline) {
  while (true) {
    if (const std::optional<int> status = ChildStatus(child)) return status;
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    if (StopSignalWithinTick()) EndAtOnce(child, kKilled);
  }
}

}  // namespace

void BlockSignals() {
  const sigset_t set = Signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

int ServeUntilSignal(const std::function<void()>& stop) {
  siginfo_t info;
  while (WaitForOne(&info) == SIGCHLD) {
  }
  StopInTime(stop, std::chrono::steady_clock::now() + kStopTime, 0, 0);
  return 0;
}

int ServeUntilChildEnds(pid_t child, const std::function<void()>& stop) {
  while (true) {
    siginfo_t info;
    const int signal = WaitForOne(&info);
    if (const std::optional<int> status = ChildStatus(child)) return *status;
    if (signal == SIGINT && info.si_code != SI_KERNEL) kill(child, SIGINT);
    if (signal == SIGTERM) break;
  }
  // The program first: while it cleans up, its calls are answered.
  const Deadline now = std::chrono::steady_clock::now();
  kill(child, SIGTERM);
  std::optional<int> status = ChildStatusBefore(child, now + kCleanUpTime);
  StopInTime(stop, now + kStopTime, status ? 0 : child, status.value_or(kKilled));
  if (!status) status = ChildStatusBefore(child, now + kStopTime);
  if (!status) kill(child, SIGKILL);
  return status.value_or(kKilled);
}

}  // namespace thalweg::apps
