#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/invariant.h"
#include "base/mutex.h"
#include "base/signal.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/exec/execution.h"
#include "engine/state/state_services.h"
#include "sql/stateful_shape/stateful_shape.h"
#include "streaming/query/progress.h"
#include "streaming/query/query_events.h"
#include "streaming/query/source_set.h"
#include "streaming/query/streaming_query.h"
#include "streaming/query/watermark.h"

namespace thalweg::streaming {

/// Runs one streaming query in micro-batches: one thread that owns the protocol (RunOne).
/// Invariants:
/// - offsets/n is durable before anything outside sees a row of batch n;
/// - state version n+1 is durable before the sink commits batch n;
/// - offsets/n+1 never becomes visible before commits/n is durable;
/// - after an error nothing durable is written any more.
/// Thread: public calls from any; private members are the driver thread's unless guarded.
/// Source: Spark's MicroBatchExecution.
class MicroBatchDriver final : public StreamingQuery {
 public:
  /// Reads or creates the checkpoint's metadata. Errors: a checkpoint that cannot be read, created
  /// or belongs to someone else.
  static Result<std::shared_ptr<MicroBatchDriver>> Make(
      StreamingQuerySpec spec, std::shared_ptr<QueryEvents> events,
      std::function<void(const StreamingQuery&)> on_end);
  ~MicroBatchDriver() override;
  /// Starts the thread; returns when listeners have got the started event.
  void Start();

  const QueryId& id() const override { return id_; }
  const RunId& run_id() const override { return run_id_; }
  const std::string& name() const override { return spec_.name; }
  const std::string& checkpoint_root() const { return spec_.checkpoint_location; }
  bool is_active() const override;
  QueryStatus status() const override;
  std::vector<std::string> recent_progress() const override { return progress_log_.All(); }
  std::optional<std::string> last_progress() const override { return progress_log_.Last(); }
  Status exception() const override;
  Status Stop() override;
  void StopAfterBatch() override;
  Result<bool> AwaitTermination(std::optional<std::chrono::milliseconds> timeout) override;
  Status ProcessAllAvailable() override;
  int64_t OnTermination(std::function<void()> done) override;
  void RemoveWaiter(int64_t id) override;
  std::string Explain(bool extended) const override;

 private:
  /// The micro-batch that is constructed and not yet committed.
  struct Turn {
    BatchId batch_id{0};
    OffsetVector start, end, latest;
    int64_t watermark_ms = 0;       ///< eviction
    int64_t late_watermark_ms = 0;  ///< the batch before's
    int64_t timestamp_ms = 0;
    bool has_new_data = false;
    bool replay = false;  ///< offsets/n stands already
  };
  struct Staged {
    engine::EpochResult result;
    std::vector<data::Chunk> rows;  ///< for a BatchSink
    int64_t sink_rows = 0;
  };

  MicroBatchDriver(StreamingQuerySpec spec, std::shared_ptr<QueryEvents> events,
                   std::function<void(const StreamingQuery&)> on_end);

  // --- life (micro_batch_driver.cc) ---
  Status ThreadMain(const std::stop_token& stop);
  Status Run(std::stop_token stop);
  Status Loop(std::stop_token stop);
  /// One trigger; true when a batch ran.
  Result<bool> Trigger();
  void WaitForNextTrigger(int64_t trigger_start_ms, bool ran, std::stop_token stop);
  void Finish(Status status);
  Status FailureOf(const Status& cause) const;

  // --- start and recovery (micro_batch_start.cc) ---
  Status OpenSink();
  Status OpenSources(std::stop_token stop);
  Status Recover();
  Status CheckStatefulOperators();
  Status CheckJoinFormat() const;
  /// Schema and metadata files of the stateful operators; the first batch of a run writes or checks them.
  Status WriteStateMetadata(BatchId first_batch);
  Status CompilePlan();

