#include "engine/exec/operators/nested_loop_join.h"

#include <algorithm>
#include <utility>

namespace thalweg::engine {

Status NestedLoopJoin::Open(const TaskContext& context) {
  eval_.config = context.config.get();
  eval_.partition = context.partition.value();
  memory_ = context.NewReservation();
  return Status::OK();
}

Status NestedLoopJoin::BeginEpoch(const sql::EpochContext& epoch) {
  eval_.epoch = &epoch;
  built_ = left_ended_ = joining_ = false;
  unmatched_chunk_ = 0;
  right_matched_.clear();
  return Status::OK();
}

void NestedLoopJoin::Reuse(int) { built_ = true; }

Result<OperatorState> NestedLoopJoin::Push(int port, data::Chunk chunk) {
  if (port == 1) {
    if (std::exchange(kept_, false)) {
      right_.clear();
      memory_.Release();
    }
    right_.push_back(chunk.Compacted());
    TW_RETURN_NOT_OK(memory_.Grow(right_.back().bytes()));
    return OperatorState::kNeedInput;
  }
  left_ = chunk.Dense();
  left_matched_.assign(left_.num_rows(), 0);
  right_chunk_ = 0;
  left_row_ = 0;
  joining_ = true;
  if (right_outer() && right_matched_.empty()) {
    for (const data::Chunk& part : right_) right_matched_.emplace_back(part.num_rows(), 0);
  }
  return OperatorState::kHaveOutput;
}

OperatorState NestedLoopJoin::AfterLeft() { return right_outer() ? OperatorState::kHaveOutput : OperatorState::kFinished; }

Result<OperatorState> NestedLoopJoin::EndInput(int port) {
  if (port == 1) {
    if (std::exchange(kept_, false)) {  // no row came this time
      right_.clear();
      memory_.Release();
    }
    built_ = kept_ = true;
    return left_ended_ ? AfterLeft() : OperatorState::kNeedInput;
  }
  left_ended_ = true;
  return built_ ? AfterLeft() : OperatorState::kNeedInput;
}

// Some left rows with all rows of one right chunk.
Result<std::optional<data::Chunk>> NestedLoopJoin::NextPairs() {
  const data::Chunk& right = right_[right_chunk_];
  const int64_t count = std::min(left_.num_rows() - left_row_, std::max<int64_t>(1, data::kChunkRows / right.num_rows()));
  std::vector<int32_t> left_rows;
  std::vector<int32_t> right_rows;
  for (int64_t i = left_row_; i < left_row_ + count; ++i) {
    for (int64_t j = 0; j < right.num_rows(); ++j) {
      left_rows.push_back(static_cast<int32_t>(i));
      right_rows.push_back(static_cast<int32_t>(j));
    }
  }
  const size_t chunk = right_chunk_;
  left_row_ += count;
  if (left_row_ == left_.num_rows()) {
    left_row_ = 0;
    ++right_chunk_;
  }
  if (params_->condition) {
    std::vector<data::ColumnPtr> columns;
    for (const int column : params_->condition->left_columns) columns.push_back(data::Take(left_.column(column), left_rows));
    for (const int column : params_->condition->right_columns) columns.push_back(data::Take(right.column(column), right_rows));
    const data::Chunk pairs(std::move(columns), static_cast<int64_t>(left_rows.size()));
    TW_ASSIGN_OR_RETURN(const data::Chunk kept, params_->condition->program->Filter(pairs, eval_));
    if (kept.selection()) {
      size_t next = 0;
      for (const int32_t pair : *kept.selection()) {
        left_rows[next] = left_rows[pair];
        right_rows[next++] = right_rows[pair];
      }
      left_rows.resize(next);
      right_rows.resize(next);
    }
  }
  for (const int32_t row : left_rows) left_matched_[row] = 1;
  if (right_outer()) {
    for (const int32_t row : right_rows) right_matched_[chunk][row] = 1;
  }
  if (semi() || left_rows.empty()) return std::optional<data::Chunk>{};
  std::vector<data::ColumnPtr> columns;
  for (const int column : params_->left_output) columns.push_back(data::Take(left_.column(column), left_rows));
  for (const int column : params_->right_output) columns.push_back(data::Take(right.column(column), right_rows));
  return std::optional<data::Chunk>(data::Chunk(std::move(columns), static_cast<int64_t>(left_rows.size())));
}

data::Chunk NestedLoopJoin::LeftRows(bool matched) const {
  std::vector<int32_t> rows;
  for (int64_t row = 0; row < left_.num_rows(); ++row) {
    if ((left_matched_[row] != 0) == matched) rows.push_back(static_cast<int32_t>(row));
  }
  const auto count = static_cast<int64_t>(rows.size());
  std::vector<data::ColumnPtr> columns;
  for (const int column : params_->left_output) columns.push_back(data::Take(left_.column(column), rows));
  if (!semi()) {
    for (const int column : params_->right_output) columns.push_back(data::Column::Nulls(params_->right_types[column], count));
  }
  return data::Chunk(std::move(columns), count);
}

std::optional<data::Chunk> NestedLoopJoin::UnmatchedRight() {
  const data::Chunk& right = right_[unmatched_chunk_];
  std::vector<int32_t> rows;
  for (int64_t row = 0; row < right.num_rows(); ++row) {
    const bool matched = !right_matched_.empty() && right_matched_[unmatched_chunk_][row] != 0;
    if (!matched) rows.push_back(static_cast<int32_t>(row));
  }
  ++unmatched_chunk_;
  const auto count = static_cast<int64_t>(rows.size());
  if (count == 0) return std::nullopt;
  std::vector<data::ColumnPtr> columns;
  for (const int column : params_->left_output) columns.push_back(data::Column::Nulls(params_->left_types[column], count));
  for (const int column : params_->right_output) columns.push_back(data::Take(right.column(column), rows));
  return data::Chunk(std::move(columns), count);
}

Result<std::optional<data::Chunk>> NestedLoopJoin::Pull(OperatorState* state) {
  if (!joining_) {
    std::optional<data::Chunk> out;
    if (unmatched_chunk_ < right_.size()) out = UnmatchedRight();
    *state = unmatched_chunk_ < right_.size() ? OperatorState::kHaveOutput : OperatorState::kFinished;
    return out;
  }
  *state = OperatorState::kHaveOutput;
  if (right_chunk_ < right_.size()) return NextPairs();
  joining_ = false;
  *state = OperatorState::kNeedInput;
  std::optional<data::Chunk> out;
  if (semi()) {
    out = LeftRows(params_->kind == JoinKind::kLeftSemi);
  } else if (left_outer()) {
    out = LeftRows(false);
  }
  left_ = {};
  if (out && out->num_rows() == 0) out.reset();
  return out;
}

void NestedLoopJoin::Abort(const sql::EpochContext&) {
  right_.clear();
  memory_.Release();
  kept_ = built_ = joining_ = false;
}

}  // namespace thalweg::engine
