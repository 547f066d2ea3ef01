#include "engine/exec/join_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace thalweg::engine {
namespace {

constexpr int kPayload = 8;  // first and last row of the key, plus one; 0: none

struct Ends {
  int32_t first = 0;
  int32_t last = 0;
};

}  // namespace

std::vector<uint8_t> UnmatchableRows(const std::vector<data::ColumnPtr>& columns, const std::vector<bool>& null_safe,
                                     int64_t rows) {
  std::vector<uint8_t> out;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (null_safe[i] || !columns[i]->has_nulls()) continue;
    if (out.empty()) out.assign(rows, 0);
    for (int64_t row = 0; row < rows; ++row) out[row] |= columns[i]->IsNull(row) ? 1 : 0;
  }
  return out;
}

JoinTable::JoinTable(std::shared_ptr<const KeyLayout> layout, std::vector<int> key_columns, std::vector<bool> null_safe,
                     std::vector<data::DataType> types, MemoryReservation memory)
    : key_columns_(std::move(key_columns)),
      null_safe_(std::move(null_safe)),
      types_(std::move(types)),
      table_(std::move(layout), kPayload),
      memory_(std::move(memory)) {}

Status JoinTable::Add(const data::Chunk& chunk) {
  chunks_.push_back(chunk.Compacted());
  num_rows_ += chunk.num_rows();
  if (num_rows_ >= INT32_MAX) return Unsupported("a join side of more than 2147483646 rows in one partition");
  return memory_.Grow(chunks_.back().bytes());
}

Status JoinTable::Finish() {
  if (chunks_.size() == 1) {
    rows_ = std::move(chunks_[0]);
  } else {
    TW_RETURN_NOT_OK(memory_.Grow(memory_.bytes()));
    rows_ = data::ConcatChunks(chunks_, types_);
  }
  chunks_.clear();
  std::vector<data::ColumnPtr> keys;
  for (const int column : key_columns_) keys.push_back(data::Flatten(rows_.column(column)));
  const std::vector<uint8_t> unmatchable = UnmatchableRows(keys, null_safe_, num_rows_);
  KeyEncoder encoder(table_.layout());
  std::vector<uint8_t*> groups;
  for (int64_t first = 0; first < num_rows_; first += data::kChunkRows) {
    const int64_t count = std::min(data::kChunkRows, num_rows_ - first);
    std::vector<data::ColumnPtr> part;
    part.reserve(keys.size());
    for (const auto& key : keys) part.push_back(data::Slice(key, first, count));
    encoder.Encode(part, count);
    groups.resize(count);
    table_.FindOrAdd(encoder, groups.data());
    for (int64_t i = 0; i < count; ++i) {
      if (!unmatchable.empty() && unmatchable[first + i]) continue;
      Ends ends;
      uint8_t* payload = groups[i] + table_.payload_offset();
      std::memcpy(&ends, payload, sizeof(ends));
      const auto row = static_cast<int32_t>(first + i);
      if (ends.first == 0) {
        ends.first = row + 1;
      } else {
        if (next_.empty()) next_.assign(num_rows_, -1);
        next_[ends.last - 1] = row;
      }
      ends.last = row + 1;
      std::memcpy(payload, &ends, sizeof(ends));
    }
  }
  return memory_.Resize(rows_.bytes() + table_.bytes() + static_cast<int64_t>(next_.size()) * 4);
}

std::shared_ptr<SharedJoinTable::Build> SharedJoinTable::Acquire(int64_t epoch_sequence, bool* builder) {
  MutexLock lock(mutex_);
  *builder = epoch_sequence != epoch_sequence_;
  if (*builder) {
    epoch_sequence_ = epoch_sequence;
    build_ = std::make_shared<Build>();
  }
  return build_;
}

std::shared_ptr<SharedJoinTable::Build> SharedJoinTable::Current() const {
  MutexLock lock(mutex_);
  return build_;
}

void SharedJoinTable::Drop() {
  MutexLock lock(mutex_);
  epoch_sequence_ = -1;
  build_.reset();
}

}  // namespace thalweg::engine
