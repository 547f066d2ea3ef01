#pragma once

#include <memory>
#include <vector>

#include "engine/exec/operator.h"
#include "engine/exec/sorter.h"

namespace thalweg::engine {

/// All rows of the instance in order, at most `limit` of them. Keys are columns of the input.
class Sort final : public Operator {
 public:
  Sort(std::vector<SortKey> keys, std::vector<data::DataType> types, int64_t limit = INT64_MAX)
      : keys_(std::move(keys)), types_(std::move(types)), limit_(limit) {}
  Status Open(const TaskContext& context) override;
  bool NeedsEpoch(const sql::EpochContext&) const override { return false; }
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;
  void Abort(const sql::EpochContext& epoch) override;

 private:
  const std::vector<SortKey> keys_;
  const std::vector<data::DataType> types_;
  const int64_t limit_;
  std::unique_ptr<Sorter> sorter_;
};

}  // namespace thalweg::engine
