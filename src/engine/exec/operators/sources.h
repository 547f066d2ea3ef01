#pragma once

// Operators without inputs.

#include <memory>
#include <vector>

#include "engine/exec/operator.h"

namespace thalweg::engine {

/// Rows given with the plan; also the one row without columns of SELECT without FROM.
class ChunksSource final : public Operator {
 public:
  explicit ChunksSource(std::shared_ptr<const std::vector<data::Chunk>> chunks) : chunks_(std::move(chunks)) {}
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;

 private:
  const std::shared_ptr<const std::vector<data::Chunk>> chunks_;
  size_t next_ = 0;
};

/// start, start + step, ... before end: the share of one of `partitions` instances, as Spark cuts a range.
class RangeSource final : public Operator {
 public:
  RangeSource(int64_t start, int64_t end, int64_t step, int partition, int partitions);
  /// Rows of the whole range.
  static __int128 NumRows(int64_t start, int64_t end, int64_t step);
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;

 private:
  int64_t start_;
  int64_t step_;
  int64_t first_;  // index of the first row of this share
  int64_t last_;
  int64_t next_ = 0;
};

}  // namespace thalweg::engine
