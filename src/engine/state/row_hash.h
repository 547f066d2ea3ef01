#pragma once

#include <cstdint>
#include <string_view>

namespace thalweg::engine {

/// In-memory hashes; they never reach a disk.
inline uint64_t HashWord(uint64_t word) {
  word ^= word >> 32;
  word *= 0xd6e8feb86659fd93ULL;
  word ^= word >> 32;
  word *= 0xd6e8feb86659fd93ULL;
  return word ^ (word >> 32);
}
uint64_t HashRow(std::string_view row);

}  // namespace thalweg::engine
