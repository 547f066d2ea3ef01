#pragma once

#include <cstdint>

namespace thalweg::data {

/// Spark's XORShiftRandom: the generator behind rand(), samples and round-robin placement. The sequence of a seed is Spark's.
/// Thread: confined to its owner.
class XorShiftRandom {
 public:
  explicit XorShiftRandom(int64_t seed);

  /// `bits` (1 to 32) fresh bits, right-aligned.
  uint32_t Next(int bits) {
    state_ = Step(state_);
    return static_cast<uint32_t>(state_ & ((uint64_t{1} << bits) - 1));
  }
  /// Uniform in [0, 1). Takes two steps.
  double NextDouble() {
    const auto high = static_cast<int64_t>(Next(26)) << 27;
    return static_cast<double>(high + static_cast<int64_t>(Next(27))) * 0x1.0p-53;
  }
  /// Uniform in [0, bound), as java.util.Random.nextInt; `bound` must be positive.
  int32_t NextInt(int32_t bound);
  /// As `steps` calls of Next, in time that grows with the logarithm of `steps`.
  void Skip(int64_t steps);

 private:
  static uint64_t Step(uint64_t s) {
    s ^= s << 21;
    s ^= s >> 35;
    s ^= s << 4;
    return s;
  }

  uint64_t state_;
};

}  // namespace thalweg::data
