// The writer. Exceptions of the ORC library end here.

#include "data/formats/orc/orc_file_writer.h"

#include <arrow/adapters/orc/adapter.h>
#include <arrow/record_batch.h>

#include <vector>

#include "base/string_case.h"
#include "data/columnar/arrow_bridge.h"
#include "data/formats/orc/hybrid_calendar.h"
#include "data/formats/orc/orc_schema.h"
#include "data/formats/parquet/arrow_files.h"

namespace thalweg::data {

namespace {

using arrow::adapters::orc::ORCFileWriter;

struct OrcCodec {
  std::string_view name;
  arrow::Compression::type type;
  std::string_view suffix;
};
constexpr OrcCodec kOrcCodecs[] = {
    {"none", arrow::Compression::UNCOMPRESSED, ""},  {"uncompressed", arrow::Compression::UNCOMPRESSED, ""},
    {"snappy", arrow::Compression::SNAPPY, "snappy"}, {"zlib", arrow::Compression::GZIP, "zlib"},
    {"zstd", arrow::Compression::ZSTD, "zstd"},       {"lz4", arrow::Compression::LZ4, "lz4"},
};

Result<const OrcCodec*> FindOrcCodec(std::string_view compression) {
  for (const OrcCodec& codec : kOrcCodecs) {
    if (EqualsIgnoreCase(codec.name, compression)) return &codec;
  }
  for (const std::string_view name : {"lzo", "brotli"}) {
    if (EqualsIgnoreCase(name, compression)) return Unsupported("writing ORC files with " + std::string(name));
  }
  return Error("CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION").With("codecName", compression)
      .With("availableCodecs", "brotli, uncompressed, lzo, snappy, none, zlib, zstd, lz4");
}

/// As ORC's Java writer has them.
arrow::adapters::orc::WriteOptions Options(const OrcCodec& codec) {
  arrow::adapters::orc::WriteOptions options;
  options.compression = codec.type;
  options.compression_block_size = 256 * 1024;
  options.dictionary_key_size_threshold = 0.8;
  options.batch_size = kChunkRows;
  return options;
}

class OrcWriter final : public FileWriter {
 public:
  explicit OrcWriter(std::string path) : path_(std::move(path)) {}

  Status Open(FileSystem& file_system, const Schema& schema, std::string_view compression) {
    TW_ASSIGN_OR_RETURN(const OrcCodec* codec, FindOrcCodec(compression));
    TW_ASSIGN_OR_RETURN(schema_, ToOrcSchema(schema));
    TW_ASSIGN_OR_RETURN(auto disk_file, file_system.Create(path_, CreateMode::kReplace));
    output_ = MakeArrowOutput(std::move(disk_file), &disk_error_);
    TW_RETURN_NOT_OK(Guard([&]() -> Status {
      auto made = ORCFileWriter::Open(output_.get(), Options(*codec));
      if (!made.ok()) return FromArrowStatus(made.status(), "write " + path_);
      file_ = std::move(*made);
      return Status::OK();
    }));
    return Write(Chunk({}, 0));
  }

  /// A first chunk without rows gives the file its schema.
  Status Write(const Chunk& input) override {
    const Chunk chunk = input.Dense();
    std::vector<ColumnPtr> columns;
    for (size_t i = 0; i < schema_.stored.size(); ++i) {
      const ColumnPtr column = chunk.num_rows() == 0 ? Column::Nulls(schema_.stored[i].type, 0) : chunk.column(static_cast<int>(i));
      columns.push_back(Flatten(ToHybridCalendar(Retyped(column, schema_.stored[i].type))));
      if (HasFractionBefore1970(*columns.back())) return Unsupported("TIMESTAMP values before 1970 with fractions of a second in ORC files");
    }
    TW_ASSIGN_OR_RETURN(const auto exported, ExportChunk(Chunk(std::move(columns), chunk.num_rows()), schema_.stored, {}));
    return Guard([&]() -> Status {
      const auto batch = arrow::RecordBatch::Make(schema_.arrow, exported->num_rows(), exported->columns());
      return FromArrowStatus(file_->Write(*batch), "write " + path_);
    });
  }

  Status Close() override {
    return Guard([&]() -> Status {
      TW_RETURN_NOT_OK(FromArrowStatus(file_->Close(), "write " + path_));
      return FromArrowStatus(output_->Close(), "write " + path_);
    });
  }

 private:
  template <typename Body>
  Status Guard(Body body) {
    Status status = GuardWriting(path_, body);
    return disk_error_.ok() ? status : disk_error_;
  }

  std::string path_;
  Status disk_error_;
  OrcWriteSchema schema_;
  std::shared_ptr<arrow::io::OutputStream> output_;
  std::unique_ptr<ORCFileWriter> file_;  // borrows output_
};

}  // namespace

Result<std::string> OrcCodecSuffix(std::string_view compression) {
  TW_ASSIGN_OR_RETURN(const OrcCodec* codec, FindOrcCodec(compression));
  return std::string(codec->suffix);
}

Status CheckOrcTypes(const Schema& schema) { return ToOrcSchema(schema).status(); }

Result<std::unique_ptr<FileWriter>> MakeOrcFileWriter(FileSystem& file_system, const std::string& path, const Schema& schema,
                                                      std::string_view compression) {
  auto writer = std::make_unique<OrcWriter>(path);
  TW_RETURN_NOT_OK(writer->Open(file_system, schema, compression));
  return std::unique_ptr<FileWriter>(std::move(writer));
}

}  // namespace thalweg::data
