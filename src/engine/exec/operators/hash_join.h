#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/exec/join_table.h"
#include "engine/exec/operator.h"
#include "sql/expr/evaluator.h"

namespace thalweg::engine {

/// Left and right are the ports 0 and 1.
enum class JoinKind : uint8_t { kInner, kLeftOuter, kRightOuter, kFullOuter, kLeftSemi, kLeftAnti };

/// What else than equal keys (or, in a nested-loop join, alone) decides; over the columns it names.
struct JoinCondition {
  std::shared_ptr<const sql::Program> program;
  std::vector<int> left_columns;   ///< its input: these,
  std::vector<int> right_columns;  ///< then these
};

/// Shared by the instances of a join.
struct HashJoinParams {
  JoinKind kind = JoinKind::kInner;
  int build_port = 1;
  std::vector<int> left_keys, right_keys;
  std::vector<bool> null_safe;                   ///< by key: `<=>`
  std::shared_ptr<const KeyLayout> layout;
  std::vector<data::DataType> left_types, right_types;
  std::vector<int> left_output, right_output;    ///< columns to emit; of the left alone for semi and anti
  std::optional<JoinCondition> condition;
  /// Set when every instance gets all build rows. Then unmatched build rows cannot be emitted (outer joins on that side), unless
  /// there is one instance.
  std::shared_ptr<SharedJoinTable> shared;
};

/// Builds a table of one port, then probes it with the other. Without a condition rows come in the probe side's order;
/// unmatched build rows come last. A build port over static rows is kept from epoch to epoch.
class HashJoin final : public Operator {
 public:
  explicit HashJoin(std::shared_ptr<const HashJoinParams> params);
  Status Open(const TaskContext& context) override;
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  bool NeedsEpoch(const sql::EpochContext&) const override { return false; }
  bool CanReuse(int port) const override;
  void Reuse(int port) override;
  int wanted_port() const override { return built_ ? 1 - params_->build_port : params_->build_port; }
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;
  std::shared_ptr<Signal> blocked_on() const override;
  void Abort(const sql::EpochContext& epoch) override;
  void Close() override;

 private:
  const std::vector<int>& KeysOf(int port) const { return port == 0 ? params_->left_keys : params_->right_keys; }
  Status EnsureBuild();
  std::unique_ptr<JoinTable> NewTable() const;
  Status StartProbe(data::Chunk chunk);
  void FillPairs();
  Status KeepPairsByCondition();
  Result<std::optional<data::Chunk>> EmitPairs();
  data::Chunk PairsChunk() const;
  data::Chunk ProbeRows(bool matched) const;
  std::optional<data::Chunk> NextBuildRows();
  bool probe_outer() const;
  bool build_outer() const;
  bool semi() const { return params_->kind == JoinKind::kLeftSemi || params_->kind == JoinKind::kLeftAnti; }

  const std::shared_ptr<const HashJoinParams> params_;
  const TaskContext* context_ = nullptr;
  sql::EvalContext eval_;
  std::shared_ptr<SharedJoinTable::Build> build_;
  bool builder_ = false;
  bool built_ = false;
  bool probe_ended_ = false;
  // The probe chunk being joined.
  data::Chunk probe_;
  std::vector<uint8_t*> groups_;
  KeyEncoder encoder_;
  int64_t probe_row_ = 0;
  int32_t chain_ = -1;               // build row to go on with for probe_row_
  bool probing_ = false;
  std::vector<uint8_t> probe_matched_;
  std::vector<int32_t> left_rows_, right_rows_;  // pairs: probe and build rows, physical; by port
  std::vector<int32_t> logical_rows_;            // of the pairs' probe rows, while probe_matched_ is kept
  // Build rows that found a partner, when that matters.
  std::vector<uint8_t> build_matched_;
  int64_t next_build_row_ = 0;
};

}  // namespace thalweg::engine
