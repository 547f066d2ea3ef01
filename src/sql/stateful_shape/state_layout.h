#pragma once

// Which operators of a shaped plan keep state, and what their stores hold. Names, order, types and nullability are written
// into checkpoints: do not change. Source: spec section 8 of the checkpoint format; docs/internals/state_layout.md.

#include "base/status.h"
#include "sql/stateful_shape/stateful_shape.h"

namespace thalweg::sql {

/// The stateful operators of a shaped plan in pre-order from the sink, left before right, and its streaming leaves.
Result<StateLayout> LayoutOf(const PlanPtr& plan, OutputMode mode, const EvalConfig& config);

/// Whether the node keeps state in a streaming query of that mode. The planner walks its (optimized) plan in the same order
/// and meets the operators of the layout one by one.
bool KeepsState(const LogicalPlan& node, OutputMode mode);

}  // namespace thalweg::sql
