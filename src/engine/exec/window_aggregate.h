#pragma once

// An aggregate function over frames. Internal to this room.

#include <memory>
#include <vector>

#include "engine/exec/window_function.h"

namespace thalweg::engine {

/// Arguments flat or constant, one entry a row; `passes`: rows that count, empty for all. `bound`
/// outlives whoever holds this.
struct AggregateInput {
  const sql::BoundAggregate& bound;
  std::vector<data::ColumnPtr> arguments;
  std::vector<uint8_t> passes;
  bool Passes(int64_t row) const { return passes.empty() || passes[row] != 0; }
};

/// Rows are added in their order, so that sums of floating numbers are Spark's.
std::unique_ptr<WindowFunctionRun> NewAggregateRun(AggregateInput input, const FrameSpec& frame,
                                                   WindowRows& rows, sql::EvalContext& context);

}  // namespace thalweg::engine
