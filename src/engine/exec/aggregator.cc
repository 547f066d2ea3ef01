#include "engine/exec/aggregator.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace thalweg::engine {
namespace {

int PayloadBytes(const AggregationSpec& spec) {
  int bytes = 0;
  for (const AggregateSpec& aggregate : spec.aggregates) bytes += (aggregate.bound->kernels->size + 7) / 8 * 8;
  return bytes;
}

// Flat or constant, as kernels take them.
data::ColumnPtr Plain(const data::ColumnPtr& column) {
  return column->encoding() == data::Encoding::kDictionary ? data::Flatten(column) : column;
}

}  // namespace

Result<std::shared_ptr<const AggregationSpec>> MakeAggregationSpec(std::vector<int> key_columns,
                                                                   std::vector<data::DataType> key_types,
                                                                   std::vector<AggregateSpec> aggregates) {
  TW_ASSIGN_OR_RETURN(KeyLayout layout, KeyLayout::Make(std::move(key_types)));
  auto spec = std::make_shared<AggregationSpec>();
  spec->key_columns = std::move(key_columns);
  spec->layout = std::make_shared<const KeyLayout>(std::move(layout));
  spec->aggregates = std::move(aggregates);
  return std::shared_ptr<const AggregationSpec>(std::move(spec));
}

Aggregator::Aggregator(std::shared_ptr<const AggregationSpec> spec)
    : spec_(std::move(spec)), table_(spec_->layout, PayloadBytes(*spec_)), encoder_(*spec_->layout) {
  int offset = table_.payload_offset();
  for (const AggregateSpec& aggregate : spec_->aggregates) {
    offsets_.push_back(offset);
    offset += (aggregate.bound->kernels->size + 7) / 8 * 8;
    owns_ = owns_ || aggregate.bound->kernels->owned_bytes != nullptr;
    seen_.push_back(aggregate.distinct != nullptr ? std::make_unique<Seen>(aggregate.distinct) : nullptr);
  }
}

Aggregator::~Aggregator() { Clear(); }

void Aggregator::Clear() {
  for (size_t i = 0; i < spec_->aggregates.size(); ++i) {
    const sql::BoundAggregate& bound = *spec_->aggregates[i].bound;
    if (bound.kernels->destroy == nullptr) continue;
    table_.Rows(0, table_.size(), &rows_);
    for (uint8_t* row : rows_) bound.kernels->destroy(bound, row + offsets_[i]);
  }
  table_.Clear();
  for (const auto& seen : seen_) {
    if (seen != nullptr) seen->table.Clear();
  }
  owned_bytes_ = measure_at_rows_ = added_rows_ = 0;
}

void Aggregator::InitRows(int64_t first) {
  if (first == table_.size()) return;
  std::vector<uint8_t*> made;
  for (size_t i = 0; i < spec_->aggregates.size(); ++i) {
    const sql::BoundAggregate& bound = *spec_->aggregates[i].bound;
    if (bound.kernels->init == nullptr) continue;
    if (made.empty()) table_.Rows(first, table_.size() - first, &made);
    for (uint8_t* row : made) bound.kernels->init(bound, row + offsets_[i]);
  }
}

void Aggregator::AddEmptyGroup() {
  if (table_.size() > 0 || !spec_->key_columns.empty()) return;
  encoder_.Encode({}, 1);
  rows_.resize(1);
  table_.FindOrAdd(encoder_, rows_.data());
  InitRows(0);
}

Status Aggregator::Add(const data::Chunk& input, sql::EvalContext& context) {
  const data::Chunk chunk = input.Dense();
  const int64_t rows = chunk.num_rows();
  if (rows == 0) return Status::OK();
  rows_offset_ = 0;
  if (spec_->key_columns.empty()) {
    AddEmptyGroup();
    std::vector<uint8_t*> only;
    table_.Rows(0, 1, &only);
    rows_.assign(rows, only[0]);
  } else {
    std::vector<data::ColumnPtr> keys;
    keys.reserve(spec_->key_columns.size());
    for (const int column : spec_->key_columns) keys.push_back(chunk.column(column));
    encoder_.Encode(keys, rows);
    rows_.resize(rows);
    const int64_t before = table_.size();
    if (!offsets_.empty()) rows_offset_ = offsets_[0];
    table_.FindOrAdd(encoder_, rows_.data(), rows_offset_);
    InitRows(before);
  }
  for (size_t i = 0; i < spec_->aggregates.size(); ++i) TW_RETURN_NOT_OK(Update(i, chunk, context));
  added_rows_ += rows;
  if (owns_ && added_rows_ >= measure_at_rows_) MeasureOwned();
  return Status::OK();
}

int64_t Aggregator::bytes() const {
  int64_t bytes = table_.bytes() + owned_bytes_;
  for (const auto& seen : seen_) bytes += seen != nullptr ? seen->table.bytes() : 0;
  return bytes;
}

