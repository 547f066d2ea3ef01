#pragma once

// Test doubles of this room: small operators and plans that tests run by the real scheduler and exchanges.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "engine/exec/execution.h"
#include "engine/exec/operator.h"
#include "engine/exec/physical_plan.h"

namespace thalweg::engine::testing {

/// One BIGINT column.
data::Chunk LongChunk(const std::vector<int64_t>& values);
/// The rows of a BIGINT column, in order.
std::vector<int64_t> Longs(const data::Chunk& chunk, int column = 0);
sql::AttributeList LongOutput(const std::string& name = "v");

/// A source of given chunks.
class ChunkSource final : public Operator {
 public:
  explicit ChunkSource(std::vector<data::Chunk> chunks) : chunks_(std::move(chunks)) {}
  Status BeginEpoch(const sql::EpochContext&) override {
    next_ = 0;
    return Status::OK();
  }
  Result<OperatorState> Push(int, data::Chunk) override { return InternalError("a source"); }
  Result<OperatorState> EndInput(int) override { return InternalError("a source"); }
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override {
    if (next_ == chunks_.size()) {
      *state = OperatorState::kFinished;
      return std::optional<data::Chunk>{};
    }
    *state = OperatorState::kHaveOutput;
    return std::optional<data::Chunk>(chunks_[next_++]);
  }

 private:
  std::vector<data::Chunk> chunks_;
  size_t next_ = 0;
};

/// One or more output chunks per input chunk, by a function.
class FlatMap final : public Operator {
 public:
  using Function = std::function<Result<std::vector<data::Chunk>>(data::Chunk)>;
  explicit FlatMap(Function function) : function_(std::move(function)) {}
  bool NeedsEpoch(const sql::EpochContext&) const override { return false; }
  Result<OperatorState> Push(int, data::Chunk chunk) override {
    TW_ASSIGN_OR_RETURN(std::vector<data::Chunk> out, function_(std::move(chunk)));
    for (data::Chunk& part : out) pending_.push_back(std::move(part));
    return pending_.empty() ? OperatorState::kNeedInput : OperatorState::kHaveOutput;
  }
  Result<OperatorState> EndInput(int) override { return OperatorState::kFinished; }
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override {
    std::optional<data::Chunk> out(std::move(pending_.front()));
    pending_.pop_front();
    *state = pending_.empty() ? OperatorState::kNeedInput : OperatorState::kHaveOutput;
    return out;
  }

 private:
  Function function_;
  std::deque<data::Chunk> pending_;
};

/// Rows handed in from outside while the query runs; blocked in between. Shared by the test and its splits.
class Feed {
 public:
  void Add(data::Chunk chunk) TW_EXCLUDES(mutex_);
  void End() TW_EXCLUDES(mutex_);
  /// A split whose reader hands out what is added.
  static sql::InputSplitPtr Split(const std::shared_ptr<Feed>& feed);
  Result<sql::ReadStep> Next() TW_EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  std::deque<data::Chunk> chunks_ TW_GUARDED_BY(mutex_);
  bool ended_ TW_GUARDED_BY(mutex_) = false;
  std::shared_ptr<Signal> more_ TW_GUARDED_BY(mutex_) = std::make_shared<Signal>();
};

/// A split of given chunks; `opened` counts its readers when set.
sql::InputSplitPtr ChunksSplit(std::vector<data::Chunk> chunks, std::shared_ptr<std::atomic<int>> opened = nullptr);

/// A scan over fixed splits: what makes a leaf static.
std::shared_ptr<sql::Scan> FixedScan(SplitList splits);

/// Collects what reaches the consumer. Thread: any.
class Collector {
 public:
  RootConsumer consumer();
  std::vector<data::Chunk> chunks(int partition) const TW_EXCLUDES(mutex_);
  std::vector<data::Chunk> chunks() const TW_EXCLUDES(mutex_);  ///< by partition
  std::vector<int64_t> longs(int column = 0) const;
  std::vector<int64_t> sorted_longs(int column = 0) const;
  int64_t num_rows() const;
  void Clear() TW_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::map<int, std::vector<data::Chunk>> by_partition_ TW_GUARDED_BY(mutex_);
};

using MakeOperator = std::function<Result<std::unique_ptr<Operator>>(PartitionId)>;

/// Nodes for plans in tests.
std::shared_ptr<PhysicalNode> Node(std::string name, std::vector<PhysicalInput> inputs, int partitions, MakeOperator make);
std::shared_ptr<PhysicalNode> LeafNode(int leaf, int partitions, sql::AttributeList output);
std::shared_ptr<PhysicalPlan> Plan(PhysicalNodePtr root, std::vector<LeafSlot> leaves = {});

/// A scheduler with an execution: Make with checks.
struct Runner {
  explicit Runner(std::shared_ptr<const PhysicalPlan> plan, int workers = 2, QueryClass query_class = QueryClass::kStreaming);
  MemoryAccount account{"test", nullptr};
  MemoryReservation memory{account};
  Scheduler scheduler;
  std::unique_ptr<Execution> execution;
};

/// Runs a plan over its leaves' scans on `workers`; all rows, by partition.
Result<std::vector<data::Chunk>> RunPlan(std::shared_ptr<const PhysicalPlan> plan, int workers = 2);

}  // namespace thalweg::engine::testing
