#include "base/clock.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/signal.h"

namespace thalweg {
namespace {

// Longest single sleep: a step of the wall clock is noticed at the latest after it.
constexpr std::chrono::microseconds kLongestSleep = std::chrono::seconds(10);
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// The same moment on the clock that never goes back. When the wall clock is set back during a wait, this one ends it.
std::chrono::nanoseconds MonotonicEnd(std::chrono::nanoseconds now, int64_t wall_now_micros, int64_t wall_micros) {
  constexpr int64_t kFarMicros = int64_t{1} << 52;  // 142 years
  if (wall_micros == kNever || wall_micros - wall_now_micros > kFarMicros) return std::chrono::nanoseconds::max();
  return now + std::chrono::microseconds(wall_micros - wall_now_micros);
}

}  // namespace

int64_t Clock::NowMillis() const {
  const int64_t micros = NowMicros();
  return micros / 1000 - (micros % 1000 < 0 ? 1 : 0);
}

Clock::Wake Clock::WaitFor(std::chrono::microseconds duration, Signal* signal, std::stop_token stop) {
  return WaitUntil(NowMicros() + duration.count(), signal, std::move(stop));
}

SystemClock& SystemClock::Get() {
  static SystemClock clock;
  return clock;
}

int64_t SystemClock::NowMicros() const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

std::chrono::nanoseconds SystemClock::NowMonotonic() const {
  return std::chrono::steady_clock::now().time_since_epoch();
}

Clock::Wake SystemClock::WaitUntil(int64_t wall_micros, Signal* signal, std::stop_token stop) {
  Signal never;
  Signal& waited = signal != nullptr ? *signal : never;
  const std::chrono::nanoseconds end = MonotonicEnd(NowMonotonic(), NowMicros(), wall_micros);
  while (true) {
    if (waited.IsSet()) return Wake::kSignal;
    if (stop.stop_requested()) return Wake::kStop;
    const int64_t now = NowMicros();
    const std::chrono::nanoseconds monotonic_now = NowMonotonic();
    if (now >= wall_micros || monotonic_now >= end) return Wake::kTime;
    std::chrono::microseconds sleep = kLongestSleep;
    if (wall_micros != kNever) sleep = std::min(sleep, std::chrono::microseconds(wall_micros - now));
    // Rounded up: a wait must not end in a hurry of empty turns.
    sleep = std::min(sleep, std::chrono::ceil<std::chrono::microseconds>(end - monotonic_now));
    waited.WaitFor(stop, sleep);
  }
}

ManualClock::ManualClock(int64_t wall_micros) : state_(std::make_shared<State>()) {
  state_->wall_micros = wall_micros;
}

int64_t ManualClock::NowMicros() const {
  MutexLock lock(state_->mutex);
  return state_->wall_micros;
}

std::chrono::nanoseconds ManualClock::NowMonotonic() const {
  MutexLock lock(state_->mutex);
  return state_->monotonic;
}

Clock::Wake ManualClock::WaitUntil(int64_t wall_micros, Signal* signal, std::stop_token stop) {
  // The signal wakes the clock's own condition; its flag is kept here, since no second lock is taken under ours.
  auto signalled = std::make_shared<bool>(false);
  if (signal != nullptr) {
    signal->OnSet([state = state_, signalled] {
      MutexLock lock(state->mutex);
      *signalled = true;
      state->changed.NotifyAll();
    });
  }
  MutexLock lock(state_->mutex);
  const std::chrono::nanoseconds end = MonotonicEnd(state_->monotonic, state_->wall_micros, wall_micros);
  const auto is_time = [&] { return state_->wall_micros >= wall_micros || state_->monotonic >= end; };
  ++state_->waiters;
  state_->changed.NotifyAll();
  state_->changed.Wait(state_->mutex, stop, [&] { return *signalled || is_time(); });
  --state_->waiters;
  if (*signalled) return Wake::kSignal;
  return is_time() ? Wake::kTime : Wake::kStop;
}

void ManualClock::Advance(std::chrono::microseconds duration) {
  MutexLock lock(state_->mutex);
  state_->wall_micros += duration.count();
  state_->monotonic += duration;
  state_->changed.NotifyAll();
}

void ManualClock::SetMicros(int64_t wall_micros) {
  MutexLock lock(state_->mutex);
  if (wall_micros > state_->wall_micros) {
    state_->monotonic += std::chrono::microseconds(wall_micros - state_->wall_micros);
  }
  state_->wall_micros = wall_micros;
  state_->changed.NotifyAll();
}

void ManualClock::AwaitWaiters(int count) {
  MutexLock lock(state_->mutex);
  state_->changed.Wait(state_->mutex, [&] { return state_->waiters >= count; });
}

}  // namespace thalweg
