#include "front/connect/task_pool.h"

#include <pthread.h>

#include <deque>

#include "base/log.h"
#include "base/mutex.h"
#include "base/thread.h"

namespace thalweg::front {

namespace {

constexpr size_t kStackBytes = 64 << 20;  // reserved, not touched until a plan is that deep
constexpr std::chrono::seconds kIdle{10};

}  // namespace

struct TaskPool::State {
  Mutex mutex;
  CondVar changed;
  std::deque<std::function<void()>> tasks TW_GUARDED_BY(mutex);
  int threads TW_GUARDED_BY(mutex) = 0;
  int idle TW_GUARDED_BY(mutex) = 0;
  bool stopping TW_GUARDED_BY(mutex) = false;

  void Work() {
    SetThreadName("tw-operation");
    while (true) {
      std::function<void()> task;
      {
        const MutexLock lock(mutex);
        ++idle;
        const bool ready = changed.WaitFor(mutex, {}, kIdle, [&] { return !tasks.empty() || stopping; });
        --idle;
        if (!tasks.empty()) {
          task = std::move(tasks.front());
          tasks.pop_front();
        } else if (!ready || stopping) {
          --threads;
          changed.NotifyAll();
          return;
        }
      }
      if (!task) continue;
      try {
        task();
      } catch (const std::exception& error) {
        TW_LOG(kError, "an operation threw", {"error", error.what()});
      }
    }
  }

  static void* Main(void* argument) {
    const std::unique_ptr<std::shared_ptr<State>> state(static_cast<std::shared_ptr<State>*>(argument));
    (*state)->Work();
    return nullptr;
  }

  static bool Spawn(const std::shared_ptr<State>& state) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStackBytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);  // counted in `threads`; Stop waits for all
    auto* argument = new std::shared_ptr<State>(state);
    pthread_t thread{};
    const bool made = pthread_create(&thread, &attributes, &Main, argument) == 0;
    pthread_attr_destroy(&attributes);
    if (!made) delete argument;
    return made;
  }
};

TaskPool::TaskPool() : state_(std::make_shared<State>()) {}
TaskPool::~TaskPool() { Stop(); }

bool TaskPool::Run(std::function<void()> task) {
  bool spawn = false;
  {
    const MutexLock lock(state_->mutex);
    if (state_->stopping) return false;
    state_->tasks.push_back(std::move(task));
    spawn = state_->idle < static_cast<int>(state_->tasks.size());
    if (spawn) ++state_->threads;
  }
  if (!spawn) {
    state_->changed.NotifyOne();
    return true;
  }
  if (State::Spawn(state_)) return true;
  const MutexLock lock(state_->mutex);
  --state_->threads;
  if (state_->threads > 0) return true;  // a busy thread will come to it
  state_->tasks.pop_back();
  return false;
}

void TaskPool::Stop() {
  const MutexLock lock(state_->mutex);
  state_->stopping = true;
  state_->changed.NotifyAll();
  state_->changed.Wait(state_->mutex, [&] { return state_->threads == 0; });
}

}  // namespace thalweg::front
