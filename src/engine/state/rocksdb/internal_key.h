#pragma once

// Keys as RocksDB's files have them: the user's key, then 8 bytes little-endian, sequence number << 8 | kind. In order: the user's keys
// as bytes, of one key the newest first.

#include <cstdint>
#include <string_view>

namespace thalweg::engine {

inline constexpr size_t kKeyTrailerBytes = 8;
inline constexpr uint8_t kKindDeletion = 0;
inline constexpr uint8_t kKindValue = 1;
inline constexpr uint8_t kKindSingleDeletion = 7;
/// Beyond it changes could not be counted on; a real store is not within reach of it.
inline constexpr uint64_t kMostSequence = uint64_t{1} << 55;

inline std::string_view UserKey(std::string_view key) { return key.substr(0, key.size() - kKeyTrailerBytes); }

inline uint64_t KeyTrailer(std::string_view key) {
  uint64_t trailer = 0;
  for (size_t i = 1; i <= kKeyTrailerBytes; ++i) trailer = trailer << 8 | static_cast<uint8_t>(key[key.size() - i]);
  return trailer;
}

inline uint64_t KeySequence(std::string_view key) { return KeyTrailer(key) >> 8; }
inline bool IsDeletion(std::string_view key) { return static_cast<uint8_t>(key[key.size() - kKeyTrailerBytes]) != kKindValue; }

/// Whether it has a trailer, of a kind that we read, with a sequence number up to `last_sequence`.
inline bool IsInternalKey(std::string_view key, uint64_t last_sequence) {
  if (key.size() < kKeyTrailerBytes) return false;
  const auto kind = static_cast<uint8_t>(key[key.size() - kKeyTrailerBytes]);
  return (kind == kKindValue || kind == kKindDeletion || kind == kKindSingleDeletion) && KeySequence(key) <= last_sequence;
}

/// Negative: `left` comes first. Both are internal keys.
inline int CompareInternalKeys(std::string_view left, std::string_view right) {
  const int order = UserKey(left).compare(UserKey(right));
  if (order != 0) return order;
  const uint64_t left_trailer = KeyTrailer(left);
  const uint64_t right_trailer = KeyTrailer(right);
  return left_trailer == right_trailer ? 0 : left_trailer > right_trailer ? -1 : 1;
}

}  // namespace thalweg::engine
