#include <algorithm>

#include "sql/optimizer/rules.h"

namespace thalweg::sql {
namespace {

bool IsNoOp(const Project& project) {
  const AttributeList input = project.child()->output();
  return std::equal(project.list.begin(), project.list.end(), input.begin(), input.end(),
                    [](const ExprPtr& expr, const AttributePtr& column) {
                      const auto* attribute = expr->As<Attribute>();
                      return attribute != nullptr && attribute->id() == column->id() &&
                             attribute->name() == column->name() && attribute->nullable() == column->nullable() &&
                             attribute->metadata_json() == column->metadata_json();
                    });
}

}  // namespace

Result<PlanPtr> RemoveNoOpProjects(const PlanPtr& plan, const OptimizerOptions&) {
  return TransformUp(plan, [](const PlanPtr& node) -> Result<PlanPtr> {
    const auto* project = node->As<Project>();
    return project != nullptr && IsNoOp(*project) ? project->child() : PlanPtr();
  });
}

}  // namespace thalweg::sql
