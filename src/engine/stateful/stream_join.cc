#include "engine/stateful/stream_join.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "data/rowformat/unsafe_row_format.h"
#include "data/rowformat/unsafe_row_reader.h"
#include "data/rowformat/unsafe_row_writer.h"
#include "engine/exec/join_table.h"
#include "engine/state/row_hash.h"
#include "engine/stateful/join_side_state.h"
#include "engine/stateful/join_state_format.h"
#include "engine/stateful/late_rows.h"
#include "engine/stateful/state_progress.h"

namespace thalweg::engine {
namespace {

using Slot = JoinSideState::Slot;
using SteadyClock = std::chrono::steady_clock;

std::vector<int> FirstColumns(size_t count) {
  std::vector<int> columns(count);
  for (size_t i = 0; i < count; ++i) columns[i] = static_cast<int>(i);
  return columns;
}

std::vector<data::DataType> WithMatched(std::vector<data::DataType> types) {
  types.push_back(data::DataType::Boolean());
  return types;
}

/// What does not change from epoch to epoch. Shared by the instances.
struct Plan {
  explicit Plan(StreamJoinSpec join)
      : spec(std::move(join)),
        key_writer(spec.key_types, {.normalize_zero = true}),
        writers{data::UnsafeRowWriter(WithMatched(spec.sides[0].types)), data::UnsafeRowWriter(WithMatched(spec.sides[1].types))},
        readers{data::UnsafeRowReader(WithMatched(spec.sides[0].types)), data::UnsafeRowReader(WithMatched(spec.sides[1].types))},
        columns{FirstColumns(spec.sides[0].types.size()), FirstColumns(spec.sides[1].types.size())} {}

  bool semi() const { return spec.kind == JoinKind::kLeftSemi; }
  /// Rows of this side come out without a partner.
  bool preserved(int port) const {
    return spec.kind == JoinKind::kFullOuter || spec.kind == (port == 0 ? JoinKind::kLeftOuter : JoinKind::kRightOuter);
  }
  /// The side that is read first: a row finds those of its own epoch on this side.
  int first_port() const { return semi() ? 1 : 0; }

  const StreamJoinSpec spec;
  const data::UnsafeRowWriter key_writer;
  const std::array<data::UnsafeRowWriter, 2> writers;
  const std::array<data::UnsafeRowReader, 2> readers;
  const std::array<std::vector<int>, 2> columns;
};

/// Phases of an epoch: the first side's rows, chunk by chunk (probe the other side, then keep), the second side's; from Seal on
/// giving up, left before right.
class StreamJoin final : public Operator {
 public:
  explicit StreamJoin(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)), spec_(plan_->spec) {}

  Status Open(const TaskContext& context) override {
    partition_ = context.partition;
    config_ = context.config;
    MemoryAccount* memory = context.memory != nullptr ? context.memory->account() : nullptr;
    for (const int port : {0, 1}) {
      const StreamJoinSide& side = spec_.sides[port];
      JoinSideOptions options{port == 0 ? "left" : "right", spec_.key_types, side.types, false, {}};
      if (side.expiry) {
        options.expires_by_key = side.expiry->of_key;
        options.expiry = side.expiry->time;
      }
      TW_ASSIGN_OR_RETURN(states_[port],
                          JoinSideState::Open(spec_.state, spec_.operator_id, partition_, std::move(options), memory));
    }
    return Status::OK();
  }

  /// Without input there is work only where something expires.
  bool NeedsEpoch(const sql::EpochContext& epoch) const override {
    for (const int port : {0, 1}) {
      if (!spec_.sides[port].expiry) continue;
      if (loaded_version_ != epoch.batch_id.value() || states_[port]->MayExpire(BoundUs(port, epoch))) return true;
    }
    return false;
  }

  Status BeginEpoch(const sql::EpochContext& epoch) override {
    epoch_ = &epoch;
    eval_ = {.config = config_.get(), .epoch = epoch_, .partition = partition_.value()};
    sealed_ = probing_ = false;
    ended_ = {false, false};
    return Load(epoch);
  }

