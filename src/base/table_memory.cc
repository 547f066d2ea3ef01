#include "base/table_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace thalweg {
namespace {

constexpr size_t kLine = 64;

/// Null when the system has none. A start at a multiple of kHugeBytes, so that every whole piece can be one page.
uint8_t* MapHuge(size_t bytes) {
  const size_t wanted = bytes + TableMemory::kHugeBytes;
  void* mapping = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<uint8_t*>(mapping);
  const size_t before = (TableMemory::kHugeBytes - reinterpret_cast<uintptr_t>(begin) % TableMemory::kHugeBytes) % TableMemory::kHugeBytes;
  if (before > 0) munmap(begin, before);
  if (wanted - before > bytes) munmap(begin + before + bytes, wanted - before - bytes);
#ifdef MADV_HUGEPAGE
  madvise(begin + before, bytes, MADV_HUGEPAGE);  // without huge pages it is slower, nothing else
#endif
  return begin + before;
}

}  // namespace

TableMemory::TableMemory(size_t bytes) {
  if (bytes == 0) return;
  if (bytes >= kHugeBytes) {
    bytes_ = (bytes + kHugeBytes - 1) / kHugeBytes * kHugeBytes;
    data_ = MapHuge(bytes_);
    mapped_ = data_ != nullptr;
    if (mapped_) return;
  }
  bytes_ = bytes;
  data_ = static_cast<uint8_t*>(::operator new(bytes, std::align_val_t{kLine}));
  std::memset(data_, 0, bytes);
}

void TableMemory::Free() {
  if (mapped_) {
    munmap(data_, bytes_);
  } else if (data_ != nullptr) {
    ::operator delete(data_, std::align_val_t{kLine});
  }
}

}  // namespace thalweg
