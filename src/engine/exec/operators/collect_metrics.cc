#include "engine/exec/operators/collect_metrics.h"

#include <utility>

#include "base/log.h"

namespace thalweg::engine {

CollectMetrics::CollectMetrics(std::shared_ptr<const CollectMetricsParams> params)
    : params_(std::move(params)), aggregator_(params_->spec) {}

Status CollectMetrics::Open(const TaskContext& context) { return EvaluatingOperator::Open(context); }

Status CollectMetrics::BeginEpoch(const sql::EpochContext& epoch) {
  aggregator_.Clear();
  return EvaluatingOperator::BeginEpoch(epoch);
}

Result<data::Chunk> CollectMetrics::Process(data::Chunk chunk) {
  TW_ASSIGN_OR_RETURN(const data::Chunk inputs, params_->input->Run(chunk, eval_));
  TW_RETURN_NOT_OK(aggregator_.Add(inputs, eval_));
  eval_.row_base += chunk.num_rows();
  return chunk;
}

// Instances come in partition order: each adds its partial buffers to what EpochResult holds so far; the last one turns them
// into the metrics. Until then `observed` holds buffers, which no caller sees.
void CollectMetrics::AddReport(bool ran, EpochResult* result) {
  const auto report = [&]() -> Status {
    Aggregator merged(params_->merge);
    merged.AddEmptyGroup();
    const auto before = result->observed.find(params_->name);
    if (eval_.partition > 0 && before != result->observed.end()) TW_RETURN_NOT_OK(merged.Add(before->second, eval_));
    if (ran && aggregator_.groups() > 0) {
      TW_ASSIGN_OR_RETURN(const data::Chunk own, aggregator_.Emit(0, 1, true, eval_));
      TW_RETURN_NOT_OK(merged.Add(own, eval_));
    }
    const bool last = eval_.partition + 1 == params_->num_partitions;
    if (eval_.epoch == nullptr) eval_.epoch = &epoch_;
    TW_ASSIGN_OR_RETURN(data::Chunk row, merged.Emit(0, 1, !last, eval_));
    if (last) {
      TW_ASSIGN_OR_RETURN(row, params_->output->Run(row, eval_));
    }
    result->observed[params_->name] = std::move(row);
    return Status::OK();
  };
  const Status status = report();
  if (!status.ok()) {
    result->observed.erase(params_->name);
    TW_LOG(kWarn, "observed metrics could not be computed", {"name", params_->name}, {"error", status.message()});
  }
}

}  // namespace thalweg::engine
