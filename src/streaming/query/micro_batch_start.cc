// From a specification to a plan that can run: sources, sink, recovery, compilation.

#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"
#include "engine/checkpoint/operator_metadata.h"
#include "engine/checkpoint/pinned_settings.h"
#include "engine/planner/planner.h"
#include "engine/state/state_options.h"
#include "engine/state/store_schema.h"
#include "sql/optimizer/optimizer.h"
#include "streaming/query/micro_batch_driver.h"
#include "streaming/query/query_settings.h"

namespace thalweg::streaming {
namespace {

/// "[(OperatorId: 0 -> OperatorName: stateStoreSave)]", as Spark lists operators.
std::string OperatorList(const std::map<int64_t, std::string>& names) {
  std::string text;
  for (const auto& [id, name] : names) {
    text += (text.empty() ? "" : ", ") +
            ("(OperatorId: " + std::to_string(id) + " -> OperatorName: " + name + ")");
  }
  return text;
}

}  // namespace

Result<std::shared_ptr<MicroBatchDriver>> MicroBatchDriver::Make(
    StreamingQuerySpec spec, std::shared_ptr<QueryEvents> events,
    std::function<void(const StreamingQuery&)> on_end) {
  std::shared_ptr<MicroBatchDriver> driver(
      new MicroBatchDriver(std::move(spec), std::move(events), std::move(on_end)));
  const StreamingQuerySpec& own = driver->spec_;
  engine::CheckpointOptions options;
  options.verify_metadata_exists = own.settings.Get(kVerifyMetadataExists);
  TW_ASSIGN_OR_RETURN(
      driver->checkpoint_,
      engine::Checkpoint::Open(*own.file_system, own.checkpoint_location,
                               QueryId(Uuid::MakeRandom()), options, &driver->poison_));
  driver->id_ = driver->checkpoint_->query_id();
  return driver;
}

Status MicroBatchDriver::OpenSources(std::stop_token stop) {
  TW_ASSIGN_OR_RETURN(shaped_, sql::ShapeForState(spec_.plan, spec_.mode, *spec_.config));
  output_schema_ = shaped_.plan->schema();
  sql::StreamContext context;
  context.checkpoint_root = spec_.checkpoint_location;
  context.query_id = id_;
  context.run_id = run_id_;
  context.stop = std::move(stop);
  context.on_more_data = [signal = more_data_] { signal->Set(); };
  context.config = spec_.config;
  TW_ASSIGN_OR_RETURN(SourceSet sources, SourceSet::Open(shaped_.layout.sources, context));
  sources_.emplace(std::move(sources));
  committed_.resize(sources_->size());
  return Status::OK();
}

Status MicroBatchDriver::OpenSink() {
  sql::StreamWriteRequest request;
  request.schema = output_schema_;
  request.options = spec_.options;
  request.partition_columns = spec_.partition_columns;
  request.mode = spec_.mode;
  request.query_id = id_;
  request.run_id = run_id_;
  request.query_name = spec_.name;
  request.checkpoint_root = spec_.checkpoint_location;
  request.has_aggregation = !shaped_.layout.operators.empty();
  request.config = spec_.config;
  TW_ASSIGN_OR_RETURN(auto sink, spec_.make_sink(request));
  if (auto* write = std::get_if<std::unique_ptr<sql::StreamingWrite>>(&sink)) {
    write_ = std::move(*write);
    sink_description_ = write_->Description();
  } else {
    batch_sink_ = std::move(std::get<std::unique_ptr<sql::BatchSink>>(sink));
    sink_description_ = batch_sink_->Description();
  }
  return Status::OK();
}

/// Where the query goes on: checkpoint-format 11.3.
Status MicroBatchDriver::Recover() {
  TW_ASSIGN_OR_RETURN(const engine::RecoveryPoint point, checkpoint_->Recover());
  const engine::OffsetLogEntry* newest = point.newest();
  settings_ = spec_.settings;
  if (newest == nullptr) {
    if (spec_.settings.Get(kVerifyEmptyOnStart)) TW_RETURN_NOT_OK(checkpoint_->RequireEmpty());
  } else {
    TW_RETURN_NOT_OK(checkpoint_->MakeDurable());
    if (batch_sink_ != nullptr && !batch_sink_->recoverable()) {
      return Error("_LEGACY_ERROR_TEMP_1299")
          .With("checkpointPath", spec_.checkpoint_location + "/offsets");
    }
    TW_RETURN_NOT_OK(newest->CheckSourceCount(sources_->size()));
    if (newest->metadata) settings_ = engine::ApplyPinnedConf(spec_.settings, *newest->metadata);
  }
  TW_ASSIGN_OR_RETURN(const WatermarkPolicy policy,
                      ParseWatermarkPolicy(settings_.Get(kWatermarkPolicy)));
  watermarks_.emplace(policy);
  watermarks_->Restore(point.watermark_ms);
  next_batch_ = first_batch_ = point.next_batch;

  const auto offsets_of = [&](const engine::OffsetLogEntry& entry) -> Result<OffsetVector> {
    TW_RETURN_NOT_OK(entry.CheckSourceCount(sources_->size()));
    std::vector<std::optional<std::string>> texts;
    for (const engine::SourceOffset& offset : entry.offsets) texts.push_back(offset.json);
    return sources_->Deserialize(texts);
  };
  if (point.start) {
    TW_ASSIGN_OR_RETURN(committed_, offsets_of(*point.start));
    if (point.start->metadata) last_watermark_ms_ = point.start->metadata->batch_watermark_ms;
  }
  if (!point.rerun) return Status::OK();

  Turn turn;  // planned by an earlier run: the same range, watermark and time again
  turn.batch_id = point.next_batch;
  turn.start = committed_;
  TW_ASSIGN_OR_RETURN(turn.end, offsets_of(*point.planned));
  turn.late_watermark_ms = last_watermark_ms_;
  if (point.planned->metadata) {
    turn.watermark_ms = point.planned->metadata->batch_watermark_ms;
    turn.timestamp_ms = point.planned->metadata->batch_timestamp_ms;
  }
  turn.has_new_data = turn.end != turn.start;
  turn.replay = true;
  turn_ = std::move(turn);
  return Status::OK();
}

/// The operators of the plan must be those whose state stands in the checkpoint.
Status MicroBatchDriver::CheckStatefulOperators() {
  if (next_batch_.value() == 0) return Status::OK();
  const BatchId at_batch = next_batch_.Previous();
  TW_ASSIGN_OR_RETURN(const std::vector<OperatorId> recorded,
                      engine::ListOperators(*spec_.file_system, checkpoint_->layout()));
  std::map<int64_t, std::string> in_metadata, in_plan;
  for (const sql::StatefulOperatorLayout& op : shaped_.layout.operators) in_plan[op.id] = op.name;
  if (recorded.empty() && !in_plan.empty()) {
    return Error("STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY").With("OpsInCurBatchSeq", OperatorList(in_plan));
  }
  for (const OperatorId op : recorded) {
    TW_ASSIGN_OR_RETURN(
        const std::optional<engine::OperatorMetadata> metadata,
        engine::ReadOperatorMetadata(*spec_.file_system, checkpoint_->layout(), op, at_batch));
    if (metadata) in_metadata[op.value()] = metadata->operator_name;
  }
  if (in_metadata.empty() || in_metadata == in_plan)
    return Status::OK();  // checkpoints of old releases have none
  return Error("STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA")
      .With("OpsInMetadataSeq", OperatorList(in_metadata))
      .With("OpsInCurBatchSeq", OperatorList(in_plan));
}

Status MicroBatchDriver::WriteStateMetadata(BatchId first_batch) {
  const int64_t partitions = settings_.Get(kShufflePartitions);
  for (const sql::StatefulOperatorLayout& op : shaped_.layout.operators) {
    engine::OperatorMetadata metadata;
    metadata.operator_id = OperatorId(op.id);
    metadata.operator_name = op.name;
    for (const sql::StateStoreLayout& store : op.stores) {
      if (settings_.Get(kStateSchemaCheck)) {
        const bool check_value = op.name != "dedupe";  // Spark's values of dropDuplicates mean nothing
        TW_RETURN_NOT_OK(engine::WriteOrCheckStoreSchema(
            *spec_.file_system, checkpoint_->layout(), metadata.operator_id, store.name,
            {store.key_schema, store.value_schema}, check_value));
      }
      metadata.stores.push_back({store.name, store.prefix_key_columns, partitions, {}});
    }
    TW_RETURN_NOT_OK(engine::WriteOperatorMetadata(*spec_.file_system, checkpoint_->layout(),
                                                   metadata, first_batch));
  }
  return Status::OK();
}

/// Stream joins can keep their state in several layouts, of which there is one here.
Status MicroBatchDriver::CheckJoinFormat() const {
  const auto& operators = shaped_.layout.operators;
  const bool joins = std::any_of(operators.begin(), operators.end(),
                                 [](const auto& op) { return op.name == "symmetricHashJoin"; });
  const int64_t format = settings_.Get(kJoinStateFormat);
  constexpr int64_t kTwoStoresPerSide = 2;
  if (!joins || format == kTwoStoresPerSide) return Status::OK();
  if (format > kTwoStoresPerSide && !engine::IsRocksDb(engine::StateOptions::FromSettings(settings_))) {
    return Error("UNSUPPORTED_FEATURE.STATE_STORE_MULTIPLE_COLUMN_FAMILIES")
        .With("stateStoreProvider", "HDFSBackedStateStoreProvider");
  }
  return Unsupported("state format " + std::to_string(format) + " of stream joins");
}

Status MicroBatchDriver::CompilePlan() {
  const auto begin = spec_.clock->NowMonotonic();
  TW_RETURN_NOT_OK(CheckStatefulOperators());
  TW_RETURN_NOT_OK(CheckJoinFormat());
  const engine::StateOptions state_options = engine::StateOptions::FromSettings(settings_);
  if (!shaped_.layout.operators.empty() && settings_.Get(kStateCheckpointFormat) > 1) {
    if (engine::IsRocksDb(state_options)) return Unsupported("RocksDB state with checkpoint ids (checkpoint format version 2)");
    return Error("STATE_STORE_CHECKPOINT_IDS_NOT_SUPPORTED")
        .With("msg", "HDFSBackedStateStoreProvider does not support checkpointFormatVersion > 1");
  }
  TW_ASSIGN_OR_RETURN(
      state_, spec_.state->OpenQuery(run_id_, spec_.checkpoint_location, state_options, &poison_));

  TW_ASSIGN_OR_RETURN(const sql::PlanPtr optimized,
                      sql::Optimize(shaped_.plan, {.config = spec_.config, .streaming = true}));
  engine::StreamPlanOptions options;
  options.config = spec_.config;
  options.mode = spec_.mode;
  options.shuffle_partitions = static_cast<int>(settings_.Get(kShufflePartitions));
  options.parallelism = spec_.scheduler->workers();
  options.checkpoint_root = spec_.checkpoint_location;
  options.state = spec_.state;
  options.run_id = run_id_;
  options.write = write_.get();
  options.sink_accepts = spec_.sink_accepts;
  options.first_batch = next_batch_;
  options.python = spec_.python;
  TW_ASSIGN_OR_RETURN(plan_, engine::PlanStream({optimized, shaped_.layout}, options));
  delays_ms_ = WatermarkDelays(*plan_);
  leaf_versions_.resize(plan_->leaves.size());
  TW_ASSIGN_OR_RETURN(
      std::shared_ptr<engine::Execution> execution,
      engine::Execution::Make(*spec_.scheduler, plan_, engine::QueryClass::kStreaming, spec_.config,
                              spec_.memory));
  planning_ms_ = (spec_.clock->NowMonotonic() - begin).count() / 1000000;
  const MutexLock lock(mutex_);
  execution_ = std::move(execution);
  explain_ = "== Physical Plan ==\n" + plan_->ToString();
  explain_extended_ = "== Analyzed Logical Plan ==\n" + spec_.plan->TreeText() +
                      "\n== Optimized Logical Plan ==\n" + optimized->TreeText() + "\n" + explain_;
  return stop_requested_ ? Cancelled() : Status::OK();
}

}  // namespace thalweg::streaming
