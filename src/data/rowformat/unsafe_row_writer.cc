// Column by column over all rows: first the sizes, then slots and variable parts. Structs (windows) recurse column by
// column too; values inside arrays, maps and variants go one at a time (unsafe_value.h).

#include "data/rowformat/unsafe_row_writer.h"

#include <bit>

#include "data/rowformat/unsafe_row_format.h"
#include "data/rowformat/unsafe_value.h"

namespace thalweg::data {
namespace {

using Rows = std::span<const int32_t>;

// Entry k of each array belongs to row rows[k] of the columns.
struct Targets {
  Rows rows;
  uint8_t* const* base;  // where the row begins; the memory is zero
  uint32_t* end;         // bytes used so far: where the next variable value goes
};

class Writing {
 public:
  explicit Writing(bool normalize_zero) : normalize_zero_(normalize_zero), value_(normalize_zero) {}

  void AddSizes(const Column& column, Rows rows, int64_t* sizes) const;
  void Write(const Column& column, int index, int columns, const Targets& targets) const;

 private:
  void WriteFixedColumn(const Column& column, int index, int64_t slot, const Targets& targets) const;
  void WriteReserved(const Column& column, int index, int64_t slot, const Targets& targets) const;
  void WriteText(const Column& column, int index, int64_t slot, const Targets& targets) const;
  void WriteStruct(const Column& column, int index, int64_t slot, const Targets& targets) const;
  void WriteValues(const Column& column, int index, int64_t slot, const Targets& targets) const;

