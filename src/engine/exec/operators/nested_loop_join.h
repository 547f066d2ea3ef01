#pragma once

#include <memory>
#include <vector>

#include "engine/exec/operators/hash_join.h"

namespace thalweg::engine {

/// Shared by the instances of a nested-loop join. The right side is kept whole by every instance (chunks are shared).
struct NestedLoopJoinParams {
  JoinKind kind = JoinKind::kInner;
  std::vector<data::DataType> left_types, right_types;
  std::vector<int> left_output, right_output;
  std::optional<JoinCondition> condition;        ///< none: every pair
};

/// Every pair of rows for which the condition is true. The right port first. Right and full outer joins need one instance.
class NestedLoopJoin final : public Operator {
 public:
  explicit NestedLoopJoin(std::shared_ptr<const NestedLoopJoinParams> params) : params_(std::move(params)) {}
  Status Open(const TaskContext& context) override;
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  bool NeedsEpoch(const sql::EpochContext&) const override { return false; }
  int wanted_port() const override { return built_ ? 0 : 1; }
  bool CanReuse(int port) const override { return port == 1 && kept_; }
  void Reuse(int port) override;
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;
  void Abort(const sql::EpochContext& epoch) override;

 private:
  bool left_outer() const { return params_->kind == JoinKind::kLeftOuter || params_->kind == JoinKind::kFullOuter; }
  bool right_outer() const { return params_->kind == JoinKind::kRightOuter || params_->kind == JoinKind::kFullOuter; }
  bool semi() const { return params_->kind == JoinKind::kLeftSemi || params_->kind == JoinKind::kLeftAnti; }
  Result<std::optional<data::Chunk>> NextPairs();
  data::Chunk LeftRows(bool matched) const;
  std::optional<data::Chunk> UnmatchedRight();
  OperatorState AfterLeft();

  const std::shared_ptr<const NestedLoopJoinParams> params_;
  sql::EvalContext eval_;
  MemoryReservation memory_;
  std::vector<data::Chunk> right_;
  std::vector<std::vector<uint8_t>> right_matched_;
  bool built_ = false;
  bool kept_ = false;
  bool left_ended_ = false;
  data::Chunk left_;
  bool joining_ = false;
  std::vector<uint8_t> left_matched_;
  size_t right_chunk_ = 0;  // the next pairs: rows of left_ from left_row_ with this chunk
  int64_t left_row_ = 0;
  size_t unmatched_chunk_ = 0;
};

}  // namespace thalweg::engine
