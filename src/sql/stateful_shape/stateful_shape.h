#pragma once

// Contract: Spark's checkpoints depend on the shape of Spark's optimized plan. `ShapeForState` brings an analysed streaming plan
// into that shape (filters that do not use the event-time column go below withWatermark, columns of join sides are pruned,
// decimal sums and averages are rewritten, ...). A change to these rules is an on-disk change.

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "data/types/data_type.h"
#include "sql/datasource/data_source.h"
#include "sql/expr/eval_context.h"
#include "sql/plan/logical_plan.h"

namespace thalweg::sql {

/// One store of one stateful operator.
struct StateStoreLayout {
  std::string name;                 ///< "default", "left-keyToNumValues", ...
  data::Schema key_schema;
  data::Schema value_schema;
  int prefix_key_columns = 0;       ///< numColsPrefixKey of the operator metadata (session windows)
};

/// One stateful operator, numbered as Spark numbers them.
struct StatefulOperatorLayout {
  int64_t id = 0;
  std::string name;                 ///< operator metadata's operatorName: "stateStoreSave", "dedupe", ...
  std::vector<StateStoreLayout> stores;
  const LogicalPlan* node = nullptr;  ///< the node of the shaped plan
  /// Expressions (over the node's child) whose hash chooses the partition.
  ExprList partitioning;
  /// Joins: the same for the right child; `partitioning` is over the left one.
  ExprList right_partitioning;
  int state_format_version = 2;
  std::string operator_properties_json = "{}";
};

/// What of a plan is written into a checkpoint. Leaves are in Spark's source order.
struct StateLayout {
  std::vector<StatefulOperatorLayout> operators;
  std::vector<const Relation*> sources;      ///< streaming leaves, in source order
};

struct ShapedPlan {
  PlanPtr plan;
  StateLayout layout;
};

/// `plan` is resolved and checked (CheckStreamingSupported).
Result<ShapedPlan> ShapeForState(const PlanPtr& plan, OutputMode mode, const EvalConfig& config);

}  // namespace thalweg::sql
