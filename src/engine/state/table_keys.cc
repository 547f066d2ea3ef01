#include "engine/state/table_keys.h"

#include "data/rowformat/unsafe_row_format.h"
#include "data/rowformat/unsafe_value.h"
#include "engine/state/row_hash.h"

namespace thalweg::engine {
namespace {

template <typename T, typename ToWord>
void FillWords(const data::Column& column, std::span<const int32_t> rows, KeyBatch* batch, ToWord to_word) {
  const T* values = column.values<T>().data();
  const bool has_nulls = column.has_nulls();
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool null = has_nulls && column.IsNull(rows[i]);
    batch->nulls[i] = null;
    batch->words[i] = null ? 0 : to_word(values[rows[i]]);
    batch->hashes[i] = null ? kNullKeyHash : HashWord(batch->words[i]);
  }
}

std::vector<int32_t> AllRows(int64_t num_rows) {
  std::vector<int32_t> rows(static_cast<size_t>(num_rows));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int32_t>(i);
  return rows;
}

}  // namespace

bool AreWordKeys(std::span<const data::DataType> types) {
  return types.size() == 1 && data::UnsafeFixedWidth(types[0]) > 0;
}

Status MakeWordKeys(const data::ColumnPtr& given, int64_t num_rows, const std::vector<int32_t>* rows, KeyBatch* batch) {
  const data::ColumnPtr column = data::Flatten(given);
  std::vector<int32_t> all;
  if (rows == nullptr) {
    all = AllRows(num_rows);
    rows = &all;
  }
  batch->words.resize(rows->size());
  batch->nulls.resize(rows->size());
  batch->hashes.resize(rows->size());
  const auto widen = [](auto value) { return static_cast<uint64_t>(std::make_unsigned_t<decltype(value)>(value)); };
  switch (column->physical()) {
    case data::PhysicalType::kBool:
    case data::PhysicalType::kInt8: FillWords<uint8_t>(*column, *rows, batch, widen); break;
    case data::PhysicalType::kInt16: FillWords<int16_t>(*column, *rows, batch, widen); break;
    case data::PhysicalType::kInt32: FillWords<int32_t>(*column, *rows, batch, widen); break;
    case data::PhysicalType::kInt64: FillWords<int64_t>(*column, *rows, batch, widen); break;
    case data::PhysicalType::kFloat:
      FillWords<float>(*column, *rows, batch, [](float v) { return uint64_t{data::StoredFloat(v, true)}; });
      break;
    case data::PhysicalType::kDouble:
      FillWords<double>(*column, *rows, batch, [](double v) { return data::StoredDouble(v, true); });
      break;
    case data::PhysicalType::kInt128:
      FillWords<data::Int128>(*column, *rows, batch,
                              [](data::Int128 v) { return static_cast<uint64_t>(static_cast<int64_t>(v)); });
      break;
    default: return InternalError("a state key that is no word");
  }
  return Status::OK();
}

Status MakeRowKeys(const data::UnsafeRowWriter& writer, std::span<const data::ColumnPtr> columns, int64_t num_rows,
                   const std::vector<int32_t>* rows, KeyBatch* batch) {
  TW_RETURN_NOT_OK(writer.Write(columns, num_rows, rows, &batch->rows));
  batch->hashes.resize(static_cast<size_t>(batch->rows.num_rows()));
  for (size_t i = 0; i < batch->hashes.size(); ++i) batch->hashes[i] = HashRow(batch->rows.row(static_cast<int64_t>(i)));
  return Status::OK();
}

void WordKeyRow(uint64_t word, bool null, uint8_t* row) {
  data::StoreAs<uint64_t>(row, null ? 1 : 0);
  data::StoreAs<uint64_t>(row + 8, word);
}

int64_t KeyRowEventTime(std::string_view row, int num_columns, const KeyEventTime& where) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(row.data());
  if (data::NullBit(bytes, where.column)) return kNeverExpires;
  const auto slot = data::LoadAs<int64_t>(bytes + data::NullBitsBytes(num_columns) + 8 * where.column);
  if (!where.window_end) return slot;
  // A struct of two timestamps: null bits, start, end.
  const int64_t offset = slot >> 32;
  if (offset < 0 || offset + 24 > static_cast<int64_t>(row.size())) return 0;
  return data::NullBit(bytes + offset, 1) ? kNeverExpires : data::LoadAs<int64_t>(bytes + offset + 16);
}

}  // namespace thalweg::engine
