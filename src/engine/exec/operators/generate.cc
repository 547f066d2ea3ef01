#include "engine/exec/operators/generate.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sql/expr/kernels.h"

namespace thalweg::engine {
namespace {

/// About so many elements are computed at once, and so many elements of other arrays repeated in a chunk.
constexpr int64_t kElements = int64_t{1} << 18;

int64_t SlotOf(const data::Column& column, int32_t row) {
  switch (column.encoding()) {
    case data::Encoding::kConstant: return 0;
    case data::Encoding::kDictionary: return column.indices()[static_cast<size_t>(row)];
    case data::Encoding::kFlat: break;
  }
  return row;
}

const data::Column& FlatOf(const data::Column& column) {
  return column.encoding() == data::Encoding::kDictionary ? *column.dictionary() : column;
}

bool IsList(const data::Column& column) {
  return column.physical() == data::PhysicalType::kList || column.physical() == data::PhysicalType::kMap;
}

}  // namespace

Result<OperatorState> Generate::Push(int, data::Chunk chunk) {
  Clear();
  if (chunk.num_rows() == 0) return OperatorState::kNeedInput;
  input_ = std::move(chunk);
  return OperatorState::kHaveOutput;
}

void Generate::Clear() {
  input_ = piece_ = {};
  list_.reset();
  flat_ = nullptr;
  children_.clear();
  taken_ = row_ = 0;
  done_ = 0;
}

void Generate::Abort(const sql::EpochContext&) { Clear(); }

Result<data::Chunk> Generate::Process(data::Chunk chunk) { return chunk; }

Status Generate::StartPiece() {
  const int64_t left = input_.num_rows() - taken_;
  const int64_t rows = params_->computes ? std::min(left, piece_limit_) : left;
  piece_ = rows == input_.num_rows() ? input_ : input_.Slice(taken_, rows);
  taken_ += rows;
  row_ = 0;
  TW_ASSIGN_OR_RETURN(const data::Chunk computed, params_->input->Run(piece_, eval_));
  eval_.row_base += rows;
  list_ = computed.column(0);
  children_.clear();
  flat_ = &FlatOf(*list_);
  if (list_->null_count() < list_->length()) {
    for (int i = 0; i < flat_->num_children(); ++i) children_.push_back(data::Flatten(flat_->child(i)));
    const int64_t per_row = std::max<int64_t>(1, children_[0]->length() / rows);
    piece_limit_ = std::clamp<int64_t>(kElements / per_row, 1, 8 * rows);
  }
  return Status::OK();
}

Generate::Span Generate::ElementsOf(int32_t row) const {
  if (list_->IsNull(row)) return {};
  const int64_t slot = SlotOf(*list_, row);
  if (flat_->IsNull(flat_->is_constant() ? 0 : slot)) return {};
  return {flat_->offsets()[static_cast<size_t>(slot)], flat_->offsets()[static_cast<size_t>(slot) + 1]};
}

/// Elements that repeating the row copies.
int64_t Generate::CarriedElements(int32_t row) const {
  int64_t elements = 0;
  for (const int index : params_->carried) {
    const data::Column& column = *piece_.column(index);
    if (!IsList(column) || column.IsNull(row)) continue;
    const auto offsets = FlatOf(column).offsets();
    const auto slot = static_cast<size_t>(SlotOf(column, row));
    elements += offsets[slot + 1] - offsets[slot];
  }
  return elements;
}

void Generate::AppendRows(int32_t row, int32_t first, int32_t position, int32_t count) {
  contiguous_ = contiguous_ && (elements_.empty() || elements_.back() + 1 == first) && first >= 0;
  const size_t from = rows_.size();
  const size_t to = from + static_cast<size_t>(count);
  rows_.resize(to, row);
  elements_.resize(to);
  positions_.resize(to);
  std::iota(elements_.begin() + static_cast<ptrdiff_t>(from), elements_.end(), first);
  std::iota(positions_.begin() + static_cast<ptrdiff_t>(from), positions_.end(), position);
}

/// The next rows, at most a chunk; fewer where they carry long arrays along.
void Generate::FillRows() {
  rows_.clear();
  elements_.clear();
  positions_.clear();
  contiguous_ = true;
  const bool carries_lists = std::any_of(params_->carried.begin(), params_->carried.end(),
                                         [&](int column) { return IsList(*piece_.column(column)); });
  int64_t budget = kElements;
  const auto& selection = piece_.selection();
  const int64_t rows = piece_.num_rows();
  while (row_ < rows && static_cast<int64_t>(rows_.size()) < data::kChunkRows) {
    const int32_t row = selection ? (*selection)[static_cast<size_t>(row_)] : static_cast<int32_t>(row_);
    const Span span = ElementsOf(row);
    int64_t count = span.end - span.begin - done_;
    if (count == 0) {
      if (params_->outer) AppendRows(row, -1, -1, 1);
      ++row_;
      continue;
    }
    count = std::min(count, data::kChunkRows - static_cast<int64_t>(rows_.size()));
    if (carries_lists) {
      const int64_t each = CarriedElements(row);
      if (each > 0) {
        if (budget < each && !rows_.empty()) return;
        count = std::min(count, std::max<int64_t>(1, budget / each));
        budget -= count * each;
      }
    }
    AppendRows(row, span.begin + done_, done_, static_cast<int32_t>(count));
    done_ += static_cast<int32_t>(count);
    if (done_ < span.end - span.begin) continue;
    done_ = 0;
    ++row_;
  }
}

data::ColumnPtr Generate::TakeElements(const data::ColumnPtr& column) const {
  if (contiguous_) return data::Slice(column, elements_.front(), static_cast<int64_t>(elements_.size()));
  return data::Take(column, elements_);
}

data::ColumnPtr Generate::MakeColumn(const GeneratedColumn& column) const {
  const auto count = static_cast<int64_t>(rows_.size());
  if (column.kind == GeneratedColumn::Kind::kPosition) {
    sql::FixedOutput<int32_t> out(data::DataType::Integer(), count, false);
    std::copy(positions_.begin(), positions_.end(), out.values());
    if (params_->outer) {
      for (int64_t row = 0; row < count; ++row) {
        if (positions_[static_cast<size_t>(row)] < 0) out.SetNull(row);
      }
    }
    return out.Finish();
  }
  if (children_.empty()) {  // no array at all in this piece
    const data::DataType& type = list_->type();
    const bool map = type.Is(data::TypeKind::kMap);
    const data::DataType& child = map ? (column.index == 0 ? type.key() : type.value()) : type.element();
    const bool field = column.kind == GeneratedColumn::Kind::kField;
    return data::Column::Nulls(field ? child.fields()[static_cast<size_t>(column.index)].type : child, count);
  }
  if (column.kind == GeneratedColumn::Kind::kChild) return TakeElements(children_[static_cast<size_t>(column.index)]);
  const data::Column& structs = *children_[0];
  const data::ColumnPtr& field = structs.child(column.index);
  if (!structs.has_nulls()) return TakeElements(field);
  std::vector<int32_t> present = elements_;
  for (int32_t& element : present) {
    if (element >= 0 && structs.IsNull(element)) element = -1;
  }
  return data::Take(field, present);
}

data::Chunk Generate::MakeChunk() const {
  std::vector<data::ColumnPtr> columns;
  columns.reserve(params_->carried.size() + params_->columns.size());
  for (const int column : params_->carried) columns.push_back(data::Take(piece_.column(column), rows_));
  for (const GeneratedColumn& column : params_->columns) columns.push_back(MakeColumn(column));
  data::Chunk out(std::move(columns), static_cast<int64_t>(rows_.size()));
  if (piece_.change_kinds() != nullptr) {
    auto kinds = std::make_shared<std::vector<data::ChangeKind>>();
    kinds->reserve(rows_.size());
    for (const int32_t row : rows_) kinds->push_back((*piece_.change_kinds())[static_cast<size_t>(row)]);
    out.set_change_kinds(std::move(kinds));
  }
  return out;
}

Result<std::optional<data::Chunk>> Generate::Pull(OperatorState* state) {
  if (row_ == piece_.num_rows()) TW_RETURN_NOT_OK(StartPiece());
  FillRows();
  std::optional<data::Chunk> out;
  if (!rows_.empty()) out = MakeChunk();
  const bool more = row_ < piece_.num_rows() || taken_ < input_.num_rows();
  *state = more ? OperatorState::kHaveOutput : OperatorState::kNeedInput;
  if (!more) Clear();
  return out;
}

}  // namespace thalweg::engine
