#pragma once

#include <memory>
#include <vector>

#include "engine/exec/operator.h"
#include "sql/expr/evaluator.h"

namespace thalweg::engine {

/// What operators that evaluate expressions have in common: a context per task.
class EvaluatingOperator : public MapOperator {
 public:
  Status Open(const TaskContext& context) override;
  Status BeginEpoch(const sql::EpochContext& epoch) override;

 protected:
  sql::EvalContext eval_;
};

/// One output column per expression.
class Project final : public EvaluatingOperator {
 public:
  explicit Project(std::shared_ptr<const sql::Program> program) : program_(std::move(program)) {}
  Result<data::Chunk> Process(data::Chunk chunk) override;

 private:
  const std::shared_ptr<const sql::Program> program_;
};

/// Picks and reorders columns; evaluates nothing.
class PickColumns final : public MapOperator {
 public:
  explicit PickColumns(std::vector<int> columns) : columns_(std::move(columns)) {}
  Result<data::Chunk> Process(data::Chunk chunk) override;

 private:
  const std::vector<int> columns_;
};

/// Rows for which the condition is true; nothing is copied.
class Filter final : public EvaluatingOperator {
 public:
  explicit Filter(std::shared_ptr<const sql::Program> condition) : condition_(std::move(condition)) {}
  Result<data::Chunk> Process(data::Chunk chunk) override;

 private:
  const std::shared_ptr<const sql::Program> condition_;
};

/// Each row once per projection (sliding windows, grouping sets), all of a row before the next row: what depends on the
/// order of rows (first, collect_list) sees that of the input.
class Expand final : public EvaluatingOperator {
 public:
  explicit Expand(std::vector<std::shared_ptr<const sql::Program>> projections) : projections_(std::move(projections)) {}
  Result<data::Chunk> Process(data::Chunk chunk) override;

 private:
  const std::vector<std::shared_ptr<const sql::Program>> projections_;
};

}  // namespace thalweg::engine
