#include "engine/stateful/stateful_aggregate.h"

#include <numeric>
#include <utility>

#include "engine/stateful/late_rows.h"
#include "engine/stateful/state_epochs.h"

namespace thalweg::engine {
namespace {

using Slot = StateTable::Slot;
using SteadyClock = std::chrono::steady_clock;

/// Phases of an epoch: merging input; then, from Seal on, emitting; then evicting what is not
/// emitted.
class StatefulAggregate final : public Operator {
 public:
  explicit StatefulAggregate(const StatefulAggregateSpec& spec) : spec_(spec) {}

  Status Open(const TaskContext& context) override {
    partition_ = context.partition;
    config_ = context.config;
    auto payload = std::make_unique<AggregatePayload>(spec_.aggregates);
    payload_ = payload.get();
    StateTableOptions options;
    options.key_types = spec_.key_types;
    options.value_types = BufferTypes(spec_.aggregates);
    options.event_time = spec_.event_time;
    TW_ASSIGN_OR_RETURN(
        table_, StateTable::Open(spec_.state, spec_.operator_id, partition_, std::move(options),
                                 std::move(payload),
                                 context.memory != nullptr ? context.memory->account() : nullptr));
    return Status::OK();
  }

  /// Without input there is work only where something may expire, everything is emitted, or the one
  /// group is.
  bool NeedsEpoch(const sql::EpochContext& epoch) const override {
    if (spec_.key_types.empty() || spec_.mode == sql::OutputMode::kComplete) return true;
    return spec_.event_time && epochs_.MayEvict(epoch);
  }

  Status BeginEpoch(const sql::EpochContext& epoch) override {
    epoch_ = &epoch;
    eval_ = {.config = config_.get(), .epoch = epoch_, .partition = partition_.value()};
    sealed_ = false;
    emit_.clear();
    emit_next_ = 0;
    scan_cursor_ = 0;
    return epochs_.Begin(*table_, epoch);
  }

  Result<OperatorState> Push(int, data::Chunk chunk) override {
    const auto begin = SteadyClock::now();
    chunk = chunk.Dense();
    if (spec_.event_time && spec_.mode != sql::OutputMode::kComplete) {
      int64_t dropped = 0;
      auto in_time = RowsInTime(chunk, *spec_.event_time, epoch_->late_watermark_ms, &dropped);
      epochs_.work.rows_dropped += dropped;
      if (in_time != nullptr) {
        chunk.set_selection(std::move(in_time));
        chunk = chunk.Dense();
      }
    }
    if (chunk.num_rows() > 0) TW_RETURN_NOT_OK(Merge(chunk));
    epochs_.work.updates_ms += MillisSinceStart(begin);
    return OperatorState::kNeedInput;
  }

  Result<OperatorState> EndInput(int) override { return OperatorState::kFinished; }

  Result<OperatorState> Seal() override {
    if (spec_.key_types.empty()) TW_RETURN_NOT_OK(TouchTheOneGroup());
    if (spec_.mode == sql::OutputMode::kUpdate) emit_ = table_->ChangedSlots();
    sealed_ = true;
    return OperatorState::kHaveOutput;
  }

  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override {
    *state = OperatorState::kHaveOutput;
    if (!sealed_) {
      *state = OperatorState::kNeedInput;
      return std::optional<data::Chunk>{};
    }
    std::vector<Slot> slots;
    switch (spec_.mode) {
      case sql::OutputMode::kAppend:
        slots = TakeExpired();
        break;
      case sql::OutputMode::kUpdate: {
        const size_t count = std::min<size_t>(emit_.size() - emit_next_, data::kChunkRows);
        slots.assign(emit_.begin() + emit_next_, emit_.begin() + emit_next_ + count);
        emit_next_ += count;
        break;
      }
      case sql::OutputMode::kComplete:
        table_->Scan(&scan_cursor_, data::kChunkRows, &slots);
        break;
    }
    if (slots.empty()) {
      if (spec_.mode == sql::OutputMode::kUpdate) EvictSilently();
      if (spec_.event_time) epochs_.Evicted(*epoch_);
      *state = OperatorState::kFinished;
      return std::optional<data::Chunk>{};
    }
    TW_ASSIGN_OR_RETURN(data::Chunk out, Emit(slots));
    if (spec_.mode == sql::OutputMode::kAppend) table_->Remove(slots);
    return std::optional<data::Chunk>(std::move(out));
  }

