#include "engine/exec/operators/window.h"

#include <algorithm>
#include <utility>

#include "engine/exec/window_pieces.h"

namespace thalweg::engine {
namespace {

using data::ColumnPtr;

/// Whole partitions of so many rows are computed together.
constexpr int64_t kComputedRows = 32 << 10;
/// Per row, for what is made and dropped while a function begins.
constexpr int64_t kIndexBytes = 16;

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

Result<OperatorState> Window::Push(int, data::Chunk chunk) {
  if (chunk.num_rows() == 0) return OperatorState::kNeedInput;
  std::vector<data::ColumnPtr> columns;
  data::Chunk kept = chunk.Compacted();
  for (const data::ColumnPtr& column : kept.columns()) columns.push_back(data::Flatten(column));
  kept = data::Chunk(std::move(columns), kept.num_rows());
  const int64_t start = partitions_.LastStart(kept);
  if (start >= 0) whole_rows_ = held_rows_ + start;
  held_rows_ += kept.num_rows();
  if (held_rows_ > INT32_MAX / 2)
    return Unsupported("windows over partitions of more than 1073741823 rows");
  held_bytes_ += kept.bytes();
  held_.push_back(std::move(kept));
  TW_RETURN_NOT_OK(memory_.Resize(held_bytes_));
  return whole_rows_ < kComputedRows ? OperatorState::kNeedInput : OperatorState::kHaveOutput;
}

Result<OperatorState> Window::EndInput(int) {
  ended_ = true;
  whole_rows_ = held_rows_;
  return held_rows_ == 0 ? OperatorState::kFinished : OperatorState::kHaveOutput;
}

Status Window::Begin() {
  // The last chunk may hold the beginning of a partition that is not whole.
  std::vector<data::Chunk> rest;
  const int64_t left = held_rows_ - whole_rows_;
  if (left > 0) {
    const data::Chunk last = std::move(held_.back());
    held_.pop_back();
    if (last.num_rows() > left) held_.push_back(last.Slice(0, last.num_rows() - left));
    rest.push_back(last.Slice(last.num_rows() - left, left).Compacted());
  }
  // Rows are there twice while they are put together.
  TW_RETURN_NOT_OK(memory_.Resize(2 * held_bytes_ + whole_rows_ * kIndexBytes));
  data::Chunk all = held_.size() == 1 ? held_[0] : data::ConcatChunks(held_, params_->types);
  held_ = std::move(rest);
  held_rows_ = left;
  whole_rows_ = 0;
  held_bytes_ = 0;
  for (const data::Chunk& chunk : held_) held_bytes_ += chunk.bytes();
  work_ = std::make_unique<Work>(
      WindowRows(std::move(all), params_->partition_columns, params_->orders));
  work_->chunk_bytes = work_->rows.chunk().bytes();
  work_->made.resize(params_->functions.size());
  work_->made_bytes.resize(params_->functions.size());
  return Charge();
}

Status Window::Charge() {
  int64_t bytes = held_bytes_;
  if (work_ != nullptr) {
    bytes += work_->chunk_bytes + work_->rows.index_bytes() + work_->rows.rows() * kIndexBytes;
    for (const auto& run : work_->runs) bytes += run->bytes();
    for (const int64_t made : work_->made_bytes) bytes += made;
  }
  return memory_.Resize(bytes);
}

Result<bool> Window::Step() {
  const auto missing = std::find(work_->made.begin(), work_->made.end(), nullptr);
  if (missing == work_->made.end()) return false;
  const size_t function = missing - work_->made.begin();
  if (function == work_->runs.size()) {
    work_->runs.push_back(NewWindowFunctionRun(params_->functions[function], work_->rows, eval_));
  } else {
    TW_ASSIGN_OR_RETURN(*missing, work_->runs[function]->Next(std::min(
                                      data::kChunkRows, work_->rows.rows() - work_->next)));
    if (*missing != nullptr)
      work_->made_bytes[function] = BytesOfRows(**missing, 0, (*missing)->length());
  }
  TW_RETURN_NOT_OK(Charge());
  return true;
}

data::Chunk Window::TakeMade() {
  int64_t count = work_->rows.rows() - work_->next;
  for (const ColumnPtr& column : work_->made) count = std::min(count, column->length());
  std::vector<ColumnPtr> columns;
  for (int i = 0; i < params_->kept_columns; ++i)
    columns.push_back(data::Slice(work_->rows.chunk().column(i), work_->next, count));
  for (size_t i = 0; i < work_->made.size(); ++i) {
    ColumnPtr& column = work_->made[i];
    columns.push_back(data::Slice(column, 0, count));
    if (column->length() == count) {
      column = nullptr;
      work_->made_bytes[i] = 0;
    } else {
      column = data::Slice(column, count, column->length() - count);
    }
  }
  work_->next += count;
  return data::Chunk(std::move(columns), count);
}

Result<std::optional<data::Chunk>> Window::Pull(OperatorState* state) {
  *state = OperatorState::kHaveOutput;
  if (work_ == nullptr) {
    TW_RETURN_NOT_OK(Begin());
    return std::optional<data::Chunk>();
  }
  TW_ASSIGN_OR_RETURN(const bool working, Step());
  if (working) return std::optional<data::Chunk>();
  data::Chunk out = TakeMade();
  if (work_->next == work_->rows.rows()) {
    work_.reset();
    *state = ended_ ? OperatorState::kFinished : OperatorState::kNeedInput;
  }
  TW_RETURN_NOT_OK(Charge());
  return std::optional<data::Chunk>(std::move(out));
}

void Window::Clear() {
  held_.clear();
  work_.reset();
  partitions_.Clear();
  held_rows_ = held_bytes_ = whole_rows_ = 0;
  ended_ = false;
  memory_.Release();
}

void Window::Abort(const sql::EpochContext&) { Clear(); }

}  // namespace thalweg::engine
