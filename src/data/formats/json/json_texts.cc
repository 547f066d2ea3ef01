#include "data/formats/json/json_texts.h"

#include "data/formats/text/byte_stream.h"
#include "data/formats/text/charset.h"

namespace thalweg::data {

std::string CharsetToDecode(const JsonOptions& options) {
  return options.encoding && !IsUtf8Charset(*options.encoding) ? *options.encoding : std::string();
}

Status JsonTexts::Open(FileSystem& file_system, const FileRange& range) {
  if (lines_ != nullptr) bytes_of_earlier_files_ += std::exchange(lines_, nullptr)->bytes_read();
  if (options_.multi_line) return OpenWhole(file_system, range);
  TW_ASSIGN_OR_RETURN(lines_, LineReader::Open(file_system, range.path, {range.start, range.length},
                                               options_.line_separator.value_or(""), CharsetToDecode(options_),
                                               range.file_size));
  return Status::OK();
}

Status JsonTexts::OpenWhole(FileSystem& file_system, const FileRange& range) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> stream, OpenByteStream(file_system, range.path));
  std::string charset = CharsetToDecode(options_);
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
  whole_given_ = false;
  bytes_of_earlier_files_ += size;
  return Status::OK();
}

Result<bool> JsonTexts::Next(std::string_view* text) {
  if (!options_.multi_line) return lines_->Next(text);
  if (std::exchange(whole_given_, true)) return false;
  *text = {reinterpret_cast<const char*>(whole_->data()), whole_bytes_};
  if (text->starts_with("\xEF\xBB\xBF")) text->remove_prefix(3);
  return true;
}

}  // namespace thalweg::data
