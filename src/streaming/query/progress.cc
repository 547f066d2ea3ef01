#include "streaming/query/progress.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/text/datetime.h"

namespace thalweg::streaming {
namespace {

using Json = nlohmann::ordered_json;

/// One decimal, half up; nothing for NaN and infinities.
std::optional<double> Rate(int64_t rows, int64_t duration_ms) {
  const double rate = static_cast<double>(rows) * 1000.0 / static_cast<double>(duration_ms);
  if (!std::isfinite(rate)) return {};
  return std::floor(rate * 10.0 + 0.5) / 10.0;
}

void PutRates(const QueryProgress& progress, int64_t rows, Json* out) {
  std::optional<double> input = 0.0;
  if (progress.previous_trigger_start_ms)
    input = Rate(rows, progress.trigger_start_ms - *progress.previous_trigger_start_ms);
  if (input) (*out)["inputRowsPerSecond"] = *input;
  const std::optional<double> processed =
      Rate(rows, std::max<int64_t>(progress.batch_duration_ms, 1));
  if (processed) (*out)["processedRowsPerSecond"] = *processed;
}

Json OffsetJson(const std::optional<std::string>& text) {
  if (!text) return nullptr;
  Json parsed = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  return parsed.is_discarded() ? Json(*text) : parsed;
}

Json SourceJson(const QueryProgress& progress, const SourceProgress& source) {
  Json json;
  json["description"] = source.description;
  json["startOffset"] = OffsetJson(source.start_offset);
  json["endOffset"] = OffsetJson(source.end_offset);
  json["latestOffset"] = OffsetJson(source.latest_offset);
  json["numInputRows"] = source.rows;
  PutRates(progress, source.rows, &json);
  if (!source.metrics.empty()) json["metrics"] = source.metrics;
  return json;
}

Json StateJson(const StateOperatorProgress& op) {
  Json json;
  json["operatorName"] = op.name;
  json["numRowsTotal"] = op.rows_total;
  json["numRowsUpdated"] = op.rows_updated;
  json["allUpdatesTimeMs"] = op.updates_ms;
  json["numRowsRemoved"] = op.rows_removed;
  json["allRemovalsTimeMs"] = op.removals_ms;
  json["commitTimeMs"] = op.commit_ms;
  json["memoryUsedBytes"] = op.memory_bytes;
  json["numRowsDroppedByWatermark"] = op.rows_dropped;
  json["numShufflePartitions"] = op.partitions;
  json["numStateStoreInstances"] = op.store_instances;
  if (!op.custom.empty()) json["customMetrics"] = op.custom;
  return json;
}

Json EventTimeJson(const QueryProgress& progress) {
  Json json = Json::object();
  if (progress.event_time && progress.event_time->count > 0) {
    const engine::EventTimeStats& stats = *progress.event_time;
    json["avg"] = UtcText(static_cast<int64_t>(stats.sum_ms / static_cast<double>(stats.count)));
    json["max"] = UtcText(stats.max_ms);
    json["min"] = UtcText(stats.min_ms);
  }
  if (progress.watermark_ms) json["watermark"] = UtcText(*progress.watermark_ms);
  return json;
}

}  // namespace

std::string UtcText(int64_t unix_epoch_ms) {
  const int64_t millis_of_second = (unix_epoch_ms % 1000 + 1000) % 1000;
  const int64_t seconds = (unix_epoch_ms - millis_of_second) / 1000;
  constexpr int64_t kMaxSeconds = INT64_MAX / 1000000;
  std::string text;
  data::AppendTimestampNtz(std::clamp(seconds, -kMaxSeconds, kMaxSeconds) * 1000000, &text);
  std::replace(text.begin(), text.end(), ' ', 'T');
  return text + "." + std::to_string(1000 + millis_of_second).substr(1) + "Z";
}

int64_t QueryProgress::input_rows() const {
  int64_t rows = 0;
  for (const SourceProgress& source : sources) rows += source.rows;
  return rows;
}

std::string QueryProgress::ToJson() const {
  Json json;
  json["id"] = id;
  json["runId"] = run_id;
  json["name"] = name.empty() ? Json(nullptr) : Json(name);
  json["timestamp"] = UtcText(trigger_start_ms);
  json["batchId"] = batch_id;
  json["batchDuration"] = batch_duration_ms;
  json["numInputRows"] = input_rows();
  PutRates(*this, input_rows(), &json);
  if (!duration_ms.empty()) json["durationMs"] = duration_ms;
  Json event_time_json = EventTimeJson(*this);
  if (!event_time_json.empty()) json["eventTime"] = std::move(event_time_json);
  json["stateOperators"] = Json::array();
  for (const StateOperatorProgress& op : state_operators)
    json["stateOperators"].push_back(StateJson(op));
  json["sources"] = Json::array();
  for (const SourceProgress& source : sources) json["sources"].push_back(SourceJson(*this, source));
  json["sink"]["description"] = sink_description;
  json["sink"]["numOutputRows"] = sink_rows;
  for (const auto& [metric, text] : observed_json)
    json["observedMetrics"][metric] = Json::parse(text, nullptr, false);
  // Text of user data may hold bytes that are not UTF-8: they are replaced, never a reason to fail
  // a batch.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<StateOperatorProgress> StateOperators(const std::vector<engine::NodeMetrics>& nodes) {
  std::map<int64_t, StateOperatorProgress> by_id;
  for (const engine::NodeMetrics& metrics : nodes) {
    if (!metrics.node->stateful_id) continue;
    StateOperatorProgress op;
    op.name = metrics.node->stateful_name;
    op.partitions = metrics.node->num_partitions;
    op.custom = metrics.total.custom;
    const auto take = [&](const char* metric) {
      const auto found = op.custom.find(metric);
      if (found == op.custom.end()) return int64_t{0};
      const int64_t value = found->second;
      op.custom.erase(found);
      return value;
    };
    op.rows_total = take("numRowsTotal");
    op.rows_updated = take("numRowsUpdated");
    op.updates_ms = take("allUpdatesTimeMs");
    op.rows_removed = take("numRowsRemoved");
    op.removals_ms = take("allRemovalsTimeMs");
    op.commit_ms = take("commitTimeMs");
    op.memory_bytes = take("memoryUsedBytes");
    op.rows_dropped = take("numRowsDroppedByWatermark");
    op.store_instances = take("numStateStoreInstances");
    by_id[*metrics.node->stateful_id] = std::move(op);
  }
  std::vector<StateOperatorProgress> operators;
  for (auto& [id, op] : by_id) operators.push_back(std::move(op));
  return operators;
}

void ProgressLog::Add(std::string json) {
  const MutexLock lock(mutex_);
  entries_.push_back(std::move(json));
  // Spark trims while size >= capacity, so one less than the setting says remains.
  while (static_cast<int64_t>(entries_.size()) >= std::max<int64_t>(capacity_, 2))
    entries_.pop_front();
}

std::vector<std::string> ProgressLog::All() const {
  const MutexLock lock(mutex_);
  return {entries_.begin(), entries_.end()};
}

std::optional<std::string> ProgressLog::Last() const {
  const MutexLock lock(mutex_);
  if (entries_.empty()) return {};
  return entries_.back();
}

}  // namespace thalweg::streaming
