#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace thalweg::engine {

/// Equal blocks of memory by number, in pages of about 64 KiB; addresses never move. Thread: confined to its owner.
class SlotPages {
 public:
  explicit SlotPages(size_t block_bytes)
      : block_bytes_(block_bytes),
        shift_(std::bit_width(std::max<size_t>(kPageBytes / block_bytes, 1)) - 1) {}

  uint8_t* operator[](uint32_t slot) const {
    return pages_[slot >> shift_].get() + (slot & ((1U << shift_) - 1)) * block_bytes_;
  }
  /// Makes block number `slot` exist.
  void Ensure(uint32_t slot) {
    while (pages_.size() <= slot >> shift_) {
      pages_.push_back(std::make_unique_for_overwrite<uint8_t[]>(block_bytes_ << shift_));
    }
  }
  void Clear() { pages_.clear(); }
  int64_t memory_bytes() const {
    return static_cast<int64_t>(pages_.size() * ((block_bytes_ << shift_) + sizeof(pages_[0])));
  }

 private:
  static constexpr size_t kPageBytes = 64 * 1024;
  const size_t block_bytes_;
  const int shift_;
  std::vector<std::unique_ptr<uint8_t[]>> pages_;
};

/// Byte strings of any size in pages of 64 KiB, each behind its size and owner; a page is freed with its last string.
/// Thread: confined to its owner.
class KeyPages {
 public:
  struct Header {
    uint32_t size;
    uint32_t page;
  };
  /// The address of the copy's header.
  uint8_t* Add(const char* bytes, size_t size) {
    const auto needed = static_cast<uint32_t>(sizeof(Header) + ((size + 7) & ~size_t{7}));
    if (current_ == UINT32_MAX || pages_[current_].used + needed > pages_[current_].capacity) NewPage(needed);
    Page& page = pages_[current_];
    uint8_t* at = page.bytes.get() + page.used;
    page.used += needed;
    page.live += needed;
    const Header header{static_cast<uint32_t>(size), current_};
    std::memcpy(at, &header, sizeof(header));
    if (size > 0) std::memcpy(at + sizeof(header), bytes, size);
    return at;
  }
  void Remove(const uint8_t* at) {
    const Header header = HeaderAt(at);
    Page& page = pages_[header.page];
    page.live -= static_cast<uint32_t>(sizeof(Header) + ((header.size + 7) & ~7U));
    if (page.live > 0 || header.page == current_) return;
    bytes_ -= page.capacity;
    page = Page{};
    free_.push_back(header.page);
  }
  static Header HeaderAt(const uint8_t* at) {
    Header header;
    std::memcpy(&header, at, sizeof(header));
    return header;
  }
  void Clear() { *this = KeyPages(); }
  int64_t memory_bytes() const { return bytes_; }

 private:
  static constexpr uint32_t kPageBytes = 64 * 1024;
  struct Page {
    std::unique_ptr<uint8_t[]> bytes;
    uint32_t capacity = 0;
    uint32_t used = 0;
    uint32_t live = 0;
  };
  void NewPage(uint32_t needed) {
    if (free_.empty()) {
      current_ = static_cast<uint32_t>(pages_.size());
      pages_.emplace_back();
    } else {
      current_ = free_.back();
      free_.pop_back();
    }
    Page& page = pages_[current_];
    page.capacity = needed > kPageBytes ? needed : kPageBytes;
    page.bytes = std::make_unique_for_overwrite<uint8_t[]>(page.capacity);
    bytes_ += page.capacity;
  }

  std::vector<Page> pages_;
  std::vector<uint32_t> free_;
  uint32_t current_ = UINT32_MAX;
  int64_t bytes_ = 0;
};

}  // namespace thalweg::engine
