#include "engine/exec/operators/sources.h"

#include <algorithm>
#include <utility>

namespace thalweg::engine {

Status ChunksSource::BeginEpoch(const sql::EpochContext&) {
  next_ = 0;
  return Status::OK();
}

Result<OperatorState> ChunksSource::Push(int, data::Chunk) { return InternalError("local rows take no input"); }
Result<OperatorState> ChunksSource::EndInput(int) { return InternalError("local rows take no input"); }

Result<std::optional<data::Chunk>> ChunksSource::Pull(OperatorState* state) {
  if (next_ == chunks_->size()) {
    *state = OperatorState::kFinished;
    return std::optional<data::Chunk>{};
  }
  *state = OperatorState::kHaveOutput;
  return std::optional<data::Chunk>((*chunks_)[next_++]);
}

__int128 RangeSource::NumRows(int64_t start, int64_t end, int64_t step) {
  const __int128 span = static_cast<__int128>(end) - start;
  if (span == 0 || (span > 0) != (step > 0)) return 0;
  return (span + step + (step > 0 ? -1 : 1)) / step;
}

RangeSource::RangeSource(int64_t start, int64_t end, int64_t step, int partition, int partitions)
    : start_(start), step_(step) {
  const __int128 rows = NumRows(start, end, step);
  first_ = static_cast<int64_t>(rows * partition / partitions);
  last_ = static_cast<int64_t>(rows * (partition + 1) / partitions);
}

Status RangeSource::BeginEpoch(const sql::EpochContext&) {
  next_ = first_;
  return Status::OK();
}

Result<OperatorState> RangeSource::Push(int, data::Chunk) { return InternalError("a range takes no input"); }
Result<OperatorState> RangeSource::EndInput(int) { return InternalError("a range takes no input"); }

Result<std::optional<data::Chunk>> RangeSource::Pull(OperatorState* state) {
  const int64_t rows = std::min(data::kChunkRows, last_ - next_);
  if (rows <= 0) {
    *state = OperatorState::kFinished;
    return std::optional<data::Chunk>{};
  }
  data::Column::Parts parts;
  parts.type = data::DataType::Long();
  parts.length = rows;
  auto buffer = data::Buffer::Allocate(rows * 8);
  const auto values = buffer->as_mutable<int64_t>();
  for (int64_t i = 0; i < rows; ++i) {
    values[i] = static_cast<int64_t>(start_ + static_cast<__int128>(next_ + i) * step_);
  }
  parts.values = std::move(buffer);
  next_ += rows;
  *state = next_ < last_ ? OperatorState::kHaveOutput : OperatorState::kFinished;
  return std::optional<data::Chunk>(data::Chunk({data::Column::Make(std::move(parts))}, rows));
}

}  // namespace thalweg::engine
