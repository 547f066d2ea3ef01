#include "streaming/query/watermark.h"

#include <algorithm>

#include "base/string_case.h"

namespace thalweg::streaming {
namespace {

using engine::PhysicalNode;

class Propagator {
 public:
  explicit Propagator(int64_t watermark_ms) : watermark_ms_(watermark_ms) {}

  /// The watermark of the node's output; nothing when no input has one.
  Result<std::optional<int64_t>> Visit(const PhysicalNode& node) {
    std::optional<int64_t> input;
    for (const engine::PhysicalInput& child : node.inputs) {
      TW_ASSIGN_OR_RETURN(const std::optional<int64_t> output, Visit(*child.node));
      if (output) input = input ? std::min(*input, *output) : *output;
    }
    if (node.watermark) {
      if (input && watermark_ms_ > 0) {
        return Error("_LEGACY_ERROR_TEMP_3076")
            .With("config", "spark.sql.streaming.statefulOperator.allowMultiple");
      }
      return std::optional<int64_t>(watermark_ms_);
    }
    if (node.stateful_id) per_operator_ms[*node.stateful_id] = input.value_or(0);
    // Rows of such an operator may be older than its input's watermark. At 0 nothing has a watermark yet.
    if (input && watermark_ms_ > 0 && node.output_watermark) return std::optional<int64_t>(node.output_watermark(*input));
    return input;
  }

  std::map<int64_t, int64_t> per_operator_ms;

 private:
  int64_t watermark_ms_;
};

void CollectDelays(const PhysicalNode& node, std::vector<int64_t>* delays_ms) {
  if (node.watermark) {
    const size_t index = *node.watermark;
    if (delays_ms->size() <= index) delays_ms->resize(index + 1);
    (*delays_ms)[index] = node.watermark_delay_ms;
  }
  for (const engine::PhysicalInput& input : node.inputs) CollectDelays(*input.node, delays_ms);
}

}  // namespace

Result<WatermarkPolicy> ParseWatermarkPolicy(std::string_view text) {
  if (EqualsIgnoreCase(text, "min")) return WatermarkPolicy::kMin;
  if (EqualsIgnoreCase(text, "max")) return WatermarkPolicy::kMax;
  return Error("INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS")
      .With("confName", "spark.sql.streaming.multipleWatermarkPolicy")
      .With("confValue", text)
      .With("confOptions", "min, max");
}

void WatermarkTracker::Restore(int64_t watermark_ms) {
  global_ms_ = std::max(global_ms_, watermark_ms);
}

void WatermarkTracker::Update(const std::vector<engine::EventTimeStats>& stats,
                              const std::vector<int64_t>& delays_ms) {
  TW_DCHECK(stats.size() == delays_ms.size());
  if (stats.empty()) return;
  per_operator_ms_.resize(stats.size());
  std::optional<int64_t> merged_ms;
  for (size_t i = 0; i < stats.size(); ++i) {
    if (stats[i].count > 0) {
      const int64_t candidate_ms = stats[i].max_ms - delays_ms[i];
      per_operator_ms_[i] =
          per_operator_ms_[i] ? std::max(*per_operator_ms_[i], candidate_ms) : candidate_ms;
    }
    const int64_t own_ms = per_operator_ms_[i].value_or(0);
    if (!merged_ms) merged_ms = own_ms;
    merged_ms = policy_ == WatermarkPolicy::kMin ? std::min(*merged_ms, own_ms)
                                                 : std::max(*merged_ms, own_ms);
  }
  global_ms_ = std::max(global_ms_, *merged_ms);
}

Result<std::map<int64_t, int64_t>> PropagateWatermark(const engine::PhysicalPlan& plan,
                                                      int64_t watermark_ms) {
  Propagator propagator(watermark_ms);
  TW_RETURN_NOT_OK(propagator.Visit(*plan.root).status());
  return std::move(propagator.per_operator_ms);
}

std::vector<int64_t> WatermarkDelays(const engine::PhysicalPlan& plan) {
  std::vector<int64_t> delays_ms(plan.num_watermark_operators);
  CollectDelays(*plan.root, &delays_ms);
  return delays_ms;
}

}  // namespace thalweg::streaming
