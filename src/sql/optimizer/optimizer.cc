#include "sql/optimizer/optimizer.h"

#include "sql/optimizer/rules.h"

namespace thalweg::sql {
namespace {

constexpr int kMaxRounds = 20;

Status Apply(const std::vector<Rule>& rules, const OptimizerOptions& options, PlanPtr* plan) {
  for (const Rule& rule : rules) {
    if (options.streaming && !rule.streaming) continue;
    TW_ASSIGN_OR_RETURN(*plan, rule.apply(*plan, options));
  }
  return Status::OK();
}

}  // namespace

Result<PlanPtr> Optimize(const PlanPtr& plan, const OptimizerOptions& options) {
  const RuleList& rules = Rules();
  PlanPtr optimized = plan;
  TW_RETURN_NOT_OK(Apply(rules.first, options, &optimized));
  for (int round = 0; round < kMaxRounds; ++round) {
    const PlanPtr before = optimized;
    TW_RETURN_NOT_OK(Apply(rules.repeated, options, &optimized));
    if (optimized == before) break;
  }
  TW_RETURN_NOT_OK(Apply(rules.last, options, &optimized));
  return optimized;
}

}  // namespace thalweg::sql
