#pragma once

#include "engine/state/state_table.h"

namespace thalweg::engine {

/// dropDuplicates keeps keys alone; stored as one null column. Bytes: checkpoint-format 8.2, do not change.
class SeenPayload final : public StatePayload {
 public:
  int size() const override { return 0; }
  Status Encode(std::span<uint8_t* const> payloads, data::RowBatch* values) override;
  Status Decode(std::span<const std::string_view> values, std::span<uint8_t* const> payloads) override;
};

/// dropDuplicatesWithinWatermark: an int64, the event time (us) from which on the key counts as new again; stored as one
/// bigint column. Bytes: checkpoint-format 8.2, do not change.
class SeenUntilPayload final : public StatePayload {
 public:
  int size() const override { return 8; }
  Status Encode(std::span<uint8_t* const> payloads, data::RowBatch* values) override;
  Status Decode(std::span<const std::string_view> values, std::span<uint8_t* const> payloads) override;
  bool EventTimes(std::span<uint8_t* const> payloads, std::span<int64_t> times_us) override;
};

}  // namespace thalweg::engine
