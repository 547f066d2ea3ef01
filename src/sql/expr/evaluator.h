#pragma once

// Contract: expressions compiled to a flat register program. Compile once per query, run per chunk.

#include <memory>
#include <vector>

#include "base/status.h"
#include "data/columnar/chunk.h"
#include "sql/expr/eval_context.h"
#include "sql/expr/expression.h"

namespace thalweg::sql {

/// Several expressions over the same input, with common sub-expressions shared, constants folded, nulls fused and lazy
/// branches (CASE, AND, OR, COALESCE, IF, IN, try) that never raise an error on a row they do not select.
/// Thread: a program is immutable and shared; an EvaluatorState belongs to one task.
class Program {
 public:
  /// `input` gives the ordinals: an Attribute with id input[i]->id() reads column i. All expressions resolved and bound,
  /// without aggregates. Errors: INTERNAL_ERROR for an attribute that is not in the input.
  static Result<std::shared_ptr<const Program>> Compile(const ExprList& expressions, const AttributeList& input,
                                                        std::shared_ptr<const EvalConfig> config);
  ~Program();
  /// One column per expression, each of chunk.physical_rows() rows, valid for the chunk's logical rows; the result chunk
  /// keeps the selection and change kinds. Columns may be constant or dictionary encoded. Errors: those of the functions.
  Result<data::Chunk> Run(const data::Chunk& chunk, EvalContext& context) const;
  /// For a single boolean expression: the chunk narrowed to rows where it is true (selection only, nothing copied).
  Result<data::Chunk> Filter(const data::Chunk& chunk, EvalContext& context) const;
  const std::vector<DataType>& types() const;

  struct Impl;  ///< sql/expr/program.h

 private:
  explicit Program(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The value of a foldable expression. Errors: those of the functions.
Result<Value> EvaluateConstant(const ExprPtr& expression, const EvalConfig& config, const EpochContext& epoch = {});

}  // namespace thalweg::sql
