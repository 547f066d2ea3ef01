#pragma once

// What the planning of every stateful operator needs. Internal to this room.

#include <optional>
#include <string_view>

#include "engine/planner/plan_context.h"
#include "engine/state/state_table.h"

namespace thalweg::engine {

/// The layout of the stateful operator at this place. Errors: INTERNAL_ERROR when there is none or it has another name.
Result<const sql::StatefulOperatorLayout*> LayoutAt(const PlanContext& context, size_t layout_index, std::string_view name);
/// The state of the run. Errors: INTERNAL_ERROR when it is not open.
Result<std::shared_ptr<QueryState>> StateOfRun(const PlanContext& context);
/// What is on disk depends on the key columns: the optimizer must not have changed them. Errors: INTERNAL_ERROR.
Status CheckKeys(const sql::StatefulOperatorLayout& layout, const sql::AttributeList& keys);
/// The column that carries the watermark. Errors: _LEGACY_ERROR_TEMP_3077 when there are two different ones.
Result<std::optional<KeyEventTime>> EventTimeOf(const sql::AttributeList& columns);

}  // namespace thalweg::engine
