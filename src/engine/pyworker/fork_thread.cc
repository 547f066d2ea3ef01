#include "engine/pyworker/fork_thread.h"

#include "base/signal.h"
#include "base/thread.h"

namespace thalweg::engine {

ForkThread& ForkThread::Get() {
  static ForkThread thread;
  return thread;
}

ForkThread::ForkThread() {
  thread_ = StartThread("fork", [this](const std::stop_token&) {
    while (const std::optional<std::function<void()>> body = work_.Pop()) (*body)();
  });
}

ForkThread::~ForkThread() { work_.Close(); }

void ForkThread::Run(const std::function<void()>& body) {
  const auto done = std::make_shared<Signal>();
  work_.Push([&body, done] {
    body();
    done->Set();
  });
  done->Wait({});
}

}  // namespace thalweg::engine
