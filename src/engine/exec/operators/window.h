#pragma once

#include <memory>
#include <vector>

#include "engine/exec/operator.h"
#include "engine/exec/sorter.h"
#include "engine/exec/window_evaluator.h"

namespace thalweg::engine {

/// What a window operator computes; shared by its instances.
struct WindowParams {
  std::vector<data::DataType> types;        ///< of the input
  int kept_columns = 0;                     ///< how many of its columns stand in the output, before the results
  std::vector<int> partition_columns;
  std::vector<SortKey> orders;              ///< within a partition
  std::vector<WindowFunctionSpec> functions;
};

/// Puts results of functions over windows beside the rows. Input: sorted by partition, then by the orders; rows of a partition in one
/// instance. Keeps rows until their partition is whole, and then some more partitions, so that short ones are computed together.
class Window final : public Operator {
 public:
  explicit Window(std::shared_ptr<const WindowParams> params) : params_(std::move(params)) {}
  Status Open(const TaskContext& context) override;
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  bool NeedsEpoch(const sql::EpochContext&) const override { return false; }
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;
  void Abort(const sql::EpochContext& epoch) override;

 private:
  /// The last row of the new chunk at which a partition begins, -1 without one; `before`: the chunk before it, if any.
  int64_t LastStart(const data::Chunk* before, const data::Chunk& chunk) const;
  bool Differ(const data::Chunk& a, int64_t i, const data::Chunk& b, int64_t j) const;
  /// Computes the first `whole_rows_` of the rows that are held.
  Status Compute();
  void Clear();

  const std::shared_ptr<const WindowParams> params_;
  sql::EvalContext eval_;
  MemoryReservation memory_;
  std::vector<data::Chunk> held_;
  int64_t held_rows_ = 0;
  int64_t held_bytes_ = 0;
  int64_t whole_rows_ = 0;   ///< of the held ones, in whole partitions
  data::Chunk out_;
  int64_t next_ = 0;         ///< row of out_
  bool ended_ = false;
};

}  // namespace thalweg::engine
