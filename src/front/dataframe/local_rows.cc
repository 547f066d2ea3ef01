#include "front/dataframe/local_rows.h"

#include <arrow/buffer.h>
#include <arrow/c/bridge.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>

#include <limits>

#include "data/columnar/arrow_bridge.h"
#include "data/columnar/builder.h"
#include "data/text/numbers.h"
#include "data/types/data_type.h"
#include "data/types/value.h"

namespace thalweg::internal {
namespace {

using data::DataType;
using data::TypeKind;
using data::Value;


Status DoesNotFit(const DataType& type) { return Error("INVALID_LOCAL_DATA").With("reason", "a cell is not of the type " + type.SimpleString()); }

template <typename T>
Result<Value> IntegerOf(const Cell& cell, const DataType& type) {
  const int64_t* number = cell.Get<int64_t>();
  if (number == nullptr || *number < std::numeric_limits<T>::min() || *number > std::numeric_limits<T>::max()) return DoesNotFit(type);
  return Value(static_cast<T>(*number));
}

Result<Value> DecimalOf(const Cell& cell, const DataType& type) {
  std::string text;
  if (const DecimalText* decimal = cell.Get<DecimalText>()) text = decimal->text;
  if (const int64_t* number = cell.Get<int64_t>()) text = std::to_string(*number);
  data::Int128 unscaled = 0;
  if (data::ParseDecimal(text, type.precision(), type.scale(), &unscaled) != data::DecimalOutcome::kOk) return DoesNotFit(type);
  return Value(unscaled);
}

Result<Value> ValueOf(const Cell& cell, const DataType& type);

// The elements of an array, struct or map; `type_at` gives the type of each.
template <typename TypeAt>
Result<Value> ListOf(const Cell& cell, const DataType& type, TypeAt&& type_at) {
  const CellList* cells = cell.Get<CellList>();
  if (cells == nullptr) return DoesNotFit(type);
  if (type.Is(TypeKind::kStruct) && cells->size() != type.fields().size()) return DoesNotFit(type);
  if (type.Is(TypeKind::kMap) && cells->size() % 2 != 0) return DoesNotFit(type);
  data::ValueList values;
  for (size_t i = 0; i < cells->size(); ++i) {
    TW_ASSIGN_OR_RETURN(Value value, ValueOf((*cells)[i], type_at(i)));
    values.push_back(std::move(value));
  }
  return Value(std::move(values));
}

Result<Value> ValueOf(const Cell& cell, const DataType& type) {
  if (cell.is_null()) return Value();
  switch (type.kind()) {
    case TypeKind::kBoolean:
      if (const bool* flag = cell.Get<bool>()) return Value(*flag);
      return DoesNotFit(type);
    case TypeKind::kByte: return IntegerOf<int8_t>(cell, type);
    case TypeKind::kShort: return IntegerOf<int16_t>(cell, type);
    case TypeKind::kInteger: return IntegerOf<int32_t>(cell, type);
    case TypeKind::kLong: return IntegerOf<int64_t>(cell, type);
    case TypeKind::kFloat:
      if (const double* number = cell.Get<double>()) return Value(static_cast<float>(*number));
      return DoesNotFit(type);
    case TypeKind::kDouble:
      if (const double* number = cell.Get<double>()) return Value(*number);
      return DoesNotFit(type);
    case TypeKind::kString:
    case TypeKind::kBinary:
      if (const std::string* text = cell.Get<std::string>()) return Value(*text);
      return DoesNotFit(type);
    case TypeKind::kDate:
      if (const DateDays* date = cell.Get<DateDays>()) return Value(date->days);
      return DoesNotFit(type);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampNtz:
      if (const TimestampMicros* time = cell.Get<TimestampMicros>()) return Value(time->micros);
      return DoesNotFit(type);
    case TypeKind::kDecimal: return DecimalOf(cell, type);
    case TypeKind::kArray: return ListOf(cell, type, [&](size_t) -> const DataType& { return type.element(); });
    case TypeKind::kMap: return ListOf(cell, type, [&](size_t i) -> const DataType& { return i % 2 == 0 ? type.key() : type.value(); });
    case TypeKind::kStruct: return ListOf(cell, type, [&](size_t i) -> const DataType& { return type.fields()[i].type; });
    default: return Unsupported("rows of a program with the type " + type.SimpleString());
  }
}

Status AppendRow(const Row& row, const data::Schema& schema, std::vector<data::ValueList>* out) {
  data::ValueList values;
  for (size_t i = 0; i < schema.size(); ++i) {
    TW_ASSIGN_OR_RETURN(Value value, ValueOf(row[i], schema[i].type));
    if (value.is_null() && !schema[i].nullable) return DoesNotFit(schema[i].type);
    values.push_back(std::move(value));
  }
  out->push_back(std::move(values));
  return Status::OK();
}

}  // namespace

Result<LocalRows> LocalRowsFrom(std::string_view schema_text, const std::vector<Row>& rows) {
  TW_ASSIGN_OR_RETURN(const data::Schema schema, data::ParseSchema(schema_text));
  std::vector<data::ValueList> values;
  for (const Row& row : rows) {
    if (row.size() != schema.size()) {
      return Error("INVALID_LOCAL_DATA")
          .With("reason", "a row has " + std::to_string(row.size()) + " cells, the schema " + std::to_string(schema.size()) + " columns");
    }
    TW_RETURN_NOT_OK(AppendRow(row, schema, &values));
  }
  std::vector<DataType> types;
  for (const data::StructField& field : schema) types.push_back(field.type);
  std::vector<data::Chunk> chunks;
  if (!values.empty()) chunks.push_back(data::ChunkFromRows(types, values));
  LocalRows local;
  TW_ASSIGN_OR_RETURN(local.ipc, data::WriteIpcStream(chunks, schema, {}));
  local.schema_json = DataType::Struct(schema).Json();
  return local;
}

Result<LocalRows> LocalRowsFrom(ArrowArrayStream* batches) {
  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> reader = arrow::ImportRecordBatchReader(batches);
  if (!reader.ok()) return data::FromArrowStatus(reader.status(), "take over record batches");
  arrow::Result<std::shared_ptr<arrow::io::BufferOutputStream>> sink = arrow::io::BufferOutputStream::Create();
  if (!sink.ok()) return data::FromArrowStatus(sink.status(), "write record batches");
  arrow::Result<std::shared_ptr<arrow::ipc::RecordBatchWriter>> writer = arrow::ipc::MakeStreamWriter(*sink, (*reader)->schema());
  if (!writer.ok()) return data::FromArrowStatus(writer.status(), "write record batches");
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    TW_RETURN_NOT_OK(data::FromArrowStatus((*reader)->ReadNext(&batch), "read record batches"));
    if (batch == nullptr) break;
    TW_RETURN_NOT_OK(data::FromArrowStatus((*writer)->WriteRecordBatch(*batch), "write record batches"));
  }
  TW_RETURN_NOT_OK(data::FromArrowStatus((*writer)->Close(), "write record batches"));
  arrow::Result<std::shared_ptr<arrow::Buffer>> bytes = (*sink)->Finish();
  if (!bytes.ok()) return data::FromArrowStatus(bytes.status(), "write record batches");
  return LocalRows{(*bytes)->ToString(), ""};
}

}  // namespace thalweg::internal