  Result<bool> Prepare(const sql::EpochContext& epoch) override {
    return epochs_.Prepare(*table_, epoch, partition_, &metrics_);
  }

  std::shared_ptr<Signal> blocked_on() const override { return table_->commit_signal(); }

  void Abort(const sql::EpochContext&) override { epochs_.Abort(table_.get()); }

 private:
  Status Merge(const data::Chunk& chunk) {
    const std::span<const data::ColumnPtr> columns(chunk.columns());
    const size_t keys = spec_.key_types.size();
    std::vector<data::ColumnPtr> buffers;
    for (const data::ColumnPtr& column : columns.subspan(keys))
      buffers.push_back(column->is_constant() ? column : data::Flatten(column));
    std::vector<Slot> slots;
    TW_RETURN_NOT_OK(table_->FindOrInsert(columns.first(keys), chunk.num_rows(), nullptr, &slots));
    std::vector<uint8_t*> payloads;
    table_->Payloads(slots, &payloads);
    TW_RETURN_NOT_OK(payload_->Merge(buffers, payloads, eval_));
    table_->MarkChanged(slots);
    return Status::OK();
  }

  /// The group of an aggregation without keys: there from the first epoch on, and emitted in each.
  Status TouchTheOneGroup() {
    std::vector<Slot> slots;
    TW_RETURN_NOT_OK(table_->FindOrInsert({}, 1, nullptr, &slots));
    table_->MarkChanged(slots);
    return Status::OK();
  }

  std::vector<Slot> TakeExpired() {
    std::vector<Slot> slots;
    if (spec_.event_time)
      table_->TakeExpired(epoch_->eviction_watermark_ms * 1000, data::kChunkRows, &slots);
    return slots;
  }

  void EvictSilently() {
    const auto begin = SteadyClock::now();
    for (std::vector<Slot> slots = TakeExpired(); !slots.empty(); slots = TakeExpired())
      table_->Remove(slots);
    epochs_.work.removals_ms += MillisSinceStart(begin);
  }

  Result<data::Chunk> Emit(const std::vector<Slot>& slots) {
    TW_ASSIGN_OR_RETURN(std::vector<data::ColumnPtr> columns, table_->Keys(slots));
    std::vector<uint8_t*> payloads;
    table_->Payloads(slots, &payloads);
    TW_ASSIGN_OR_RETURN(std::vector<data::ColumnPtr> values, payload_->Finish(payloads, eval_));
    std::move(values.begin(), values.end(), std::back_inserter(columns));
    return data::Chunk(std::move(columns), static_cast<int64_t>(slots.size()));
  }

  const StatefulAggregateSpec spec_;
  PartitionId partition_{0};
  std::shared_ptr<const sql::EvalConfig> config_;
  std::unique_ptr<StateTable> table_;
  AggregatePayload* payload_ = nullptr;  // the table's
  const sql::EpochContext* epoch_ = nullptr;
  sql::EvalContext eval_;
  StateEpochs<StateTable> epochs_;
  bool sealed_ = false;
  std::vector<Slot> emit_;  // update mode: what is emitted
  size_t emit_next_ = 0;
  uint64_t scan_cursor_ = 0;  // complete mode
};

}  // namespace

std::function<Result<std::unique_ptr<Operator>>(PartitionId)> MakeStatefulAggregate(
    StatefulAggregateSpec spec) {
  return [spec = std::move(spec)](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::unique_ptr<Operator>(std::make_unique<StatefulAggregate>(spec));
  };
}

}  // namespace thalweg::engine
