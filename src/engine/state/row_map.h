#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/state/hash_index.h"

namespace thalweg::engine {

/// Bytes to bytes, in pages of 64 KiB. Slots number the entries and stay valid until they are removed.
/// Views live until the next Put or Remove. Pages whose entries are all gone are freed; when more than half of all bytes is
/// dead, sparse pages are rewritten. Thread: confined to its owner.
class RowMap {
 public:
  using Slot = uint32_t;
  static constexpr Slot kNoSlot = HashIndex::kNone;

  RowMap() = default;
  RowMap(RowMap&&) = default;
  RowMap& operator=(RowMap&&) = default;

  Slot Find(std::string_view key) const;
  /// Starts the memory traffic of a Find of a key with this HashRow.
  void Prefetch(uint64_t hash) const { index_.Prefetch(hash); }
  /// The rest of it, a while after Prefetch.
  void PrefetchEntry(uint64_t hash) const {
    const Slot slot = index_.Candidate(hash);
    if (slot != kNoSlot) __builtin_prefetch(entries_[slot]);
  }
  /// Inserts or replaces; `inserted` (may be null) tells which.
  Slot Put(std::string_view key, std::string_view value, bool* inserted = nullptr);
  void Remove(Slot slot);
  void Clear();

  std::string_view key(Slot slot) const;
  std::string_view value(Slot slot) const;
  /// Slots are below this; not all of them are live.
  Slot slot_end() const { return static_cast<Slot>(entries_.size()); }
  bool live(Slot slot) const { return entries_[slot] != nullptr; }

  int64_t size() const { return index_.size(); }
  int64_t memory_bytes() const;

 private:
  class HashOfSlot;
  struct Entry;  // header in front of key and value bytes
  struct Page {
    std::unique_ptr<uint8_t[]> bytes;
    uint32_t capacity = 0;
    uint32_t used = 0;
    uint32_t dead = 0;
  };

  Entry* Allocate(std::string_view key, std::string_view value, Slot slot);
  void Release(Entry* entry);
  void RewriteWhenSparse();
  void RewriteSparsePages();

  HashIndex index_;
  std::vector<Entry*> entries_;
  std::vector<Slot> free_slots_;
  std::vector<Page> pages_;
  std::vector<uint32_t> free_pages_;
  uint32_t current_ = UINT32_MAX;
  int64_t page_bytes_ = 0;
  int64_t dead_bytes_ = 0;
};

}  // namespace thalweg::engine
