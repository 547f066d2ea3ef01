#include "base/random.h"

#include <unistd.h>

#include <bit>
#include <random>

#include "base/status.h"

namespace thalweg {

Random::Random(uint64_t seed) {
  for (uint64_t& word : state_) {
    seed += 0x9E3779B97F4A7C15ULL;
    uint64_t mixed = seed;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
    word = mixed ^ (mixed >> 31);
  }
}

uint64_t Random::NextUint64() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Random::NextBelow(uint64_t bound) {
  TW_DCHECK(bound > 0);
  // Values below the threshold would make small results more likely.
  const uint64_t threshold = (0 - bound) % bound;
  uint64_t value = NextUint64();
  while (value < threshold) value = NextUint64();
  return value % bound;
}

double Random::NextDouble() { return static_cast<double>(NextUint64() >> 11) * 0x1.0p-53; }

uint64_t OsRandomSeed() {
  // Not std::random_device: it looks for its source anew each time, and file names need one seed each.
  uint64_t seed = 0;
  if (getentropy(&seed, sizeof(seed)) == 0) return seed;
  std::random_device device;  // a kernel without the call
  return (static_cast<uint64_t>(device()) << 32) | device();
}

}  // namespace thalweg
