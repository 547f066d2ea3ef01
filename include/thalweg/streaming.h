#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/export.h"
#include "thalweg/status.h"

namespace thalweg {

class DataFrame;

namespace internal {
class SessionState;
struct RelationNode;
struct StreamingQueryAccess;
}  // namespace internal

struct StreamingQueryStatus {
  std::string message;
  bool is_data_available = false;
  bool is_trigger_active = false;
  bool is_active = false;
};

/// A streaming query, running or ended. Thread: every call from any; each blocks until the answer is there. Dropping it does not
/// stop the query, but its session's end does; it keeps its session open.
class THALWEG_API StreamingQuery {
 public:
  /// The same after each restart from the checkpoint.
  const std::string& id() const { return id_; }
  const std::string& run_id() const { return run_id_; }
  /// Empty for none.
  const std::string& name() const { return name_; }
  /// Until the query ends. Errors: its failure, STREAM_FAILED with the cause.
  Status AwaitTermination();
  /// True when it ended within the time. Errors: as above.
  Result<bool> AwaitTermination(std::chrono::milliseconds timeout);
  /// Until everything that is there now has been processed. Errors: the query's failure.
  Status ProcessAllAvailable();
  /// Until the query has stopped; one that has ended is left as it is.
  Status Stop();
  Result<bool> IsActive();
  Result<StreamingQueryStatus> GetStatus();
  /// Why it failed; nothing when it has not.
  Result<std::optional<Status>> Exception();
  /// JSON of the newest progress, if any.
  Result<std::optional<std::string>> LastProgress();
  /// Oldest first.
  Result<std::vector<std::string>> RecentProgress();
  Result<std::string> Explain(bool extended = false);

 private:
  friend struct internal::StreamingQueryAccess;
  StreamingQuery(std::shared_ptr<internal::SessionState> session, std::string id, std::string run_id, std::string name);
  std::shared_ptr<internal::SessionState> session_;
  std::string id_, run_id_, name_;
};

/// Hears of all streaming queries of a session, in JSON of Spark's events. Thread: OnQueryStarted on the thread that starts the
/// query, before Start returns; the others on one thread of the session, one at a time. They may call the session, but not
/// add or remove listeners.
class THALWEG_API StreamingQueryListener {
 public:
  StreamingQueryListener() = default;
  StreamingQueryListener(const StreamingQueryListener&) = delete;
  StreamingQueryListener& operator=(const StreamingQueryListener&) = delete;
  virtual ~StreamingQueryListener();
  virtual void OnQueryStarted(const std::string& event_json);
  virtual void OnQueryProgress(const std::string& event_json);
  virtual void OnQueryIdle(const std::string& event_json);
  virtual void OnQueryTerminated(const std::string& event_json);
};

/// Session::Streams: the streaming queries of a session. Thread: every call from any.
class THALWEG_API StreamingQueryManager {
 public:
  Result<std::vector<StreamingQuery>> Active() const;
  /// Nothing when no active query has this id.
  Result<std::optional<StreamingQuery>> Get(std::string_view id) const;
  /// Until any query of the session has ended since the start or ResetTerminated. Errors: its failure.
  Status AwaitAnyTermination() const;
  /// True when one ended within the time.
  Result<bool> AwaitAnyTermination(std::chrono::milliseconds timeout) const;
  Status ResetTerminated() const;
  Status AddListener(std::shared_ptr<StreamingQueryListener> listener) const;
  /// Events on their way are still told. A listener that is not there is no error.
  Status RemoveListener(const std::shared_ptr<StreamingQueryListener>& listener) const;

 private:
  friend class Session;
  explicit StreamingQueryManager(std::shared_ptr<internal::SessionState> session) : session_(std::move(session)) {}
  std::shared_ptr<internal::SessionState> session_;
};

/// DataFrame::WriteStream. Of the triggers the last one given holds; none: a micro-batch follows the other. Thread: confined.
class THALWEG_API DataStreamWriter {
 public:
  DataStreamWriter& Format(std::string_view format);
  /// "append" (the default), "update", "complete".
  DataStreamWriter& OutputMode(std::string_view mode);
  DataStreamWriter& Option(std::string_view key, std::string_view value);
  DataStreamWriter& Options(const std::map<std::string, std::string>& options);
  DataStreamWriter& PartitionBy(const std::vector<std::string>& columns);
  DataStreamWriter& QueryName(std::string_view name);
  /// `interval` as "5 seconds".
  DataStreamWriter& TriggerProcessingTime(std::string_view interval);
  /// What is there now, in as many micro-batches as the source's limits ask, then ends.
  DataStreamWriter& TriggerAvailableNow();
  /// What is there now, in one micro-batch.
  DataStreamWriter& TriggerOnce();
  /// Without micro-batches; `interval` between checkpoints.
  DataStreamWriter& TriggerContinuous(std::string_view interval);
  /// Each micro-batch, once, to a function of this program, on a thread of the query; `rows` is an ordinary frame that may be read
  /// often, during the call only (a temporary view of it lasts). What it answers ends the query, unless it is ok; a restart then gives
  /// it the same rows under the same id. The embedded engine only: elsewhere Start answers UNSUPPORTED_FEATURE.THALWEG.
  DataStreamWriter& ForeachBatch(std::function<Status(const DataFrame& rows, int64_t batch_id)> function);
  /// Starts the query. Sinks with a place: `path`.
  Result<StreamingQuery> Start(std::string_view path = "");
  /// Makes the table when it is not there.
  Result<StreamingQuery> ToTable(std::string_view name);

 private:
  friend class DataFrame;
  DataStreamWriter(std::shared_ptr<internal::SessionState> session, std::shared_ptr<const internal::RelationNode> input);
  struct Spec;
  Result<StreamingQuery> Run();
  std::shared_ptr<internal::SessionState> session_;
  std::shared_ptr<const internal::RelationNode> input_;
  std::shared_ptr<Spec> spec_;
};

}  // namespace thalweg