  // --- one micro-batch (micro_batch_run.cc) ---
  /// Asks the sources for a range; false when there is nothing to run.
  Result<bool> ConstructNext();
  Result<bool> OperatorsWantBatch(int64_t watermark_ms) const;
  Status RunOne();
  Status WriteOffsets(const Turn& turn);
  Result<Staged> Execute(const Turn& turn);
  Result<engine::EpochInput> MakeEpochInput(const Turn& turn);
  Status CommitSink(const Turn& turn, Staged* staged);
  Status WriteCommit(const Turn& turn);
  void Advance(const Turn& turn);

  // --- reports (micro_batch_report.cc) ---
  void StartTimers();
  template <typename F>
  auto Timed(const char* phase, F&& body);
  QueryProgress NewProgress(BatchId batch_id) const;
  void ReportBatch(const Turn& turn, const Staged& staged);
  void ReportIdle();
  void SetStatus(std::string message);
  void SetStatus(std::string message, bool data_available, bool trigger_active);
  std::string StartedEvent() const;
  std::string TerminatedEvent(const Status& failure) const;

  StreamingQuerySpec spec_;
  const std::shared_ptr<QueryEvents> events_;
  const std::function<void(const StreamingQuery&)> on_end_;
  QueryId id_;
  RunId run_id_;

  // The driver thread's own.
  std::unique_ptr<engine::Checkpoint> checkpoint_;
  PoisonFlag poison_;
  SettingsMap settings_;  ///< the session's at start, over it what the checkpoint pins
  std::shared_ptr<engine::QueryState> state_;
  std::unique_ptr<sql::StreamingWrite> write_;  ///< exactly one of the two sinks
  std::unique_ptr<sql::BatchSink> batch_sink_;
  std::string sink_description_;
  sql::ShapedPlan shaped_;
  data::Schema output_schema_;
  std::optional<SourceSet> sources_;
  std::shared_ptr<const engine::PhysicalPlan> plan_;
  std::vector<int64_t> delays_ms_;
  std::vector<std::optional<sql::LeafVersion>> leaf_versions_;
  std::optional<WatermarkTracker> watermarks_;
  BatchId next_batch_{0};
  BatchId first_batch_{0};
  OffsetVector committed_;
  OffsetVector latest_;
  std::optional<Turn> turn_;
  int64_t last_watermark_ms_ = 0;  ///< of the batch before the next one
  bool ran_in_this_run_ = false;
  bool takes_all_ = false;  ///< Trigger.Once and what falls back to it: no read limits
  std::map<int64_t, int64_t>
      last_eviction_ms_;  ///< per stateful operator, of the last batch of this run
  std::shared_ptr<Signal> more_data_ = std::make_shared<Signal>();

  // Reports.
  int64_t trigger_start_ms_ = 0;
  std::chrono::nanoseconds trigger_start_{};
  std::optional<int64_t> previous_trigger_start_ms_;
  std::map<std::string, int64_t> duration_ns_;
  std::optional<int64_t> last_report_ms_;
  std::vector<StateOperatorProgress> last_state_operators_;
  int64_t planning_ms_ = 0;  ///< reported with the first batch
  ProgressLog progress_log_;

  mutable Mutex mutex_;
  CondVar changed_;
  QueryStatus status_ TW_GUARDED_BY(mutex_);
  bool active_ TW_GUARDED_BY(mutex_) = true;  ///< what is_active tells
  bool ended_ TW_GUARDED_BY(mutex_) = false;  ///< clean-up is over
  bool stop_requested_ TW_GUARDED_BY(mutex_) = false;
  Status failure_ TW_GUARDED_BY(mutex_);
  int64_t idle_turns_ TW_GUARDED_BY(mutex_) = 0;  ///< triggers that found nothing to run
  std::map<int64_t, std::function<void()>> waiters_ TW_GUARDED_BY(mutex_);
  int64_t next_waiter_ TW_GUARDED_BY(mutex_) = 1;
  std::shared_ptr<engine::Execution> execution_ TW_GUARDED_BY(mutex_);
  std::string explain_ TW_GUARDED_BY(mutex_);
  std::string explain_extended_ TW_GUARDED_BY(mutex_);

  std::atomic<std::thread::id> thread_id_{};  ///< the driver's, once it runs
  std::jthread thread_;  // last: joins first; set under mutex_
};

}  // namespace thalweg::streaming
