#pragma once

#include <optional>

#include "data/rowformat/xor_shift_random.h"
#include "engine/exec/operator.h"
#include "engine/exec/operators/poisson_sampler.h"

namespace thalweg::engine {

/// A random share of the rows, the same for the same seed, partition and order of rows; the generators are Spark's, so it takes
/// the rows that Spark takes.
class Sample final : public MapOperator {
 public:
  Sample(double lower, double upper, bool with_replacement, int64_t seed)
      : lower_(lower), upper_(upper), with_replacement_(with_replacement), seed_(seed) {}
  Status Open(const TaskContext& context) override;
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  Result<data::Chunk> Process(data::Chunk chunk) override;

 private:
  const double lower_;
  const double upper_;
  const bool with_replacement_;
  const int64_t seed_;
  int partition_ = 0;
  std::optional<data::XorShiftRandom> uniform_;
  std::optional<PoissonSampler> poisson_;
};

}  // namespace thalweg::engine
