#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace thalweg {

/// Zeroed memory of tables that are read at random places: starts at a cache line and, from kHugeBytes on, lies in huge pages
/// where the system grants them (a lookup in small pages pays a page-table walk beside its cache miss).
/// Owner: whoever holds it; moves. Errors: throws bad_alloc as operator new does.
class TableMemory {
 public:
  static constexpr size_t kHugeBytes = size_t{2} << 20;

  TableMemory() = default;
  explicit TableMemory(size_t bytes);
  ~TableMemory() { Free(); }
  TableMemory(TableMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)), mapped_(std::exchange(other.mapped_, false)) {}
  TableMemory& operator=(TableMemory&& other) noexcept {
    if (this != &other) {
      Free();
      data_ = std::exchange(other.data_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
      mapped_ = std::exchange(other.mapped_, false);
    }
    return *this;
  }

  uint8_t* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  void Free();

  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
  bool mapped_ = false;
};

}  // namespace thalweg
