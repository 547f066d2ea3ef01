#include "engine/exec/operators/window.h"

#include <algorithm>
#include <utility>

namespace thalweg::engine {
namespace {

/// Whole partitions of so many rows are computed together.
constexpr int64_t kComputedRows = 32 << 10;

}  // namespace

Status Window::Open(const TaskContext& context) {
  eval_.config = context.config.get();
  eval_.partition = context.partition.value();
  memory_ = context.NewReservation();
  return Status::OK();
}

Status Window::BeginEpoch(const sql::EpochContext& epoch) {
  eval_.epoch = &epoch;
  Clear();
  return Status::OK();
}

bool Window::Differ(const data::Chunk& a, int64_t i, const data::Chunk& b, int64_t j) const {
  return std::any_of(params_->partition_columns.begin(), params_->partition_columns.end(), [&](int key) {
    const data::Column& left = *a.column(key);
    const data::Column& right = *b.column(key);
    const bool null = left.physical() == data::PhysicalType::kNull || left.IsNull(i);
    if (null != (right.physical() == data::PhysicalType::kNull || right.IsNull(j))) return true;
    return !null && CompareValues(left, i, right, j) != 0;
  });
}

int64_t Window::LastStart(const data::Chunk* before, const data::Chunk& chunk) const {
  for (int64_t row = chunk.num_rows() - 1; row > 0; --row) {
    if (Differ(chunk, row - 1, chunk, row)) return row;
  }
  return before != nullptr && Differ(*before, before->num_rows() - 1, chunk, 0) ? 0 : -1;
}

Result<OperatorState> Window::Push(int, data::Chunk chunk) {
  if (chunk.num_rows() == 0) return OperatorState::kNeedInput;
  std::vector<data::ColumnPtr> columns;
  data::Chunk kept = chunk.Compacted();
  for (const data::ColumnPtr& column : kept.columns()) columns.push_back(data::Flatten(column));
  kept = data::Chunk(std::move(columns), kept.num_rows());
  const int64_t start = LastStart(held_.empty() ? nullptr : &held_.back(), kept);
  if (start >= 0) whole_rows_ = held_rows_ + start;
  held_rows_ += kept.num_rows();
  if (held_rows_ > INT32_MAX / 2) return Unsupported("windows over partitions of more than 1073741823 rows");
  held_bytes_ += kept.bytes();
  held_.push_back(std::move(kept));
  TW_RETURN_NOT_OK(memory_.Resize(held_bytes_));
  if (whole_rows_ < kComputedRows) return OperatorState::kNeedInput;
  TW_RETURN_NOT_OK(Compute());
  return OperatorState::kHaveOutput;
}

Result<OperatorState> Window::EndInput(int) {
  ended_ = true;
  whole_rows_ = held_rows_;
  if (held_rows_ == 0) return OperatorState::kFinished;
  TW_RETURN_NOT_OK(Compute());
  return OperatorState::kHaveOutput;
}

Status Window::Compute() {
  // The last chunk may hold the beginning of a partition that is not whole.
  std::vector<data::Chunk> rest;
  const int64_t left = held_rows_ - whole_rows_;
  if (left > 0) {
    const data::Chunk last = std::move(held_.back());
    held_.pop_back();
    if (last.num_rows() > left) held_.push_back(last.Slice(0, last.num_rows() - left));
    rest.push_back(last.Slice(last.num_rows() - left, left).Compacted());
  }
  // Rows once more while they are put together, then results and what they are made with.
  const int64_t results = static_cast<int64_t>(params_->functions.size()) * whole_rows_ * 16;
  TW_RETURN_NOT_OK(memory_.Resize(2 * held_bytes_ + results + whole_rows_ * 64));
  data::Chunk all = held_.size() == 1 ? held_[0] : data::ConcatChunks(held_, params_->types);
  held_.clear();
  WindowRows rows(std::move(all), params_->partition_columns, params_->orders);
  WindowEvaluator evaluator(eval_);
  std::vector<data::ColumnPtr> columns(rows.chunk().columns().begin(), rows.chunk().columns().begin() + params_->kept_columns);
  for (const WindowFunctionSpec& function : params_->functions) {
    TW_ASSIGN_OR_RETURN(data::ColumnPtr column, evaluator.Evaluate(function, rows));
    columns.push_back(std::move(column));
  }
  out_ = data::Chunk(std::move(columns), rows.rows());
  next_ = 0;
  held_ = std::move(rest);
  held_rows_ = left;
  whole_rows_ = 0;
  held_bytes_ = 0;
  for (const data::Chunk& chunk : held_) held_bytes_ += chunk.bytes();
  return memory_.Resize(held_bytes_ + out_.bytes());
}

Result<std::optional<data::Chunk>> Window::Pull(OperatorState* state) {
  const int64_t count = std::min(data::kChunkRows, out_.num_rows() - next_);
  std::optional<data::Chunk> out;
  if (count > 0) out = out_.Slice(next_, count);
  next_ += count;
  *state = OperatorState::kHaveOutput;
  if (next_ == out_.num_rows()) {
    out_ = {};
    next_ = 0;
    TW_RETURN_NOT_OK(memory_.Resize(held_bytes_));
    *state = ended_ ? OperatorState::kFinished : OperatorState::kNeedInput;
  }
  return out;
}

void Window::Clear() {
  held_.clear();
  out_ = {};
  held_rows_ = held_bytes_ = whole_rows_ = next_ = 0;
  ended_ = false;
  memory_.Release();
}

void Window::Abort(const sql::EpochContext&) { Clear(); }

}  // namespace thalweg::engine
