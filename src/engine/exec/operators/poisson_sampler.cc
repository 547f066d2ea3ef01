#include "engine/exec/operators/poisson_sampler.h"

#include <cmath>

namespace thalweg::engine {
namespace {

// The (partition + 1)th nextLong of java.util.Random(seed): a linear congruential generator of 48 bits.
int64_t PartitionSeed(int64_t seed, int partition) {
  constexpr uint64_t kMultiplier = 0x5DEECE66DULL;
  constexpr uint64_t kMask = (uint64_t{1} << 48) - 1;
  uint64_t state = (static_cast<uint64_t>(seed) ^ kMultiplier) & kMask;
  const auto next = [&] {
    state = (state * kMultiplier + 0xB) & kMask;
    return static_cast<int64_t>(static_cast<int32_t>(state >> 16));
  };
  int64_t drawn = 0;
  for (int i = 0; i <= partition; ++i) {
    const int64_t high = next();
    drawn = static_cast<int64_t>((static_cast<uint64_t>(high) << 32) + static_cast<uint64_t>(next()));
  }
  return drawn;
}

}  // namespace

PoissonSampler::PoissonSampler(double mean, int64_t seed, int partition) : mean_(mean), limit_(std::exp(-mean)) {
  const auto bits = static_cast<uint64_t>(PartitionSeed(seed, partition));
  words_[0] = static_cast<uint32_t>(bits >> 32);
  words_[1] = static_cast<uint32_t>(bits);
  for (int i = 2; i < kWords; ++i) {
    const auto before = static_cast<int64_t>(static_cast<int32_t>(words_[i - 2]));
    words_[i] = static_cast<uint32_t>(1812433253U * static_cast<uint64_t>(before ^ (before >> 30)) + static_cast<uint64_t>(i));
  }
}

uint32_t PoissonSampler::NextWord() {
  const auto at = [&](int offset) { return (index_ + offset) % kWords; };
  const uint32_t v0 = words_[index_];
  const uint32_t m1 = words_[at(70)];
  const uint32_t m2 = words_[at(179)];
  const uint32_t m3 = words_[at(449)];
  const int last = at(kWords - 1);
  const int before_last = at(kWords - 2);
  const uint32_t z0 = (0x80000000U & words_[last]) ^ (0x7FFFFFFFU & words_[before_last]);
  const uint32_t z1 = (v0 ^ (v0 << 25)) ^ (m1 ^ (m1 >> 27));
  const uint32_t z2 = (m2 >> 9) ^ (m3 ^ (m3 >> 1));
  const uint32_t z3 = z1 ^ z2;
  uint32_t z4 = z0 ^ (z1 ^ (z1 << 9)) ^ (z2 ^ (z2 << 21)) ^ (z3 ^ (z3 >> 21));
  words_[index_] = z3;
  words_[last] = z4;
  words_[before_last] &= 0x80000000U;
  index_ = last;
  z4 ^= (z4 << 7) & 0xe46e1700U;
  z4 ^= (z4 << 15) & 0x9b868000U;
  return z4;
}

double PoissonSampler::NextDouble() {
  const uint64_t high = uint64_t{NextWord() >> 6} << 26;
  return static_cast<double>(high | (NextWord() >> 6)) * 0x1.0p-52;
}

int PoissonSampler::NextCopies() {
  if (mean_ <= 0) return 0;
  double product = 1;
  int copies = 0;
  while (copies < 1000 * mean_) {
    product *= NextDouble();
    if (product < limit_) break;
    ++copies;
  }
  return copies;
}

}  // namespace thalweg::engine
