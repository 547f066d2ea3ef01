#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/status.h"

namespace thalweg {

namespace internal {
class SessionState;
struct RelationNode;
}  // namespace internal

struct StreamingQueryStatus {
  std::string message;
  bool is_data_available = false;
  bool is_trigger_active = false;
  bool is_active = false;
};

/// A running streaming query. Thread: every call from any. Dropping it does not stop the query.
class StreamingQuery {
 public:
  const std::string& id() const { return id_; }
  const std::string& run_id() const { return run_id_; }
  const std::string& name() const { return name_; }
  /// Blocks until the query ends; its failure as the error.
  Status AwaitTermination();
  /// True when it ended within the time.
  Result<bool> AwaitTermination(std::chrono::milliseconds timeout);
  /// Blocks until everything that is there now has been processed.
  Status ProcessAllAvailable();
  Status Stop();
  Result<StreamingQueryStatus> GetStatus();
  /// JSON of the newest progress, if any.
  Result<std::optional<std::string>> LastProgress();
  Result<std::vector<std::string>> RecentProgress();

 private:
  friend class DataStreamWriter;
  StreamingQuery(std::shared_ptr<internal::SessionState> session, std::string id, std::string run_id, std::string name);
  std::shared_ptr<internal::SessionState> session_;
  std::string id_, run_id_, name_;
};

/// DataFrame::WriteStream. Thread: confined.
class DataStreamWriter {
 public:
  DataStreamWriter& Format(std::string_view format);
  /// "append" (the default), "update", "complete".
  DataStreamWriter& OutputMode(std::string_view mode);
  DataStreamWriter& Option(std::string_view key, std::string_view value);
  DataStreamWriter& PartitionBy(std::vector<std::string> columns);
  DataStreamWriter& QueryName(std::string_view name);
  DataStreamWriter& TriggerProcessingTime(std::string_view interval);
  DataStreamWriter& TriggerAvailableNow();
  DataStreamWriter& TriggerOnce();
  /// Starts the query. Sinks with a place: `path`.
  Result<StreamingQuery> Start(std::string_view path = "");
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
