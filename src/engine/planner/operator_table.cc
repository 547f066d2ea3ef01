// Which function plans which kind of node. A new operator adds its line here.

#include "engine/planner/plan_context.h"
#include "engine/planner/plan_window.h"

namespace thalweg::engine {

PlanFunction FindPlanFunction(sql::PlanKind kind) {
  using sql::PlanKind;
  switch (kind) {
    case PlanKind::kAggregate: return &PlanAggregate;
    case PlanKind::kCollectMetrics: return &PlanCollectMetrics;
    case PlanKind::kDeduplicate: return &PlanDeduplicate;
    case PlanKind::kDistinct: return &PlanDistinct;
    case PlanKind::kEvalPython: return &PlanEvalPython;
    case PlanKind::kEventTimeWatermark: return &PlanEventTimeWatermark;
    case PlanKind::kExpand: return &PlanExpand;
    case PlanKind::kFilter: return &PlanFilter;
    case PlanKind::kGenerate: return &PlanGenerate;
    case PlanKind::kHint: return &PlanChildAlone;
    case PlanKind::kJoin: return &PlanJoin;
    case PlanKind::kLimit: return &PlanLimit;
    case PlanKind::kLocalRelation: return &PlanLocalRelation;
    case PlanKind::kOffset: return &PlanOffset;
    case PlanKind::kOneRow: return &PlanOneRow;
    case PlanKind::kProject: return &PlanProject;
    case PlanKind::kRange: return &PlanRange;
    case PlanKind::kRelation: return &PlanRelation;
    case PlanKind::kRepartition: return &PlanRepartition;
    case PlanKind::kSample: return &PlanSample;
    case PlanKind::kShowString: return &PlanShowString;
    case PlanKind::kSort: return &PlanSort;
    case PlanKind::kSubqueryAlias: return &PlanChildAlone;
    case PlanKind::kTail: return &PlanTail;
    case PlanKind::kUnion: return &PlanUnion;
    case PlanKind::kWindow: return &PlanWindow;
    default: return nullptr;
  }
}

}  // namespace thalweg::engine
