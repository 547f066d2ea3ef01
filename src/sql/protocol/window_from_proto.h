#pragma once

// Column.over. Source: Spark Connect's expressions.proto (Expression.Window) and SparkConnectPlanner.transformWindowExpression.

#include <spark/connect/expressions.pb.h>

#include "sql/expr/window_call.h"
#include "sql/protocol/plan_proto.h"

namespace thalweg::sql {

/// Errors: CONNECT_INVALID_PLAN.WINDOW_FUNCTION_REQUIRED, .LOWER_BOUND_REQUIRED_IN_WINDOW_FRAME, .UPPER_BOUND_REQUIRED_IN_WINDOW_FRAME,
/// those of the expressions.
Result<ExprPtr> WindowFromProto(const ::spark::connect::Expression_Window& message, PlanReader& reader);

}  // namespace thalweg::sql
