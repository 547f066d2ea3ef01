#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "base/mutex.h"

namespace thalweg {

class Signal;

/// Where time comes from, so that a query can run on simulated time. Thread: any.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Wall time in microseconds since 1970-01-01 00:00 UTC.
  virtual int64_t NowMicros() const = 0;
  /// Wall time in milliseconds since 1970-01-01 00:00 UTC, rounded down.
  int64_t NowMillis() const;
  /// Time since some fixed point; never goes back. For durations.
  virtual std::chrono::nanoseconds NowMonotonic() const = 0;

  /// What ended a wait.
  enum class Wake { kTime, kSignal, kStop };

  /// Blocks until the wall clock shows `wall_micros` (INT64_MAX: never), `signal` is set (may be null; it is not
  /// reset) or a stop is requested. A reached signal is reported before a reached time.
  virtual Wake WaitUntil(int64_t wall_micros, Signal* signal, std::stop_token stop) = 0;
  /// The same for a duration from now.
  Wake WaitFor(std::chrono::microseconds duration, Signal* signal, std::stop_token stop);
};

/// The machine's clock.
class SystemClock final : public Clock {
 public:
  /// The one of the process.
  static SystemClock& Get();

  int64_t NowMicros() const override;
  std::chrono::nanoseconds NowMonotonic() const override;
  Wake WaitUntil(int64_t wall_micros, Signal* signal, std::stop_token stop) override;
};

/// Test double: stands still until it is moved by hand; moving it wakes whoever waits for a time that has come.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t wall_micros = 0);

  int64_t NowMicros() const override TW_EXCLUDES(state_->mutex);
  std::chrono::nanoseconds NowMonotonic() const override TW_EXCLUDES(state_->mutex);
  Wake WaitUntil(int64_t wall_micros, Signal* signal, std::stop_token stop) override
      TW_EXCLUDES(state_->mutex);

  /// Moves wall and monotonic time forward.
  void Advance(std::chrono::microseconds duration) TW_EXCLUDES(state_->mutex);
  /// Sets the wall time, also backwards; monotonic time moves only forwards.
  void SetMicros(int64_t wall_micros) TW_EXCLUDES(state_->mutex);
  /// Blocks until `count` threads wait in WaitUntil: then everything that can happen at this time has happened.
  void AwaitWaiters(int count) TW_EXCLUDES(state_->mutex);

 private:
  // Shared, since a signal's callback may come after the clock is gone.
  struct State {
    Mutex mutex;
    CondVar changed;
    int64_t wall_micros TW_GUARDED_BY(mutex) = 0;
    std::chrono::nanoseconds monotonic TW_GUARDED_BY(mutex){0};
    int waiters TW_GUARDED_BY(mutex) = 0;
  };
  std::shared_ptr<State> state_;
};

}  // namespace thalweg
