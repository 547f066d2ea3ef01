#include "engine/exec/operators/sample.h"

#include <utility>

namespace thalweg::engine {

Status Sample::Open(const TaskContext& context) {
  partition_ = context.partition.value();
  return Status::OK();
}

Status Sample::BeginEpoch(const sql::EpochContext&) {
  if (with_replacement_) {
    poisson_.emplace(upper_ - lower_, seed_, partition_);
  } else {
    uniform_.emplace(seed_ + partition_);
  }
  return Status::OK();
}

Result<data::Chunk> Sample::Process(data::Chunk chunk) {
  auto taken = std::make_shared<std::vector<int32_t>>();
  const auto& selection = chunk.selection();
  for (int64_t i = 0; i < chunk.num_rows(); ++i) {
    const int32_t row = selection ? (*selection)[i] : static_cast<int32_t>(i);
    if (with_replacement_) {
      taken->insert(taken->end(), poisson_->NextCopies(), row);
      continue;
    }
    if (upper_ - lower_ <= 0) continue;
    const double x = uniform_->NextDouble();
    if (lower_ <= x && x < upper_) taken->push_back(row);
  }
  chunk.set_selection(std::move(taken));
  return chunk;
}

}  // namespace thalweg::engine
