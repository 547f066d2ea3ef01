#pragma once

// An Aggregate taken apart the way Spark plans it: keys, each aggregate call once, and what is computed from them.

#include <vector>

#include "sql/plan/logical_plan.h"

namespace thalweg::sql {

/// Source: Spark's PhysicalAggregation.
struct AggregateParts {
  ExprList keys;                                            ///< named (Attribute or Alias), over the child
  std::vector<std::shared_ptr<const AggregateCall>> calls;  ///< distinct ones, in order of appearance, over the child
  AttributeList results;                                    ///< one per call: its final value
  ExprList output;                                          ///< named, over the keys' attributes and `results`

  /// Attributes of the keys: the grouping columns as state files name them.
  AttributeList KeyAttributes() const;
};

/// `aggregate` is resolved.
Result<AggregateParts> SplitAggregate(const Aggregate& aggregate);

}  // namespace thalweg::sql
