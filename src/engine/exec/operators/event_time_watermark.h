#pragma once

#include "engine/exec/execution.h"
#include "engine/exec/operator.h"

namespace thalweg::engine {

/// Passes rows on and collects max, min, sum and count of an event-time column: a timestamp, or a window struct by its end.
/// Null event times count as 0, as in Spark.
class EventTimeWatermark final : public MapOperator {
 public:
  EventTimeWatermark(int index, int column) : index_(index), column_(column) {}
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  Result<data::Chunk> Process(data::Chunk chunk) override;
  void AddReport(bool ran, EpochResult* result) override;

 private:
  const int index_;   // in EpochResult::event_time
  const int column_;
  EventTimeStats stats_;
};

}  // namespace thalweg::engine
