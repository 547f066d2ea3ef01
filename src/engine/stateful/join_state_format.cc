#include "engine/stateful/join_state_format.h"

#include <cstring>

#include "data/rowformat/unsafe_row_format.h"
#include "data/rowformat/unsafe_row_reader.h"

namespace thalweg::engine {

IndexedKeyFormat::IndexedKeyFormat(std::vector<data::DataType> key_types)
    : types_(std::move(key_types)), columns_(static_cast<int64_t>(types_.size())) {
  for (int64_t i = 0; i < columns_; ++i) {
    if (data::IsVariable(types_[static_cast<size_t>(i)])) variable_.push_back(i);
  }
  types_.push_back(data::DataType::Long());
  growth_ = data::RowFixedBytes(columns_ + 1) - data::RowFixedBytes(columns_);
}

void IndexedKeyFormat::Append(std::string_view key, int64_t index, std::vector<uint8_t>* out) const {
  const size_t at = out->size();
  out->resize(at + key.size() + static_cast<size_t>(growth_));
  uint8_t* to = out->data() + at;
  const auto* from = reinterpret_cast<const uint8_t*>(key.data());
  const int64_t bits = data::NullBitsBytes(columns_);
  const int64_t to_bits = data::NullBitsBytes(columns_ + 1);
  std::memset(to, 0, static_cast<size_t>(to_bits));
  std::memcpy(to, from, static_cast<size_t>(bits));
  std::memcpy(to + to_bits, from + bits, static_cast<size_t>(8 * columns_));
  data::StoreAs(to + to_bits + 8 * columns_, index);
  const int64_t fixed = data::RowFixedBytes(columns_);
  std::memcpy(to + fixed + growth_, from + fixed, key.size() - static_cast<size_t>(fixed));
  for (const int64_t column : variable_) {
    uint8_t* slot = to + to_bits + 8 * column;
    const auto word = data::LoadAs<int64_t>(slot);
    // A null without reserved bytes is a slot of zero.
    if (word != 0) data::StoreAs(slot, word + (growth_ << 32));
  }
}

bool IndexedKeyFormat::Split(std::string_view row, std::string* key, int64_t* index) const {
  if (!data::RowPrefix(types_, static_cast<int>(columns_), row, key)) return false;
  const auto* bytes = reinterpret_cast<const uint8_t*>(row.data());
  *index = data::LoadAs<int64_t>(bytes + data::NullBitsBytes(columns_ + 1) + 8 * columns_);
  return true;
}

void WriteCountRow(int64_t count, uint8_t* row) {
  data::StoreAs(row, int64_t{0});
  data::StoreAs(row + 8, count);
}

int64_t ReadCountRow(std::string_view row) {
  if (row.size() < 16 || row[0] != 0) return -1;
  return data::LoadAs<int64_t>(reinterpret_cast<const uint8_t*>(row.data()) + 8);
}

}  // namespace thalweg::engine
