// operator new of the program: a large request that would take the process over its limit fails at once, and with it the
// query that made it. Without that the system grants everything and later kills the process, all queries with it.

#include <cstdlib>
#include <new>

#include "base/process_memory.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

void* operator new(std::size_t size) {
  const auto bytes = static_cast<int64_t>(size);
  if (!thalweg::ProcessMemoryPermits(bytes)) thalweg::ThrowOutOfMemory(bytes, "the process");
  void* block = std::malloc(size == 0 ? 1 : size);  // NOLINT(cppcoreguidelines-no-malloc)
  if (block == nullptr) thalweg::ThrowOutOfMemory(bytes, "the process");
  return block;
}

void operator delete(void* block) noexcept { std::free(block); }                     // NOLINT(cppcoreguidelines-no-malloc)
void operator delete(void* block, std::size_t /*size*/) noexcept { std::free(block); }  // NOLINT(cppcoreguidelines-no-malloc)

#endif
