#include "engine/exec/operators/hash_join.h"

#include <algorithm>
#include <utility>

namespace thalweg::engine {

HashJoin::HashJoin(std::shared_ptr<const HashJoinParams> params)
    : params_(std::move(params)), encoder_(*params_->layout) {}

Status HashJoin::Open(const TaskContext& context) {
  context_ = &context;
  eval_.config = context.config.get();
  eval_.partition = context.partition.value();
  return Status::OK();
}

Status HashJoin::BeginEpoch(const sql::EpochContext& epoch) {
  eval_.epoch = &epoch;
  built_ = builder_ = probe_ended_ = probing_ = false;
  build_matched_.clear();
  next_build_row_ = 0;
  return Status::OK();
}

bool HashJoin::probe_outer() const {
  return params_->kind == JoinKind::kFullOuter ||
         params_->kind == (params_->build_port == 1 ? JoinKind::kLeftOuter : JoinKind::kRightOuter);
}

// Also semi and anti joins whose left side is built: their rows come when all partners were seen.
bool HashJoin::build_outer() const {
  if (semi()) return params_->build_port == 0;
  return params_->kind == JoinKind::kFullOuter ||
         params_->kind == (params_->build_port == 1 ? JoinKind::kRightOuter : JoinKind::kLeftOuter);
}

bool HashJoin::CanReuse(int port) const {
  if (port != params_->build_port) return false;
  const auto build = params_->shared != nullptr ? params_->shared->Current() : build_;
  return build != nullptr && build->ready->IsSet();
}

void HashJoin::Reuse(int) {
  if (params_->shared != nullptr) build_ = params_->shared->Current();
  built_ = true;
}

std::shared_ptr<Signal> HashJoin::blocked_on() const { return build_ != nullptr ? build_->ready : nullptr; }

std::unique_ptr<JoinTable> HashJoin::NewTable() const {
  const int port = params_->build_port;
  return std::make_unique<JoinTable>(params_->layout, KeysOf(port), params_->null_safe,
                                     port == 0 ? params_->left_types : params_->right_types, context_->NewReservation());
}

Status HashJoin::EnsureBuild() {
  if (params_->shared != nullptr) {
    bool builder = false;
    build_ = params_->shared->Acquire(context_->epoch_sequence, &builder);
    builder_ = builder_ || builder;
    if (builder) build_->table = NewTable();
  } else if (!builder_) {
    builder_ = true;
    build_ = std::make_shared<SharedJoinTable::Build>();
    build_->table = NewTable();
  }
  return Status::OK();
}

Result<OperatorState> HashJoin::Push(int port, data::Chunk chunk) {
  if (port == params_->build_port) {
    TW_RETURN_NOT_OK(EnsureBuild());
    if (builder_) TW_RETURN_NOT_OK(build_->table->Add(chunk));
    return OperatorState::kNeedInput;
  }
  TW_RETURN_NOT_OK(StartProbe(std::move(chunk)));
  return OperatorState::kHaveOutput;
}

Result<OperatorState> HashJoin::EndInput(int port) {
  if (port == params_->build_port) {
    TW_RETURN_NOT_OK(EnsureBuild());
    built_ = true;
    if (builder_) {
      TW_RETURN_NOT_OK(build_->table->Finish());
      build_->ready->Set();
    }
    if (probe_ended_) return build_outer() ? OperatorState::kHaveOutput : OperatorState::kFinished;
    return build_->ready->IsSet() ? OperatorState::kNeedInput : OperatorState::kBlocked;
  }
  probe_ended_ = true;
  if (!built_) return OperatorState::kNeedInput;
  return build_outer() ? OperatorState::kHaveOutput : OperatorState::kFinished;
}

Status HashJoin::StartProbe(data::Chunk chunk) {
  probe_ = std::move(chunk);
  probe_row_ = 0;
  chain_ = -1;
  probing_ = true;
  const int64_t rows = probe_.num_rows();
  std::vector<data::ColumnPtr> keys;
  for (const int column : KeysOf(1 - params_->build_port)) {
    const data::ColumnPtr& key = probe_.column(column);
    keys.push_back(probe_.selection() ? data::Take(key, *probe_.selection()) : key);
  }
  encoder_.Encode(keys, rows);
  groups_.resize(rows);
  const JoinTable& table = *build_->table;
  table.table().Find(encoder_, groups_.data());
  const std::vector<uint8_t> unmatchable = UnmatchableRows(keys, params_->null_safe, rows);
  for (size_t row = 0; row < unmatchable.size(); ++row) {
    if (unmatchable[row]) groups_[row] = nullptr;
  }
  if (params_->condition && (probe_outer() || semi())) probe_matched_.assign(rows, 0);
  if (build_outer() && build_matched_.empty()) build_matched_.assign(table.rows().num_rows(), 0);
  return Status::OK();
}

// Pairs of the next probe rows, about a chunk of them.
void HashJoin::FillPairs() {
  const JoinTable& table = *build_->table;
  const bool outer = probe_outer() && !params_->condition;
  const auto& selection = probe_.selection();
  std::vector<int32_t>& probe_rows = params_->build_port == 1 ? left_rows_ : right_rows_;
  std::vector<int32_t>& build_rows = params_->build_port == 1 ? right_rows_ : left_rows_;
  probe_rows.clear();
  build_rows.clear();
  logical_rows_.clear();
  const int64_t rows = probe_.num_rows();
  for (; probe_row_ < rows && static_cast<int64_t>(probe_rows.size()) < data::kChunkRows; ++probe_row_) {
    const uint8_t* group = groups_[probe_row_];
    const int32_t physical = selection ? (*selection)[probe_row_] : static_cast<int32_t>(probe_row_);
    int32_t row = group == nullptr ? -1 : chain_ >= 0 ? chain_ : table.First(group);
    if (row < 0) {
      if (outer) {
        probe_rows.push_back(physical);
        build_rows.push_back(-1);
      }
      continue;
    }
    for (; row >= 0 && static_cast<int64_t>(probe_rows.size()) < data::kChunkRows; row = table.Next(row)) {
      probe_rows.push_back(physical);
      build_rows.push_back(row);
      if (!probe_matched_.empty()) logical_rows_.push_back(static_cast<int32_t>(probe_row_));
    }
    chain_ = row;
    if (row >= 0) return;  // the same probe row goes on
  }
}

data::Chunk HashJoin::PairsChunk() const {
  const data::Chunk& left = params_->build_port == 1 ? probe_ : build_->table->rows();
  const data::Chunk& right = params_->build_port == 1 ? build_->table->rows() : probe_;
  std::vector<data::ColumnPtr> columns;
  for (const int column : params_->left_output) columns.push_back(data::Take(left.column(column), left_rows_));
  for (const int column : params_->right_output) columns.push_back(data::Take(right.column(column), right_rows_));
  return data::Chunk(std::move(columns), static_cast<int64_t>(left_rows_.size()));
}

Status HashJoin::KeepPairsByCondition() {
  const JoinCondition& condition = *params_->condition;
  const data::Chunk& left = params_->build_port == 1 ? probe_ : build_->table->rows();
  const data::Chunk& right = params_->build_port == 1 ? build_->table->rows() : probe_;
  std::vector<data::ColumnPtr> columns;
  for (const int column : condition.left_columns) columns.push_back(data::Take(left.column(column), left_rows_));
  for (const int column : condition.right_columns) columns.push_back(data::Take(right.column(column), right_rows_));
  const data::Chunk pairs(std::move(columns), static_cast<int64_t>(left_rows_.size()));
  TW_ASSIGN_OR_RETURN(const data::Chunk kept, condition.program->Filter(pairs, eval_));
  if (!kept.selection()) return Status::OK();
  size_t next = 0;
  for (const int32_t pair : *kept.selection()) {
    left_rows_[next] = left_rows_[pair];
    right_rows_[next] = right_rows_[pair];
    if (!logical_rows_.empty()) logical_rows_[next] = logical_rows_[pair];
    ++next;
  }
  left_rows_.resize(next);
  right_rows_.resize(next);
  if (!logical_rows_.empty()) logical_rows_.resize(next);
  return Status::OK();
}

Result<std::optional<data::Chunk>> HashJoin::EmitPairs() {
  if (params_->condition && !left_rows_.empty()) TW_RETURN_NOT_OK(KeepPairsByCondition());
  const std::vector<int32_t>& probe_rows = params_->build_port == 1 ? left_rows_ : right_rows_;
  const std::vector<int32_t>& build_rows = params_->build_port == 1 ? right_rows_ : left_rows_;
  for (const int32_t row : logical_rows_) probe_matched_[row] = 1;
  if (!build_matched_.empty()) {
    for (const int32_t row : build_rows) {
      if (row >= 0) build_matched_[row] = 1;
    }
  }
  if (semi() || probe_rows.empty()) return std::optional<data::Chunk>{};
  return std::optional<data::Chunk>(PairsChunk());
}

// Rows of the probe chunk by whether they found a partner, other side null; semi and anti: as they are.
data::Chunk HashJoin::ProbeRows(bool matched) const {
  auto rows = std::make_shared<std::vector<int32_t>>();
  const auto& selection = probe_.selection();
  for (int64_t row = 0; row < probe_.num_rows(); ++row) {
    const bool found = probe_matched_.empty() ? groups_[row] != nullptr && build_->table->First(groups_[row]) >= 0
                                              : probe_matched_[row] != 0;
    if (found == matched) rows->push_back(selection ? (*selection)[row] : static_cast<int32_t>(row));
  }
  const auto count = static_cast<int64_t>(rows->size());
  std::vector<data::ColumnPtr> columns;
  if (semi()) {
    for (const int column : params_->left_output) columns.push_back(probe_.column(column));
    data::Chunk out(std::move(columns), probe_.physical_rows());
    out.set_selection(std::move(rows));
    return out;
  }
  const bool left_probes = params_->build_port == 1;
  for (const int column : params_->left_output) {
    columns.push_back(left_probes ? data::Take(probe_.column(column), *rows) : data::Column::Nulls(params_->left_types[column], count));
  }
  for (const int column : params_->right_output) {
    columns.push_back(left_probes ? data::Column::Nulls(params_->right_types[column], count) : data::Take(probe_.column(column), *rows));
  }
  return data::Chunk(std::move(columns), count);
}

// Build rows without a partner (semi: with one), a chunk at a time.
std::optional<data::Chunk> HashJoin::NextBuildRows() {
  const data::Chunk& built = build_->table->rows();
  const bool matched = params_->kind == JoinKind::kLeftSemi;
  std::vector<int32_t> rows;
  for (; next_build_row_ < built.num_rows() && static_cast<int64_t>(rows.size()) < data::kChunkRows; ++next_build_row_) {
    const bool found = !build_matched_.empty() && build_matched_[next_build_row_] != 0;
    if (found == matched) rows.push_back(static_cast<int32_t>(next_build_row_));
  }
  if (rows.empty()) return std::nullopt;
  const auto count = static_cast<int64_t>(rows.size());
  const bool left_built = params_->build_port == 0;
  std::vector<data::ColumnPtr> columns;
  for (const int column : params_->left_output) {
    columns.push_back(left_built ? data::Take(built.column(column), rows) : data::Column::Nulls(params_->left_types[column], count));
  }
  for (const int column : params_->right_output) {
    columns.push_back(left_built ? data::Column::Nulls(params_->right_types[column], count) : data::Take(built.column(column), rows));
  }
  return data::Chunk(std::move(columns), count);
}

Result<std::optional<data::Chunk>> HashJoin::Pull(OperatorState* state) {
  if (!probing_) {
    if (!build_->ready->IsSet()) {
      *state = OperatorState::kBlocked;
      return std::optional<data::Chunk>{};
    }
    *state = OperatorState::kNeedInput;
    if (!probe_ended_) return std::optional<data::Chunk>{};
    std::optional<data::Chunk> out = build_outer() ? NextBuildRows() : std::nullopt;
    const bool more = out && next_build_row_ < build_->table->rows().num_rows();
    *state = more ? OperatorState::kHaveOutput : OperatorState::kFinished;
    return out;
  }
  const bool probe_semi = semi() && params_->build_port == 1;
  std::optional<data::Chunk> out;
  if (!probe_semi || params_->condition) {
    FillPairs();
    TW_ASSIGN_OR_RETURN(out, EmitPairs());
  } else {
    probe_row_ = probe_.num_rows();
  }
  *state = OperatorState::kHaveOutput;
  if (out || probe_row_ < probe_.num_rows()) return out;
  // The chunk is done but for its rows without a partner.
  probing_ = false;
  *state = OperatorState::kNeedInput;
  if (probe_semi) {
    out = ProbeRows(params_->kind == JoinKind::kLeftSemi);
  } else if (!probe_matched_.empty()) {
    out = ProbeRows(false);
  }
  probe_matched_.clear();
  probe_ = {};
  if (out && out->num_rows() == 0) out.reset();
  return out;
}

void HashJoin::Abort(const sql::EpochContext&) {
  build_.reset();
  built_ = false;
  probing_ = false;
  probe_ = {};
}

void HashJoin::Close() {
  build_.reset();
  if (params_->shared != nullptr) params_->shared->Drop();
}

}  // namespace thalweg::engine
