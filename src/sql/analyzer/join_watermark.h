#pragma once

// What a stream-stream join's condition says about event times: whether state of a side can be given up.

#include <optional>
#include <utility>
#include <vector>

#include "sql/expr/expression.h"
#include "sql/plan/logical_plan.h"

namespace thalweg::sql {

/// A conjunct that bounds an event time of one side from below by one of the other side:
/// attribute > other + offset (or >=, when `inclusive`).
struct EventTimeBound {
  AttributePtr attribute;
  AttributePtr other;
  int64_t offset_us = 0;
  bool inclusive = false;
};

/// All such bounds, in the order of the conjuncts. Numbers count as seconds, as casts of times to numbers do.
std::vector<EventTimeBound> FindEventTimeBounds(const Join& join, const PlanPtr& side, const PlanPtr& other);

/// The first such bound of an attribute of `side` by a watermarked attribute of the other side. Pure.
/// Source: Spark's StreamingJoinHelper.getStateValueWatermark.
std::optional<EventTimeBound> FindEventTimeBound(const Join& join, const PlanPtr& side, const PlanPtr& other);

/// Pairs of an equality over both sides (left expression, right expression), in the order of the conjuncts.
std::vector<std::pair<ExprPtr, ExprPtr>> EquiKeys(const Join& join);

/// Whether a join key of either side is directly a watermarked column.
bool HasWatermarkedJoinKey(const Join& join);

}  // namespace thalweg::sql
