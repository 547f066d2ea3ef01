// Invariants:
// - the number of slots is a power of two, at least half of them empty (of few slots at least seven eighths: a second look costs
//   a mispredicted branch there, and no cache miss is saved); an empty slot is 0;
// - a slot's top 16 bits are those of the row's hash, its position starts from the hash's low bits;
// - hashes_[i] is the hash of the i-th row; the row of a null key has no slot.

#include "engine/exec/group_table.h"

#include <algorithm>
#include <cstring>

namespace thalweg::engine {
namespace {

using data::TextView;

constexpr int64_t kTextPageBytes = 64 << 10;
constexpr int64_t kFirstPageBytes = 2 << 10;
constexpr int64_t kPageBytes = static_cast<int64_t>(TableMemory::kHugeBytes);
constexpr size_t kFirstSlots = 64;
constexpr size_t kSparseSlots = 4 << 10;
/// Slots to prefetch ahead while growing.
constexpr int64_t kAhead = 16;
/// Below this the slots stay in the second-level cache and prefetching costs more than it gives.
constexpr size_t kPrefetchSlots = 16 << 10;

}  // namespace

GroupTable::GroupTable(std::shared_ptr<const KeyLayout> layout, int payload_bytes)
    : layout_(std::move(layout)),
      key_bytes_(layout_->words() * 8),
      row_bytes_(key_bytes_ + (payload_bytes + 7) / 8 * 8),
      slots_(kFirstSlots * sizeof(uint64_t)),
      num_slots_(kFirstSlots) {
  for (const KeyLayout::Leaf& leaf : layout_->leaves()) {
    if (leaf.physical == data::PhysicalType::kText || leaf.physical == data::PhysicalType::kList) {
      text_words_.push_back(leaf.word);
    }
  }
}

GroupTable::~GroupTable() = default;

void GroupTable::Clear() {
  slots_ = TableMemory(kFirstSlots * sizeof(uint64_t));
  num_slots_ = kFirstSlots;
  hashes_.clear();
  pages_.clear();
  texts_.clear();
  text_next_ = nullptr;
  text_left_ = held_bytes_ = size_ = 0;
  null_row_ = nullptr;
}

template <bool kOneWord>
bool GroupTable::SameKey(const uint8_t* row, const uint64_t* key) const {
  const auto* words = reinterpret_cast<const uint64_t*>(row);
  if constexpr (kOneWord) return words[0] == key[0];
  const int count = layout_->words();
  if (text_words_.empty()) {
    for (int i = 0; i < count; ++i) {
      if (words[i] != key[i]) return false;
    }
    return true;
  }
  size_t text = 0;
  for (int i = 0; i < count; ++i) {
    if (words[i] != key[i]) return false;
    if (text < text_words_.size() && text_words_[text] == i) {
      ++text;
      ++i;
      if (words[i] == key[i]) continue;  // inline, or the same bytes
      TextView a;
      TextView b;
      std::memcpy(static_cast<void*>(&a), words + i - 1, sizeof(a));
      std::memcpy(static_cast<void*>(&b), key + i - 1, sizeof(b));
      if (a.is_inline() || std::memcmp(a.data(), b.data(), a.size()) != 0) return false;
    }
  }
  return true;
}

uint8_t* GroupTable::AddRow(const uint64_t* key) {
  if (pages_.empty() || pages_.back().rows == pages_.back().capacity) {
    // A quarter of what there is: little is wasted, and a large table has large pages.
    const int64_t wanted = std::max<int64_t>(row_bytes_, std::clamp(size_ * row_bytes_ / 4, kFirstPageBytes, kPageBytes));
    Page page;
    page.capacity = wanted / row_bytes_;
    page.bytes = TableMemory(wanted);
    page.first_row = size_;
    held_bytes_ += static_cast<int64_t>(page.bytes.bytes()) + static_cast<int64_t>(sizeof(uint64_t)) * page.capacity;
    pages_.push_back(std::move(page));
  }
  Page& page = pages_.back();
  uint8_t* row = page.bytes.data() + page.rows * row_bytes_;
  ++page.rows;
  ++size_;
  std::memcpy(row, key, key_bytes_);
  for (const int word : text_words_) {
    TextView view;
    std::memcpy(static_cast<void*>(&view), key + word, sizeof(view));
    if (view.is_inline()) continue;
    const TextView copy(CopyText(view.data(), view.size()), view.size());
    std::memcpy(row + word * 8, &copy, sizeof(copy));
  }
  return row;
}

const char* GroupTable::CopyText(const char* text, uint32_t size) {
  if (text_left_ < size) {
    const int64_t block = std::max<int64_t>(size, texts_.empty() ? kFirstPageBytes : kTextPageBytes);
    texts_.push_back(std::make_unique_for_overwrite<char[]>(block));
    text_next_ = texts_.back().get();
    text_left_ = block;
    held_bytes_ += block;
  }
  std::memcpy(text_next_, text, size);
  const char* copy = text_next_;
  text_next_ += size;
  text_left_ -= size;
  return copy;
}

void GroupTable::Rehash(size_t slots) {
  slots_ = TableMemory();  // before there is a second one
  slots_ = TableMemory(slots * sizeof(uint64_t));
  num_slots_ = slots;
  auto* const table = slots_.as<uint64_t>();
  const size_t mask = slots - 1;
  int64_t index = 0;
  for (const Page& page : pages_) {
    uint8_t* row = page.bytes.data();
    for (int64_t i = 0; i < page.rows; ++i, ++index, row += row_bytes_) {
      if (index + kAhead < size_) __builtin_prefetch(table + (hashes_[index + kAhead] & mask), 1);
      if (row == null_row_) continue;
      const uint64_t hash = hashes_[index];
      size_t at = hash & mask;
      while (table[at] != 0) at = (at + 1) & mask;
      table[at] = (hash & ~kAddress) | reinterpret_cast<uint64_t>(row);
    }
  }
}

/// Makes room for so many rows.
void GroupTable::Grow(size_t rows) {
  if (2 * rows <= num_slots_ && (8 * rows <= num_slots_ || num_slots_ >= kSparseSlots)) return;
  size_t slots = 2 * num_slots_;
  while (8 * rows > slots && slots < kSparseSlots) slots *= 2;
  while (2 * rows > slots) slots *= 2;
  Rehash(slots);
}

template <bool kOneWord, bool kAdd>
void GroupTable::Lookup(KeyEncoder& keys, uint8_t** rows, int64_t offset) {
  const int64_t total = keys.rows();
  const int stride = kOneWord ? 1 : layout_->words();
  const uint8_t* nulls = layout_->null_outside() && !keys.null_rows().empty() ? keys.null_rows().data() : nullptr;
  for (int64_t first = 0; first < total; first += KeyEncoder::kBlock, rows += KeyEncoder::kBlock) {
    const int64_t count = std::min(total - first, KeyEncoder::kBlock);
    if constexpr (kAdd) Grow(static_cast<size_t>(size_ + count));
    const auto [words, hashes] = keys.At(first, count);
    auto* const slots = slots_.as<uint64_t>();
    const size_t mask = num_slots_ - 1;
    if (num_slots_ > kPrefetchSlots) {
      for (int64_t i = 0; i < count; ++i) __builtin_prefetch(slots + (hashes[i] & mask));
      for (int64_t i = 0; i < count; ++i) {
        __builtin_prefetch(reinterpret_cast<const void*>(slots[hashes[i] & mask] & kAddress));
      }
    }
    for (int64_t i = 0; i < count; ++i) {
      if (nulls != nullptr && nulls[first + i]) {
        if (kAdd && null_row_ == nullptr) {
          hashes_.push_back(0);
          null_row_ = AddRow(words + i * stride);
        }
        rows[i] = null_row_ + offset;
        continue;
      }
      const uint64_t hash = hashes[i];
      size_t at = hash & mask;
      while (true) {
        const uint64_t slot = slots[at];
        auto* row = reinterpret_cast<uint8_t*>(slot & kAddress);
        if (slot == 0) {
          if constexpr (kAdd) {
            row = AddRow(words + i * stride);
            hashes_.push_back(hash);
            slots[at] = (hash & ~kAddress) | reinterpret_cast<uint64_t>(row);
          }
          rows[i] = row + offset;
          break;
        }
        if (((slot ^ hash) & ~kAddress) == 0 && SameKey<kOneWord>(row, words + i * stride)) {
          rows[i] = row + offset;
          break;
        }
        at = (at + 1) & mask;
      }
    }
  }
}

void GroupTable::FindOrAdd(KeyEncoder& keys, uint8_t** rows, int64_t offset) {
  if (layout_->words() == 1) {
    Lookup<true, true>(keys, rows, offset);
  } else {
    Lookup<false, true>(keys, rows, offset);
  }
}

void GroupTable::Find(KeyEncoder& keys, uint8_t** rows) const {
  auto* self = const_cast<GroupTable*>(this);  // the lookup changes nothing without kAdd
  if (layout_->words() == 1) {
    self->Lookup<true, false>(keys, rows, 0);
  } else {
    self->Lookup<false, false>(keys, rows, 0);
  }
}

void GroupTable::Rows(int64_t first, int64_t count, std::vector<uint8_t*>* rows) const {
  rows->clear();
  auto page = std::upper_bound(pages_.begin(), pages_.end(), first,
                               [](int64_t row, const Page& p) { return row < p.first_row; });
  if (page != pages_.begin()) --page;
  for (; page != pages_.end() && count > 0; ++page) {
    for (int64_t i = std::max<int64_t>(0, first - page->first_row); i < page->rows && count > 0; ++i, --count) {
      rows->push_back(page->bytes.data() + i * row_bytes_);
    }
  }
}

}  // namespace thalweg::engine
