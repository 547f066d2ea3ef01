#include "data/formats/json/json_file_reader.h"

#include "base/string_case.h"
#include "data/formats/json/json_decoder.h"
#include "data/formats/json/json_texts.h"

namespace thalweg::data {
namespace {

class JsonFileReader final : public FileReader {
 public:
  explicit JsonFileReader(const JsonOptions& options) : options_(Exact(options)), texts_(options_) {}

  Status Start(const Schema& columns) {
    TW_ASSIGN_OR_RETURN(decoder_, JsonDecoder::Make(DataType::Struct(columns), options_,
                                                    {.array_as_rows = true, .keep_blank = false}));
    return Status::OK();
  }

  Status Open(FileSystem& file_system, const FileRange& range) override { return texts_.Open(file_system, range); }

  Result<bool> Read(int64_t rows) override {
    std::string_view text;
    while (decoder_->length() < rows) {
      TW_ASSIGN_OR_RETURN(const bool more, texts_.Next(&text));
      if (!more) return false;
      TW_RETURN_NOT_OK(decoder_->Append(text, &texts_.block()));
    }
    return true;
  }

  int64_t length() const override { return decoder_->length(); }
  Result<std::vector<ColumnPtr>> Finish() override { return decoder_->Finish()->parts().children; }
  int64_t bytes_read() const override { return texts_.bytes_read(); }

 private:
  static JsonOptions Exact(JsonOptions options) {
    options.exact_text = true;
    return options;
  }

  JsonOptions options_;
  JsonTexts texts_;
  std::unique_ptr<JsonDecoder> decoder_;
};

}  // namespace

Result<std::unique_ptr<FileReader>> MakeJsonFileReader(const Schema& columns, const JsonOptions& options) {
  if (!options.multi_line && options.encoding) {
    const std::string charset = ToAsciiUpper(*options.encoding);
    if (charset == "UTF-16" || charset == "UTF-32") {
      return Error("ILLEGAL_ARGUMENT")
          .With("message", "requirement failed: The " + charset +
                               " encoding must not be included in the denyList when multiLine is disabled:\n" +
                               "denylist: UTF-16, UTF-32");
    }
    if (!options.line_separator && !CharsetToDecode(options).empty()) {
      return Error("ILLEGAL_ARGUMENT")
          .With("message", "requirement failed: The lineSep option must be specified for the " + charset +
                               " encoding");
    }
  }
  auto reader = std::make_unique<JsonFileReader>(options);
  TW_RETURN_NOT_OK(reader->Start(columns));
  return std::unique_ptr<FileReader>(std::move(reader));
}

bool CanSplitJsonFile(const JsonOptions& options, const std::string& path) {
  return !options.multi_line && CharsetToDecode(options).empty() && CompressionOfName(path) == Compression::kNone &&
         options.line_separator.value_or("").size() <= 1;
}

}  // namespace thalweg::data
