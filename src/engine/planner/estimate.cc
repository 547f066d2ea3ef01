// How many rows, roughly: for the choice of join sides.

#include <algorithm>

#include "engine/exec/operators/sources.h"
#include "engine/planner/plan_context.h"

namespace thalweg::engine {

std::optional<int64_t> EstimatedRows(PlanContext& context, const sql::PlanPtr& plan) {
  using sql::PlanKind;
  switch (plan->kind()) {
    case PlanKind::kLocalRelation: {
      int64_t rows = 0;
      for (const auto& chunk : static_cast<const sql::LocalRelation&>(*plan).chunks) rows += chunk.num_rows();
      return rows;
    }
    case PlanKind::kOneRow: return 1;
    case PlanKind::kRange: {
      const auto& range = static_cast<const sql::Range&>(*plan);
      return range.step == 0 ? 0 : static_cast<int64_t>(std::min<__int128>(INT64_MAX, RangeSource::NumRows(range.start, range.end, range.step)));
    }
    case PlanKind::kRelation: {
      const auto& relation = static_cast<const sql::Relation&>(*plan);
      if (relation.streaming) return std::nullopt;
      const auto scan = relation.table->NewScan({}, context.config);
      return scan.ok() ? (*scan)->EstimatedRows() : std::nullopt;
    }
    case PlanKind::kFilter: {
      const auto rows = EstimatedRows(context, plan->child());
      return rows ? std::optional<int64_t>(*rows / 3 + 1) : std::nullopt;
    }
    case PlanKind::kLimit:
    case PlanKind::kTail: {
      const auto limit = sql::EvaluateConstant(plan->expressions()[0], *context.config);
      const auto rows = EstimatedRows(context, plan->child());
      if (!limit.ok() || limit->is_null()) return rows;
      return std::min(limit->AsInt64(), rows.value_or(INT64_MAX));
    }
    case PlanKind::kUnion: {
      int64_t rows = 0;
      for (const auto& child : plan->children()) {
        const auto part = EstimatedRows(context, child);
        if (!part) return std::nullopt;
        rows += *part;
      }
      return rows;
    }
    case PlanKind::kJoin: {
      const auto left = EstimatedRows(context, plan->child(0));
      const auto right = EstimatedRows(context, plan->child(1));
      return left && right ? std::optional<int64_t>(std::max(*left, *right)) : std::nullopt;
    }
    default: return plan->children().size() == 1 ? EstimatedRows(context, plan->child()) : std::nullopt;
  }
}

}  // namespace thalweg::engine
