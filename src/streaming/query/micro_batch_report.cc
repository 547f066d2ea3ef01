// What a query tells of itself: status, progress, events.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "data/text/literal.h"
#include "streaming/query/micro_batch_driver.h"
#include "streaming/query/query_settings.h"

namespace thalweg::streaming {
namespace {

using Json = nlohmann::ordered_json;

Json ValueJson(const data::Value& value, const data::DataType& type) {
  if (value.is_null()) return nullptr;
  if (const auto* boolean = value.get_if<bool>()) return *boolean;
  if (const auto* text = value.get_if<std::string>()) return *text;
  if (type.IsIntegral()) return value.AsInt64();
  if (const auto* real = value.get_if<double>())
    return std::isfinite(*real) ? Json(*real) : Json(data::LiteralPlanText(value, type));
  if (const auto* real = value.get_if<float>())
    return std::isfinite(*real) ? Json(*real) : Json(data::LiteralPlanText(value, type));
  return data::LiteralPlanText(value, type);
}

/// Names and types of what df.observe(name, ...) computes.
data::Schema ObservedSchema(const sql::PlanPtr& plan, const std::string& name) {
  data::Schema schema;
  sql::Visit(plan, [&](const sql::PlanPtr& node) {
    const auto* metrics = node->As<sql::CollectMetrics>();
    if (metrics != nullptr && metrics->name == name && schema.empty()) {
      for (const sql::ExprPtr& metric : metrics->metrics)
        schema.push_back(sql::ToAttribute(metric)->ToField());
    }
    return schema.empty();
  });
  return schema;
}

std::string Compact(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void MicroBatchDriver::StartTimers() {
  if (trigger_start_ms_ != 0) previous_trigger_start_ms_ = trigger_start_ms_;
  trigger_start_ms_ = spec_.clock->NowMillis();
  trigger_start_ = spec_.clock->NowMonotonic();
  duration_ns_.clear();
}

void MicroBatchDriver::SetStatus(std::string message) {
  const MutexLock lock(mutex_);
  status_.message = std::move(message);
}

void MicroBatchDriver::SetStatus(std::string message, bool data_available, bool trigger_active) {
  const MutexLock lock(mutex_);
  status_ = {std::move(message), data_available, trigger_active};
}

QueryProgress MicroBatchDriver::NewProgress(BatchId batch_id) const {
  QueryProgress progress;
  progress.id = id_.value().ToString();
  progress.run_id = run_id_.value().ToString();
  progress.name = spec_.name;
  progress.trigger_start_ms = trigger_start_ms_;
  progress.previous_trigger_start_ms = previous_trigger_start_ms_;
  progress.batch_id = batch_id.value();
  const int64_t elapsed_ns = (spec_.clock->NowMonotonic() - trigger_start_).count();
  progress.batch_duration_ms = elapsed_ns / 1000000;
  for (const auto& [phase, nanos] : duration_ns_) progress.duration_ms[phase] = nanos / 1000000;
  progress.duration_ms["triggerExecution"] = progress.batch_duration_ms;
  progress.sink_description = sink_description_;
  return progress;
}

void MicroBatchDriver::ReportBatch(const Turn& turn, const Staged& staged) {
  QueryProgress progress = NewProgress(turn.batch_id);
  progress.duration_ms["queryPlanning"] = planning_ms_;
  planning_ms_ = 0;  // the plan is compiled once per run
  for (size_t i = 0; i < sources_->size(); ++i) {
    SourceProgress source;
    source.description = sources_->stream(i).Description();
    const auto text = [](const std::optional<sql::Offset>& offset) {
      return offset ? std::optional(offset->json) : std::nullopt;
    };
    source.start_offset = text(turn.start[i]);
    source.end_offset = text(turn.end[i]);
    source.latest_offset = i < turn.latest.size() ? text(turn.latest[i]) : std::nullopt;
    source.metrics = sources_->stream(i).Metrics(turn.end[i]);
    for (size_t leaf = 0; leaf < plan_->leaves.size(); ++leaf) {
      if (plan_->leaves[leaf].stream_index == static_cast<int>(i))
        source.rows += staged.result.leaf_rows[leaf];
    }
    progress.sources.push_back(std::move(source));
  }
  if (!delays_ms_.empty()) {
    progress.watermark_ms = turn.watermark_ms;
    const auto& times = staged.result.event_time;  // of the first watermark that has seen rows
    const auto seen = std::find_if(times.begin(), times.end(), [](const auto& stats) { return stats.count > 0; });
    if (seen != times.end()) progress.event_time = *seen;
  }
  progress.state_operators = StateOperators(execution_->Metrics());
  last_state_operators_ = progress.state_operators;
  progress.sink_rows = staged.sink_rows;
  for (const auto& [name, chunk] : staged.result.observed) {
    const data::Schema schema = ObservedSchema(shaped_.plan, name);
    Json row = Json::object();
    for (size_t i = 0; i < schema.size(); ++i) {
      row[schema[i].name] =
          chunk.num_rows() == 0
              ? Json(nullptr)
              : ValueJson(chunk.column(static_cast<int>(i))->GetValue(0), schema[i].type);
    }
    progress.observed_json[name] = Compact(row);
  }
  last_report_ms_ = spec_.clock->NowMillis();
  std::string json = progress.ToJson();
  TW_LOG(kInfo, "micro-batch committed", {"query", progress.id}, {"batch", progress.batch_id},
         {"rows", progress.input_rows()}, {"ms", progress.batch_duration_ms});
  progress_log_.Add(json);
  events_->Progress("{\"progress\":" + json + "}");
}

void MicroBatchDriver::ReportIdle() {
  const int64_t now_ms = spec_.clock->NowMillis();
  const bool first = !last_report_ms_.has_value();
  if (!first && now_ms - *last_report_ms_ < spec_.settings.Get(kNoDataProgressIntervalMs)) return;
  QueryProgress progress = NewProgress(next_batch_);
  for (size_t i = 0; i < sources_->size(); ++i) {
    SourceProgress source;
    source.description = sources_->stream(i).Description();
    if (committed_[i]) source.start_offset = source.end_offset = committed_[i]->json;
    if (i < latest_.size() && latest_[i]) source.latest_offset = latest_[i]->json;
    progress.sources.push_back(std::move(source));
  }
  progress.state_operators = last_state_operators_;
  for (StateOperatorProgress& op : progress.state_operators)
    op.rows_updated = op.rows_removed = op.rows_dropped = 0;
  // Before its first batch a run has no event times to tell of.
  if (!delays_ms_.empty() && ran_in_this_run_) progress.watermark_ms = watermarks_->current_ms();
  progress.sink_rows = ran_in_this_run_ ? 0 : -1;
  last_report_ms_ = now_ms;
  progress_log_.Add(progress.ToJson());
  if (first) return;  // the first idle entry of a run comes without an event
  Json event;
  event["id"] = progress.id;
  event["runId"] = progress.run_id;
  event["timestamp"] = UtcText(trigger_start_ms_);
  events_->Idle(Compact(event));
}

std::string MicroBatchDriver::StartedEvent() const {
  Json event;
  event["id"] = id_.value().ToString();
  event["runId"] = run_id_.value().ToString();
  event["name"] = spec_.name.empty() ? Json(nullptr) : Json(spec_.name);
  event["timestamp"] = UtcText(spec_.clock->NowMillis());
  event["jobTags"] = spec_.job_tags;
  return Compact(event);
}

std::string MicroBatchDriver::TerminatedEvent(const Status& failure) const {
  Json event;
  event["id"] = id_.value().ToString();
  event["runId"] = run_id_.value().ToString();
  event["exception"] = nullptr;
  if (!failure.ok()) event["exception"] = spec_.exception_text ? spec_.exception_text(failure) : failure.message();
  event["errorClassOnException"] =
      failure.ok() || failure.condition().empty() ? Json(nullptr) : Json(failure.condition());
  return Compact(event);
}

}  // namespace thalweg::streaming
