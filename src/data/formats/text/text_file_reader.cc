#include "data/formats/text/text_file_reader.h"

#include "data/columnar/builder.h"
#include "data/formats/text/charset.h"
#include "data/formats/text/line_reader.h"

namespace thalweg::data {
namespace {

class TextFileReader final : public FileReader {
 public:
  TextFileReader(const Schema& columns, const TextOptions& options)
      : options_(options), counts_only_(columns.empty()), builder_(DataType::String()) {}

  Status Open(FileSystem& file_system, const FileRange& range) override {
    if (lines_ != nullptr) bytes_of_earlier_files_ += std::exchange(lines_, nullptr)->bytes_read();
    held_block_ = nullptr;
    if (options_.whole_text) {
      TW_ASSIGN_OR_RETURN(const std::unique_ptr<ByteStream> stream, OpenByteStream(file_system, range.path));
      TW_ASSIGN_OR_RETURN(whole_, ReadAll(*stream, range.file_size, &whole_bytes_));
      bytes_of_earlier_files_ += whole_bytes_;
      return Status::OK();
    }
    std::string separator = options_.line_separator.value_or("");
    if (!separator.empty() && !IsUtf8Charset(options_.encoding)) {
      TW_ASSIGN_OR_RETURN(separator, EncodeFromUtf8(separator, options_.encoding));
    }
    TW_ASSIGN_OR_RETURN(lines_, LineReader::Open(file_system, range.path, {range.start, range.length}, separator, {},
                                                 range.file_size));
    return Status::OK();
  }

  Result<bool> Read(int64_t rows) override {
    if (options_.whole_text) {
      Append({reinterpret_cast<const char*>(whole_->data()), static_cast<size_t>(whole_bytes_)}, whole_);
      return false;
    }
    std::string_view line;
    while (rows_ < rows) {
      TW_ASSIGN_OR_RETURN(const bool more, lines_->Next(&line));
      if (!more) return false;
      Append(line, lines_->block());
    }
    return true;
  }

  int64_t length() const override { return rows_; }
  Result<std::vector<ColumnPtr>> Finish() override {
    rows_ = 0;
    held_block_ = nullptr;
    if (counts_only_) return std::vector<ColumnPtr>();
    return std::vector<ColumnPtr>{builder_.Finish()};
  }
  int64_t bytes_read() const override {
    return bytes_of_earlier_files_ + (lines_ != nullptr ? lines_->bytes_read() : 0);
  }

 private:
  /// Long lines stay where they were read.
  void Append(std::string_view line, const BufferPtr& block) {
    ++rows_;
    if (counts_only_) return;
    if (line.size() > TextView::kInline && held_block_ != block.get()) {
      builder_.AddTextBuffer(block);
      held_block_ = block.get();
    }
    builder_.AppendView(TextView(line.data(), static_cast<uint32_t>(line.size())));
  }

  TextOptions options_;
  bool counts_only_;
  TextBuilder builder_;
  int64_t rows_ = 0;
  const Buffer* held_block_ = nullptr;  // the last one given to the builder
  std::unique_ptr<LineReader> lines_;
  BufferPtr whole_;
  int64_t whole_bytes_ = 0;
  int64_t bytes_of_earlier_files_ = 0;
};

}  // namespace

Result<TextOptions> TextOptions::Make(const OptionList& options) {
  TextOptions made;
  TW_ASSIGN_OR_RETURN(made.whole_text, BoolOption(options, "wholetext", false));
  TW_ASSIGN_OR_RETURN(made.line_separator, LineSeparatorOption(options));
  made.encoding = TextOption(options, "encoding", "");
  TW_ASSIGN_OR_RETURN(made.compression, CompressionOfOption(TextOption(options, "compression", "none")));
  return made;
}

std::unique_ptr<FileReader> MakeTextFileReader(const Schema& columns, const TextOptions& options) {
  return std::make_unique<TextFileReader>(columns, options);
}

bool CanSplitTextFile(const TextOptions& options, const std::string& path) {
  return !options.whole_text && CompressionOfName(path) == Compression::kNone &&
         options.line_separator.value_or("").size() <= 1;
}

}  // namespace thalweg::data
