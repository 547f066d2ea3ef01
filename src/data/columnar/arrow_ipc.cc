#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include <cstring>

#include "data/columnar/arrow_bridge.h"

namespace thalweg::data {
namespace {

constexpr const char* kWriting = "write an Arrow stream";
constexpr const char* kReading = "read an Arrow stream";

Result<Schema> FromArrowSchema(const arrow::Schema& schema) {
  Schema result;
  for (const auto& field : schema.fields()) {
    TW_ASSIGN_OR_RETURN(DataType type, FromArrowType(*field->type()));
    result.push_back({.name = field->name(), .type = std::move(type), .nullable = field->nullable()});
  }
  return result;
}

Result<Chunk> ImportBatch(const arrow::RecordBatch& batch, const Schema& schema) {
  std::vector<ColumnPtr> columns;
  for (size_t i = 0; i < schema.size(); ++i) {
    TW_ASSIGN_OR_RETURN(ColumnPtr column, ImportArray(batch.column(static_cast<int>(i)), schema[i].type));
    columns.push_back(std::move(column));
  }
  return Chunk(std::move(columns), batch.num_rows());
}

}  // namespace

Result<std::string> WriteIpcStream(const std::vector<Chunk>& chunks, const Schema& schema,
                                   const ExportOptions& options) {
  TW_ASSIGN_OR_RETURN(auto arrow_schema, ToArrowSchema(schema, options));
  auto sink = arrow::io::BufferOutputStream::Create(4096, ProcessPool());
  if (!sink.ok()) return FromArrowStatus(sink.status(), kWriting);
  auto write_options = arrow::ipc::IpcWriteOptions::Defaults();
  write_options.memory_pool = ProcessPool();
  write_options.use_threads = false;
  auto writer = arrow::ipc::MakeStreamWriter(*sink, arrow_schema, write_options);
  if (!writer.ok()) return FromArrowStatus(writer.status(), kWriting);
  for (const Chunk& chunk : chunks) {
    TW_ASSIGN_OR_RETURN(auto batch, ExportChunk(chunk, schema, options));
    TW_RETURN_NOT_OK(FromArrowStatus((*writer)->WriteRecordBatch(*batch), kWriting));
  }
  TW_RETURN_NOT_OK(FromArrowStatus((*writer)->Close(), kWriting));
  auto buffer = (*sink)->Finish();
  if (!buffer.ok()) return FromArrowStatus(buffer.status(), kWriting);
  return (*buffer)->ToString();
}

Result<IpcStream> ReadIpcStream(std::string_view bytes) {
  // Arrow's batches refer to the bytes they were read from: those must live as long as the columns.
  auto owned = Buffer::Allocate(static_cast<int64_t>(bytes.size()));
  if (!bytes.empty()) std::memcpy(owned->mutable_data(), bytes.data(), bytes.size());
  arrow::io::BufferReader source(owned->ToArrow());
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = ProcessPool();
  options.use_threads = false;
  options.ensure_alignment = arrow::ipc::Alignment::kDataTypeSpecificAlignment;
  auto reader = arrow::ipc::RecordBatchStreamReader::Open(&source, options);
  if (!reader.ok()) return FromArrowStatus(reader.status(), kReading);
  IpcStream stream;
  TW_ASSIGN_OR_RETURN(stream.schema, FromArrowSchema(*(*reader)->schema()));
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    TW_RETURN_NOT_OK(FromArrowStatus((*reader)->ReadNext(&batch), kReading));
    if (batch == nullptr) return stream;
    TW_RETURN_NOT_OK(FromArrowStatus(batch->ValidateFull(), kReading));  // the bytes come from outside
    TW_ASSIGN_OR_RETURN(Chunk chunk, ImportBatch(*batch, stream.schema));
    stream.chunks.push_back(std::move(chunk));
  }
}

}  // namespace thalweg::data
