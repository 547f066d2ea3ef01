#pragma once

#include "sql/expr/window_call.h"
#include "sql/plan/logical_plan.h"

namespace thalweg::sql {

/// Puts out the child's rows with the results of functions over windows beside them, partition by
/// partition, each in its order. All calls see the same partitions in the same order; frames may
/// differ. Source: Spark's Window.
struct Window final : PlanNode<Window, PlanKind::kWindow> {
  Window(ExprList c, ExprList p, ExprList o, PlanPtr child)
      : PlanNode({std::move(child)}),
        calls(std::move(c)),
        partition(std::move(p)),
        orders(std::move(o)) {}
  ExprList calls;  ///< aliases of WindowCall
  ExprList partition;
  ExprList orders;                        ///< SortOrder
  AttributeList output() const override;  ///< the child's columns, then the results
  ExprList expressions() const override;  ///< calls, keys, orders
  PlanPtr WithExpressions(ExprList e) const override;
  /// A filter that takes or leaves whole partitions.
  bool passes_predicate(const ExprPtr& predicate) const override;
  std::string NodeText() const override;
};

}  // namespace thalweg::sql
