#pragma once

// Contract: running physical plans. A Scheduler (one per process) has workers (one per core) for all queries; an Execution is
// one plan's instances over its epochs.

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/status.h"
#include "engine/exec/operator.h"
#include "engine/exec/physical_plan.h"

namespace thalweg::engine {

enum class QueryClass : uint8_t { kStreaming, kInteractive };  ///< streaming first, with a 25 % floor for interactive

/// The worker pool and the I/O pool. Thread: synchronised. Tasks yield after each chunk, at the latest after 2 ms.
class Scheduler {
 public:
  struct Options {
    int workers = 0;       ///< 0: one per core as cgroups allow
    int io_threads = 8;    ///< bounded pool for blocking calls
  };
  explicit Scheduler(Options options);
  ~Scheduler();            ///< waits for running slices; executions must be gone
  int workers() const;
  /// Runs `work` on the I/O pool; sets the signal when done.
  std::shared_ptr<Signal> RunBlocking(std::function<void()> work);

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

struct EpochInput {
  sql::EpochContext context;
  /// Watermarks per stateful operator id (late, eviction), ms; operators without an entry use the context's.
  std::map<int64_t, std::pair<int64_t, int64_t>> operator_watermarks;
  std::vector<SplitList> leaf_splits;            ///< per LeafSlot; static leaves whose version did not change are skipped
  std::vector<bool> leaf_unchanged;              ///< per LeafSlot: same version as last epoch, keep what was built from it
};

/// max/min/avg/count of an event-time column in one epoch (progress eventTime), ms.
struct EventTimeStats {
  int64_t count = 0, max_ms = 0, min_ms = 0;
  double sum_ms = 0;
  void Merge(const EventTimeStats& other);
};

struct NodeMetrics {
  const PhysicalNode* node = nullptr;
  OperatorMetrics total;
};

struct EpochResult {
  std::vector<NodeMetrics> nodes;                ///< every node of the plan
  std::vector<int64_t> leaf_rows;                ///< rows read per LeafSlot
  std::vector<EventTimeStats> event_time;        ///< per watermark operator
  std::vector<sql::CommitMessagePtr> messages;   ///< of the sink's writers, in partition order
};

/// Where the root's rows go; called by worker threads, per partition in order. Answers false to stop early (enough rows),
/// or blocks the task by setting `*blocked`.
using RootConsumer =
    std::function<Result<bool>(PartitionId partition, data::Chunk chunk, std::shared_ptr<Signal>* blocked)>;

/// One query's operator instances. Made once per query run. Thread: calls come from one owner thread (driver or request),
/// which may block in them; Cancel from any thread.
class Execution {
 public:
  static Result<std::unique_ptr<Execution>> Make(Scheduler& scheduler, std::shared_ptr<const PhysicalPlan> plan,
                                                 QueryClass query_class, std::shared_ptr<const sql::EvalConfig> config,
                                                 MemoryReservation* memory);
  virtual ~Execution() = default;                ///< cancels, waits for running slices, closes instances
  /// Runs BeginEpoch ... Seal over all instances in topological order; blocks the caller until done, failed or cancelled.
  /// Cancelling stops each task within one chunk.
  virtual Result<EpochResult> RunEpoch(const EpochInput& input, const RootConsumer& consumer) = 0;
  /// Prepare on all instances, in parallel; then the state of the epoch is durable.
  virtual Status Prepare() = 0;
  virtual Status Committed() = 0;
  virtual void Abort() = 0;
  virtual void Cancel(Status reason) = 0;
};

/// Runs a whole batch query: plans splits of every leaf, one epoch, all rows to the consumer.
Result<EpochResult> RunBatch(Scheduler& scheduler, std::shared_ptr<const PhysicalPlan> plan,
                             std::shared_ptr<const sql::EvalConfig> config, MemoryReservation* memory,
                             const RootConsumer& consumer, std::stop_token stop);

}  // namespace thalweg::engine
