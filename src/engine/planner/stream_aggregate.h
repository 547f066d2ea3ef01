#pragma once

// Internal to this room.

#include "engine/planner/plan_context.h"
#include "sql/plan/aggregate_parts.h"

namespace thalweg::engine {

/// Exchange by keys and the operator that keeps the groups; `partial` gives keys and buffers. Output: keys and results.
/// Errors: INTERNAL_ERROR when the layout names another operator at this place, or the run has no open state.
Result<PhysicalNodePtr> PlanStatefulAggregate(PlanContext& context, PhysicalNodePtr partial, const sql::AggregateParts& parts,
                                              size_t layout_index);

}  // namespace thalweg::engine
