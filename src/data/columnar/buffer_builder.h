#pragma once

// A growing buffer of plain values that becomes a Buffer without a copy.

#include <cstring>
#include <type_traits>

#include "data/columnar/buffer.h"

namespace thalweg::data {

/// Thread: confined to its user.
template <typename T>
class BufferBuilder {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  void Reserve(int64_t count) {
    if (size_ + count > capacity_) Grow(size_ + count);
  }
  void Append(T value) {
    if (size_ == capacity_) [[unlikely]] Grow(size_ + 1);
    data_[size_++] = value;
  }
  void AppendMany(const T* values, int64_t count) {
    Reserve(count);
    if (count > 0) std::memcpy(static_cast<void*>(data_ + size_), values, static_cast<size_t>(count) * sizeof(T));
    size_ += count;
  }
  /// Room for `count` values that the caller fills.
  T* AppendUninitialized(int64_t count) {
    Reserve(count);
    T* first = data_ + size_;
    size_ += count;
    return first;
  }
  void AppendCopies(T value, int64_t count) {
    T* first = AppendUninitialized(count);
    for (int64_t i = 0; i < count; ++i) first[i] = value;
  }
  int64_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](int64_t i) { return data_[i]; }
  /// Resets the builder.
  std::shared_ptr<Buffer> Finish() {
    std::shared_ptr<Buffer> result = buffer_ ? std::move(buffer_) : Buffer::Allocate(0);
    result->ShrinkTo(size_ * static_cast<int64_t>(sizeof(T)));
    buffer_.reset();
    data_ = nullptr;
    size_ = capacity_ = 0;
    return result;
  }

 private:
  void Grow(int64_t wanted) {
    const int64_t least = 64 / static_cast<int64_t>(sizeof(T));
    const int64_t capacity = wanted > 2 * capacity_ ? (wanted > least ? wanted : least) : 2 * capacity_;
    auto larger = Buffer::Allocate(capacity * static_cast<int64_t>(sizeof(T)));
    if (size_ > 0) std::memcpy(larger->mutable_data(), data_, static_cast<size_t>(size_) * sizeof(T));
    buffer_ = std::move(larger);
    data_ = reinterpret_cast<T*>(buffer_->mutable_data());
    capacity_ = buffer_->size() / static_cast<int64_t>(sizeof(T));
  }

  std::shared_ptr<Buffer> buffer_;
  T* data_ = nullptr;
  int64_t size_ = 0;
  int64_t capacity_ = 0;
};

}  // namespace thalweg::data
