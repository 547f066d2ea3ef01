#include "data/formats/json/json_file_writer.h"

#include "data/formats/json/json_writer.h"
#include "data/formats/text/byte_sink.h"

namespace thalweg::data {
namespace {

class JsonFileWriter final : public FileWriter {
 public:
  JsonFileWriter(DataType row_type, JsonWriter writer, std::unique_ptr<ByteSink> sink, std::string separator)
      : row_type_(std::move(row_type)),
        writer_(std::move(writer)),
        sink_(std::move(sink)),
        separator_(std::move(separator)) {}

  Status Write(const Chunk& input) override {
    const Chunk chunk = input.Dense();
    Column::Parts parts;
    parts.type = row_type_;
    parts.length = chunk.num_rows();
    parts.children = chunk.columns();
    const ColumnPtr rows = Column::Make(std::move(parts));
    for (int64_t row = 0; row < chunk.num_rows(); ++row) {
      writer_.AppendRow(*rows, row, sink_->text());
      sink_->text()->append(separator_);
      TW_RETURN_NOT_OK(sink_->Drain());
    }
    return Status::OK();
  }
  Status Close() override { return sink_->Close(); }

 private:
  DataType row_type_;
  JsonWriter writer_;
  std::unique_ptr<ByteSink> sink_;
  std::string separator_;
};

}  // namespace

Result<std::unique_ptr<FileWriter>> MakeJsonFileWriter(FileSystem& file_system, const std::string& path,
                                                       const Schema& schema, const JsonOptions& options) {
  DataType row_type = DataType::Struct(schema);
  TW_ASSIGN_OR_RETURN(JsonWriter writer, JsonWriter::Make(row_type, options));
  TW_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> sink,
                      ByteSink::Create(file_system, path, options.compression, options.encoding.value_or("")));
  return std::unique_ptr<FileWriter>(std::make_unique<JsonFileWriter>(
      std::move(row_type), std::move(writer), std::move(sink), options.line_separator.value_or("\n")));
}

}  // namespace thalweg::data
