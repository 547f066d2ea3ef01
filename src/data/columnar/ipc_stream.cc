#include "data/columnar/ipc_stream.h"

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include <cstring>

namespace thalweg::data {
namespace {

constexpr const char* kSending = "send an Arrow stream";
constexpr const char* kReceiving = "read an Arrow stream";

}  // namespace

struct IpcEncoder::State {
  /// Appends what is written to a text that the caller gives for each call.
  class TextSink final : public arrow::io::OutputStream {
   public:
    arrow::Status Close() override { return arrow::Status::OK(); }
    bool closed() const override { return false; }
    arrow::Result<int64_t> Tell() const override { return position_; }
    arrow::Status Write(const void* data, int64_t bytes) override {
      out->append(static_cast<const char*>(data), static_cast<size_t>(bytes));
      position_ += bytes;
      return arrow::Status::OK();
    }
    using arrow::io::OutputStream::Write;

    std::string* out = nullptr;

   private:
    int64_t position_ = 0;
  };

  Schema schema;
  ExportOptions options;
  std::shared_ptr<arrow::Schema> arrow_schema;
  TextSink sink;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer;

  Status Start() {
    if (writer != nullptr) return Status::OK();
    auto write_options = arrow::ipc::IpcWriteOptions::Defaults();
    write_options.memory_pool = ProcessPool();
    write_options.use_threads = false;
    auto made = arrow::ipc::MakeStreamWriter(&sink, arrow_schema, write_options);
    if (!made.ok()) return FromArrowStatus(made.status(), kSending);
    writer = *made;
    return Status::OK();
  }
};

IpcEncoder::IpcEncoder() : state_(std::make_unique<State>()) {}
IpcEncoder::~IpcEncoder() = default;

Result<std::unique_ptr<IpcEncoder>> IpcEncoder::Make(const Schema& schema, const ExportOptions& options) {
  std::unique_ptr<IpcEncoder> encoder(new IpcEncoder());
  encoder->state_->schema = schema;
  encoder->state_->options = options;
  TW_ASSIGN_OR_RETURN(encoder->state_->arrow_schema, ToArrowSchema(schema, options));
  return encoder;
}

Status IpcEncoder::Batch(const Chunk& chunk, std::string* out) {
  state_->sink.out = out;
  TW_RETURN_NOT_OK(state_->Start());
  TW_ASSIGN_OR_RETURN(const auto batch, ExportChunk(chunk, state_->schema, state_->options));
  return FromArrowStatus(state_->writer->WriteRecordBatch(*batch), kSending);
}

Status IpcEncoder::End(std::string* out) {
  state_->sink.out = out;
  TW_RETURN_NOT_OK(state_->Start());
  return FromArrowStatus(state_->writer->Close(), kSending);
}

struct IpcDecoder::State final : public arrow::ipc::Listener {
  arrow::Status OnRecordBatchDecoded(std::shared_ptr<arrow::RecordBatch> batch) override {
    batches.push_back(std::move(batch));
    return arrow::Status::OK();
  }
  arrow::Status OnEOS() override {
    ended = true;
    return arrow::Status::OK();
  }

  std::vector<DataType> types;
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  bool ended = false;
  std::unique_ptr<arrow::ipc::StreamDecoder> decoder;
};

namespace {

// StreamDecoder wants to share its listener.
template <typename T>
std::shared_ptr<arrow::ipc::Listener> Borrowed(T* listener) {
  return {std::shared_ptr<void>(), listener};
}

}  // namespace

IpcDecoder::IpcDecoder(std::vector<DataType> types) : state_(std::make_unique<State>()) {
  state_->types = std::move(types);
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = ProcessPool();
  options.use_threads = false;
  options.ensure_alignment = arrow::ipc::Alignment::kDataTypeSpecificAlignment;
  state_->decoder = std::make_unique<arrow::ipc::StreamDecoder>(Borrowed(state_.get()), options);
}

IpcDecoder::~IpcDecoder() = default;

int64_t IpcDecoder::wanted() const { return state_->ended ? 0 : state_->decoder->next_required_size(); }

Status IpcDecoder::Take(std::string_view bytes, std::vector<Chunk>* out) {
  // Columns refer to these bytes.
  auto owned = Buffer::Allocate(static_cast<int64_t>(bytes.size()));
  if (!bytes.empty()) std::memcpy(owned->mutable_data(), bytes.data(), bytes.size());
  TW_RETURN_NOT_OK(FromArrowStatus(state_->decoder->Consume(owned->ToArrow()), kReceiving));
  for (const std::shared_ptr<arrow::RecordBatch>& batch : std::exchange(state_->batches, {})) {
    TW_RETURN_NOT_OK(FromArrowStatus(batch->ValidateFull(), kReceiving));  // the bytes come from outside
    if (batch->num_columns() != static_cast<int>(state_->types.size())) {
      return InternalError("an Arrow stream of " + std::to_string(batch->num_columns()) + " columns instead of " +
                           std::to_string(state_->types.size()));
    }
    std::vector<ColumnPtr> columns;
    for (int i = 0; i < batch->num_columns(); ++i) {
      TW_ASSIGN_OR_RETURN(ColumnPtr column, ImportArray(batch->column(i), state_->types[static_cast<size_t>(i)]));
      columns.push_back(std::move(column));
    }
    out->push_back(Chunk(std::move(columns), batch->num_rows()));
  }
  return Status::OK();
}

}  // namespace thalweg::data
