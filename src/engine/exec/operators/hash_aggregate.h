#pragma once

#include <memory>

#include "engine/exec/aggregator.h"
#include "engine/exec/operator.h"
#include "sql/expr/evaluator.h"

namespace thalweg::engine {

/// What a hash aggregation computes; shared by its instances.
struct HashAggregateParams {
  std::shared_ptr<const sql::Program> input;     ///< keys, arguments and filters of a row; null: the input's own columns
  std::shared_ptr<const AggregationSpec> spec;   ///< over what `input` gives
  bool buffers = false;                          ///< emits partial buffers instead of results
  /// Groups may be emitted more than once, when the table got large; nothing is emitted where no row came. For buffers that
  /// are merged again.
  bool repeats = false;
};

/// Groups in a hash table and emits them after the last row, in the order in which their keys appeared: keys, then results or
/// buffers. Without keys a final aggregation emits exactly one row. Distinct is an aggregation without functions.
class HashAggregate final : public Operator {
 public:
  explicit HashAggregate(std::shared_ptr<const HashAggregateParams> params);
  Status Open(const TaskContext& context) override;
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  bool NeedsEpoch(const sql::EpochContext&) const override;
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;
  void Abort(const sql::EpochContext& epoch) override;

 private:
  const std::shared_ptr<const HashAggregateParams> params_;
  Aggregator aggregator_;
  sql::EvalContext eval_;
  MemoryReservation memory_;
  bool ended_ = false;
  int64_t next_group_ = 0;
};

}  // namespace thalweg::engine
