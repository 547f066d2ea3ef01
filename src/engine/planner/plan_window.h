#pragma once

#include "engine/planner/plan_context.h"

namespace thalweg::engine {

/// Functions over windows: rows meet by the keys of their partition, are sorted, and an operator computes over them.
Result<PhysicalNodePtr> PlanWindow(PlanContext& context, const sql::PlanPtr& node);

}  // namespace thalweg::engine
