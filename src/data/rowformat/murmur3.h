#pragma once

// Spark's variant of Murmur3 x86 32: the words as everywhere, but each byte of the tail is a round of its own.
// Do not change: the partition of every state key depends on it.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace thalweg::data {

inline constexpr uint32_t kMurmur3Seed = 42;

namespace murmur3 {

inline uint32_t MixKey(uint32_t key) { return std::rotl(key * 0xcc9e2d51U, 15) * 0x1b873593U; }
inline uint32_t MixHash(uint32_t hash, uint32_t key) { return std::rotl(hash ^ key, 13) * 5 + 0xe6546b64U; }
inline uint32_t Finish(uint32_t hash, uint32_t length) {
  hash ^= length;
  hash ^= hash >> 16;
  hash *= 0x85ebca6bU;
  hash ^= hash >> 13;
  hash *= 0xc2b2ae35U;
  return hash ^ (hash >> 16);
}

inline uint32_t Int(int32_t value, uint32_t seed) {
  return Finish(MixHash(seed, MixKey(static_cast<uint32_t>(value))), 4);
}
inline uint32_t Long(int64_t value, uint32_t seed) {
  const auto word = static_cast<uint64_t>(value);
  const uint32_t low = MixHash(seed, MixKey(static_cast<uint32_t>(word)));
  return Finish(MixHash(low, MixKey(static_cast<uint32_t>(word >> 32))), 8);
}
inline uint32_t Bytes(std::string_view bytes, uint32_t seed) {
  uint32_t hash = seed;
  size_t i = 0;
  for (; i + 4 <= bytes.size(); i += 4) {
    uint32_t word;
    std::memcpy(&word, bytes.data() + i, 4);
    hash = MixHash(hash, MixKey(word));
  }
  for (; i < bytes.size(); ++i) {
    const auto byte = static_cast<int32_t>(static_cast<signed char>(bytes[i]));
    hash = MixHash(hash, MixKey(static_cast<uint32_t>(byte)));
  }
  return Finish(hash, static_cast<uint32_t>(bytes.size()));
}
inline uint32_t Float(float value, uint32_t seed) {
  if (value == 0) return Int(0, seed);
  return Int(value != value ? 0x7fc00000 : std::bit_cast<int32_t>(value), seed);
}
inline uint32_t Double(double value, uint32_t seed) {
  if (value == 0) return Long(0, seed);
  return Long(value != value ? 0x7ff8000000000000 : std::bit_cast<int64_t>(value), seed);
}

}  // namespace murmur3
}  // namespace thalweg::data
