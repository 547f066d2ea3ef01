#include "data/formats/text/text_file_writer.h"

#include "data/formats/text/byte_sink.h"
#include "data/formats/text/charset.h"

namespace thalweg::data {
namespace {

class TextFileWriter final : public FileWriter {
 public:
  TextFileWriter(std::unique_ptr<ByteSink> sink, std::string separator)
      : sink_(std::move(sink)), separator_(std::move(separator)) {}

  Status Write(const Chunk& input) override {
    const Chunk chunk = input.Dense();
    const ColumnPtr column = Flatten(chunk.column(0));
    const auto values = column->values<TextView>();
    for (int64_t row = 0; row < chunk.num_rows(); ++row) {
      if (!column->IsNull(row)) sink_->text()->append(values[static_cast<size_t>(row)].view());
      sink_->text()->append(separator_);
      TW_RETURN_NOT_OK(sink_->Drain());
    }
    return Status::OK();
  }
  Status Close() override { return sink_->Close(); }

 private:
  std::unique_ptr<ByteSink> sink_;
  std::string separator_;
};

}  // namespace

Result<std::unique_ptr<FileWriter>> MakeTextFileWriter(FileSystem& file_system, const std::string& path,
                                                       const TextOptions& options) {
  std::string separator = options.line_separator.value_or("\n");
  if (!IsUtf8Charset(options.encoding)) {
    TW_ASSIGN_OR_RETURN(separator, EncodeFromUtf8(separator, options.encoding));
  }
  TW_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> sink, ByteSink::Create(file_system, path, options.compression, ""));
  return std::unique_ptr<FileWriter>(std::make_unique<TextFileWriter>(std::move(sink), std::move(separator)));
}

}  // namespace thalweg::data
