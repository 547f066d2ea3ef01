#pragma once

#include <memory>
#include <string>

#include "engine/exec/aggregator.h"
#include "engine/exec/execution.h"
#include "engine/exec/operators/project.h"

namespace thalweg::engine {

/// df.observe: what to compute over the rows that pass, shared by the instances.
struct CollectMetricsParams {
  std::string name;
  std::shared_ptr<const sql::Program> input;    ///< arguments and filters of the aggregates
  std::shared_ptr<const AggregationSpec> spec;  ///< no keys; over what `input` gives
  std::shared_ptr<const AggregationSpec> merge; ///< the same aggregates over their partial buffers
  std::shared_ptr<const sql::Program> output;   ///< the metrics, over the aggregates' results
  int num_partitions = 1;
};

/// Passes rows on; after the epoch the metrics of all instances together are one row of EpochResult::observed.
class CollectMetrics final : public EvaluatingOperator {
 public:
  explicit CollectMetrics(std::shared_ptr<const CollectMetricsParams> params);
  Status Open(const TaskContext& context) override;
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  Result<data::Chunk> Process(data::Chunk chunk) override;
  void AddReport(bool ran, EpochResult* result) override;

 private:
  const std::shared_ptr<const CollectMetricsParams> params_;
  Aggregator aggregator_;
  sql::EpochContext epoch_;
};

}  // namespace thalweg::engine
