#include "sql/protocol/protocol_errors.h"

#include <string>

namespace thalweg::sql {

Status InvalidPlan(std::string_view text) { return Error("CONNECT_INVALID_PLAN.ASSERTION_FAILURE").With("message", text); }

Status OneOfNotSet(std::string_view message, std::string_view field) {
  return Error("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET").With("fullName", message).With("name", field);
}

Status InvalidEnum(std::string_view enum_name, int number) {
  return Error("CONNECT_INVALID_PLAN.INVALID_ENUM")
      .With("fullName", enum_name)
      .With("name", "UNRECOGNIZED")
      .With("number", number);
}

Status PlanTooDeep() {
  return InvalidPlan("The plan is nested deeper than " + std::to_string(kMaxPlanDepth) +
                     " levels. Keep intermediate results in temporary views or checkpoints.");
}

}  // namespace thalweg::sql
