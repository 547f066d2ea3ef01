#pragma once

#include "engine/exec/operator.h"

namespace thalweg::engine {

/// Passes on what comes from any of its ports. With inputs by Distribution::kOffset each instance has one live port.
class UnionAll final : public Operator {
 public:
  explicit UnionAll(int ports) : ports_(ports) {}
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  bool NeedsEpoch(const sql::EpochContext&) const override { return false; }
  int wanted_port() const override { return kAnyPort; }
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;

 private:
  const int ports_;
  int ended_ = 0;
  std::optional<data::Chunk> pending_;
};

}  // namespace thalweg::engine
