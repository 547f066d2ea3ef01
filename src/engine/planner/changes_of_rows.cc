// What the rows of an edge may do to earlier ones: operators that hand it on, and the check that whoever gets it takes it.

#include <algorithm>

#include "engine/planner/plan_context.h"

namespace thalweg::engine {
namespace {

using sql::ChangelogMode;

std::string ChangesText(ChangelogMode mode) {
  switch (mode) {
    case ChangelogMode::kInsertOnly: return "are new";
    case ChangelogMode::kUpsert: return "replace earlier ones";
    case ChangelogMode::kRetract: return "take back earlier ones";
  }
  return "";
}

Status Refused(const std::string& operator_text, const PhysicalNode& input) {
  return Error("UNSUPPORTED_FEATURE.CHANGES_OF_ROWS")
      .With("operator", operator_text)
      .With("changes", ChangesText(input.changelog))
      .With("input", input.name);
}

Status CheckInputs(const PhysicalNode& node) {
  for (const PhysicalInput& input : node.inputs) {
    TW_RETURN_NOT_OK(CheckInputs(*input.node));
    if (input.node->changelog > input.accepts) return Refused(node.name, *input.node);
  }
  return Status::OK();
}

}  // namespace

std::shared_ptr<PhysicalNode> PassingChanges(std::shared_ptr<PhysicalNode> node, ChangelogMode accepts) {
  for (PhysicalInput& input : node->inputs) {
    input.accepts = accepts;
    node->changelog = std::max(node->changelog, input.node->changelog);
  }
  return node;
}

Status CheckChanges(const PhysicalPlan& plan, ChangelogMode sink_accepts) {
  TW_RETURN_NOT_OK(CheckInputs(*plan.root));
  if (plan.root->changelog > sink_accepts) return Refused("the sink", *plan.root);
  return Status::OK();
}

}  // namespace thalweg::engine
