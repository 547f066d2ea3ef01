#pragma once

#include <cstdint>

namespace thalweg {

/// Pseudo-random numbers from a seed: xoshiro256** started by SplitMix64. The sequence of a seed never changes.
/// Not for secrets. Thread: confined to its owner.
class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t NextUint64();
  /// Uniform in [0, bound); `bound` must be positive.
  uint64_t NextBelow(uint64_t bound);
  /// Uniform in [0, 1).
  double NextDouble();
  /// True with the given probability.
  bool NextBool(double probability = 0.5) { return NextDouble() < probability; }

 private:
  uint64_t state_[4];
};

/// 64 bits from the operating system, fit to seed and for tokens.
uint64_t OsRandomSeed();

}  // namespace thalweg
