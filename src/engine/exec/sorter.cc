#include "engine/exec/sorter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

namespace thalweg::engine {
namespace {

using data::Column;
using data::ColumnPtr;
using data::DataType;
using data::PhysicalType;
using data::TextView;
using data::TypeKind;

constexpr uint64_t kSign = uint64_t{1} << 63;
/// A limited sort cuts what it holds down to the limit when it holds this many rows more.
constexpr int64_t kCutRows = 64 << 10;
constexpr size_t kMergedRuns = 64;

template <typename T>
int Compare3(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

template <typename T>
int CompareFloats(T a, T b) {
  if (a != a || b != b) return Compare3(a != a, b != b);
  return Compare3(a, b);
}

int CompareNullable(const Column& left, int64_t i, const Column& right, int64_t j) {
  const bool left_null = left.physical() == PhysicalType::kNull || left.IsNull(i);
  const bool right_null = right.physical() == PhysicalType::kNull || right.IsNull(j);
  if (left_null || right_null) return Compare3(right_null, left_null);
  return CompareValues(left, i, right, j);
}

uint64_t Ordered(uint8_t v) { return v; }
uint64_t Ordered(int64_t v) { return static_cast<uint64_t>(v) ^ kSign; }
uint64_t Ordered(int8_t v) { return Ordered(static_cast<int64_t>(v)); }
uint64_t Ordered(int16_t v) { return Ordered(static_cast<int64_t>(v)); }
uint64_t Ordered(int32_t v) { return Ordered(static_cast<int64_t>(v)); }
uint64_t Ordered(double v) {
  if (v != v) return ~uint64_t{0};
  const auto bits = std::bit_cast<uint64_t>(v == 0 ? 0.0 : v);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
uint64_t Ordered(float v) { return Ordered(static_cast<double>(v)); }

uint64_t TextPrefix(const TextView& text) {
  std::array<char, 8> bytes{};
  std::memcpy(bytes.data(), text.data(), std::min<uint32_t>(8, text.size()));
  uint64_t word;
  std::memcpy(&word, bytes.data(), 8);
  return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
}

/// How the rows of a sort compare: `words` integers each, and columns for what words cannot tell.
struct SortTable {
  int words = 0;
  std::vector<uint64_t> values;  // rows x words
  struct Tie {
    int word;            // decided here when equal up to and with this word
    ColumnPtr column;
    bool ascending;
  };
  std::vector<Tie> ties;

  bool Less(int32_t a, int32_t b) const {
    const uint64_t* x = values.data() + static_cast<size_t>(a) * words;
    const uint64_t* y = values.data() + static_cast<size_t>(b) * words;
    size_t tie = 0;
    for (int word = 0; word < words; ++word) {
      if (x[word] != y[word]) return x[word] < y[word];
      if (tie < ties.size() && ties[tie].word == word) {
        const Tie& by = ties[tie++];
        if (by.column->IsNull(a)) continue;  // both are
        const int order = CompareValues(*by.column, a, *by.column, b);
        if (order != 0) return (order < 0) == by.ascending;
      }
    }
    return a < b;
  }
};

template <typename T>
void PutWords(const Column& column, bool ascending, int64_t rows, int stride, uint64_t* out) {
  const T* values = column.values<T>().data();
  const uint64_t flip = ascending ? 0 : ~uint64_t{0};
  for (int64_t row = 0; row < rows; ++row) out[row * stride] = Ordered(values[row]) ^ flip;
}

void PutInt128(const Column& column, bool ascending, int64_t rows, int stride, uint64_t* out) {
  const auto values = column.values<data::Int128>();
  const uint64_t flip = ascending ? 0 : ~uint64_t{0};
  for (int64_t row = 0; row < rows; ++row) {
    const auto bits = static_cast<unsigned __int128>(values[row]);
    out[row * stride] = (static_cast<uint64_t>(bits >> 64) ^ kSign) ^ flip;
    out[row * stride + 1] = static_cast<uint64_t>(bits) ^ flip;
  }
}

int ValueWords(PhysicalType physical) {
  switch (physical) {
    case PhysicalType::kNull: return 0;
    case PhysicalType::kInt128: return 2;
    default: return 1;
  }
}

bool NeedsTie(PhysicalType physical) {
  return physical == PhysicalType::kText || physical == PhysicalType::kList || physical == PhysicalType::kStruct;
}

void PutKey(const Column& column, const SortKey& key, int64_t rows, int stride, uint64_t* out) {
  switch (column.physical()) {
    case PhysicalType::kBool: return PutWords<uint8_t>(column, key.ascending, rows, stride, out);
    case PhysicalType::kInt8: return PutWords<int8_t>(column, key.ascending, rows, stride, out);
    case PhysicalType::kInt16: return PutWords<int16_t>(column, key.ascending, rows, stride, out);
    case PhysicalType::kInt32: return PutWords<int32_t>(column, key.ascending, rows, stride, out);
    case PhysicalType::kInt64: return PutWords<int64_t>(column, key.ascending, rows, stride, out);
    case PhysicalType::kFloat: return PutWords<float>(column, key.ascending, rows, stride, out);
    case PhysicalType::kDouble: return PutWords<double>(column, key.ascending, rows, stride, out);
    case PhysicalType::kInt128: return PutInt128(column, key.ascending, rows, stride, out);
    case PhysicalType::kText: {
      const auto values = column.values<TextView>();
      const uint64_t flip = key.ascending ? 0 : ~uint64_t{0};
      for (int64_t row = 0; row < rows; ++row) out[row * stride] = TextPrefix(values[row]) ^ flip;
      return;
    }
    default: return;  // words stay 0: the tie decides
  }
}

SortTable MakeTable(const data::Chunk& chunk, const std::vector<SortKey>& keys) {
  SortTable table;
  const int64_t rows = chunk.num_rows();
  std::vector<ColumnPtr> columns;
  for (const SortKey& key : keys) {
    columns.push_back(data::Flatten(chunk.column(key.column)));
    table.words += ValueWords(columns.back()->physical()) + (columns.back()->has_nulls() ? 1 : 0);
  }
  table.values.assign(static_cast<size_t>(rows) * table.words, 0);
  int word = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    const Column& column = *columns[i];
    uint64_t* nulls = column.has_nulls() ? table.values.data() + word++ : nullptr;
    uint64_t* values = table.values.data() + word;
    const int width = ValueWords(column.physical());
    PutKey(column, keys[i], rows, table.words, values);
    if (nulls != nullptr) {
      const uint64_t null_rank = keys[i].nulls_first ? 0 : 2;
      for (int64_t row = 0; row < rows; ++row) {
        const bool null = column.IsNull(row);
        nulls[row * table.words] = null ? null_rank : 1;
        for (int w = 0; null && w < width; ++w) values[row * table.words + w] = 0;
      }
    }
    word += width;
    if (NeedsTie(column.physical())) table.ties.push_back({word - 1, columns[i], keys[i].ascending});
  }
  return table;
}

// Ends of ascending runs, or nothing when there are too many of them.
std::vector<int32_t> AscendingRuns(const SortTable& table, int32_t rows) {
  std::vector<int32_t> ends;
  for (int32_t row = 1; row < rows; ++row) {
    if (!table.Less(row, row - 1)) continue;
    ends.push_back(row);
    if (ends.size() > kMergedRuns) return {};
  }
  ends.push_back(rows);
  return ends;
}

void MergeRuns(const SortTable& table, std::vector<int32_t> ends, std::vector<int32_t>* order) {
  const auto less = [&](int32_t a, int32_t b) { return table.Less(a, b); };
  while (ends.size() > 1) {
    std::vector<int32_t> merged;
    int32_t begin = 0;
    for (size_t i = 0; i + 1 < ends.size(); i += 2) {
      std::inplace_merge(order->begin() + begin, order->begin() + ends[i], order->begin() + ends[i + 1], less);
      merged.push_back(begin = ends[i + 1]);
    }
    if (ends.size() % 2 == 1) merged.push_back(ends.back());
    ends = std::move(merged);
  }
}

// One word decides: sort pairs of it and the row.
void SortByWord(const SortTable& table, std::vector<int32_t>* order) {
  std::vector<std::pair<uint64_t, int32_t>> pairs(order->size());
  for (size_t i = 0; i < pairs.size(); ++i) pairs[i] = {table.values[i], static_cast<int32_t>(i)};
  std::sort(pairs.begin(), pairs.end());
  for (size_t i = 0; i < pairs.size(); ++i) (*order)[i] = pairs[i].second;
}

}  // namespace

Status CheckSortable(const DataType& type) {
  if (!type.IsOrderable()) return InternalError("no order for " + type.Sql());
  switch (type.kind()) {
    case TypeKind::kString:
      if (type.collation() != "UTF8_BINARY") return Unsupported("sorting by collation " + type.collation());
      return Status::OK();
    case TypeKind::kArray: return CheckSortable(type.element());
    case TypeKind::kStruct:
      for (const auto& field : type.fields()) TW_RETURN_NOT_OK(CheckSortable(field.type));
      return Status::OK();
    default: return Status::OK();
  }
}

int CompareValues(const Column& left, int64_t i, const Column& right, int64_t j) {
  switch (left.physical()) {
    case PhysicalType::kBool: return Compare3(left.values<uint8_t>()[i], right.values<uint8_t>()[j]);
    case PhysicalType::kInt8: return Compare3(left.values<int8_t>()[i], right.values<int8_t>()[j]);
    case PhysicalType::kInt16: return Compare3(left.values<int16_t>()[i], right.values<int16_t>()[j]);
    case PhysicalType::kInt32: return Compare3(left.values<int32_t>()[i], right.values<int32_t>()[j]);
    case PhysicalType::kInt64: return Compare3(left.values<int64_t>()[i], right.values<int64_t>()[j]);
    case PhysicalType::kFloat: return CompareFloats(left.values<float>()[i], right.values<float>()[j]);
    case PhysicalType::kDouble: return CompareFloats(left.values<double>()[i], right.values<double>()[j]);
    case PhysicalType::kInt128: return Compare3(left.values<data::Int128>()[i], right.values<data::Int128>()[j]);
    case PhysicalType::kText: return Compare3(left.values<TextView>()[i].Compare(right.values<TextView>()[j]), 0);
    case PhysicalType::kList: {
      const auto a = left.offsets();
      const auto b = right.offsets();
      const int32_t a_size = a[i + 1] - a[i];
      const int32_t b_size = b[j + 1] - b[j];
      for (int32_t k = 0; k < std::min(a_size, b_size); ++k) {
        const int order = CompareNullable(*left.child(0), a[i] + k, *right.child(0), b[j] + k);
        if (order != 0) return order;
      }
      return Compare3(a_size, b_size);
    }
    case PhysicalType::kStruct:
      for (int k = 0; k < left.num_children(); ++k) {
        const int order = CompareNullable(*left.child(k), i, *right.child(k), j);
        if (order != 0) return order;
      }
      return 0;
    case PhysicalType::kNull:
    case PhysicalType::kMap:
    case PhysicalType::kInterval: return 0;
  }
  return 0;
}

std::vector<int32_t> SortedRows(const data::Chunk& chunk, const std::vector<SortKey>& keys, int64_t limit) {
  const auto rows = static_cast<int32_t>(chunk.num_rows());
  std::vector<int32_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  const SortTable table = MakeTable(chunk, keys);
  const auto less = [&](int32_t a, int32_t b) { return table.Less(a, b); };
  const std::vector<int32_t> runs = AscendingRuns(table, rows);
  if (!runs.empty()) {
    MergeRuns(table, runs, &order);
  } else if (limit < rows / 2) {
    std::partial_sort(order.begin(), order.begin() + limit, order.end(), less);
  } else if (table.words == 1 && table.ties.empty()) {
    SortByWord(table, &order);
  } else {
    std::sort(order.begin(), order.end(), less);
  }
  if (limit < rows) order.resize(limit);
  return order;
}

Sorter::Sorter(std::vector<SortKey> keys, std::vector<DataType> types, int64_t limit, MemoryReservation memory)
    : keys_(std::move(keys)), types_(std::move(types)), limit_(limit), memory_(std::move(memory)) {}

Status Sorter::Add(const data::Chunk& chunk) {
  chunks_.push_back(chunk.Compacted());
  rows_ += chunk.num_rows();
  TW_RETURN_NOT_OK(memory_.Grow(chunks_.back().bytes()));
  if (rows_ > INT32_MAX) return Unsupported("sorting more than 2147483647 rows in one partition");
  return limit_ < INT32_MAX / 2 && rows_ >= 2 * limit_ + kCutRows ? Cut() : Status::OK();
}

// A limited sort holds only rows that may still be among the first.
Status Sorter::Cut() {
  data::Chunk all = data::ConcatChunks(chunks_, types_);
  all.set_selection(std::make_shared<const std::vector<int32_t>>(SortedRows(all, keys_, limit_)));
  chunks_ = {all.Compacted()};
  rows_ = chunks_[0].num_rows();
  return memory_.Resize(chunks_[0].bytes());
}

Status Sorter::Finish() {
  if (rows_ == 0) return Status::OK();
  if (chunks_.size() > 1) {
    TW_RETURN_NOT_OK(memory_.Grow(memory_.bytes()));
    all_ = data::ConcatChunks(chunks_, types_);
    chunks_.clear();
    TW_RETURN_NOT_OK(memory_.Resize(all_.bytes()));
  } else {
    all_ = std::move(chunks_[0]);
    chunks_.clear();
  }
  // Words and order of the rows: at most three words a key and a pair.
  const int64_t work = rows_ * (24 * static_cast<int64_t>(keys_.size()) + 24);
  TW_RETURN_NOT_OK(memory_.Grow(work));
  order_ = SortedRows(all_, keys_, limit_);
  memory_.Shrink(work);
  next_ = 0;
  return Status::OK();
}

std::optional<data::Chunk> Sorter::Next() {
  if (done()) return std::nullopt;
  const int64_t count = std::min(data::kChunkRows, static_cast<int64_t>(order_.size()) - next_);
  data::Chunk out = all_;
  out.set_selection(std::make_shared<const std::vector<int32_t>>(order_.begin() + next_, order_.begin() + next_ + count));
  out = out.Dense();
  next_ += count;
  if (done()) Clear();
  return out;
}

void Sorter::Clear() {
  chunks_.clear();
  all_ = {};
  order_.clear();
  next_ = rows_ = 0;
  memory_.Release();
}

}  // namespace thalweg::engine
