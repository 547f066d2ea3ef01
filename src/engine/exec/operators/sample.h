#pragma once

#include "engine/exec/operator.h"

namespace thalweg::engine {

/// A random share of the rows, the same for the same seed, partition and order of rows: Spark's XORShift generator per
/// partition, so that without replacement it takes the rows that Spark takes.
class Sample final : public MapOperator {
 public:
  Sample(double lower, double upper, bool with_replacement, int64_t seed)
      : lower_(lower), upper_(upper), with_replacement_(with_replacement), seed_(seed) {}
  Status Open(const TaskContext& context) override;
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  Result<data::Chunk> Process(data::Chunk chunk) override;

 private:
  int32_t NextBits(int bits);
  double NextDouble();
  int Copies();

  const double lower_;
  const double upper_;
  const bool with_replacement_;
  const int64_t seed_;
  int partition_ = 0;
  int64_t state_ = 0;
};

}  // namespace thalweg::engine
