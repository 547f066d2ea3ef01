#include "data/formats/json/json_file_reader.h"

#include "data/formats/json/json_decoder.h"
#include "data/formats/text/byte_stream.h"
#include "data/formats/text/charset.h"
#include "data/formats/text/line_reader.h"

namespace thalweg::data {
namespace {

/// The charset to decode from; empty for UTF-8.
std::string CharsetOf(const JsonOptions& options) {
  return options.encoding && !IsUtf8Charset(*options.encoding) ? *options.encoding : std::string();
}

class JsonFileReader final : public FileReader {
 public:
  JsonFileReader(const JsonOptions& options, std::unique_ptr<JsonDecoder> decoder)
      : options_(options), decoder_(std::move(decoder)) {}

  Status Open(FileSystem& file_system, const FileRange& range) override {
    if (lines_ != nullptr) bytes_of_earlier_files_ += std::exchange(lines_, nullptr)->bytes_read();
    if (options_.multi_line) return OpenWhole(file_system, range);
    TW_ASSIGN_OR_RETURN(lines_, LineReader::Open(file_system, range.path, {range.start, range.length},
                                                 options_.line_separator.value_or(""), CharsetOf(options_),
                                                 range.file_size));
    return Status::OK();
  }

  Result<bool> Read(int64_t rows) override {
    if (options_.multi_line) {
      TW_RETURN_NOT_OK(decoder_->Append({reinterpret_cast<const char*>(whole_->data()), whole_bytes_}));
      return false;
    }
    std::string_view line;
    while (decoder_->length() < rows) {
      TW_ASSIGN_OR_RETURN(const bool more, lines_->Next(&line));
      if (!more) return false;
      TW_RETURN_NOT_OK(decoder_->Append(line));
    }
    return true;
  }

  int64_t length() const override { return decoder_->length(); }
  Result<std::vector<ColumnPtr>> Finish() override { return decoder_->Finish()->parts().children; }
  int64_t bytes_read() const override {
    return bytes_of_earlier_files_ + (lines_ != nullptr ? lines_->bytes_read() : 0);
  }

 private:
  Status OpenWhole(FileSystem& file_system, const FileRange& range) {
    TW_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> stream, OpenByteStream(file_system, range.path));
    std::string charset = CharsetOf(options_);
    if (!options_.encoding) {
      char first[4];
      TW_ASSIGN_OR_RETURN(const size_t got, stream->Read(first));
      charset = DetectJsonCharset({first, got});
      TW_ASSIGN_OR_RETURN(stream, OpenByteStream(file_system, range.path));
    }
    if (!IsUtf8Charset(charset)) {
      TW_ASSIGN_OR_RETURN(stream, DecodeToUtf8(std::move(stream), charset));
    }
    int64_t size = 0;
    TW_ASSIGN_OR_RETURN(whole_, ReadAll(*stream, range.file_size, &size));
    whole_bytes_ = static_cast<size_t>(size);
    bytes_of_earlier_files_ += size;
    return Status::OK();
  }

  JsonOptions options_;
  std::unique_ptr<JsonDecoder> decoder_;
  std::unique_ptr<LineReader> lines_;
  BufferPtr whole_;
  size_t whole_bytes_ = 0;
  int64_t bytes_of_earlier_files_ = 0;
};

}  // namespace

Result<std::unique_ptr<FileReader>> MakeJsonFileReader(const Schema& columns, const JsonOptions& options) {
  if (!options.multi_line && options.encoding && !options.line_separator) {
    const std::string_view charset = *options.encoding;
    if (charset.starts_with("UTF-16") || charset.starts_with("UTF-32") || charset.starts_with("utf-16") ||
        charset.starts_with("utf-32")) {
      return Error("ILLEGAL_ARGUMENT")
          .With("message", "requirement failed: The lineSep option must be specified for the " + *options.encoding +
                               " encoding");
    }
  }
  TW_ASSIGN_OR_RETURN(std::unique_ptr<JsonDecoder> decoder,
                      JsonDecoder::Make(DataType::Struct(columns), options,
                                        {.array_as_rows = true, .keep_blank = false}));
  return std::unique_ptr<FileReader>(std::make_unique<JsonFileReader>(options, std::move(decoder)));
}

bool CanSplitJsonFile(const JsonOptions& options, const std::string& path) {
  return !options.multi_line && CharsetOf(options).empty() && CompressionOfName(path) == Compression::kNone &&
         options.line_separator.value_or("").size() <= 1;
}

}  // namespace thalweg::data
