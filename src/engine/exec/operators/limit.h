#pragma once

#include <deque>

#include "engine/exec/operator.h"

namespace thalweg::engine {

/// The first `limit` rows of the instance after `offset` others; then it wants no more input.
class Limit final : public Operator {
 public:
  explicit Limit(int64_t limit, int64_t offset = 0) : limit_(limit), offset_(offset) {}
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  bool NeedsEpoch(const sql::EpochContext&) const override { return false; }
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;

 private:
  const int64_t limit_;
  const int64_t offset_;
  int64_t skipped_ = 0;
  int64_t taken_ = 0;
  std::optional<data::Chunk> pending_;
};

/// The last `limit` rows of the instance, in order.
class Tail final : public Operator {
 public:
  explicit Tail(int64_t limit) : limit_(limit) {}
  Status Open(const TaskContext& context) override;
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  bool NeedsEpoch(const sql::EpochContext&) const override { return false; }
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;

 private:
  const int64_t limit_;
  int64_t rows_ = 0;
  MemoryReservation memory_;
  std::deque<data::Chunk> kept_;
};

}  // namespace thalweg::engine
