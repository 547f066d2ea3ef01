#pragma once

// The conditions of messages that make no sense. Source: spark/connect/base.proto.

#include <string_view>

#include "base/status.h"

namespace thalweg::sql {

/// How deep relations and expressions may nest. Source: spark.connect.grpc.marshallerRecursionLimit.
inline constexpr int kMaxPlanDepth = 1024;

/// CONNECT_INVALID_PLAN.ASSERTION_FAILURE with a text.
Status InvalidPlan(std::string_view text);
/// CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET: also what a variant newer than our descriptors gives.
Status OneOfNotSet(std::string_view message, std::string_view field);
/// CONNECT_INVALID_PLAN.INVALID_ENUM.
Status InvalidEnum(std::string_view enum_name, int number);
/// CONNECT_INVALID_PLAN.ASSERTION_FAILURE for a plan deeper than kMaxPlanDepth.
Status PlanTooDeep();

}  // namespace thalweg::sql
