#pragma once

#include <memory>
#include <vector>

#include "engine/exec/operator.h"
#include "engine/exec/sorter.h"
#include "engine/exec/window_function.h"

namespace thalweg::engine {

/// What a window operator computes; shared by its instances.
struct WindowParams {
  std::vector<data::DataType> types;  ///< of the input
  int kept_columns = 0;  ///< how many of its columns stand in the output, before the results
  std::vector<int> partition_columns;
  std::vector<SortKey> orders;  ///< within a partition
  std::vector<WindowFunctionSpec> functions;
};

/// Puts results of functions over windows beside the rows. Input: sorted by partition, then by the
/// orders; rows of a partition in one instance. Keeps rows until their partition is whole, and then
/// some more partitions, so that short ones are computed together. Results are made as they are
/// pulled, in steps of about a millisecond (a Pull without a chunk), so that a query can be stopped
/// and others run meanwhile; a chunk has fewer rows than usual where results are large.
class Window final : public Operator {
 public:
  explicit Window(std::shared_ptr<const WindowParams> params)
      : params_(std::move(params)), partitions_(params_->partition_columns) {}
  Status Open(const TaskContext& context) override;
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  bool NeedsEpoch(const sql::EpochContext&) const override { return false; }
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;
  void Abort(const sql::EpochContext& epoch) override;

 private:
  /// Whole partitions whose results are being made.
  struct Work {
    explicit Work(WindowRows given) : rows(std::move(given)) {}
    WindowRows rows;
    std::vector<std::unique_ptr<WindowFunctionRun>> runs;
    std::vector<data::ColumnPtr>
        made;                         ///< per function results from row `next` on, null without any
    std::vector<int64_t> made_bytes;  ///< of each when it was made
    int64_t next = 0;
    int64_t chunk_bytes = 0;
  };
  /// Puts the first `whole_rows_` of the rows that are held together.
  Status Begin();
  /// One step of one function. False: every function has results for the next row.
  Result<bool> Step();
  /// The rows that all functions have results for.
  data::Chunk TakeMade();
  Status Charge();
  void Clear();

  const std::shared_ptr<const WindowParams> params_;
  PartitionFinder partitions_;
  sql::EvalContext eval_;
  MemoryReservation memory_;
  std::vector<data::Chunk> held_;
  int64_t held_rows_ = 0;
  int64_t held_bytes_ = 0;
  int64_t whole_rows_ = 0;  ///< of the held ones, in whole partitions
  std::unique_ptr<Work> work_;
  bool ended_ = false;
};

}  // namespace thalweg::engine
