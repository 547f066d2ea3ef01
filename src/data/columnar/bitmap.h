#pragma once

// Validity bitmaps by words: LSB first, bit 1 = valid, padded with zero bits to whole words.

#include <bit>
#include <cstdint>

#include "data/columnar/buffer.h"

namespace thalweg::data {

inline int64_t BitmapWords(int64_t bits) { return (bits + 63) >> 6; }
inline int64_t BitmapBytes(int64_t bits) { return BitmapWords(bits) * 8; }
/// The lowest `bits` (0 to 64) bits set.
inline uint64_t LowBits(int64_t bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }
inline bool BitAt(const uint64_t* words, int64_t i) { return (words[i >> 6] >> (i & 63) & 1) != 0; }

/// 64 bits from any bit position; bits past `length` are zero. Reads only words that hold bits below `length`.
inline uint64_t LoadBits(const uint64_t* words, int64_t position, int64_t length) {
  const int64_t left = length - position;
  if (left <= 0) return 0;
  const int64_t word = position >> 6;
  const int shift = static_cast<int>(position & 63);
  uint64_t bits = words[word] >> shift;
  if (shift != 0 && left > 64 - shift) bits |= words[word + 1] << (64 - shift);
  return bits & LowBits(left);
}

/// Number of one bits among the first `length`.
int64_t CountBits(const uint64_t* words, int64_t length);
/// A bitmap of `length` bits, all zero or all one (padding zero).
std::shared_ptr<Buffer> MakeBitmap(int64_t length, bool value);
/// Writes `length` bits of `source` from bit `from` to `target` at bit `to`. Target bits there must be zero before.
void OrBits(const uint64_t* source, int64_t from, uint64_t* target, int64_t to, int64_t length);
/// Sets `length` bits at `to`.
void SetBits(uint64_t* target, int64_t to, int64_t length);

}  // namespace thalweg::data
