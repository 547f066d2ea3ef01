// Columns as Arrow arrays: fixed width by reference, text as utf8 or binary with offsets from 0.

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <cstring>

#include "data/columnar/arrow_bridge.h"
#include "data/columnar/bitmap.h"

namespace thalweg::data {
namespace {

using ArrayDataPtr = std::shared_ptr<arrow::ArrayData>;

ArrayDataPtr MakeData(const std::shared_ptr<arrow::DataType>& type, const Column& column) {
  auto data = std::make_shared<arrow::ArrayData>(type, column.length());
  data->null_count = column.null_count();
  data->buffers.push_back(column.has_nulls() ? column.parts().validity->ToArrow() : nullptr);
  return data;
}

std::shared_ptr<arrow::Buffer> PackBooleans(const Column& column) {
  auto packed = Buffer::AllocateZeroed(BitmapBytes(column.length()));
  uint8_t* to = packed->mutable_data();
  const auto values = column.values<uint8_t>();
  for (size_t i = 0; i < values.size(); ++i) to[i >> 3] |= static_cast<uint8_t>((values[i] != 0) << (i & 7));
  return packed->ToArrow();
}

template <typename Offset>
Result<ArrayDataPtr> ExportText(const std::shared_ptr<arrow::DataType>& type, const Column& column) {
  const auto views = column.values<TextView>();
  auto offsets = Buffer::Allocate((column.length() + 1) * static_cast<int64_t>(sizeof(Offset)));
  const auto to = offsets->as_mutable<Offset>();
  int64_t total = 0;
  for (size_t i = 0; i < views.size(); ++i) {
    to[i] = static_cast<Offset>(total);
    total += views[i].size();
  }
  if (sizeof(Offset) == 4 && total > INT32_MAX) {
    return InternalError("more than 2 GiB of text in one Arrow batch: set spark.sql.execution.arrow.useLargeVarTypes");
  }
  to[views.size()] = static_cast<Offset>(total);
  auto text = Buffer::Allocate(total);
  uint8_t* next = text->mutable_data();
  for (const TextView& view : views) {
    std::memcpy(next, view.data(), view.size());
    next += view.size();
  }
  auto data = MakeData(type, column);
  data->buffers.push_back(offsets->ToArrow());
  data->buffers.push_back(text->ToArrow());
  return data;
}

Result<ArrayDataPtr> ExportIntervals(const std::shared_ptr<arrow::DataType>& type, const Column& column) {
  using To = arrow::MonthDayNanoIntervalType::MonthDayNanos;
  auto buffer = Buffer::AllocateZeroed(column.length() * static_cast<int64_t>(sizeof(To)));
  const auto to = buffer->as_mutable<To>();
  const auto from = column.values<CalendarInterval>();
  for (size_t i = 0; i < from.size(); ++i) {
    if (column.IsNull(static_cast<int64_t>(i))) continue;
    int64_t nanoseconds = 0;
    if (__builtin_mul_overflow(from[i].microseconds, int64_t{1000}, &nanoseconds)) {
      return Error("DATETIME_OVERFLOW").With("operation", "convert an interval to nanoseconds");
    }
    to[i] = {from[i].months, from[i].days, nanoseconds};
  }
  auto data = MakeData(type, column);
  data->buffers.push_back(buffer->ToArrow());
  return data;
}

Result<ArrayDataPtr> ExportColumn(const ColumnPtr& column, const std::shared_ptr<arrow::DataType>& type);

// Offsets from 0 in the width that `type` wants.
std::shared_ptr<arrow::Buffer> ExportOffsets(const Column& column, bool large) {
  const auto offsets = column.offsets();
  if (!large && offsets.front() == 0) return column.parts().values->ToArrow();
  const int64_t width = large ? 8 : 4;
  auto buffer = Buffer::Allocate(static_cast<int64_t>(offsets.size()) * width);
  for (size_t i = 0; i < offsets.size(); ++i) {
    const int32_t offset = offsets[i] - offsets.front();
    if (large) {
      buffer->as_mutable<int64_t>()[i] = offset;
    } else {
      buffer->as_mutable<int32_t>()[i] = offset;
    }
  }
  return buffer->ToArrow();
}

ColumnPtr LiveChild(const Column& column, int child) {
  const auto offsets = column.offsets();
  return Slice(column.child(child), offsets.front(), offsets.back() - offsets.front());
}

Result<ArrayDataPtr> ExportList(const std::shared_ptr<arrow::DataType>& type, const Column& column) {
  auto data = MakeData(type, column);
  data->buffers.push_back(ExportOffsets(column, type->id() == arrow::Type::LARGE_LIST));
  TW_ASSIGN_OR_RETURN(auto child, ExportColumn(LiveChild(column, 0), type->field(0)->type()));
  data->child_data.push_back(std::move(child));
  return data;
}

Result<ArrayDataPtr> ExportMap(const std::shared_ptr<arrow::DataType>& type, const Column& column) {
  auto data = MakeData(type, column);
  data->buffers.push_back(ExportOffsets(column, false));
  const auto& entries_type = type->field(0)->type();
  TW_ASSIGN_OR_RETURN(auto keys, ExportColumn(LiveChild(column, 0), entries_type->field(0)->type()));
  TW_ASSIGN_OR_RETURN(auto values, ExportColumn(LiveChild(column, 1), entries_type->field(1)->type()));
  auto entries = std::make_shared<arrow::ArrayData>(entries_type, keys->length);
  entries->null_count = 0;
  entries->buffers.push_back(nullptr);
  entries->child_data = {std::move(keys), std::move(values)};
  data->child_data.push_back(std::move(entries));
  return data;
}

Result<ArrayDataPtr> ExportStruct(const std::shared_ptr<arrow::DataType>& type, const Column& column) {
  auto data = MakeData(type, column);
  for (int i = 0; i < column.num_children(); ++i) {
    TW_ASSIGN_OR_RETURN(auto child, ExportColumn(column.child(i), type->field(i)->type()));
    data->child_data.push_back(std::move(child));
  }
  return data;
}

Result<ArrayDataPtr> ExportColumn(const ColumnPtr& any, const std::shared_ptr<arrow::DataType>& type) {
  const ColumnPtr column = Flatten(any);
  switch (column->physical()) {
    case PhysicalType::kNull: {
      auto data = std::make_shared<arrow::ArrayData>(type, column->length());
      data->null_count = column->length();
      data->buffers.push_back(nullptr);
      return data;
    }
    case PhysicalType::kBool: {
      auto data = MakeData(type, *column);
      data->buffers.push_back(PackBooleans(*column));
      return data;
    }
    case PhysicalType::kText:
      if (type->id() == arrow::Type::LARGE_STRING || type->id() == arrow::Type::LARGE_BINARY) {
        return ExportText<int64_t>(type, *column);
      }
      return ExportText<int32_t>(type, *column);
    case PhysicalType::kInterval: return ExportIntervals(type, *column);
    case PhysicalType::kList: return ExportList(type, *column);
    case PhysicalType::kMap: return ExportMap(type, *column);
    case PhysicalType::kStruct: return ExportStruct(type, *column);
    default: break;
  }
  auto data = MakeData(type, *column);
  data->buffers.push_back(column->parts().values->ToArrow());
  return data;
}

}  // namespace

Result<std::shared_ptr<arrow::RecordBatch>> ExportChunk(const Chunk& chunk, const Schema& schema,
                                                        const ExportOptions& options) {
  TW_DCHECK(chunk.num_columns() == static_cast<int>(schema.size()));
  TW_ASSIGN_OR_RETURN(auto arrow_schema, ToArrowSchema(schema, options));
  const Chunk dense = chunk.Dense();
  std::vector<ArrayDataPtr> columns;
  for (int i = 0; i < dense.num_columns(); ++i) {
    TW_ASSIGN_OR_RETURN(auto data, ExportColumn(dense.column(i), arrow_schema->field(i)->type()));
    columns.push_back(std::move(data));
  }
  return arrow::RecordBatch::Make(std::move(arrow_schema), dense.num_rows(), std::move(columns));
}

}  // namespace thalweg::data
