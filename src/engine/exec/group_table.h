#pragma once

// The hash table of grouping and joining.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/table_memory.h"
#include "engine/exec/row_keys.h"

namespace thalweg::engine {

/// Rows of one key and a zeroed payload each, found by key. Open addressing; a slot holds 16 bits of the hash and the row's
/// address, so that most misses are decided in the slot. Rows live in pages and never move: their addresses are stable until
/// Clear. Vectorised: a chunk's slots are prefetched before they are looked at.
/// Thread: confined to its user for changes; Find is safe from many threads while nobody changes it.
class GroupTable {
 public:
  /// `payload_bytes` behind each key, 8-byte aligned.
  GroupTable(std::shared_ptr<const KeyLayout> layout, int payload_bytes);
  ~GroupTable();

  /// rows[i] = the row of key i, made when it was not there, and `offset` bytes on.
  void FindOrAdd(KeyEncoder& keys, uint8_t** rows, int64_t offset = 0);
  /// rows[i] = the row of key i, or null.
  void Find(KeyEncoder& keys, uint8_t** rows) const;
  /// Rows in the order they were made; [first, first + count).
  void Rows(int64_t first, int64_t count, std::vector<uint8_t*>* rows) const;
  void Clear();

  int64_t size() const { return size_; }
  int64_t bytes() const { return held_bytes_ + static_cast<int64_t>(slots_.bytes()); }
  const KeyLayout& layout() const { return *layout_; }
  int payload_offset() const { return key_bytes_; }
  /// The row of a null key (layouts with null_outside), or null.
  const uint8_t* null_row() const { return null_row_; }

 private:
  static constexpr uint64_t kAddress = (uint64_t{1} << 48) - 1;
  template <bool kOneWord, bool kAdd>
  void Lookup(KeyEncoder& keys, uint8_t** rows, int64_t offset);
  template <bool kOneWord>
  bool SameKey(const uint8_t* row, const uint64_t* key) const;
  uint8_t* AddRow(const uint64_t* key);
  void Rehash(size_t slots);
  void Grow(size_t rows);
  const char* CopyText(const char* text, uint32_t size);

  const std::shared_ptr<const KeyLayout> layout_;
  const int key_bytes_;
  const int row_bytes_;
  std::vector<int> text_words_;
  TableMemory slots_;
  size_t num_slots_ = 0;
  std::vector<uint64_t> hashes_;  // of rows, in order; for growth
  int64_t size_ = 0;
  uint8_t* null_row_ = nullptr;
  struct Page {
    TableMemory bytes;
    int64_t first_row = 0;
    int64_t rows = 0;
    int64_t capacity = 0;
  };
  std::vector<Page> pages_;
  std::vector<std::unique_ptr<char[]>> texts_;
  char* text_next_ = nullptr;
  int64_t text_left_ = 0;
  int64_t held_bytes_ = 0;
};

}  // namespace thalweg::engine