  bool normalize_zero_;
  UnsafeValue value_;
};

bool IsPlainStruct(const Column& column) { return column.type().Is(TypeKind::kStruct); }

void Writing::AddSizes(const Column& column, Rows rows, int64_t* sizes) const {
  if (!IsVariable(column.type())) return;
  if (IsLargeDecimal(column.type()) || column.physical() == PhysicalType::kInterval) {
    for (size_t k = 0; k < rows.size(); ++k) sizes[k] += kReservedBytes;
  } else if (column.physical() == PhysicalType::kText) {
    const TextView* views = column.values<TextView>().data();  // null rows have empty views
    for (size_t k = 0; k < rows.size(); ++k) sizes[k] += RoundUp8(views[rows[k]].size());
  } else if (IsPlainStruct(column)) {
    std::vector<int64_t> nested(rows.size(), RowFixedBytes(column.num_children()));
    for (const auto& child : column.parts().children) AddSizes(*child, rows, nested.data());
    for (size_t k = 0; k < rows.size(); ++k) sizes[k] += column.IsNull(rows[k]) ? 0 : nested[k];
  } else {
    for (size_t k = 0; k < rows.size(); ++k) {
      if (!column.IsNull(rows[k])) sizes[k] += RoundUp8(value_.Size(column, rows[k]));
    }
  }
}

// Stores `store(slot, row)` where the row is not null and sets the null bit elsewhere.
template <typename Store>
void ForSlots(const Column& column, int index, int64_t slot, const Targets& targets, Store store) {
  if (!column.has_nulls()) {
    for (size_t k = 0; k < targets.rows.size(); ++k) store(targets.base[k] + slot, targets.rows[k]);
    return;
  }
  for (size_t k = 0; k < targets.rows.size(); ++k) {
    if (column.IsNull(targets.rows[k])) {
      SetNullBit(targets.base[k], index);
    } else {
      store(targets.base[k] + slot, targets.rows[k]);
    }
  }
}

template <typename T>
void CopySlots(const Column& column, int index, int64_t slot, const Targets& targets) {
  const T* values = column.values<T>().data();
  ForSlots(column, index, slot, targets, [values](uint8_t* to, int32_t row) { StoreAs(to, values[row]); });
}

void Writing::WriteFixedColumn(const Column& column, int index, int64_t slot, const Targets& targets) const {
  switch (column.physical()) {
    case PhysicalType::kNull:
      for (size_t k = 0; k < targets.rows.size(); ++k) SetNullBit(targets.base[k], index);
      return;
    case PhysicalType::kBool:
    case PhysicalType::kInt8: return CopySlots<uint8_t>(column, index, slot, targets);
    case PhysicalType::kInt16: return CopySlots<int16_t>(column, index, slot, targets);
    case PhysicalType::kInt32: return CopySlots<int32_t>(column, index, slot, targets);
    case PhysicalType::kInt64: return CopySlots<int64_t>(column, index, slot, targets);
    case PhysicalType::kFloat: {
      const float* values = column.values<float>().data();
      return ForSlots(column, index, slot, targets, [&](uint8_t* to, int32_t row) {
        StoreAs(to, StoredFloat(values[row], normalize_zero_));
      });
    }
    case PhysicalType::kDouble: {
      const double* values = column.values<double>().data();
      return ForSlots(column, index, slot, targets, [&](uint8_t* to, int32_t row) {
        StoreAs(to, StoredDouble(values[row], normalize_zero_));
      });
    }
    default: break;
  }
  // Decimals of at most 18 digits; out of range is null.
  for (size_t k = 0; k < targets.rows.size(); ++k) {
    const int64_t row = targets.rows[k];
    if (column.IsNull(row) || !value_.WriteFixed(column, row, targets.base[k] + slot)) SetNullBit(targets.base[k], index);
  }
}

void Writing::WriteReserved(const Column& column, int index, int64_t slot, const Targets& targets) const {
  const bool interval = column.physical() == PhysicalType::kInterval;
  for (size_t k = 0; k < targets.rows.size(); ++k) {
    const int64_t row = targets.rows[k];
    const uint32_t end = targets.end[k];
    int64_t size = interval ? kReservedBytes : 0;
    if (StoredAsNull(column, row)) {
      SetNullBit(targets.base[k], index);
    } else {
      size = value_.Write(column, row, targets.base[k] + end);
    }
    StoreSlot(targets.base[k] + slot, end, size);
    targets.end[k] = end + kReservedBytes;
  }
}

void Writing::WriteText(const Column& column, int index, int64_t slot, const Targets& targets) const {
  const TextView* views = column.values<TextView>().data();
  for (size_t k = 0; k < targets.rows.size(); ++k) {
    const int32_t row = targets.rows[k];
    if (column.IsNull(row)) {
      SetNullBit(targets.base[k], index);
      continue;
    }
    const TextView& text = views[row];
    const uint32_t end = targets.end[k];
    std::memcpy(targets.base[k] + end, text.data(), text.size());
    StoreSlot(targets.base[k] + slot, end, text.size());
    targets.end[k] = end + static_cast<uint32_t>(RoundUp8(text.size()));
  }
}

void Writing::WriteStruct(const Column& column, int index, int64_t slot, const Targets& targets) const {
  std::vector<int32_t> rows;
  std::vector<uint8_t*> base;
  std::vector<uint32_t> owners;
  rows.reserve(targets.rows.size());
  base.reserve(targets.rows.size());
  owners.reserve(targets.rows.size());
  for (size_t k = 0; k < targets.rows.size(); ++k) {
    if (column.IsNull(targets.rows[k])) {
      SetNullBit(targets.base[k], index);
      continue;
    }
    rows.push_back(targets.rows[k]);
    base.push_back(targets.base[k] + targets.end[k]);
    owners.push_back(static_cast<uint32_t>(k));
  }
  std::vector<uint32_t> ends(rows.size(), static_cast<uint32_t>(RowFixedBytes(column.num_children())));
  const Targets nested{rows, base.data(), ends.data()};
  for (int child = 0; child < column.num_children(); ++child) {
    Write(*column.child(child), child, column.num_children(), nested);
  }
  for (size_t k = 0; k < rows.size(); ++k) {
    const uint32_t owner = owners[k];
    StoreSlot(targets.base[owner] + slot, targets.end[owner], ends[k]);
    targets.end[owner] += ends[k];
  }
}

void Writing::WriteValues(const Column& column, int index, int64_t slot, const Targets& targets) const {
  for (size_t k = 0; k < targets.rows.size(); ++k) {
    const int32_t row = targets.rows[k];
    if (column.IsNull(row)) {
      SetNullBit(targets.base[k], index);
      continue;
    }
    const uint32_t end = targets.end[k];
    const int64_t size = value_.Write(column, row, targets.base[k] + end);
    StoreSlot(targets.base[k] + slot, end, size);
    targets.end[k] = end + static_cast<uint32_t>(RoundUp8(size));
  }
}

void Writing::Write(const Column& column, int index, int columns, const Targets& targets) const {
  const int64_t slot = NullBitsBytes(columns) + 8 * index;
  if (!IsVariable(column.type())) return WriteFixedColumn(column, index, slot, targets);
  if (IsLargeDecimal(column.type()) || column.physical() == PhysicalType::kInterval) {
    return WriteReserved(column, index, slot, targets);
  }
  if (column.physical() == PhysicalType::kText) return WriteText(column, index, slot, targets);
  if (IsPlainStruct(column)) return WriteStruct(column, index, slot, targets);
  WriteValues(column, index, slot, targets);
}

}  // namespace

UnsafeRowWriter::UnsafeRowWriter(std::vector<DataType> types, Options options)
    : types_(std::move(types)), options_(options) {}

Status UnsafeRowWriter::Write(std::span<const ColumnPtr> columns, int64_t num_rows, const std::vector<int32_t>* rows,
                              RowBatch* out) const {
  TW_DCHECK(columns.size() == types_.size());
  std::vector<int32_t> all;
  if (rows == nullptr) {
    all.resize(static_cast<size_t>(num_rows));
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
    rows = &all;
  }
  const size_t count = rows->size();
  const Writing writing(options_.normalize_zero);
  std::vector<ColumnPtr> flat;
  flat.reserve(columns.size());
  for (const auto& column : columns) flat.push_back(Flatten(column));

  const auto fixed = RowFixedBytes(static_cast<int64_t>(columns.size()));
  std::vector<int64_t> sizes(count, fixed);
  for (const auto& column : flat) writing.AddSizes(*column, *rows, sizes.data());
  out->offsets.resize(count + 1);
  int64_t total = 0;
  for (size_t k = 0; k < count; ++k) {
    if (sizes[k] > INT32_MAX) return InternalError("a row of more than 2 GiB");
    out->offsets[k] = total;
    total += sizes[k];
  }
  out->offsets[count] = total;
  out->bytes.assign(static_cast<size_t>(total), 0);

  std::vector<uint8_t*> base(count);
  for (size_t k = 0; k < count; ++k) base[k] = out->bytes.data() + out->offsets[k];
  std::vector<uint32_t> ends(count, static_cast<uint32_t>(fixed));
  const Targets targets{*rows, base.data(), ends.data()};
  const int n = static_cast<int>(flat.size());
  for (int i = 0; i < n; ++i) writing.Write(*flat[static_cast<size_t>(i)], i, n, targets);
  return Status::OK();
}

}  // namespace thalweg::data
