#pragma once

// Internal to this room.

#include "engine/planner/plan_context.h"

namespace thalweg::engine {

/// dropDuplicates and dropDuplicatesWithinWatermark on a stream: exchange by keys and the operator that keeps them.
/// Errors: _LEGACY_ERROR_TEMP_3077; INTERNAL_ERROR when the layout names another operator at this place.
Result<PhysicalNodePtr> PlanStreamDeduplicate(PlanContext& context, const sql::Deduplicate& node);
/// The limit of an appending stream: a cut per task, then the one operator that remembers what it let through.
Result<PhysicalNodePtr> PlanStreamLimit(PlanContext& context, const sql::PlanPtr& child, int64_t limit);

}  // namespace thalweg::engine
