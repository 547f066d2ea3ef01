#pragma once

#include <array>
#include <cstdint>

namespace thalweg::engine {

/// How often each row is drawn by a sample with replacement, as Spark draws: Poisson numbers by products of uniforms, from the
/// generator WELL19937c (Panneton, L'Ecuyer, Matsumoto 2006), whose seed is the partition's draw of java.util.Random(seed).
/// Thread: confined to its owner.
class PoissonSampler {
 public:
  /// `mean`: expected copies of a row; `partition` from 0.
  PoissonSampler(double mean, int64_t seed, int partition);

  int NextCopies();

 private:
  static constexpr int kWords = 624;
  uint32_t NextWord();
  double NextDouble();

  const double mean_;
  const double limit_;
  std::array<uint32_t, kWords> words_;
  int index_ = 0;
};

}  // namespace thalweg::engine