  int wanted_port() const override { return ended_[plan_->first_port()] ? 1 - plan_->first_port() : plan_->first_port(); }

  Result<OperatorState> Push(int port, data::Chunk chunk) override {
    const auto begin = SteadyClock::now();
    TW_RETURN_NOT_OK(StartProbe(port, chunk.Dense()));
    updates_ns_ += Since(begin);
    return probing_ ? OperatorState::kHaveOutput : OperatorState::kNeedInput;
  }

  Result<OperatorState> EndInput(int port) override {
    ended_[port] = true;
    return ended_[0] && ended_[1] ? OperatorState::kFinished : OperatorState::kNeedInput;
  }

  Result<OperatorState> Seal() override {
    sealed_ = true;
    evicting_ = -1;
    return OperatorState::kHaveOutput;
  }

  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override {
    const auto begin = SteadyClock::now();
    Result<std::optional<data::Chunk>> out = sealed_ ? Evict(state) : Probe(state);
    (sealed_ ? removals_ns_ : updates_ns_) += Since(begin);
    return out;
  }

  Result<bool> Prepare(const sql::EpochContext& epoch) override {
    if (counted_batch_ != epoch.batch_id.value()) TW_RETURN_NOT_OK(Load(epoch));  // no task ran here
    // All stores of a version become durable together: none is waited for before all are staged.
    for (const auto& side : states_) {
      if (!finished_) TW_RETURN_NOT_OK(side->Stage(StateVersionAfter(epoch.batch_id)));
    }
    finished_ = true;
    for (const auto& side : states_) {
      if (!side->staged()) continue;
      TW_ASSIGN_OR_RETURN(const bool durable, side->Finish());
      if (!durable) return false;
    }
    loaded_version_ = epoch.batch_id.value() + 1;
    Report();
    return true;
  }

  std::shared_ptr<Signal> blocked_on() const override {
    return states_[states_[0]->staged() ? 0 : 1]->commit_signal();
  }

  void Abort(const sql::EpochContext&) override {
    for (const auto& side : states_) {
      if (side != nullptr) side->Abort();
    }
    loaded_version_ = counted_batch_ = -1;
    finished_ = probing_ = false;
    input_ = {};
  }

