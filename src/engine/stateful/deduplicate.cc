#include "engine/stateful/deduplicate.h"

#include <utility>

#include "data/rowformat/unsafe_row_format.h"
#include "engine/stateful/deduplicate_payload.h"
#include "engine/stateful/late_rows.h"
#include "engine/stateful/state_epochs.h"

namespace thalweg::engine {
namespace {

using Slot = StateTable::Slot;
using RowIndexes = std::vector<int32_t>;

/// Passes rows on as they come; evicts when all have come.
class DeduplicateRows final : public Operator {
 public:
  explicit DeduplicateRows(const DeduplicateSpec& spec) : spec_(spec) {}

  Status Open(const TaskContext& context) override {
    partition_ = context.partition;
    StateTableOptions options;
    options.key_types = spec_.key_types;
    options.event_time = spec_.event_time;
    std::unique_ptr<StatePayload> payload;
    if (spec_.within_us) {
      options.value_types = {data::DataType::Long()};
      payload = std::make_unique<SeenUntilPayload>();
    } else {
      options.value_types = {data::DataType::Null()};
      options.check_value = false;
      payload = std::make_unique<SeenPayload>();
    }
    TW_ASSIGN_OR_RETURN(
        table_, StateTable::Open(spec_.state, spec_.operator_id, partition_, std::move(options), std::move(payload),
                                 context.memory != nullptr ? context.memory->account() : nullptr));
    return Status::OK();
  }

  bool NeedsEpoch(const sql::EpochContext& epoch) const override { return evicts() && epochs_.MayEvict(epoch); }

  Status BeginEpoch(const sql::EpochContext& epoch) override {
    epoch_ = &epoch;
    duplicates_ = 0;
    pending_.reset();
    return epochs_.Begin(*table_, epoch);
  }

  Result<OperatorState> Push(int, data::Chunk chunk) override {
    const auto begin = std::chrono::steady_clock::now();
    chunk = chunk.Dense();
    TW_ASSIGN_OR_RETURN(std::shared_ptr<RowIndexes> first, FirstOfKeys(chunk));
    epochs_.work.updates_ms += MillisSinceStart(begin);
    if (first != nullptr && first->empty()) return OperatorState::kNeedInput;
    if (first != nullptr) chunk.set_selection(std::move(first));
    pending_ = std::move(chunk);
    return OperatorState::kHaveOutput;
  }

  Result<OperatorState> EndInput(int) override { return OperatorState::kFinished; }

  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override {
    *state = OperatorState::kNeedInput;
    return std::exchange(pending_, std::nullopt);
  }

  Result<OperatorState> Seal() override {
    if (!evicts()) return OperatorState::kFinished;
    const auto begin = std::chrono::steady_clock::now();
    do {
      table_->TakeExpired(epoch_->eviction_watermark_ms * 1000, data::kChunkRows, &slots_);
      table_->Remove(slots_);
    } while (!slots_.empty());
    epochs_.Evicted(*epoch_);
    epochs_.work.removals_ms += MillisSinceStart(begin);
    return OperatorState::kFinished;
  }

  Result<bool> Prepare(const sql::EpochContext& epoch) override {
    if (!epochs_.ran(epoch)) duplicates_ = 0;
    TW_ASSIGN_OR_RETURN(const bool durable, epochs_.Prepare(*table_, epoch, partition_, &metrics_));
    if (durable) metrics_.custom["numDroppedDuplicateRows"] = duplicates_;
    return durable;
  }

  std::shared_ptr<Signal> blocked_on() const override { return table_->commit_signal(); }
  void Abort(const sql::EpochContext&) override { epochs_.Abort(table_.get()); }

 private:
  bool evicts() const { return spec_.event_time.has_value() || spec_.within_us.has_value(); }

  /// RowIndexes of a dense chunk that are in time and the first of their key; null when those are all.
  Result<std::shared_ptr<RowIndexes>> FirstOfKeys(const data::Chunk& chunk) {
    std::shared_ptr<const RowIndexes> in_time;
    if (spec_.late_by) {
      int64_t dropped = 0;
      in_time = RowsInTime(chunk, *spec_.late_by, epoch_->late_watermark_ms, &dropped);
      epochs_.work.rows_dropped += dropped;
    }
    const int64_t rows = in_time == nullptr ? chunk.num_rows() : static_cast<int64_t>(in_time->size());
    if (rows == 0) return std::make_shared<RowIndexes>();
    keys_.clear();
    for (const int column : spec_.key_columns) keys_.push_back(chunk.column(column));
    TW_RETURN_NOT_OK(table_->FindOrInsert(keys_, rows, in_time.get(), &slots_, &inserted_));
    auto first = std::make_shared<RowIndexes>();
    first->reserve(static_cast<size_t>(rows));
    size_t fresh = 0;
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (inserted_[i] == 0) continue;
      first->push_back(in_time == nullptr ? static_cast<int32_t>(i) : (*in_time)[i]);
      slots_[fresh++] = slots_[i];
    }
    slots_.resize(fresh);
    table_->MarkChanged(slots_);
    if (spec_.within_us) SetTimes(chunk, *first);
    duplicates_ += rows - static_cast<int64_t>(fresh);
    if (static_cast<int64_t>(fresh) == chunk.num_rows()) return std::shared_ptr<RowIndexes>();
    return first;
  }

  /// `slots_` are the new entries of these rows.
  void SetTimes(const data::Chunk& chunk, const RowIndexes& rows) {
    const data::ColumnPtr times = EventTimeColumn(chunk.column(spec_.late_by->column), spec_.late_by->window_end);
    const std::span<const int64_t> micros = times->values<int64_t>();
    times_.resize(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t time = times->IsNull(rows[i]) ? 0 : micros[rows[i]];
      times_[i] = static_cast<int64_t>(static_cast<uint64_t>(time) + static_cast<uint64_t>(*spec_.within_us));
      data::StoreAs(table_->payload(slots_[i]), times_[i]);
    }
    table_->Schedule(slots_, times_);
  }

  const DeduplicateSpec spec_;
  PartitionId partition_{0};
  std::unique_ptr<StateTable> table_;
  StateEpochs<StateTable> epochs_;
  const sql::EpochContext* epoch_ = nullptr;
  int64_t duplicates_ = 0;
  std::optional<data::Chunk> pending_;
  // reused from chunk to chunk
  std::vector<data::ColumnPtr> keys_;
  std::vector<Slot> slots_;
  std::vector<uint8_t> inserted_;
  std::vector<int64_t> times_;
};

}  // namespace

std::function<Result<std::unique_ptr<Operator>>(PartitionId)> MakeDeduplicate(DeduplicateSpec spec) {
  return [spec = std::move(spec)](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::unique_ptr<Operator>(std::make_unique<DeduplicateRows>(spec));
  };
}

}  // namespace thalweg::engine
