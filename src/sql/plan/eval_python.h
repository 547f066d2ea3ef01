#pragma once

#include <utility>

#include "sql/expr/python_udf.h"
#include "sql/plan/logical_plan.h"

namespace thalweg::sql {

/// Puts out the child's rows, in their order, with the results of Python functions beside them. Made by ExtractPythonUdfs.
/// `udfs`: PythonUdf nodes of one eval type; an argument that is a PythonUdf itself is evaluated in the same worker (a chain),
/// every other one over the child's columns. Source: Spark's BatchEvalPython and ArrowEvalPython.
struct EvalPython final : PlanNode<EvalPython, PlanKind::kEvalPython> {
  EvalPython(ExprList u, AttributeList r, PlanPtr child) : PlanNode({std::move(child)}), udfs(std::move(u)), results(std::move(r)) {}
  ExprList udfs;
  AttributeList results;                   ///< one per UDF
  AttributeList output() const override;   ///< the child's columns, then the results
  AttributeList produced() const override { return results; }
  PlanPtr WithProduced(AttributeList columns) const override;
  ExprList expressions() const override { return udfs; }
  PlanPtr WithExpressions(ExprList e) const override;
  std::string NodeText() const override;
};

}  // namespace thalweg::sql
