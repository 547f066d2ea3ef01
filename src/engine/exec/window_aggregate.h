#pragma once

// An aggregate function over frames.

#include <memory>
#include <span>
#include <vector>

#include "engine/exec/window_rows.h"
#include "sql/expr/eval_context.h"
#include "sql/expr/function.h"

namespace thalweg::engine {

/// Accumulators in one block, destroyed with it. Thread: confined.
class AccumulatorBlock {
 public:
  AccumulatorBlock(const sql::BoundAggregate& bound, int64_t count);
  ~AccumulatorBlock();
  AccumulatorBlock(const AccumulatorBlock&) = delete;
  AccumulatorBlock& operator=(const AccumulatorBlock&) = delete;
  uint8_t* at(int64_t i) const { return bytes_.get() + i * stride_; }
  int64_t stride() const { return stride_; }
  std::vector<uint8_t*> pointers() const;

 private:
  const sql::BoundAggregate& bound_;
  const int64_t count_;
  const int64_t stride_;
  const bool owning_;
  std::unique_ptr<uint8_t[]> bytes_;
};

/// `arguments` flat or constant, one entry a row; `passes`: rows that count, empty for all. Rows are added in their order, so that sums of
/// floating numbers are Spark's. Thread: confined.
class WindowAggregate {
 public:
  WindowAggregate(const sql::BoundAggregate& bound, std::vector<data::ColumnPtr> arguments, std::vector<uint8_t> passes,
                  sql::EvalContext& context);

  /// Frames that are the partition.
  Result<data::ColumnPtr> OfPartitions(const std::vector<int32_t>& starts);
  /// Frames from the partition's first row up to before ends[row].
  Result<data::ColumnPtr> Running(const std::vector<int32_t>& starts, std::vector<int32_t> ends);
  Result<data::ColumnPtr> OfFrames(const WindowRows::Frames& frames);

 private:
  bool Passes(int64_t row) const { return passes_.empty() || passes_[row] != 0; }
  /// Adds row rows[i] to accumulators[i].
  Status Update(std::span<const int32_t> rows, uint8_t* const* accumulators);
  Result<data::ColumnPtr> Finish(std::span<uint8_t* const> accumulators);
  /// The results of the frames of these rows.
  Result<data::ColumnPtr> OfSomeFrames(const WindowRows::Frames& frames, std::span<const int32_t> rows);
  /// Rows by their place in the partition, then longer partitions first: the first `count[step]` partitions have a row number `step`.
  struct Steps {
    std::vector<int32_t> order;   ///< rows
    std::vector<int32_t> begins;  ///< of steps in `order`, and its size behind the last
  };
  static Steps StepsOf(const std::vector<int32_t>& starts);
  /// The result after each row of `steps.order`, and behind them that of no row at all.
  Result<data::ColumnPtr> AfterEach(const Steps& steps);

  const sql::BoundAggregate& bound_;
  const sql::AggregateKernels& kernels_;
  std::vector<data::ColumnPtr> arguments_;
  std::vector<uint8_t> passes_;
  sql::EvalContext& context_;
};

}  // namespace thalweg::engine