 private:
  static int64_t Since(SteadyClock::time_point begin) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now() - begin).count();
  }

  int64_t BoundUs(int port, const sql::EpochContext& epoch) const {
    return spec_.sides[port].expiry->BoundMs(epoch.eviction_watermark_ms) * 1000;
  }

  Status Load(const sql::EpochContext& epoch) {
    for (const auto& side : states_) TW_RETURN_NOT_OK(side->BeginVersion(StateVersion(epoch.batch_id.value())));
    loaded_version_ = counted_batch_ = epoch.batch_id.value();
    rows_dropped_ = rows_removed_ = updates_ns_ = removals_ns_ = 0;
    finished_ = false;
    return Status::OK();
  }

  // --- probing ---

  /// Drops late rows, sets those apart that cannot match, finds the groups of the others.
  Status StartProbe(int port, data::Chunk chunk) {
    const StreamJoinSide& side = spec_.sides[port];
    if (side.late) {
      int64_t dropped = 0;
      auto in_time = RowsInTime(chunk, *side.late, epoch_->late_watermark_ms, &dropped);
      rows_dropped_ += dropped;
      if (in_time != nullptr) {
        chunk.set_selection(std::move(in_time));
        chunk = chunk.Dense();
      }
    }
    if (chunk.num_rows() == 0) return Status::OK();
    failed_ = {};
    if (side.filter != nullptr) TW_RETURN_NOT_OK(SplitByFilter(port, &chunk));
    port_ = port;
    input_ = std::move(chunk);
    probing_ = true;
    next_row_ = 0;
    chain_ = 0;
    const int64_t rows = input_.num_rows();
    matched_.assign(static_cast<size_t>(rows), 0);
    if (rows == 0) return Status::OK();
    std::vector<data::ColumnPtr> keys;
    for (const int column : side.key_columns) keys.push_back(input_.column(column));
    TW_RETURN_NOT_OK(plan_->key_writer.Write(keys, rows, nullptr, &keys_.rows));
    keys_.hashes.resize(static_cast<size_t>(rows));
    for (int64_t row = 0; row < rows; ++row) keys_.hashes[static_cast<size_t>(row)] = HashRow(keys_.rows.row(row));
    states_[1 - port]->Find(keys_, &groups_);
    // Nulls never match; where nulls do (<=>), the planner's keys are never null.
    const std::vector<uint8_t> unmatchable = UnmatchableRows(keys, std::vector<bool>(keys.size(), false), rows);
    for (size_t row = 0; row < unmatchable.size(); ++row) {
      if (unmatchable[row] != 0) groups_[row] = JoinSideState::kNone;
    }
    return Status::OK();
  }

  Status SplitByFilter(int port, data::Chunk* chunk) {
    TW_ASSIGN_OR_RETURN(data::Chunk passed, spec_.sides[port].filter->Filter(*chunk, eval_));
    if (!passed.selection()) return Status::OK();
    if (plan_->preserved(port)) {
      auto failed = std::make_shared<std::vector<int32_t>>();
      size_t next = 0;
      const std::vector<int32_t>& kept = *passed.selection();
      for (int32_t row = 0; row < chunk->num_rows(); ++row) {
        if (next < kept.size() && kept[next] == row) {
          ++next;
        } else {
          failed->push_back(row);
        }
      }
      failed_ = *chunk;
      failed_.set_selection(std::move(failed));
      failed_ = failed_.Dense();
    }
    *chunk = passed.Dense();
    return Status::OK();
  }

  Result<std::optional<data::Chunk>> Probe(OperatorState* state) {
    *state = OperatorState::kHaveOutput;
    if (!probing_) {
      *state = OperatorState::kNeedInput;
      return std::optional<data::Chunk>{};
    }
    if (failed_.num_rows() > 0) {
      const data::Chunk failed = std::exchange(failed_, {});
      return std::optional<data::Chunk>(NullExtended(port_, SideColumns(port_, failed), failed.num_rows()));
    }
    FillPairs();
    if (!slots_.empty()) {
      TW_RETURN_NOT_OK(KeepByCondition());
      TW_ASSIGN_OR_RETURN(std::optional<data::Chunk> out, MarkAndEmit());
      if (out) return out;
    }
    if (next_row_ < input_.num_rows()) return std::optional<data::Chunk>{};
    TW_RETURN_NOT_OK(Keep());
    probing_ = false;
    input_ = {};
    *state = OperatorState::kNeedInput;
    return std::optional<data::Chunk>{};
  }

  /// Pairs of the next input rows with rows of the other side, about a chunk of them.
  void FillPairs() {
    const JoinSideState& other = *states_[1 - port_];
    pair_rows_.clear();
    slots_.clear();
    const int64_t rows = input_.num_rows();
    for (; next_row_ < rows; ++next_row_, chain_ = 0) {
      const JoinSideState::Group group = groups_[static_cast<size_t>(next_row_)];
      if (group == JoinSideState::kNone) continue;
      const std::span<const Slot> found = other.Rows(group);
      const size_t room = static_cast<size_t>(data::kChunkRows) - slots_.size();
      const size_t taken = std::min(room, found.size() - chain_);
      slots_.insert(slots_.end(), found.begin() + static_cast<int64_t>(chain_), found.begin() + static_cast<int64_t>(chain_ + taken));
      pair_rows_.insert(pair_rows_.end(), taken, static_cast<int32_t>(next_row_));
      chain_ += taken;
      if (chain_ < found.size()) break;  // the same row goes on
    }
  }

  Result<std::vector<data::ColumnPtr>> ReadOther(std::span<const int> columns) const {
    std::vector<std::string_view> rows(slots_.size());
    const JoinSideState& other = *states_[1 - port_];
    constexpr size_t kBlock = 64;
    for (size_t begin = 0; begin < slots_.size(); begin += kBlock) {
      const size_t end = std::min(begin + kBlock, slots_.size());
      other.Prefetch(std::span(slots_).subspan(begin, end - begin));
      for (size_t i = begin; i < end; ++i) rows[i] = other.row(slots_[i]);
    }
    return plan_->readers[1 - port_].Read(rows, columns);
  }

  Status KeepByCondition() {
    if (!spec_.condition) return Status::OK();
    const JoinCondition& condition = *spec_.condition;
    TW_ASSIGN_OR_RETURN(std::vector<data::ColumnPtr> others,
                        ReadOther(port_ == 0 ? condition.right_columns : condition.left_columns));
    std::vector<data::ColumnPtr> own;
    for (const int column : port_ == 0 ? condition.left_columns : condition.right_columns) {
      own.push_back(data::Take(input_.column(column), pair_rows_));
    }
    std::vector<data::ColumnPtr>& columns = port_ == 0 ? own : others;
    std::vector<data::ColumnPtr>& rest = port_ == 0 ? others : own;
    std::move(rest.begin(), rest.end(), std::back_inserter(columns));
    const data::Chunk pairs(std::move(columns), static_cast<int64_t>(slots_.size()));
    TW_ASSIGN_OR_RETURN(const data::Chunk kept, condition.program->Filter(pairs, eval_));
    if (!kept.selection()) return Status::OK();
    size_t next = 0;
    for (const int32_t pair : *kept.selection()) {
      pair_rows_[next] = pair_rows_[static_cast<size_t>(pair)];
      slots_[next++] = slots_[static_cast<size_t>(pair)];
    }
    pair_rows_.resize(next);
    slots_.resize(next);
    return Status::OK();
  }

  /// Left semi joins go on with the first pair of a left row only.
  void KeepFirstOfLeft() {
    size_t next = 0;
    for (size_t i = 0; i < slots_.size(); ++i) {
      const auto row = static_cast<size_t>(pair_rows_[i]);
      const bool seen = port_ == 0 ? matched_[row] != 0 : states_[0]->matched(slots_[i]);
      if (seen) continue;
      if (port_ == 0) {
        matched_[row] = 1;
      } else {
        states_[0]->MarkMatched(slots_[i]);
        semi_done_.push_back(slots_[i]);
      }
      pair_rows_[next] = pair_rows_[i];
      slots_[next++] = slots_[i];
    }
    pair_rows_.resize(next);
    slots_.resize(next);
  }

  Result<std::optional<data::Chunk>> MarkAndEmit() {
    if (plan_->semi()) KeepFirstOfLeft();
    if (slots_.empty()) return std::optional<data::Chunk>{};
    JoinSideState& other = *states_[1 - port_];
    for (size_t i = 0; i < slots_.size(); ++i) {
      matched_[static_cast<size_t>(pair_rows_[i])] = 1;
      other.MarkMatched(slots_[i]);
    }
    std::vector<data::ColumnPtr> own;
    if (!plan_->semi() || port_ == 0) {
      for (const int column : plan_->columns[port_]) own.push_back(data::Take(input_.column(column), pair_rows_));
    }
    std::vector<data::ColumnPtr> others;
    if (!plan_->semi() || port_ == 1) {
      TW_ASSIGN_OR_RETURN(others, ReadOther(plan_->columns[1 - port_]));
    }
    std::vector<data::ColumnPtr>& columns = port_ == 0 ? own : others;
    std::vector<data::ColumnPtr>& rest = port_ == 0 ? others : own;
    std::move(rest.begin(), rest.end(), std::back_inserter(columns));
    return std::optional<data::Chunk>(data::Chunk(std::move(columns), static_cast<int64_t>(slots_.size())));
  }

  /// The input's rows become state of their side.
  Status Keep() {
    for (const Slot slot : semi_done_) states_[0]->Detach(slot);
    states_[0]->Free(semi_done_);
    rows_removed_ += static_cast<int64_t>(semi_done_.size());
    semi_done_.clear();
    const auto rows = static_cast<int32_t>(input_.num_rows());
    if (rows == 0) return Status::OK();
    const std::vector<uint8_t> doomed = DoomedRows();
    kept_rows_.clear();
    for (int32_t row = 0; row < rows; ++row) {
      const bool matched = matched_[static_cast<size_t>(row)] != 0;
      if (plan_->semi() && port_ == 0 && matched) continue;
      if (!doomed.empty() && doomed[static_cast<size_t>(row)] != 0 && (matched || !plan_->preserved(port_))) continue;
      kept_rows_.push_back(row);
    }
    if (kept_rows_.empty()) return Status::OK();
    std::vector<data::ColumnPtr> columns = SideColumns(port_, input_);
    columns.push_back(data::Column::Constant(data::DataType::Boolean(), data::Value(false), rows));
    TW_RETURN_NOT_OK(plan_->writers[port_].Write(columns, rows, nullptr, &values_));
    const int64_t matched_at = data::RowFixedBytes(static_cast<int64_t>(columns.size())) - 8;
    for (int32_t row = 0; row < rows; ++row) {
      values_.bytes[static_cast<size_t>(values_.offsets[static_cast<size_t>(row)] + matched_at)] = matched_[static_cast<size_t>(row)];
    }
    return states_[port_]->Append(keys_, values_, kept_rows_);
  }

  /// 1 for rows of the second side that this epoch gives up anyway; nobody comes to meet them any more.
  std::vector<uint8_t> DoomedRows() const {
    const auto& expiry = spec_.sides[port_].expiry;
    if (port_ == plan_->first_port() || !expiry) return {};
    const int column = expiry->of_key ? spec_.sides[port_].key_columns[static_cast<size_t>(expiry->time.column)] : expiry->time.column;
    const data::ColumnPtr times = EventTimeColumn(input_.column(column), expiry->time.window_end);
    const std::span<const int64_t> micros = times->values<int64_t>();
    const int64_t bound_us = BoundUs(port_, *epoch_);
    std::vector<uint8_t> doomed(static_cast<size_t>(input_.num_rows()));
    for (size_t row = 0; row < doomed.size(); ++row) {
      doomed[row] = micros[row] <= bound_us && !times->IsNull(static_cast<int64_t>(row));
    }
    return doomed;
  }

  std::vector<data::ColumnPtr> SideColumns(int port, const data::Chunk& chunk) const {
    std::vector<data::ColumnPtr> columns;
    for (const int column : plan_->columns[port]) columns.push_back(chunk.column(column));
    return columns;
  }

  /// Rows of one side without a partner, as output.
  data::Chunk NullExtended(int port, std::vector<data::ColumnPtr> own, int64_t rows) const {
    std::vector<data::ColumnPtr> nulls;
    for (const data::DataType& type : spec_.sides[1 - port].types) nulls.push_back(data::Column::Nulls(type, rows));
    std::vector<data::ColumnPtr>& columns = port == 0 ? own : nulls;
    std::vector<data::ColumnPtr>& rest = port == 0 ? nulls : own;
    std::move(rest.begin(), rest.end(), std::back_inserter(columns));
    return data::Chunk(std::move(columns), rows);
  }

  // --- giving up ---

  Result<std::optional<data::Chunk>> Evict(OperatorState* state) {
    *state = OperatorState::kHaveOutput;
    std::vector<Slot> gone;
    while (true) {
      if (evicting_ >= 0 && spec_.sides[evicting_].expiry) {
        states_[evicting_]->DetachExpired(data::kChunkRows, &gone);
        if (!gone.empty()) break;
      }
      if (++evicting_ == 2) {
        *state = OperatorState::kFinished;
        return std::optional<data::Chunk>{};
      }
      if (spec_.sides[evicting_].expiry) states_[evicting_]->CollectExpired(BoundUs(evicting_, *epoch_));
    }
    JoinSideState& side = *states_[evicting_];
    if (!plan_->preserved(evicting_)) {
      rows_removed_ += static_cast<int64_t>(gone.size());
      side.Free(gone);
      return std::optional<data::Chunk>{};
    }
    std::vector<std::string_view> alone;
    side.Prefetch(gone);
    for (const Slot slot : gone) {
      if (!side.matched(slot)) alone.push_back(side.row(slot));
    }
    std::optional<data::Chunk> out;
    if (!alone.empty()) {
      TW_ASSIGN_OR_RETURN(auto columns, plan_->readers[evicting_].Read(alone, plan_->columns[evicting_]));
      out = NullExtended(evicting_, std::move(columns), static_cast<int64_t>(alone.size()));
    }
    side.Free(gone);
    return out;
  }

  void Report() {
    StateMetrics state;
    for (const auto& side : states_) {
      const StateMetrics& one = side->metrics();
      state.num_rows_total += one.num_rows_total;
      state.num_rows_updated += one.num_rows_updated;
      state.memory_used_bytes += one.memory_used_bytes;
      state.commit_time_ms += one.commit_time_ms;
      state.loads += one.loads;
    }
    state.num_rows_removed = rows_removed_;
    constexpr int kNumStores = 4;
    PutStateMetrics(state, kNumStores, {rows_dropped_, updates_ns_ / 1000000, removals_ns_ / 1000000}, &metrics_);
    const char* const names[] = {"left", "right"};
    for (int side = 0; side < 2; ++side) {
      JoinSideState& stores = *states_[side];
      stores.rows_persister().Report(stores.metrics(), &metrics_.custom);
      PutNewestSnapshot(stores.counts_persister(), partition_, 2 * side, kNumStores, names[side] + std::string(kKeyToNumValues), &metrics_);
      PutNewestSnapshot(stores.rows_persister(), partition_, 2 * side + 1, kNumStores, names[side] + std::string(kKeyWithIndexToValue), &metrics_);
    }
  }

  const std::shared_ptr<const Plan> plan_;
  const StreamJoinSpec& spec_;  // the plan's
  PartitionId partition_{0};
  std::shared_ptr<const sql::EvalConfig> config_;
  std::array<std::unique_ptr<JoinSideState>, 2> states_;
  const sql::EpochContext* epoch_ = nullptr;
  sql::EvalContext eval_;
  int64_t loaded_version_ = -1;  // what the sides hold; -1: nothing
  int64_t counted_batch_ = -1;   // the micro-batch that the counters are of
  std::array<bool, 2> ended_ = {false, false};
  bool sealed_ = false;
  bool finished_ = false;        // staged in this epoch
  int evicting_ = -1;            // side that is being given up, after Seal
  // The chunk that is being joined.
  bool probing_ = false;
  int port_ = 0;
  data::Chunk input_;
  data::Chunk failed_;           // rows of it that cannot match but come out
  JoinKeys keys_;
  std::vector<JoinSideState::Group> groups_;
  std::vector<uint8_t> matched_;
  int64_t next_row_ = 0;
  size_t chain_ = 0;             // rows of next_row_'s group that have been paired
  std::vector<int32_t> pair_rows_;
  std::vector<Slot> slots_;      // the other side's rows of the pairs
  std::vector<Slot> semi_done_;  // left rows that came out; they go when the chunk is done
  std::vector<int32_t> kept_rows_;
  data::RowBatch values_;
  int64_t rows_dropped_ = 0, rows_removed_ = 0, updates_ns_ = 0, removals_ns_ = 0;
};

}  // namespace

int64_t JoinExpiry::BoundMs(int64_t watermark_ms) const {
  if (ranges.empty()) return watermark_ms;
  int64_t least = INT64_MAX;
  for (const Range& range : ranges) {
    least = std::min(least, (watermark_ms * 1000 + range.offset_us) / 1000 - (range.inclusive ? 1 : 0));
  }
  return least;
}

std::function<Result<std::unique_ptr<Operator>>(PartitionId)> MakeStreamJoin(StreamJoinSpec spec) {
  return [plan = std::make_shared<const Plan>(std::move(spec))](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::unique_ptr<Operator>(std::make_unique<StreamJoin>(plan));
  };
}

}  // namespace thalweg::engine
