#include "engine/state/row_map.h"

#include <algorithm>
#include <cstring>

#include "engine/state/row_hash.h"

namespace thalweg::engine {
namespace {

constexpr uint32_t kPageBytes = 64 * 1024;
constexpr int64_t kLeastDeadBytes = 1 << 20;  // below that, rewriting is not worth its time

uint32_t Padded(size_t size) { return static_cast<uint32_t>((size + 7) & ~size_t{7}); }

}  // namespace

struct RowMap::Entry {
  Slot slot;           // kNoSlot: dead
  uint32_t page;
  uint32_t key_size;
  uint32_t value_size;
  uint32_t bytes;      // of the whole entry, header included; a multiple of 8
  uint32_t reserved;

  char* key_data() { return reinterpret_cast<char*>(this + 1); }
  char* value_data() { return key_data() + Padded(key_size); }
  std::string_view key() { return {key_data(), key_size}; }
  std::string_view value() { return {value_data(), value_size}; }
  uint32_t value_room() const { return bytes - static_cast<uint32_t>(sizeof(Entry)) - Padded(key_size); }
};

RowMap::Slot RowMap::Find(std::string_view key) const {
  return index_.Find(HashRow(key), [&](Slot slot) { return entries_[slot]->key() == key; });
}

/// What the index asks when it grows.
class RowMap::HashOfSlot {
 public:
  explicit HashOfSlot(const RowMap& map) : entries_(map.entries_.data()) {}
  uint64_t operator()(Slot slot) const { return HashRow(entries_[slot]->key()); }
  void TouchFirst(Slot slot) const { __builtin_prefetch(entries_ + slot); }
  void TouchSecond(Slot slot) const { __builtin_prefetch(entries_[slot]); }

 private:
  Entry* const* const entries_;
};

RowMap::Slot RowMap::Put(std::string_view key, std::string_view value, bool* inserted) {
  const uint64_t hash = HashRow(key);
  Slot slot = index_.Find(hash, [&](Slot found) { return entries_[found]->key() == key; });
  if (inserted != nullptr) *inserted = slot == kNoSlot;
  if (slot != kNoSlot) {
    Entry* entry = entries_[slot];
    if (value.size() <= entry->value_room()) {
      if (!value.empty()) std::memmove(entry->value_data(), value.data(), value.size());
      entry->value_size = static_cast<uint32_t>(value.size());
      return slot;
    }
    entries_[slot] = Allocate(key, value, slot);
    Release(entry);
    RewriteWhenSparse();
    return slot;
  }
  if (free_slots_.empty()) {
    slot = static_cast<Slot>(entries_.size());
    entries_.push_back(nullptr);
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  entries_[slot] = Allocate(key, value, slot);
  index_.Insert(hash, slot, HashOfSlot(*this));
  return slot;
}

void RowMap::Remove(Slot slot) {
  Entry* entry = entries_[slot];
  index_.Erase(HashRow(entry->key()), slot);
  entries_[slot] = nullptr;
  free_slots_.push_back(slot);
  Release(entry);
  RewriteWhenSparse();
}

void RowMap::RewriteWhenSparse() {
  if (dead_bytes_ > kLeastDeadBytes && dead_bytes_ * 2 > page_bytes_) RewriteSparsePages();
}

void RowMap::Clear() { *this = RowMap(); }

std::string_view RowMap::key(Slot slot) const { return entries_[slot]->key(); }
std::string_view RowMap::value(Slot slot) const { return entries_[slot]->value(); }

RowMap::Entry* RowMap::Allocate(std::string_view key, std::string_view value, Slot slot) {
  const uint32_t bytes = static_cast<uint32_t>(sizeof(Entry)) + Padded(key.size()) + Padded(value.size());
  if (current_ == UINT32_MAX || pages_[current_].used + bytes > pages_[current_].capacity) {
    if (free_pages_.empty()) {
      current_ = static_cast<uint32_t>(pages_.size());
      pages_.emplace_back();
    } else {
      current_ = free_pages_.back();
      free_pages_.pop_back();
    }
    Page& page = pages_[current_];
    page.capacity = std::max(kPageBytes, bytes);
    page.bytes = std::make_unique_for_overwrite<uint8_t[]>(page.capacity);
    page.used = page.dead = 0;
    page_bytes_ += page.capacity;
  }
  Page& page = pages_[current_];
  auto* entry = reinterpret_cast<Entry*>(page.bytes.get() + page.used);
  page.used += bytes;
  *entry = {slot, current_, static_cast<uint32_t>(key.size()), static_cast<uint32_t>(value.size()), bytes, 0};
  if (!key.empty()) std::memcpy(entry->key_data(), key.data(), key.size());
  if (!value.empty()) std::memcpy(entry->value_data(), value.data(), value.size());
  return entry;
}

void RowMap::Release(Entry* entry) {
  const uint32_t number = entry->page;
  Page& page = pages_[number];
  entry->slot = kNoSlot;
  page.dead += entry->bytes;
  dead_bytes_ += entry->bytes;
  if (page.dead < page.used || number == current_) return;
  dead_bytes_ -= page.dead;
  page_bytes_ -= page.capacity;
  page = Page{};
  free_pages_.push_back(number);
}

void RowMap::RewriteSparsePages() {
  const auto pages = static_cast<uint32_t>(pages_.size());
  current_ = UINT32_MAX;
  for (uint32_t number = 0; number < pages; ++number) {
    // pages_ may grow below: no reference is kept.
    if (pages_[number].bytes == nullptr || pages_[number].dead * 2 < pages_[number].used) continue;
    if (number == current_) continue;
    for (uint32_t at = 0; at < pages_[number].used;) {
      auto* entry = reinterpret_cast<Entry*>(pages_[number].bytes.get() + at);
      at += entry->bytes;
      if (entry->slot != kNoSlot) entries_[entry->slot] = Allocate(entry->key(), entry->value(), entry->slot);
    }
    dead_bytes_ -= pages_[number].dead;
    page_bytes_ -= pages_[number].capacity;
    pages_[number] = Page{};
    free_pages_.push_back(number);
  }
}

int64_t RowMap::memory_bytes() const {
  return page_bytes_ + index_.memory_bytes() + static_cast<int64_t>(entries_.capacity() * sizeof(Entry*)) +
         static_cast<int64_t>(free_slots_.capacity() * sizeof(Slot));
}

}  // namespace thalweg::engine
