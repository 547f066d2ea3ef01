#pragma once

#include <memory>
#include <vector>

#include "engine/exec/group_table.h"
#include "engine/exec/operator.h"

namespace thalweg::engine {

/// The first row of each key, at once and unchanged: DISTINCT (all columns are keys) and dropDuplicates in batch queries.
class FirstRows final : public MapOperator {
 public:
  FirstRows(std::vector<int> key_columns, std::shared_ptr<const KeyLayout> layout);
  Status Open(const TaskContext& context) override;
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  Result<data::Chunk> Process(data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  void Abort(const sql::EpochContext& epoch) override;

 private:
  const std::vector<int> key_columns_;
  KeyEncoder encoder_;
  GroupTable table_;
  MemoryReservation memory_;
  std::vector<uint8_t*> rows_;
};

}  // namespace thalweg::engine
