#include "engine/exec/operators/project.h"

#include <utility>

namespace thalweg::engine {

Status EvaluatingOperator::Open(const TaskContext& context) {
  eval_.config = context.config.get();
  eval_.partition = context.partition.value();
  return Status::OK();
}

Status EvaluatingOperator::BeginEpoch(const sql::EpochContext& epoch) {
  eval_.epoch = &epoch;
  eval_.row_base = 0;
  return Status::OK();
}

Result<data::Chunk> Project::Process(data::Chunk chunk) {
  const int64_t rows = chunk.num_rows();
  TW_ASSIGN_OR_RETURN(data::Chunk out, program_->Run(chunk, eval_));
  eval_.row_base += rows;
  return out;
}

Result<data::Chunk> PickColumns::Process(data::Chunk chunk) {
  std::vector<data::ColumnPtr> columns;
  columns.reserve(columns_.size());
  for (const int column : columns_) columns.push_back(chunk.column(column));
  data::Chunk out(std::move(columns), chunk.physical_rows());
  out.set_selection(chunk.selection());
  out.set_change_kinds(chunk.change_kinds());
  return out;
}

Result<data::Chunk> Filter::Process(data::Chunk chunk) {
  const int64_t rows = chunk.num_rows();
  TW_ASSIGN_OR_RETURN(data::Chunk out, condition_->Filter(chunk, eval_));
  eval_.row_base += rows;
  return out;
}

Result<data::Chunk> Expand::Process(data::Chunk chunk) {
  const int64_t rows = chunk.num_rows();
  std::vector<data::Chunk> parts;
  parts.reserve(projections_.size());
  for (const auto& projection : projections_) {
    TW_ASSIGN_OR_RETURN(data::Chunk part, projection->Run(chunk, eval_));
    parts.push_back(part.Dense());
  }
  eval_.row_base += rows;
  if (parts.size() == 1) return std::move(parts[0]);
  std::vector<data::DataType> types;
  for (const data::ColumnPtr& column : parts[0].columns()) types.push_back(column->type());
  data::Chunk out = data::ConcatChunks(parts, types);
  auto order = std::make_shared<std::vector<int32_t>>();
  order->reserve(static_cast<size_t>(rows) * parts.size());
  for (int32_t row = 0; row < rows; ++row) {
    for (size_t part = 0; part < parts.size(); ++part) order->push_back(static_cast<int32_t>(part * rows) + row);
  }
  out.set_selection(std::move(order));
  return out;
}

}  // namespace thalweg::engine
