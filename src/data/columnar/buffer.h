#pragma once

// Contract: reference-counted memory. All bytes come from one process-wide Arrow pool that outlives everything.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace arrow {
class Buffer;
class MemoryPool;
}  // namespace arrow

namespace thalweg::data {

/// The one Arrow pool. Never destroyed.
arrow::MemoryPool* ProcessPool();

/// A block of bytes, immutable once shared. Alignment: 64 bytes when allocated here.
/// Thread: immutable; the creator may write through mutable_data() before sharing.
class Buffer : public std::enable_shared_from_this<Buffer> {
 public:
  /// `size` bytes, contents undefined, padded capacity zeroed at the end. Aborts when the system has no memory.
  static std::shared_ptr<Buffer> Allocate(int64_t size);
  /// Zero-filled.
  static std::shared_ptr<Buffer> AllocateZeroed(int64_t size);
  /// Keeps Arrow's buffer alive.
  static std::shared_ptr<Buffer> FromArrow(std::shared_ptr<arrow::Buffer> buffer);
  /// Bytes [offset, offset + size) of `parent`, which stays alive. Alignment is that of the address.
  static std::shared_ptr<const Buffer> SliceOf(const std::shared_ptr<const Buffer>& parent, int64_t offset, int64_t size);
  ~Buffer();

  const uint8_t* data() const { return data_; }
  uint8_t* mutable_data() { return data_; }
  int64_t size() const { return size_; }
  template <typename T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data_), static_cast<size_t>(size_) / sizeof(T)};
  }
  template <typename T>
  std::span<T> as_mutable() {
    return {reinterpret_cast<T*>(data_), static_cast<size_t>(size_) / sizeof(T)};
  }
  /// The Arrow buffer beneath, for exports without a copy.
  std::shared_ptr<arrow::Buffer> ToArrow() const;
  /// Bytes that this object keeps alive: the whole allocation, also when it is a slice of it.
  int64_t held_bytes() const { return held_bytes_; }
  /// Gives a growing builder's block its final size (at most the allocated one) and zeroes the padding.
  void ShrinkTo(int64_t size);

  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

 private:
  Buffer() = default;
  uint8_t* data_ = nullptr;
  int64_t size_ = 0;
  int64_t held_bytes_ = 0;                 // allocated here: the capacity, freed by the destructor
  std::shared_ptr<arrow::Buffer> owner_;   // else one of these two holds the bytes
  std::shared_ptr<const Buffer> parent_;
};

using BufferPtr = std::shared_ptr<const Buffer>;

/// A string or binary value of 16 bytes. Up to 12 bytes lie inline; longer ones keep a 4-byte prefix and a pointer
/// into a buffer that the column holds. Unused inline bytes are zero, so short values compare as two words.
class TextView {
 public:
  static constexpr int kInline = 12;
  TextView() : size_(0), inline_{} {}
  /// Refers to `data` when longer than kInline; the caller keeps those bytes alive.
  TextView(const char* data, uint32_t size) : size_(size), inline_{} {
    if (size <= kInline) {
      __builtin_memcpy(inline_, data, size);
    } else {
      __builtin_memcpy(inline_, data, 4);
      __builtin_memcpy(inline_ + 4, &data, sizeof(data));
    }
  }
  uint32_t size() const { return size_; }
  bool is_inline() const { return size_ <= kInline; }
  const char* data() const {
    if (is_inline()) return inline_;
    const char* pointer;
    __builtin_memcpy(&pointer, inline_ + 4, sizeof(pointer));
    return pointer;
  }
  std::string_view view() const { return {data(), size_}; }
  bool operator==(const TextView& other) const {
    uint64_t a, b;
    __builtin_memcpy(&a, this, 8);
    __builtin_memcpy(&b, &other, 8);
    if (a != b) return false;  // size and prefix
    if (is_inline()) return __builtin_memcmp(inline_ + 4, other.inline_ + 4, 8) == 0;
    return __builtin_memcmp(data(), other.data(), size_) == 0;
  }
  /// Unsigned bytewise order (UTF8_BINARY).
  int Compare(const TextView& other) const { return view().compare(other.view()); }

 private:
  uint32_t size_;
  char inline_[kInline];
};
static_assert(sizeof(TextView) == 16);

}  // namespace thalweg::data
