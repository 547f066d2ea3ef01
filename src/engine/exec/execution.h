#pragma once

// Contract: running physical plans. A Scheduler (one per process) has workers (one per core) for all queries; an Execution is
// one plan's instances over its epochs.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "engine/exec/operator.h"
#include "engine/exec/physical_plan.h"

namespace thalweg::engine {

enum class QueryClass : uint8_t { kStreaming, kInteractive };  ///< streaming first, with a 25 % floor for interactive

/// The worker pool and the I/O pool. Thread: synchronised. Tasks yield at the latest after 2 ms, and after a chunk when others
/// wait. Idle workers sleep.
class Scheduler {
 public:
  struct Options {
    int workers = 0;       ///< 0: one per core as cgroups allow
    int io_threads = 8;    ///< bounded pool for blocking calls; its threads start when they are needed
  };
  explicit Scheduler(Options options);
  ~Scheduler();            ///< waits for running slices; executions must be gone
  int workers() const;
  /// Runs `work` on the I/O pool; sets the signal when done. Blocks only while thousands of calls are queued.
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
  std::vector<SplitList> leaf_splits;            ///< per LeafSlot
  /// Per LeafSlot: same version as last epoch: what was built from it is kept and its splits may be left empty (those of the
  /// last epoch are read again where an operator kept nothing). Shorter than the leaves: false.
  std::vector<bool> leaf_unchanged;
  /// When set, called once for every partition of the root when it has given its last row: after that row's consumer, on a
  /// worker thread or RunEpoch's. Not in long-lived runs, nor where the epoch fails. Must not block.
  std::function<void(PartitionId)> on_root_end;
};

/// max/min/avg/count of an event-time column in one epoch (progress eventTime), ms.
struct EventTimeStats {
  int64_t count = 0, max_ms = 0, min_ms = 0;
  double sum_ms = 0;
  void Merge(const EventTimeStats& other);
};

struct NodeMetrics {
  const PhysicalNode* node = nullptr;
  OperatorTotals total;
};

/// What runs between two exchanges, one task per partition, in the current or last epoch.
struct StageMetrics {
  int tasks = 0;
  int finished = 0;                              ///< of `tasks`; those that had nothing to do are
  int running = 0;                               ///< begun and not finished: on a worker, or waiting
  std::vector<NodeMetrics> nodes;                ///< in pre-order; without custom metrics
};

struct EpochResult {
  std::vector<NodeMetrics> nodes;                ///< every node of the plan, in pre-order
  std::vector<int64_t> leaf_rows;                ///< rows read per LeafSlot
  std::vector<EventTimeStats> event_time;        ///< per watermark operator
  std::vector<sql::CommitMessagePtr> messages;   ///< of the sink's writers that wrote, in partition order
  /// df.observe: one row per name, columns as the CollectMetrics node names them.
  std::map<std::string, data::Chunk> observed;
};

/// Where the root's rows go; called by worker threads, per partition in order. Takes the chunk. Answers false to stop early
/// (enough rows), or sets `*blocked`: the partition's task then waits for it before it makes more.
/// One partition must not wait for another one's end: below an exchange both come from the same tasks.
using RootConsumer =
    std::function<Result<bool>(PartitionId partition, data::Chunk chunk, std::shared_ptr<Signal>* blocked)>;

/// A long-lived run: one epoch without an end, cut by barriers.
struct LongLivedInput {
  EpochInput input;                              ///< splits of readers that end only when they are cancelled
  /// All instances have passed the barrier; `messages` of the sink's writers for the rows before it. On a worker thread, one
  /// epoch after the other; must be short.
  std::function<void(int64_t epoch, std::vector<sql::CommitMessagePtr> messages)> on_barrier;
};

/// One query's operator instances. Made once per query run. Thread: calls come from one owner thread (driver or request),
/// which may block in them; Cancel, InjectMarker and LiveMetrics from any thread.
class Execution {
 public:
  static Result<std::unique_ptr<Execution>> Make(Scheduler& scheduler, std::shared_ptr<const PhysicalPlan> plan,
                                                 QueryClass query_class, std::shared_ptr<const sql::EvalConfig> config,
                                                 MemoryReservation* memory);
  virtual ~Execution() = default;                ///< cancels, waits for running slices, closes instances
  /// Runs BeginEpoch ... Seal over all instances in topological order; blocks the caller until done, failed or cancelled.
  /// Cancelling stops each task within one chunk. After an error: Abort, then nothing more or another epoch.
  virtual Result<EpochResult> RunEpoch(const EpochInput& input, const RootConsumer& consumer) = 0;
  /// Runs until the sources end, something fails or Cancel. Every scan task passes an injected marker on between two chunks;
  /// one injected before the run waits for its start. Errors: UNSUPPORTED_FEATURE.THALWEG for operators that keep state.
  virtual Result<EpochResult> RunLongLived(const LongLivedInput& input, const RootConsumer& consumer) = 0;
  virtual void InjectMarker(const Marker& marker) = 0;
  /// Prepare on all instances, in parallel; then the state of the epoch is durable. On an error the others still finish.
  virtual Status Prepare() = 0;
  /// Of every node of the plan, in pre-order, as of now: after Prepare with what committing state took. Owner's thread,
  /// while nothing runs.
  virtual std::vector<NodeMetrics> Metrics() const = 0;
  /// The counters as they grow: each is one that has been, all together never were. Consumers stand before their producers.
  virtual std::vector<StageMetrics> LiveMetrics() const = 0;
  virtual Status Committed() = 0;
  virtual void Abort() = 0;
  /// Sticks: this and later runs answer `reason`.
  virtual void Cancel(Status reason) = 0;
};

/// Lets other threads look at an execution for as long as it is there. Thread: synchronised.
class ExecutionView {
 public:
  /// Null: it is going away.
  void Show(const Execution* execution) TW_EXCLUDES(mutex_);
  /// Nothing when there is no execution.
  std::vector<StageMetrics> Stages() const TW_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  const Execution* execution_ TW_GUARDED_BY(mutex_) = nullptr;
};

/// Runs a whole batch query: plans splits of every leaf, one epoch, all rows to the consumer. `on_root_end`: see EpochInput.
/// `view` shows the execution while it runs.
Result<EpochResult> RunBatch(Scheduler& scheduler, std::shared_ptr<const PhysicalPlan> plan,
                             std::shared_ptr<const sql::EvalConfig> config, MemoryReservation* memory,
                             const RootConsumer& consumer, std::stop_token stop,
                             std::function<void(PartitionId)> on_root_end = nullptr, ExecutionView* view = nullptr);

}  // namespace thalweg::engine
