#pragma once

// Durations of the phases of a trigger, for progress (durationMs).

#include <utility>

#include "streaming/query/micro_batch_driver.h"

namespace thalweg::streaming {

/// Runs `body` and adds what it took to the phase.
template <typename F>
auto MicroBatchDriver::Timed(const char* phase, F&& body) {
  const auto begin = spec_.clock->NowMonotonic();
  auto result = std::forward<F>(body)();
  duration_ns_[phase] += (spec_.clock->NowMonotonic() - begin).count();
  return result;
}

}  // namespace thalweg::streaming
