#include "data/formats/csv/csv_file_writer.h"

#include "data/formats/csv/csv_file_reader.h"
#include "data/formats/csv/csv_line_writer.h"
#include "data/formats/text/byte_sink.h"

namespace thalweg::data {
namespace {

class CsvFileWriter final : public FileWriter {
 public:
  CsvFileWriter(const CsvOptions& options, std::unique_ptr<ByteSink> sink) : lines_(options), sink_(std::move(sink)) {}

  void WriteHeader(const Schema& schema) { lines_.AppendHeader(schema, sink_->text()); }

  Status Write(const Chunk& input) override {
    const Chunk dense = input.Dense();
    std::vector<ColumnPtr> flat;
    for (const ColumnPtr& column : dense.columns()) flat.push_back(Flatten(column));
    const Chunk chunk(std::move(flat), dense.num_rows());
    for (int64_t row = 0; row < chunk.num_rows(); ++row) {
      lines_.AppendRow(chunk, row, sink_->text());
      TW_RETURN_NOT_OK(sink_->Drain());
    }
    return Status::OK();
  }
  Status Close() override { return sink_->Close(); }

 private:
  CsvLineWriter lines_;
  std::unique_ptr<ByteSink> sink_;
};

}  // namespace

Result<std::unique_ptr<FileWriter>> MakeCsvFileWriter(FileSystem& file_system, const std::string& path,
                                                      const Schema& schema, const CsvOptions& options) {
  TW_RETURN_NOT_OK(CheckCsvSchema(schema, options));
  TW_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> sink,
                      ByteSink::Create(file_system, path, options.compression, options.encoding));
  auto writer = std::make_unique<CsvFileWriter>(options, std::move(sink));
  if (options.header) writer->WriteHeader(schema);
  return std::unique_ptr<FileWriter>(std::move(writer));
}

}  // namespace thalweg::data
