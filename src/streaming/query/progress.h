#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "engine/exec/execution.h"

namespace thalweg::streaming {

struct SourceProgress {
  std::string description;
  std::optional<std::string> start_offset, end_offset, latest_offset;  ///< JSON texts
  int64_t rows = 0;
  std::map<std::string, std::string> metrics;
};

struct StateOperatorProgress {
  std::string name;
  int64_t rows_total = 0, rows_updated = 0, updates_ms = 0, rows_removed = 0, removals_ms = 0,
          commit_ms = 0, memory_bytes = 0, rows_dropped = 0, partitions = 0, store_instances = 0;
  std::map<std::string, int64_t> custom;
};

/// One trigger of a query (Spark's StreamingQueryProgress).
struct QueryProgress {
  std::string id, run_id;
  std::string name;  ///< empty: null
  int64_t trigger_start_ms = 0;
  std::optional<int64_t> previous_trigger_start_ms;
  int64_t batch_id = 0;
  int64_t batch_duration_ms = 0;
  std::map<std::string, int64_t> duration_ms;        ///< "triggerExecution", "walCommit", ...
  std::optional<engine::EventTimeStats> event_time;  ///< only with rows
  std::optional<int64_t> watermark_ms;  ///< only when the plan has a watermark operator
  std::vector<StateOperatorProgress> state_operators;
  std::vector<SourceProgress> sources;
  std::string sink_description;
  int64_t sink_rows = -1;
  std::map<std::string, std::string> observed_json;  ///< name -> JSON object

  int64_t input_rows() const;
  /// Compact JSON in Spark's field order; what is empty is left out (Spark's StreamingQueryProgress).
  std::string ToJson() const;
};

/// "2026-11-29T16:46:05.708Z".
std::string UtcText(int64_t unix_epoch_ms);

/// State operators of a plan from the metrics of its nodes, in order of operator id.
std::vector<StateOperatorProgress> StateOperators(const std::vector<engine::NodeMetrics>& nodes);

/// The newest progress entries. Thread: synchronised.
class ProgressLog {
 public:
  explicit ProgressLog(int64_t capacity) : capacity_(capacity) {}
  void Add(std::string json);
  std::vector<std::string> All() const;
  std::optional<std::string> Last() const;

 private:
  const int64_t capacity_;
  mutable Mutex mutex_;
  std::deque<std::string> entries_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg::streaming
