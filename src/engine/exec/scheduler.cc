// The worker pool. Invariants, all under core.mutex:
// - a group is in the ring of its class exactly when it is open and has ready tasks;
// - a task is in a ready list exactly when its state is kQueued and its group is open;
// - an idle worker sleeps on `ready`; whoever makes a task ready wakes one if there is one.

#include <algorithm>
#include <array>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"
#include "base/clock.h"
#include "base/cores.h"
#include "base/thread.h"
#include "engine/exec/task.h"

namespace thalweg::engine {
namespace {

constexpr int64_t kSliceNs = 2'000'000;
constexpr int64_t kContendedSliceNs = 200'000;
constexpr int64_t kCreditLimitNs = 4 * kSliceNs;
constexpr size_t kBlockingQueue = 4096;

}  // namespace

int64_t MonotonicNs() { return SystemClock::Get().NowMonotonic().count(); }

bool SliceLimit::ShouldYield() const {
  const int64_t elapsed = MonotonicNs() - start_ns_;
  return elapsed >= kSliceNs || (elapsed >= kContendedSliceNs && waiting_.load(std::memory_order_relaxed) > 0);
}

struct SchedulerCore {
  Mutex mutex;
  CondVar ready;
  CondVar drained;
  bool stopping TW_GUARDED_BY(mutex) = false;
  int idle_workers TW_GUARDED_BY(mutex) = 0;
  // By class; the front group runs next.
  std::array<std::deque<std::shared_ptr<TaskGroup>>, 2> rings TW_GUARDED_BY(mutex);
  // Time that interactive queries may take before streaming ones: a third of what streaming took, so a quarter of all.
  int64_t interactive_credit_ns TW_GUARDED_BY(mutex) = 0;
  std::atomic<int> waiting{0};

  void AddReady(const std::shared_ptr<TaskGroup>& group, std::shared_ptr<Task> task) TW_REQUIRES(mutex) {
    group->ready_.push_back(std::move(task));
    waiting.fetch_add(1, std::memory_order_relaxed);
    if (!group->in_ring_) {
      group->in_ring_ = true;
      rings[static_cast<size_t>(group->class_)].push_back(group);
    }
    if (idle_workers > 0) ready.NotifyOne();
  }

  bool HasReady() const TW_REQUIRES(mutex) { return !rings[0].empty() || !rings[1].empty(); }

  std::shared_ptr<Task> Take() TW_REQUIRES(mutex) {
    auto& streaming = rings[static_cast<size_t>(QueryClass::kStreaming)];
    auto& interactive = rings[static_cast<size_t>(QueryClass::kInteractive)];
    const bool floor = !interactive.empty() && interactive_credit_ns >= kSliceNs;
    auto& ring = streaming.empty() || floor ? interactive : streaming;
    std::shared_ptr<TaskGroup> group = std::move(ring.front());
    ring.pop_front();
    std::shared_ptr<Task> task = std::move(group->ready_.front());
    group->ready_.pop_front();
    waiting.fetch_sub(1, std::memory_order_relaxed);
    ++group->running_;
    if (group->ready_.empty()) {
      group->in_ring_ = false;
    } else {
      ring.push_back(std::move(group));
    }
    return task;
  }

  void Account(QueryClass query_class, int64_t ns) TW_REQUIRES(mutex) {
    if (query_class == QueryClass::kInteractive) {
      interactive_credit_ns = std::max<int64_t>(0, interactive_credit_ns - ns);
    } else if (!rings[static_cast<size_t>(QueryClass::kInteractive)].empty()) {
      interactive_credit_ns = std::min(kCreditLimitNs, interactive_credit_ns + ns / 3);
    }
  }

  void Work() TW_EXCLUDES(mutex) {
    while (true) {
      std::shared_ptr<Task> task;
      {
        MutexLock lock(mutex);
        ++idle_workers;
        ready.Wait(mutex, [this] { return stopping || HasReady(); });
        --idle_workers;
        if (!HasReady()) return;
        task = Take();
      }
      RunOne(task);
    }
  }

