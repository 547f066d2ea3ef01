#pragma once

#include <string>

#include "base/status.h"
#include "sql/plan/logical_plan.h"

namespace spark::connect {
class Expression;
}

namespace thalweg::sql {

/// Refuses Column.over over a streaming input, whatever the function: streams know windows of time only. `column`: the name that the
/// expression is given, when its alias says none. Errors: NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING.
Status CheckStreamWindows(const LogicalPlan& input, const ::spark::connect::Expression& expression, const std::string& column = "");

}  // namespace thalweg::sql
