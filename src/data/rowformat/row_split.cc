#include "data/rowformat/row_split.h"

#include <algorithm>

#include "data/rowformat/unsafe_row_format.h"

namespace thalweg::data {
namespace {

const uint8_t* SplitBytes(std::string_view row) { return reinterpret_cast<const uint8_t*>(row.data()); }

// A run of columns within a row.
struct Columns {
  std::string_view row;
  int64_t first = 0;
  int64_t of = 0;  // columns of the whole row

  const uint8_t* slot(int64_t i) const { return SplitBytes(row) + NullBitsBytes(of) + 8 * (first + i); }
  bool null(int64_t i) const { return NullBit(SplitBytes(row), first + i); }
};

// Copies columns of `types` to the columns of `out` from `to` on, of `all`; their values go to its end. Variable parts are dense
// and in the order of columns, so a column's part begins where the one before it ends.
bool CopyColumns(std::span<const DataType> types, const Columns& from, int64_t to, int64_t all, std::string* out) {
  for (size_t i = 0; i < types.size(); ++i) {
    const auto column = static_cast<int64_t>(i);
    const auto word = LoadAs<int64_t>(from.slot(column));
    int64_t stored = word;
    if (IsVariable(types[i]) && word != 0) {
      const int64_t offset = word >> 32;
      const int64_t size = word & 0xffffffff;
      const bool reserved = IsLargeDecimal(types[i]) || types[i].Is(TypeKind::kCalendarInterval);
      const int64_t bytes = reserved ? kReservedBytes : RoundUp8(size);
      const auto row_bytes = static_cast<int64_t>(from.row.size());
      if (offset < RowFixedBytes(from.of) || offset > row_bytes || bytes > row_bytes - offset) return false;
      stored = static_cast<int64_t>(out->size()) << 32 | size;
      out->append(from.row.substr(static_cast<size_t>(offset), static_cast<size_t>(bytes)));
    }
    auto* bytes = reinterpret_cast<uint8_t*>(out->data());
    StoreAs(bytes + NullBitsBytes(all) + 8 * (to + column), stored);
    if (from.null(column)) SetNullBit(bytes, to + column);
  }
  return true;
}

bool HoldsColumns(std::string_view row, int64_t columns) { return static_cast<int64_t>(row.size()) >= RowFixedBytes(columns); }

}  // namespace

bool SplitRow(std::span<const DataType> types, int columns, std::string_view row, std::string* prefix, std::string* rest) {
  const auto all = static_cast<int64_t>(types.size());
  if (columns < 0 || columns > all || !HoldsColumns(row, all)) return false;
  prefix->assign(static_cast<size_t>(RowFixedBytes(columns)), '\0');
  rest->assign(static_cast<size_t>(RowFixedBytes(all - columns)), '\0');
  return CopyColumns(types.first(static_cast<size_t>(columns)), {row, 0, all}, 0, columns, prefix) &&
         CopyColumns(types.subspan(static_cast<size_t>(columns)), {row, columns, all}, 0, all - columns, rest);
}

bool JoinRow(std::span<const DataType> types, int columns, std::string_view prefix, std::string_view rest, std::string* row) {
  const auto all = static_cast<int64_t>(types.size());
  if (columns < 0 || columns > all || !HoldsColumns(prefix, columns) || !HoldsColumns(rest, all - columns)) return false;
  row->assign(static_cast<size_t>(RowFixedBytes(all)), '\0');
  return CopyColumns(types.first(static_cast<size_t>(columns)), {prefix, 0, columns}, 0, all, row) &&
         CopyColumns(types.subspan(static_cast<size_t>(columns)), {rest, 0, all - columns}, columns, all, row);
}

}  // namespace thalweg::data
