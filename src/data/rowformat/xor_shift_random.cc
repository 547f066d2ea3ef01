#include "data/rowformat/xor_shift_random.h"

#include <array>
#include <bit>

#include "data/rowformat/murmur3.h"

namespace thalweg::data {
namespace {

/// MurmurHash3 x86 32 of Scala over 8 big-endian bytes, as XORShiftRandom.hashSeed takes it.
uint32_t HashBytes(uint64_t value, uint32_t seed) {
  uint32_t hash = seed;
  for (const uint32_t half : {static_cast<uint32_t>(value >> 32), static_cast<uint32_t>(value)}) {
    hash = murmur3::MixHash(hash, murmur3::MixKey(__builtin_bswap32(half)));
  }
  return murmur3::Finish(hash, 8);
}

uint64_t HashSeed(int64_t seed) {
  constexpr uint32_t kScalaArraySeed = 0x3c074a61;
  const uint32_t low = HashBytes(static_cast<uint64_t>(seed), kScalaArraySeed);
  const uint32_t high = HashBytes(static_cast<uint64_t>(seed), low);
  return uint64_t{high} << 32 | low;
}

using BitMatrix = std::array<uint64_t, 64>;

uint64_t Apply(const BitMatrix& matrix, uint64_t vector) {
  uint64_t result = 0;
  for (; vector != 0; vector &= vector - 1) result ^= matrix[static_cast<size_t>(std::countr_zero(vector))];
  return result;
}

}  // namespace

XorShiftRandom::XorShiftRandom(int64_t seed) : state_(HashSeed(seed)) {}

int32_t XorShiftRandom::NextInt(int32_t bound) {
  const auto limit = static_cast<int64_t>(bound);
  auto drawn = static_cast<int64_t>(Next(31));
  if ((bound & (bound - 1)) == 0) return static_cast<int32_t>((limit * drawn) >> 31);
  // A draw of the last, incomplete stretch would favour small numbers.
  while (drawn - drawn % limit + limit - 1 > INT32_MAX) drawn = Next(31);
  return static_cast<int32_t>(drawn % limit);
}

// A step is linear over bits, so its powers are matrices.
void XorShiftRandom::Skip(int64_t steps) {
  BitMatrix power{};
  for (size_t i = 0; i < power.size(); ++i) power[i] = Step(uint64_t{1} << i);
  for (; steps > 0; steps >>= 1) {
    if (steps & 1) state_ = Apply(power, state_);
    BitMatrix square{};
    for (size_t i = 0; i < square.size(); ++i) square[i] = Apply(power, power[i]);
    power = square;
  }
}

}  // namespace thalweg::data
