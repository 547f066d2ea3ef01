#pragma once

// A mutex, its lock and its condition, with Clang's thread-safety annotations.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

#if defined(__clang__)
#define TW_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define TW_THREAD_ANNOTATION(x)
#endif

#define TW_CAPABILITY(name) TW_THREAD_ANNOTATION(capability(name))
#define TW_SCOPED_CAPABILITY TW_THREAD_ANNOTATION(scoped_lockable)
#define TW_GUARDED_BY(mutex) TW_THREAD_ANNOTATION(guarded_by(mutex))
#define TW_PT_GUARDED_BY(mutex) TW_THREAD_ANNOTATION(pt_guarded_by(mutex))
#define TW_REQUIRES(...) TW_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define TW_EXCLUDES(...) TW_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define TW_ACQUIRE(...) TW_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define TW_RELEASE(...) TW_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define TW_NO_THREAD_SAFETY_ANALYSIS TW_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace thalweg {

/// Mutual exclusion. No callback, I/O or second lock under it.
class TW_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() TW_ACQUIRE() { mutex_.lock(); }
  void Unlock() TW_RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

/// Holds a mutex for its own lifetime.
class TW_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) TW_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() TW_RELEASE() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// Waits for a condition guarded by a mutex that the caller holds. Conditions are asked under the mutex.
/// Thread: any. Blocks: until the condition holds, the stop is requested or the time is over.
class CondVar {
 public:
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

  /// Waits without bound; for a condition that its owner surely brings about.
  template <typename Predicate>
  void Wait(Mutex& mutex, Predicate predicate) TW_REQUIRES(mutex) TW_NO_THREAD_SAFETY_ANALYSIS {
    Adopted lock(mutex);
    condition_.wait(lock.lock, std::move(predicate));
  }

  /// True when the condition holds, false when the stop came first.
  template <typename Predicate>
  bool Wait(Mutex& mutex, std::stop_token stop, Predicate predicate) TW_REQUIRES(mutex)
      TW_NO_THREAD_SAFETY_ANALYSIS {
    Adopted lock(mutex);
    return condition_.wait(lock.lock, std::move(stop), std::move(predicate));
  }

  /// True when the condition holds, false when the stop or `timeout` came first.
  template <typename Predicate>
  bool WaitFor(Mutex& mutex, std::stop_token stop, std::chrono::microseconds timeout, Predicate predicate)
      TW_REQUIRES(mutex) TW_NO_THREAD_SAFETY_ANALYSIS {
    Adopted lock(mutex);
    return condition_.wait_for(lock.lock, std::move(stop), timeout, std::move(predicate));
  }

 private:
  // Lends the caller's lock to the standard library for the wait.
  struct Adopted {
    explicit Adopted(Mutex& mutex) : lock(mutex.mutex_, std::adopt_lock) {}
    ~Adopted() { lock.release(); }
    std::unique_lock<std::mutex> lock;
  };

  std::condition_variable_any condition_;
};

}  // namespace thalweg