std::vector<int32_t> Aggregator::SelectedRows(size_t index, const data::Chunk& chunk) {
  const AggregateSpec& aggregate = spec_->aggregates[index];
  std::vector<int32_t> selected;
  if (aggregate.filter) {
    const data::ColumnPtr condition = data::Flatten(chunk.column(*aggregate.filter));
    const auto values = condition->values<uint8_t>();
    for (int64_t row = 0; row < chunk.num_rows(); ++row) {
      if (values[row] != 0 && !condition->IsNull(row)) selected.push_back(static_cast<int32_t>(row));
    }
  } else {
    selected.resize(chunk.num_rows());
    std::iota(selected.begin(), selected.end(), 0);
  }
  if (seen_[index] == nullptr || selected.empty()) return selected;
  std::vector<data::ColumnPtr> columns;
  for (const int column : spec_->key_columns) columns.push_back(data::Take(chunk.column(column), selected));
  for (const int column : aggregate.arguments) columns.push_back(data::Take(chunk.column(column), selected));
  Seen& seen = *seen_[index];
  seen.encoder.Encode(columns, static_cast<int64_t>(selected.size()));
  accumulators_.resize(selected.size());
  seen.table.FindOrAdd(seen.encoder, accumulators_.data());
  size_t kept = 0;
  for (size_t i = 0; i < selected.size(); ++i) {
    auto& flag = *reinterpret_cast<int64_t*>(accumulators_[i] + seen.table.payload_offset());
    if (std::exchange(flag, 1) == 0) selected[kept++] = selected[i];
  }
  selected.resize(kept);
  return selected;
}

Status Aggregator::Update(size_t index, const data::Chunk& chunk, sql::EvalContext& context) {
  const AggregateSpec& aggregate = spec_->aggregates[index];
  const sql::AggregateKernels& kernels = *aggregate.bound->kernels;
  const int offset = offsets_[index];
  std::vector<data::ColumnPtr> arguments;
  arguments.reserve(aggregate.arguments.size());
  for (const int column : aggregate.arguments) arguments.push_back(Plain(chunk.column(column)));
  const auto add = aggregate.merge ? kernels.merge : kernels.update;
  int64_t rows = chunk.num_rows();
  if (aggregate.filter || seen_[index] != nullptr) {
    const std::vector<int32_t> selected = SelectedRows(index, chunk);
    rows = static_cast<int64_t>(selected.size());
    if (rows == 0) return Status::OK();
    accumulators_.resize(rows);
    for (int64_t i = 0; i < rows; ++i) accumulators_[i] = rows_[selected[i]] + (offset - rows_offset_);
    for (auto& argument : arguments) argument = data::Take(argument, selected);
    return add(*aggregate.bound, arguments, rows, accumulators_.data(), context);
  }
  if (const int step = offset - rows_offset_; step != 0) {
    for (int64_t row = 0; row < rows; ++row) rows_[row] += step;
    rows_offset_ = offset;
  }
  return add(*aggregate.bound, arguments, rows, rows_.data(), context);
}

// Doubling intervals: the cost stays in proportion to the rows added.
void Aggregator::MeasureOwned() {
  owned_bytes_ = 0;
  std::vector<uint8_t*> all;
  table_.Rows(0, table_.size(), &all);
  for (size_t i = 0; i < spec_->aggregates.size(); ++i) {
    const sql::BoundAggregate& bound = *spec_->aggregates[i].bound;
    if (bound.kernels->owned_bytes == nullptr) continue;
    for (const uint8_t* row : all) owned_bytes_ += bound.kernels->owned_bytes(bound, row + offsets_[i]);
  }
  measure_at_rows_ = added_rows_ + std::max(added_rows_ / 2, table_.size());
}

Result<data::Chunk> Aggregator::Emit(int64_t first, int64_t count, bool buffers, sql::EvalContext& context) {
  table_.Rows(first, count, &rows_);
  const auto rows = static_cast<int64_t>(rows_.size());
  std::vector<data::ColumnPtr> columns = DecodeKeys(*spec_->layout, rows_, table_.null_row());
  for (size_t i = 0; i < spec_->aggregates.size(); ++i) {
    const sql::BoundAggregate& bound = *spec_->aggregates[i].bound;
    accumulators_.resize(rows);
    for (int64_t row = 0; row < rows; ++row) accumulators_[row] = rows_[row] + offsets_[i];
    if (buffers) {
      TW_RETURN_NOT_OK(bound.kernels->export_buffers(bound, accumulators_, &columns));
    } else {
      TW_ASSIGN_OR_RETURN(data::ColumnPtr column, bound.kernels->finish(bound, accumulators_, context));
      columns.push_back(std::move(column));
    }
  }
  return data::Chunk(std::move(columns), rows);
}

}  // namespace thalweg::engine
