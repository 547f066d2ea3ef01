// The process-wide pool: malloc with the alignment done by hand, so that the small blocks of short chunks come from
// malloc's thread caches (posix_memalign bypasses them) and memory returns to the system when it is freed.

#include <arrow/memory_pool.h>
#include <arrow/status.h>

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "base/process_memory.h"
#include "data/columnar/buffer.h"

namespace thalweg::data {
namespace {

class MallocPool final : public arrow::MemoryPool {
 public:
  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override {
    if (size < 0) return arrow::Status::Invalid("negative allocation");
    if (!ProcessMemoryPermits(size)) return arrow::Status::OutOfMemory("the limit of the process is in the way of ", size, " bytes");
    uint8_t* block = AllocateAligned(size, alignment);
    if (block == nullptr) return arrow::Status::OutOfMemory("malloc of ", size, " bytes");
    *out = block;
    Count(size);
    return arrow::Status::OK();
  }

  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** pointer) override {
    uint8_t* block = nullptr;
    ARROW_RETURN_NOT_OK(Allocate(new_size, alignment, &block));
    if (old_size > 0) std::memcpy(block, *pointer, static_cast<size_t>(std::min(old_size, new_size)));
    Free(*pointer, old_size, alignment);
    *pointer = block;
    return arrow::Status::OK();
  }

  void Free(uint8_t* buffer, int64_t size, int64_t /*alignment*/) override {
    if (buffer == nullptr) return;
    void* base = nullptr;
    std::memcpy(&base, buffer - sizeof(void*), sizeof(void*));
    std::free(base);  // NOLINT(cppcoreguidelines-no-malloc)
    bytes_.fetch_sub(size, std::memory_order_relaxed);
  }

  void ReleaseUnused() override { malloc_trim(0); }
  int64_t bytes_allocated() const override { return bytes_.load(std::memory_order_relaxed); }
  int64_t max_memory() const override { return max_bytes_.load(std::memory_order_relaxed); }
  int64_t total_bytes_allocated() const override { return total_bytes_.load(std::memory_order_relaxed); }
  int64_t num_allocations() const override { return allocations_.load(std::memory_order_relaxed); }
  std::string backend_name() const override { return "system"; }

 private:
  // The address that malloc gave lies in the 8 bytes before the block.
  static uint8_t* AllocateAligned(int64_t size, int64_t alignment) {
    const auto align = static_cast<uintptr_t>(std::max<int64_t>(alignment, 16));
    void* base = std::malloc(static_cast<size_t>(size) + align + sizeof(void*));  // NOLINT
    if (base == nullptr) return nullptr;
    const uintptr_t first = reinterpret_cast<uintptr_t>(base) + sizeof(void*);
    auto* block = reinterpret_cast<uint8_t*>((first + align - 1) & ~(align - 1));
    std::memcpy(block - sizeof(void*), &base, sizeof(void*));
    return block;
  }

  void Count(int64_t size) {
    const int64_t now = bytes_.fetch_add(size, std::memory_order_relaxed) + size;
    total_bytes_.fetch_add(size, std::memory_order_relaxed);
    allocations_.fetch_add(1, std::memory_order_relaxed);
    int64_t seen = max_bytes_.load(std::memory_order_relaxed);
    while (seen < now && !max_bytes_.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
    }
  }

  std::atomic<int64_t> bytes_{0};
  std::atomic<int64_t> max_bytes_{0};
  std::atomic<int64_t> total_bytes_{0};
  std::atomic<int64_t> allocations_{0};
};

}  // namespace

arrow::MemoryPool* ProcessPool() {
  static auto* pool = new MallocPool;  // never destroyed: buffers keep a pointer to it
  return pool;
}

}  // namespace thalweg::data
