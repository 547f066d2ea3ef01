#include "data/columnar/bitmap.h"

#include <cstring>

namespace thalweg::data {

int64_t CountBits(const uint64_t* words, int64_t length) {
  int64_t count = 0;
  const int64_t whole = length >> 6;
  for (int64_t i = 0; i < whole; ++i) count += std::popcount(words[i]);
  if ((length & 63) != 0) count += std::popcount(words[whole] & LowBits(length & 63));
  return count;
}

std::shared_ptr<Buffer> MakeBitmap(int64_t length, bool value) {
  auto buffer = Buffer::AllocateZeroed(BitmapBytes(length));
  if (value) SetBits(buffer->as_mutable<uint64_t>().data(), 0, length);
  return buffer;
}

void OrBits(const uint64_t* source, int64_t from, uint64_t* target, int64_t to, int64_t length) {
  for (int64_t done = 0; done < length; done += 64) {
    const uint64_t bits = LoadBits(source, from + done, from + length);
    if (bits == 0) continue;
    const int64_t position = to + done;
    const int shift = static_cast<int>(position & 63);
    target[position >> 6] |= bits << shift;
    const uint64_t high = shift == 0 ? 0 : bits >> (64 - shift);
    if (high != 0) target[(position >> 6) + 1] |= high;
  }
}

void SetBits(uint64_t* target, int64_t to, int64_t length) {
  while (length > 0) {
    const int shift = static_cast<int>(to & 63);
    const int64_t count = std::min<int64_t>(64 - shift, length);
    target[to >> 6] |= LowBits(count) << shift;
    to += count;
    length -= count;
  }
}

}  // namespace thalweg::data
