#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "engine/exec/execution.h"
#include "engine/exec/physical_plan.h"

namespace thalweg::streaming {

enum class WatermarkPolicy : uint8_t { kMin, kMax };
/// "min" or "max", any case.
Result<WatermarkPolicy> ParseWatermarkPolicy(std::string_view text);

/// Merges the event-time watermarks of one query, micro-batch by micro-batch.
/// Input: event-time statistics per watermark operator, once per micro-batch. Output: the query's
/// watermark, ms since 1970 UTC; never decreases, starts at 0. An operator that has seen no row yet
/// counts as 0. Thread: confined to the query's driver. Blocks: never. Errors: none. Source:
/// Spark's WatermarkTracker.
class WatermarkTracker {
 public:
  explicit WatermarkTracker(WatermarkPolicy policy) : policy_(policy) {}
  /// After a restart: the value of the logs.
  void Restore(int64_t watermark_ms);
  void Update(const std::vector<engine::EventTimeStats>& stats,
              const std::vector<int64_t>& delays_ms);
  int64_t current_ms() const { return global_ms_; }

 private:
  WatermarkPolicy policy_;
  int64_t global_ms_ = 0;
  std::vector<std::optional<int64_t>> per_operator_ms_;
};

/// The watermark that each stateful operator of a plan sees when the query's is `watermark_ms`:
/// watermark operators set it, stateless ones pass the least of their inputs on, stateful ones what
/// they make of it (output_watermark of the node; the same unless said).
/// 0 where no input has one. Source: Spark's WatermarkPropagator. Errors:
/// a watermark above another one.
Result<std::map<int64_t, int64_t>> PropagateWatermark(const engine::PhysicalPlan& plan,
                                                      int64_t watermark_ms);

/// The declared delay of every watermark operator, by its index.
std::vector<int64_t> WatermarkDelays(const engine::PhysicalPlan& plan);

}  // namespace thalweg::streaming
