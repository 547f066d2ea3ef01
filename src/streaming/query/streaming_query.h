#pragma once

// Contract: a running streaming query as its owner sees it.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/status.h"
#include "data/io/file_system.h"
#include "sql/datasource/data_source.h"
#include "sql/plan/logical_plan.h"
#include "streaming/query/trigger.h"

namespace thalweg::engine {
class Scheduler;
class StateServices;
struct SessionPython;
}  // namespace thalweg::engine

namespace thalweg::streaming {

/// One of the two shapes of a sink. See sql::Table::NewStreamingWrite.
using SinkFactory = std::function<
    Result<std::variant<std::unique_ptr<sql::StreamingWrite>, std::unique_ptr<sql::BatchSink>>>(
        const sql::StreamWriteRequest& request)>;

/// Everything a driver needs; the session fills it. The plan is analysed and
/// CheckStreamingSupported has passed.
struct StreamingQuerySpec {
  std::string name;   ///< empty: none
  sql::PlanPtr plan;  ///< analysed
  /// Makes the sink; called on the driver's thread once query id, run id and checkpoint root are
  /// known.
  SinkFactory make_sink;
  /// The sink is a user's function: it and `make_sink` are let go when the run ends, since processes hang on them. Its
  /// data writers must not refer to it.
  bool is_callback = false;
  /// Called by Stop(), from its thread: calls of the sink are to give up. May be empty; may come late.
  std::function<void()> interrupt_sink;
  sql::OutputMode mode = sql::OutputMode::kAppend;
  /// sql::Table::accepted_changes of the sink for `mode`; a function takes what update mode gives.
  sql::ChangelogMode sink_accepts = sql::ChangelogMode::kUpsert;
  Trigger trigger = ProcessingTime{};
  sql::OptionMap options;  ///< writer options
  std::vector<std::string> partition_columns;
  std::string checkpoint_location;         ///< a path; the session resolves options, settings and
                                           ///< temporary folders
  bool delete_checkpoint_on_stop = false;  ///< a temporary one
  std::vector<std::string> job_tags;       ///< told to listeners
  /// A failure as listeners read it: Spark's exception class before the message. Absent: the
  /// message alone.
  std::function<std::string(const Status&)> exception_text;
  SettingsMap settings;                    ///< snapshot of the session's, taken at start
  std::shared_ptr<const sql::EvalConfig> config;

  std::shared_ptr<const engine::SessionPython> python;  ///< null: Python functions are refused
  engine::Scheduler* scheduler = nullptr;
  engine::StateServices* state = nullptr;
  data::FileSystem* file_system = nullptr;
  Clock* clock = nullptr;
  MemoryReservation* memory = nullptr;
};

struct QueryStatus {
  std::string message;  ///< "Waiting for data to arrive", as Spark words it
  bool data_available = false;
  bool trigger_active = false;
};

/// Thread: synchronised; every call from any thread.
class StreamingQuery {
 public:
  virtual ~StreamingQuery() = default;  ///< stops and joins
  virtual const QueryId& id() const = 0;
  virtual const RunId& run_id() const = 0;
  virtual const std::string& name() const = 0;
  virtual bool is_active() const = 0;
  virtual QueryStatus status() const = 0;
  /// Progress JSON (Spark's StreamingQueryProgress), newest last; at most
  /// spark.sql.streaming.numRecentProgressUpdates.
  virtual std::vector<std::string> recent_progress() const = 0;
  virtual std::optional<std::string> last_progress() const = 0;
  /// The error that ended it, or ok. Condition STREAM_FAILED with the cause.
  virtual Status exception() const = 0;
  /// Cancels the running batch, waits for the driver to end. Idempotent. Errors: STREAMING_QUERY...
  /// when stopping times out.
  virtual Status Stop() = 0;
  /// Lets the running batch end and commit, starts no other; does not wait. What stop() means to a
  /// user's function that the driver waits for.
  virtual void StopAfterBatch() = 0;
  /// True when it ended within the time; its failure as the error. No timeout: waits for the end.
  virtual Result<bool> AwaitTermination(std::optional<std::chrono::milliseconds> timeout) = 0;
  /// Waits until everything available now has been processed. The query's failure as the error.
  virtual Status ProcessAllAvailable() = 0;
  /// Like ProcessAllAvailable / AwaitTermination without blocking: `done` is called once, from the
  /// driver's thread, or at once when it has ended. Returns an id for RemoveWaiter.
  virtual int64_t OnTermination(std::function<void()> done) = 0;
  virtual void RemoveWaiter(int64_t id) = 0;
  /// Plans of the last batch, for query.explain().
  virtual std::string Explain(bool extended) const = 0;
};

}  // namespace thalweg::streaming
