#pragma once

// Contract: calls of the user's scalar Python functions. They have no kernel: a rule (ExtractPythonUdfs) moves them out of the
// expressions they stand in, into EvalPython nodes. Source: Spark's PythonUDF; spark/connect/expressions.proto.

#include <memory>
#include <string>
#include <vector>

#include "sql/expr/expression.h"

namespace thalweg::sql {

/// How a worker calls a function and how values travel; the numbers are Spark's.
enum class PythonEvalType : int32_t {
  kBatched = 100,         ///< rows pickled, one call a row
  kArrowBatched = 101,    ///< Arrow, one call a row
  kScalarPandas = 200,    ///< Arrow, one call a record batch, with series
  kScalarPandasIter = 204,///< the same, one call for all record batches, with an iterator
  kScalarArrow = 250,     ///< one call a record batch, with arrays
  kScalarArrowIter = 251,
};

/// The user's function, as the client sent it, and what its worker needs. Thread: immutable.
struct PythonFunction {
  std::string name;
  PythonEvalType eval_type = PythonEvalType::kBatched;
  std::string command;                      ///< cloudpickled (function, return type); for the worker alone
  std::string python_version;               ///< "3.11"
  DataType return_type;
  bool deterministic = true;
  std::vector<std::string> python_path;     ///< of the session's artifacts
  std::string files_directory = "/";

  bool arrow() const { return eval_type != PythonEvalType::kBatched; }
  /// Called once for a whole partition: no chain may be made of it.
  bool iterates() const { return eval_type == PythonEvalType::kScalarPandasIter || eval_type == PythonEvalType::kScalarArrowIter; }
};
using PythonFunctionPtr = std::shared_ptr<const PythonFunction>;

/// children = arguments. Never foldable, whatever the arguments; nullable.
class PythonUdf final : public Expr {
 public:
  static constexpr ExprKind kKind = ExprKind::kPythonUdf;
  /// `keywords`: per argument its name, empty for a positional one.
  static ExprPtr Make(PythonFunctionPtr function, ExprList arguments, std::vector<std::string> keywords, ExprId result_id = NewExprId());
  const PythonFunction& function() const { return *function_; }
  const PythonFunctionPtr& function_ptr() const { return function_; }
  const std::vector<std::string>& keywords() const { return keywords_; }
  const DataType& type() const override { return function_->return_type; }
  bool deterministic() const override;
  ExprPtr WithChildren(ExprList children) const override;
  std::string Sql() const override;
  std::string PlanText() const override;
  /// The same function over equal arguments; never for functions that are not deterministic, but for the very same call.
  bool Equals(const Expr& other) const override;

 private:
  PythonUdf(PythonFunctionPtr function, ExprList arguments, std::vector<std::string> keywords, ExprId result_id);
  std::shared_ptr<Expr> Clone() const override;
  PythonFunctionPtr function_;
  std::vector<std::string> keywords_;
  ExprId result_id_;
};

}  // namespace thalweg::sql
