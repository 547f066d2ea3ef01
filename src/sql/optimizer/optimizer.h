#pragma once

// Contract: rewrites resolved plans to equal, cheaper ones. One rule per file in rules/, order in rule_list.cc.

#include "base/status.h"
#include "sql/expr/eval_context.h"
#include "sql/plan/logical_plan.h"

namespace thalweg::sql {

struct OptimizerOptions {
  std::shared_ptr<const EvalConfig> config;
  bool streaming = false;  ///< plan already has the stateful shape; keep what StateLayout names
};

Result<PlanPtr> Optimize(const PlanPtr& plan, const OptimizerOptions& options);

}  // namespace thalweg::sql
