#include "engine/exec/operators/first_rows.h"

#include <utility>

namespace thalweg::engine {

FirstRows::FirstRows(std::vector<int> key_columns, std::shared_ptr<const KeyLayout> layout)
    : key_columns_(std::move(key_columns)), encoder_(*layout), table_(layout, 8) {}

Status FirstRows::Open(const TaskContext& context) {
  memory_ = context.NewReservation();
  return Status::OK();
}

Status FirstRows::BeginEpoch(const sql::EpochContext&) {
  table_.Clear();
  memory_.Release();
  return Status::OK();
}

Result<data::Chunk> FirstRows::Process(data::Chunk chunk) {
  const int64_t rows = chunk.num_rows();
  const auto& selection = chunk.selection();
  std::vector<data::ColumnPtr> keys;
  keys.reserve(key_columns_.size());
  for (const int column : key_columns_) {
    const data::ColumnPtr& key = chunk.column(column);
    keys.push_back(selection ? data::Take(key, *selection) : key);
  }
  encoder_.Encode(keys, rows);
  rows_.resize(rows);
  table_.FindOrAdd(encoder_, rows_.data());
  auto first = std::make_shared<std::vector<int32_t>>();
  for (int64_t row = 0; row < rows; ++row) {
    auto& seen = *reinterpret_cast<int64_t*>(rows_[row] + table_.payload_offset());
    if (std::exchange(seen, 1) == 0) first->push_back(selection ? (*selection)[row] : static_cast<int32_t>(row));
  }
  TW_RETURN_NOT_OK(memory_.Resize(table_.bytes()));
  chunk.set_selection(std::move(first));
  return chunk;
}

Result<OperatorState> FirstRows::EndInput(int port) {
  table_.Clear();
  memory_.Release();
  return MapOperator::EndInput(port);
}

void FirstRows::Abort(const sql::EpochContext&) {
  table_.Clear();
  memory_.Release();
}

}  // namespace thalweg::engine
