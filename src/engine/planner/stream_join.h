#pragma once

// Internal to this room.

#include "engine/planner/plan_context.h"

namespace thalweg::engine {

/// A join of two streams: both sides by an exchange on the keys of the state layout to the operator that keeps them.
/// Errors: _LEGACY_ERROR_TEMP_3077 for two event-time columns on a side; INTERNAL_ERROR when the layout names another operator
/// at this place or other columns.
Result<PhysicalNodePtr> PlanStreamJoin(PlanContext& context, const sql::Join& join);

}  // namespace thalweg::engine
