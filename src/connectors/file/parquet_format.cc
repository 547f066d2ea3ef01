#include "base/string_case.h"
#include "connectors/file/file_format.h"
#include "connectors/file/file_settings.h"
#include "connectors/file/scan_predicates.h"
#include "connectors/file/schema_merge.h"
#include "data/columnar/chunk.h"
#include "data/formats/parquet/parquet_reader.h"
#include "data/formats/parquet/parquet_writer.h"
#include "data/io/path.h"

namespace thalweg::connectors {
namespace {

/// Chunks of row groups, put together until somebody wants them.
class ParquetRows final : public data::FileReader {
 public:
  explicit ParquetRows(data::ParquetReadRequest request) : request_(std::move(request)) {}

  Status Open(data::FileSystem& file_system, const data::FileRange& range) override {
    if (reader_ != nullptr) bytes_of_earlier_files_ += std::exchange(reader_, nullptr)->bytes_read();
    TW_ASSIGN_OR_RETURN(file_, data::ParquetFile::Open(file_system, range.path));
    request_.split_begin = range.start;
    request_.split_end = range.length == INT64_MAX ? INT64_MAX : range.start + range.length;
    TW_ASSIGN_OR_RETURN(reader_, file_->NewReader(request_));
    return Status::OK();
  }

  Result<bool> Read(int64_t rows) override {
    while (rows_ < rows) {
      TW_ASSIGN_OR_RETURN(std::optional<data::ParquetChunk> next, reader_->Next());
      if (!next) return false;
      rows_ += next->chunk.num_rows();
      chunks_.push_back(next->chunk.Dense());
    }
    return true;
  }

  int64_t length() const override { return rows_; }

  Result<std::vector<data::ColumnPtr>> Finish() override {
    rows_ = 0;
    std::vector<data::Chunk> chunks = std::exchange(chunks_, {});
    if (chunks.size() == 1) return chunks[0].columns();
    std::vector<data::DataType> types;
    for (const data::StructField& column : request_.columns) types.push_back(column.type);
    return data::ConcatChunks(chunks, types).columns();
  }

  int64_t bytes_read() const override {
    return bytes_of_earlier_files_ + (reader_ != nullptr ? reader_->bytes_read() : 0);
  }

 private:
  data::ParquetReadRequest request_;
  std::shared_ptr<const data::ParquetFile> file_;
  std::unique_ptr<data::ParquetChunkReader> reader_;
  std::vector<data::Chunk> chunks_;
  int64_t rows_ = 0;
  int64_t bytes_of_earlier_files_ = 0;
};

class ParquetRowsWriter final : public data::FileWriter {
 public:
  explicit ParquetRowsWriter(std::unique_ptr<data::ParquetWriter> writer) : writer_(std::move(writer)) {}
  Status Write(const data::Chunk& chunk) override { return writer_->Write(chunk); }
  Status Close() override { return writer_->Close().status(); }

 private:
  std::unique_ptr<data::ParquetWriter> writer_;
};

class ParquetFormat final : public FileFormat {
 public:
  std::string short_name() const override { return "parquet"; }
  std::string display_name() const override { return "Parquet"; }
  std::vector<std::string> aliases() const override {
    return {"org.apache.spark.sql.parquet",
            "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"};
  }

  /// That of the first file, or of all of them with `mergeSchema`.
  Result<std::optional<data::Schema>> InferSchema(const FormatContext& context,
                                                  const std::vector<FileEntry>& files) const override {
    if (files.empty()) return std::optional<data::Schema>();
    TW_ASSIGN_OR_RETURN(const bool merge, data::BoolOption(context.options, "mergeSchema", false));
    data::Schema merged;
    for (size_t i = 0; i < (merge ? files.size() : 1); ++i) {
      TW_ASSIGN_OR_RETURN(const auto file, data::ParquetFile::Open(*context.file_system, files[i].path));
      TW_ASSIGN_OR_RETURN(const data::Schema schema, file->ReadSchema());
      TW_RETURN_NOT_OK(MergeSchema(schema, context.config->case_sensitive, &merged));
    }
    return std::optional(merged);
  }

  Result<ReaderFactory> NewReaders(const FormatContext& context, const data::Schema&, const data::Schema& columns,
                                   const sql::ScanRequest& scan) const override {
    data::ParquetReadRequest request;
    request.columns = columns;
    request.case_sensitive = context.config->case_sensitive;
    request.predicates = PredicatesOf(scan, columns);
    return ReaderFactory([request]() -> Result<std::unique_ptr<data::FileReader>> {
      return std::unique_ptr<data::FileReader>(std::make_unique<ParquetRows>(request));
    });
  }

  /// By row groups.
  Result<std::function<bool(const std::string&)>> Splitting(const FormatContext&) const override {
    return std::function<bool(const std::string&)>([](const std::string&) { return true; });
  }

  Result<FileWriters> NewWriters(const FormatContext& context, const data::Schema& schema) const override {
    data::ParquetWriteOptions options;
    options.compression = data::TextOption(context.options, "compression",
                                           data::TextOption(context.options, "parquet.compression",
                                                            context.settings->Get(kParquetCompression)));
    const std::string timestamps = context.settings->Get(kParquetTimestampType);
    if (EqualsIgnoreCase(timestamps, "TIMESTAMP_MICROS")) {
      options.timestamps = data::ParquetWriteOptions::Timestamps::kMicros;
    } else if (!EqualsIgnoreCase(timestamps, "INT96")) {
      return Unsupported(std::string(kParquetTimestampType.key) + " " + timestamps);
    }
    TW_ASSIGN_OR_RETURN(const std::string codec, data::ParquetCodecSuffix(options.compression));
    data::FileSystem* files = context.file_system;
    return FileWriters{[files, schema, options](const std::string& path) -> Result<std::unique_ptr<data::FileWriter>> {
                         TW_ASSIGN_OR_RETURN(auto writer, data::ParquetWriter::Make(*files, path, schema, options));
                         return std::unique_ptr<data::FileWriter>(
                             std::make_unique<ParquetRowsWriter>(std::move(writer)));
                       },
                       (codec.empty() ? "" : "." + codec) + ".parquet"};
  }
};

}  // namespace

std::unique_ptr<FileFormat> MakeParquetFormat() { return std::make_unique<ParquetFormat>(); }

}  // namespace thalweg::connectors
