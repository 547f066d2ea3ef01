#include "engine/stateful/deduplicate_payload.h"

#include "data/rowformat/unsafe_row_format.h"

namespace thalweg::engine {
namespace {

constexpr int64_t kRowBytes = data::RowFixedBytes(1);

/// Rows of one column each, all bits clear.
void OneColumnRows(size_t count, data::RowBatch* values) {
  values->bytes.assign(count * kRowBytes, 0);
  values->offsets.resize(count + 1);
  for (size_t i = 0; i <= count; ++i) values->offsets[i] = static_cast<int64_t>(i) * kRowBytes;
}

}  // namespace

Status SeenPayload::Encode(std::span<uint8_t* const> payloads, data::RowBatch* values) {
  OneColumnRows(payloads.size(), values);
  for (size_t i = 0; i < payloads.size(); ++i) data::SetNullBit(values->bytes.data() + i * kRowBytes, 0);
  return Status::OK();
}

Status SeenPayload::Decode(std::span<const std::string_view>, std::span<uint8_t* const>) { return Status::OK(); }

Status SeenUntilPayload::Encode(std::span<uint8_t* const> payloads, data::RowBatch* values) {
  OneColumnRows(payloads.size(), values);
  for (size_t i = 0; i < payloads.size(); ++i) {
    data::StoreAs(values->bytes.data() + i * kRowBytes + 8, data::LoadAs<int64_t>(payloads[i]));
  }
  return Status::OK();
}

Status SeenUntilPayload::Decode(std::span<const std::string_view> values, std::span<uint8_t* const> payloads) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].size() < static_cast<size_t>(kRowBytes)) {
      return Error("MALFORMED_STATE_ROW").With("reason", "a value is shorter than its fixed part");
    }
    data::StoreAs(payloads[i], data::LoadAs<int64_t>(reinterpret_cast<const uint8_t*>(values[i].data()) + 8));
  }
  return Status::OK();
}

bool SeenUntilPayload::EventTimes(std::span<uint8_t* const> payloads, std::span<int64_t> times_us) {
  for (size_t i = 0; i < payloads.size(); ++i) times_us[i] = data::LoadAs<int64_t>(payloads[i]);
  return true;
}

}  // namespace thalweg::engine
