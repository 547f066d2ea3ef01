#include "engine/stateful/aggregate_payload.h"

#include <algorithm>

namespace thalweg::engine {

std::vector<data::DataType> BufferTypes(const AggregateList& aggregates) {
  std::vector<data::DataType> types;
  for (const auto& aggregate : aggregates) {
    for (const sql::BufferField& field : aggregate->buffer) types.push_back(field.type);
  }
  return types;
}

AggregatePayload::AggregatePayload(AggregateList aggregates)
    : aggregates_(std::move(aggregates)),
      writer_(BufferTypes(aggregates_)),
      reader_(BufferTypes(aggregates_)) {
  for (const auto& aggregate : aggregates_) {
    offsets_.push_back(size_);
    size_ += (aggregate->kernels->size + 7) / 8 * 8;
    owns_ = owns_ || aggregate->kernels->destroy != nullptr;
  }
}

std::vector<uint8_t*> AggregatePayload::At(size_t i, std::span<uint8_t* const> payloads) const {
  std::vector<uint8_t*> accumulators(payloads.size());
  std::transform(payloads.begin(), payloads.end(), accumulators.begin(),
                 [offset = offsets_[i]](uint8_t* payload) { return payload + offset; });
  return accumulators;
}

void AggregatePayload::Init(std::span<uint8_t* const> payloads) {
  for (size_t i = 0; i < aggregates_.size(); ++i) {
    const auto init = aggregates_[i]->kernels->init;
    if (init == nullptr) continue;
    for (uint8_t* payload : payloads) init(*aggregates_[i], payload + offsets_[i]);
  }
}

Status AggregatePayload::Encode(std::span<uint8_t* const> payloads, data::RowBatch* values) {
  std::vector<data::ColumnPtr> columns;
  for (size_t i = 0; i < aggregates_.size(); ++i) {
    TW_RETURN_NOT_OK(
        aggregates_[i]->kernels->export_buffers(*aggregates_[i], At(i, payloads), &columns));
  }
  return writer_.Write(columns, static_cast<int64_t>(payloads.size()), nullptr, values);
}

Status AggregatePayload::Decode(std::span<const std::string_view> values,
                                std::span<uint8_t* const> payloads) {
  TW_ASSIGN_OR_RETURN(const std::vector<data::ColumnPtr> columns, reader_.Read(values));
  size_t first = 0;
  for (size_t i = 0; i < aggregates_.size(); ++i) {
    const size_t width = aggregates_[i]->buffer.size();
    TW_RETURN_NOT_OK(aggregates_[i]->kernels->import_buffers(
        *aggregates_[i], std::span(columns).subspan(first, width),
        static_cast<int64_t>(values.size()), At(i, payloads).data()));
    first += width;
  }
  return Status::OK();
}

void AggregatePayload::Destroy(std::span<uint8_t* const> payloads) {
  if (!owns_) return;
  for (size_t i = 0; i < aggregates_.size(); ++i) {
    const auto destroy = aggregates_[i]->kernels->destroy;
    if (destroy == nullptr) continue;
    for (uint8_t* payload : payloads) destroy(*aggregates_[i], payload + offsets_[i]);
  }
}

Status AggregatePayload::Merge(std::span<const data::ColumnPtr> buffers,
                               std::span<uint8_t* const> payloads, sql::EvalContext& context) {
  size_t first = 0;
  for (size_t i = 0; i < aggregates_.size(); ++i) {
    const size_t width = aggregates_[i]->buffer.size();
    TW_RETURN_NOT_OK(aggregates_[i]->kernels->merge(*aggregates_[i], buffers.subspan(first, width),
                                                    static_cast<int64_t>(payloads.size()),
                                                    At(i, payloads).data(), context));
    first += width;
  }
  return Status::OK();
}

Result<std::vector<data::ColumnPtr>> AggregatePayload::Finish(std::span<uint8_t* const> payloads,
                                                              sql::EvalContext& context) const {
  std::vector<data::ColumnPtr> columns;
  for (size_t i = 0; i < aggregates_.size(); ++i) {
    TW_ASSIGN_OR_RETURN(data::ColumnPtr column,
                        aggregates_[i]->kernels->finish(*aggregates_[i], At(i, payloads), context));
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace thalweg::engine
