// One micro-batch: what it reads, the order in which things become durable, what follows.

#include <algorithm>
#include <utility>

#include "base/fault_point.h"
#include "base/log.h"
#include "base/probe.h"
#include "data/logs/log_settings.h"
#include "engine/checkpoint/pinned_settings.h"
#include "streaming/query/chunk_relation.h"
#include "streaming/query/micro_batch_driver.h"
#include "streaming/query/micro_batch_timing.h"
#include "streaming/query/query_settings.h"

namespace thalweg::streaming {

Result<bool> MicroBatchDriver::ConstructNext() {
  TW_ASSIGN_OR_RETURN(NextOffsets next,
                      Timed("latestOffset", [&] {
    return sources_->Next(committed_, takes_all_, [&](const std::string& source) {
      SetStatus("Getting offsets from " + source);
    });
  }));
  latest_ = next.latest;
  const int64_t watermark_ms = watermarks_->current_ms();
  bool run = next.has_new_data;
  if (!run && ran_in_this_run_ && spec_.settings.Get(kNoDataMicroBatches)) {
    TW_ASSIGN_OR_RETURN(run, OperatorsWantBatch(watermark_ms));
  }
  if (!run) return false;
  Turn turn;
  turn.batch_id = next_batch_;
  turn.start = committed_;
  turn.end = std::move(next.end);
  turn.latest = std::move(next.latest);
  turn.watermark_ms = watermark_ms;
  turn.late_watermark_ms = last_watermark_ms_;
  turn.timestamp_ms = spec_.clock->NowMillis();
  turn.has_new_data = next.has_new_data;
  turn_ = std::move(turn);
  return true;
}

/// Whether a batch without data would evict something (Spark's shouldRunAnotherBatch).
Result<bool> MicroBatchDriver::OperatorsWantBatch(int64_t watermark_ms) const {
  TW_ASSIGN_OR_RETURN(const auto next_ms, PropagateWatermark(*plan_, watermark_ms));
  for (const auto& [id, last_ms] : last_eviction_ms_) {
    const auto found = next_ms.find(id);
    if (found != next_ms.end() && found->second > last_ms) return true;
  }
  return false;
}

/// The order of these lines is the correctness argument: see the class comment.
Status MicroBatchDriver::RunOne() {
  const Turn& turn = *turn_;
  TW_RETURN_NOT_OK(Timed("walCommit", [&] {
    return WriteOffsets(turn);
  }));  // durable before anything outside sees a row
  TW_FAULT_POINT("micro-batch: offsets written");
  SetStatus(turn.has_new_data ? "Processing new data" : "No new data but cleaning up state");
  if (!ran_in_this_run_) TW_RETURN_NOT_OK(WriteStateMetadata(turn.batch_id));
  Result<Staged> staged = Timed("addBatch", [&] { return Execute(turn); });
  if (!staged.ok()) return std::move(staged).status();
  TW_FAULT_POINT("micro-batch: computed");
  TW_RETURN_NOT_OK(
      Timed("addBatch", [&] { return execution_->Prepare(); }));  // state version batch_id + 1
  TW_FAULT_POINT("micro-batch: state committed");
  TW_RETURN_NOT_OK(Timed("addBatch", [&] {
    return CommitSink(turn, &*staged);
  }));  // idempotent by (query id, batch id)
  TW_FAULT_POINT("micro-batch: sink committed");
  watermarks_->Update(staged->result.event_time, delays_ms_);
  TW_RETURN_NOT_OK(
      Timed("commitOffsets", [&] { return WriteCommit(turn); }));  // last: only now has it happened
  TW_FAULT_POINT("micro-batch: committed");
  TW_RETURN_NOT_OK(execution_->Committed());
  ReportBatch(turn, *staged);
  Advance(turn);
  return Status::OK();
}

Status MicroBatchDriver::WriteOffsets(const Turn& turn) {
  if (!turn.replay) {
    engine::OffsetLogEntry entry;
    entry.metadata = engine::OffsetMetadata{
        turn.watermark_ms, turn.timestamp_ms, engine::MakePinnedConf(settings_), {}};
    for (size_t i = 0; i < turn.end.size(); ++i) {
      entry.offsets.push_back(
          {std::to_string(i), turn.end[i] ? std::optional(turn.end[i]->json) : std::nullopt});
    }
    TW_RETURN_NOT_OK(checkpoint_->offsets().Add(turn.batch_id, entry));
  }
  if (turn.batch_id.value() == 0) return Status::OK();
  TW_RETURN_NOT_OK(sources_->Commit(turn.start));
  return checkpoint_->PurgeLogs(turn.batch_id, spec_.settings.Get(data::kMinBatchesToRetain));
}

Result<engine::EpochInput> MicroBatchDriver::MakeEpochInput(const Turn& turn) {
  engine::EpochInput input;
  input.context.batch_id = turn.batch_id;
  input.context.batch_timestamp_us = turn.timestamp_ms * 1000;
  input.context.late_watermark_ms = turn.late_watermark_ms;
  input.context.eviction_watermark_ms = turn.watermark_ms;
  input.context.has_watermark = !delays_ms_.empty();
  input.context.replay = turn.replay;
  TW_ASSIGN_OR_RETURN(const auto late_ms, PropagateWatermark(*plan_, turn.late_watermark_ms));
  TW_ASSIGN_OR_RETURN(const auto eviction_ms, PropagateWatermark(*plan_, turn.watermark_ms));
  for (const auto& [id, eviction] : eviction_ms)
    input.operator_watermarks[id] = {late_ms.at(id), eviction};
  for (size_t i = 0; i < plan_->leaves.size(); ++i) {
    const engine::LeafSlot& leaf = plan_->leaves[i];
    engine::SplitList splits;
    bool unchanged = false;
    if (leaf.scan != nullptr) {
      TW_ASSIGN_OR_RETURN(sql::LeafVersion version, leaf.scan->Version());
      unchanged = leaf_versions_[i] == version;
      if (!unchanged) {
        TW_ASSIGN_OR_RETURN(splits, leaf.scan->PlanSplits());
        leaf_versions_[i] = std::move(version);
      }
    } else {
      const size_t source = leaf.stream_index;
      if (turn.end[source] && turn.end[source] != turn.start[source]) {
        sql::Offset start;
        if (turn.start[source]) {
          start = *turn.start[source];
        } else {
          TW_ASSIGN_OR_RETURN(start, sources_->Initial(source));
        }
        TW_ASSIGN_OR_RETURN(
            splits, sources_->stream(source).PlanSplits(start, *turn.end[source], leaf.request));
      }
    }
    input.leaf_splits.push_back(std::move(splits));
    input.leaf_unchanged.push_back(unchanged);
  }
  return input;
}

Result<MicroBatchDriver::Staged> MicroBatchDriver::Execute(const Turn& turn) {
  TW_ASSIGN_OR_RETURN(const engine::EpochInput input,
                      Timed("getBatch", [&] { return MakeEpochInput(turn); }));
  Staged staged;
  Mutex rows_mutex;
  std::map<int32_t, std::vector<data::Chunk>> rows;
  const engine::RootConsumer consumer = [&](PartitionId partition, data::Chunk chunk,
                                            std::shared_ptr<Signal>*) -> Result<bool> {
    if (batch_sink_ == nullptr || chunk.num_rows() == 0) return true;
    data::Chunk kept = chunk.Compacted();
    const MutexLock lock(rows_mutex);
    rows[partition.value()].push_back(std::move(kept));
    return true;
  };
  TW_ASSIGN_OR_RETURN(staged.result, execution_->RunEpoch(input, consumer));
  for (auto& [partition, chunks] : rows)
    std::move(chunks.begin(), chunks.end(), std::back_inserter(staged.rows));
  last_eviction_ms_.clear();
  for (const engine::NodeMetrics& metrics : staged.result.nodes) {
    if (!metrics.node->stateful_id || !metrics.node->evicts_by_watermark) continue;
    last_eviction_ms_[*metrics.node->stateful_id] =
        input.operator_watermarks.at(*metrics.node->stateful_id).second;
  }
  return staged;
}

Status MicroBatchDriver::CommitSink(const Turn& turn, Staged* staged) {
  if (batch_sink_ != nullptr) {
    for (const data::Chunk& chunk : staged->rows) staged->sink_rows += chunk.num_rows();
    if (!batch_sink_->reports_rows()) staged->sink_rows = -1;
    return batch_sink_->AddBatch(
        turn.batch_id, std::make_shared<ChunkRelation>(output_schema_, std::move(staged->rows)));
  }
  if (turn.replay) {
    TW_ASSIGN_OR_RETURN(const std::optional<BatchId> last, write_->LastCommitted());
    if (last && *last >= turn.batch_id) {
      TW_PROBE("micro-batch: replayed batch is in the sink already");
      write_->Abort(turn.batch_id, staged->result.messages);
      return Status::OK();
    }
  }
  TW_RETURN_NOT_OK(write_->Commit(turn.batch_id, staged->result.messages));
  staged->sink_rows = write_->LastEpochRows();
  return Status::OK();
}

Status MicroBatchDriver::WriteCommit(const Turn& turn) {
  engine::CommitLogEntry entry;
  entry.next_batch_watermark_ms = watermarks_->current_ms();
  return checkpoint_->commits().Add(turn.batch_id, entry);
}

void MicroBatchDriver::Advance(const Turn& turn) {
  committed_ = turn.end;
  last_watermark_ms_ = turn.watermark_ms;
  next_batch_ = turn.batch_id.Next();
  ran_in_this_run_ = true;
  turn_.reset();
}

}  // namespace thalweg::streaming
