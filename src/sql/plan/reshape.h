#pragma once

// Contract: nodes that turn rows into columns or columns into rows; only in unresolved plans. The analyzer makes others of them.

#include <optional>
#include <string>
#include <vector>

#include "sql/plan/logical_plan.h"

namespace thalweg::sql {

/// One row per group, and per value of the pivot columns a column per aggregate.
struct UnresolvedPivot final : PlanNode<UnresolvedPivot, PlanKind::kUnresolvedPivot> {
  explicit UnresolvedPivot(PlanPtr child) : PlanNode({std::move(child)}) {}
  std::optional<ExprList> grouping;        ///< nullopt: every column that nothing else names (SQL)
  ExprList columns;                        ///< one; in SQL several, whose values are then rows
  ExprList values;                         ///< constants, with or without alias
  bool find_values = false;                ///< no values are given: those of the rows, found when the plan is analysed
  ExprList aggregates;
  bool counts_apart = false;               ///< aggregates see the rows of their value only, so that a count of none is 0
  AttributeList output() const override { return {}; }
  std::string NodeText() const override { return "Pivot"; }
  bool node_resolved() const override { return false; }
};

/// Every row once per set of value columns.
struct UnresolvedUnpivot final : PlanNode<UnresolvedUnpivot, PlanKind::kUnresolvedUnpivot> {
  explicit UnresolvedUnpivot(PlanPtr child) : PlanNode({std::move(child)}) {}
  struct Set {
    ExprList columns;                      ///< as many as there are value names
    std::optional<std::string> alias;      ///< what the variable column says; else the columns' names
  };
  std::optional<ExprList> ids;             ///< nullopt: every column that is no value (SQL)
  std::optional<std::vector<Set>> sets;    ///< nullopt: every column that is no id, each for itself
  std::string variable;
  std::vector<std::string> values;         ///< names of the value columns
  bool exclude_nulls = false;              ///< rows whose values are all null are left out
  AttributeList output() const override { return {}; }
  std::string NodeText() const override { return "Unpivot"; }
  bool node_resolved() const override { return false; }
};

/// Columns become rows and rows columns, named by the index column (the first one when there is none); read when the plan is
/// analysed.
struct UnresolvedTranspose final : PlanNode<UnresolvedTranspose, PlanKind::kUnresolvedTranspose> {
  UnresolvedTranspose(ExprPtr i, PlanPtr child) : PlanNode({std::move(child)}), index(std::move(i)) {}
  ExprPtr index;                           ///< null: the first column
  AttributeList output() const override { return {}; }
  std::string NodeText() const override { return "Transpose"; }
  bool node_resolved() const override { return false; }
};

}  // namespace thalweg::sql