  void RunOne(const std::shared_ptr<Task>& task) TW_EXCLUDES(mutex) {
    const int64_t start = MonotonicNs();
    task->state_.store(Task::State::kRunning, std::memory_order_seq_cst);
    const TaskRunner::SliceEnd end = task->runner_.RunSlice(SliceLimit(start, waiting));
    const int64_t ns = MonotonicNs() - start;
    TaskGroup& group = *task->group_;
    MutexLock lock(mutex);
    Account(group.class_, ns);
    bool again = end == TaskRunner::SliceEnd::kAgain;
    if (!again) {
      // From here on it may be woken, which queues it: its state is no longer ours to set.
      auto running = Task::State::kRunning;
      again = !task->state_.compare_exchange_strong(running, Task::State::kIdle);
    }
    if (again && group.open_) {
      task->state_.store(Task::State::kQueued);
      AddReady(task->group_, task);
    } else if (again) {
      task->state_.store(Task::State::kIdle);
    }
    if (--group.running_ == 0) drained.NotifyAll();
  }
};

void Task::Wake() {
  State state = state_.load();
  while (true) {
    if (state == State::kQueued || state == State::kRunningWoken) return;
    const State next = state == State::kIdle ? State::kQueued : State::kRunningWoken;
    if (state_.compare_exchange_weak(state, next)) break;
  }
  if (state == State::kRunning) return;
  SchedulerCore& core = *group_->core_;
  MutexLock lock(core.mutex);
  if (group_->open_) {
    core.AddReady(group_, shared_from_this());
  } else {
    state_.store(State::kIdle);
  }
}

TaskGroup::TaskGroup(std::shared_ptr<SchedulerCore> core, QueryClass query_class)
    : core_(std::move(core)), class_(query_class) {}

void TaskGroup::Open() {
  MutexLock lock(core_->mutex);
  open_ = true;
}

void TaskGroup::Close() {
  std::deque<std::shared_ptr<Task>> dropped;
  MutexLock lock(core_->mutex);
  open_ = false;
  core_->waiting.fetch_sub(static_cast<int>(ready_.size()), std::memory_order_relaxed);
  dropped.swap(ready_);
  for (const auto& task : dropped) task->state_.store(Task::State::kIdle);
  if (in_ring_) {
    auto& ring = core_->rings[static_cast<size_t>(class_)];
    ring.erase(std::find_if(ring.begin(), ring.end(), [this](const auto& group) { return group.get() == this; }));
    in_ring_ = false;
  }
  core_->drained.Wait(core_->mutex, [this] { return running_ == 0; });
}

struct Scheduler::Impl {
  explicit Impl(Options options) : core(std::make_shared<SchedulerCore>()), blocking(kBlockingQueue) {
    int count = options.workers;
    if (count <= 0) count = AvailableCores();
    worker_count = count;
    for (int i = 0; i < count; ++i) {
      workers.push_back(StartLoop("worker-" + std::to_string(i), [this](std::stop_token) {
        core->Work();
        return false;
      }));
    }
    io_limit = std::max(1, options.io_threads);
  }

  ~Impl() {
    {
      MutexLock lock(core->mutex);
      core->stopping = true;
      core->ready.NotifyAll();
    }
    workers.clear();
    blocking.Close();
    MutexLock lock(io_mutex);
    io_threads.clear();
  }

  struct Ended {
    std::atomic<int>& outstanding;
    ~Ended() { outstanding.fetch_sub(1); }
  };

  // I/O threads start when there is work for one more, so that an idle server has none.
  void EnsureIoThread() TW_EXCLUDES(io_mutex) {
    MutexLock lock(io_mutex);
    const int threads = static_cast<int>(io_threads.size());
    if (threads >= io_limit || io_outstanding.load() <= threads) return;
    io_threads.push_back(StartLoop("io-" + std::to_string(io_threads.size()), [this](std::stop_token stop) {
      while (auto work = blocking.Pop(stop)) {
        const Ended ended{io_outstanding};
        (*work)();
      }
      return false;
    }));
  }

  std::shared_ptr<SchedulerCore> core;
  int worker_count = 0;
  int io_limit = 0;
  BoundedQueue<std::function<void()>> blocking;
  std::atomic<int> io_outstanding{0};  // queued or running
  Mutex io_mutex;
  std::vector<std::jthread> io_threads TW_GUARDED_BY(io_mutex);
  std::vector<std::jthread> workers;
};

Scheduler::Scheduler(Options options) : impl_(std::make_unique<Impl>(options)) {}
Scheduler::~Scheduler() = default;
int Scheduler::workers() const { return impl_->worker_count; }

std::shared_ptr<Signal> Scheduler::RunBlocking(std::function<void()> work) {
  auto done = std::make_shared<Signal>();
  struct SetAtEnd {
    Signal& done;
    ~SetAtEnd() { done.Set(); }
  };
  std::function<void()> item = [work = std::move(work), done] {
    const SetAtEnd end{*done};  // whatever work throws: somebody waits
    work();
  };
  impl_->io_outstanding.fetch_add(1);
  impl_->EnsureIoThread();
  if (!impl_->blocking.Push(std::move(item))) {
    done->Set();  // only while the scheduler is being destroyed
  }
  return done;
}

std::shared_ptr<TaskGroup> NewTaskGroup(Scheduler& scheduler, QueryClass query_class) {
  return std::make_shared<TaskGroup>(scheduler.impl().core, query_class);
}

}  // namespace thalweg::engine
