#pragma once

// Contract: when a micro-batch may start.

#include <chrono>
#include <variant>

namespace thalweg::streaming {

/// interval 0: as soon as the previous micro-batch has ended (the default trigger).
struct ProcessingTime {
  std::chrono::milliseconds interval{0};
};
struct AvailableNow {};
struct Once {};
struct Continuous {
  std::chrono::milliseconds checkpoint_interval;
};
struct RealTime {
  std::chrono::milliseconds batch_duration;
};
using Trigger = std::variant<ProcessingTime, AvailableNow, Once, Continuous, RealTime>;

}  // namespace thalweg::streaming
