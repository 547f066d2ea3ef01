#include "base/thread.h"

#include <pthread.h>

#include <exception>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/no_throw.h"

namespace thalweg {
namespace {

constexpr std::chrono::milliseconds kRestAfterException{100};

/// Runs `body`; false when it threw. Telling of it needs memory too: then it is left untold.
bool RunGuarded(const std::string& name, const std::function<void()>& body, const std::function<void(const Status&)>& on_exception) {
  try {
    const Status status = NoThrow([&] {
      body();
      return Status::OK();
    });
    if (status.ok()) return true;
    TW_LOG(kError, "a thread met an exception", {"thread", name}, {"error", status});
    if (on_exception != nullptr) on_exception(status);
  } catch (const std::exception&) {
    return false;
  }
  return false;
}

}  // namespace

void SetThreadName(const std::string& name) {
#if defined(__APPLE__)
  pthread_setname_np(name.substr(0, 15).c_str());
#else
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
#endif
}

std::jthread StartThread(std::string name, std::function<void(std::stop_token)> body,
                         std::function<void(const Status&)> on_exception) {
  return std::jthread([name = std::move(name), body = std::move(body), on_exception = std::move(on_exception)](std::stop_token stop) {
    SetThreadName(name);
    RunGuarded(name, [&] { body(std::move(stop)); }, on_exception);
  });
}

std::jthread StartLoop(std::string name, std::function<bool(std::stop_token)> turn) {
  return std::jthread([name = std::move(name), turn = std::move(turn)](std::stop_token stop) {
    SetThreadName(name);
    for (bool more = true; more;) {
      if (RunGuarded(name, [&] { more = turn(stop); }, nullptr)) continue;
      more = SystemClock::Get().WaitFor(kRestAfterException, nullptr, stop) != Clock::Wake::kStop;
    }
  });
}

}  // namespace thalweg
