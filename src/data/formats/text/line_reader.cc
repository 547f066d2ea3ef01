#include "data/formats/text/line_reader.h"

#include <algorithm>
#include <cstring>

#include "data/formats/text/charset.h"

namespace thalweg::data {
namespace {

constexpr int64_t kLargestBlock = 1 << 20;
constexpr int64_t kLeastBlock = 4096;

}  // namespace

Result<std::unique_ptr<LineReader>> LineReader::Open(FileSystem& file_system, const std::string& path, LineRange range,
                                                     std::string separator, std::string_view charset,
                                                     int64_t size_hint, int64_t longest_line) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> stream, OpenByteStream(file_system, path, range.start));
  if (!charset.empty()) {
    TW_ASSIGN_OR_RETURN(stream, DecodeToUtf8(std::move(stream), charset));
  }
  std::unique_ptr<LineReader> reader(new LineReader(std::move(stream), std::move(separator), size_hint));
  reader->longest_line_ = longest_line;
  reader->block_position_ = range.start;
  if (range.length != INT64_MAX) reader->end_position_ = range.start + range.length;
  TW_RETURN_NOT_OK(reader->Refill());
  if (range.start == 0) {
    TW_RETURN_NOT_OK(reader->SkipByteOrderMark());
  } else {
    const int64_t end_position = std::exchange(reader->end_position_, INT64_MAX);
    std::string_view rest_of_other_piece;
    TW_RETURN_NOT_OK(reader->Next(&rest_of_other_piece).status());
    reader->end_position_ = end_position;
  }
  return reader;
}

Status LineReader::SkipByteOrderMark() {
  while (filled_ < static_cast<int64_t>(kUtf8ByteOrderMark.size()) && !at_end_) TW_RETURN_NOT_OK(Refill());
  if (std::string_view(data(), static_cast<size_t>(filled_)).starts_with(kUtf8ByteOrderMark))
    line_start_ = static_cast<int64_t>(kUtf8ByteOrderMark.size());
  return Status::OK();
}

Status LineReader::Refill() {
  const int64_t kept = filled_ - line_start_;
  if (kept > longest_line_) {
    return Error("IO_ERROR")
        .With("attempted", "read a line")
        .With("error", "it is longer than " + std::to_string(longest_line_) + " bytes")
        .Kind(ErrorKind::kEnvironment);
  }
  int64_t wanted = std::clamp(size_hint_ - bytes_read_ + 1, kLeastBlock, kLargestBlock);
  if (kept + 1 > wanted / 2) wanted = 2 * kept + kLeastBlock;
  if (block_ == nullptr || block_.use_count() > 1 || block_->size() < wanted + kTextSlack) {
    std::shared_ptr<Buffer> next = Buffer::Allocate(wanted + kTextSlack);
    if (kept > 0) std::memcpy(next->mutable_data(), block_->data() + line_start_, static_cast<size_t>(kept));
    block_ = std::move(next);
  } else if (kept > 0) {
    std::memmove(block_->mutable_data(), block_->data() + line_start_, static_cast<size_t>(kept));
  }
  block_position_ += line_start_;
  line_start_ = 0;
  filled_ = kept;
  const int64_t room = block_->size() - kTextSlack - filled_;
  char* target = reinterpret_cast<char*>(block_->mutable_data()) + filled_;
  TW_ASSIGN_OR_RETURN(const size_t got, stream_->Read({target, static_cast<size_t>(room)}));
  filled_ += static_cast<int64_t>(got);
  bytes_read_ += static_cast<int64_t>(got);
  at_end_ = got == 0;
  std::memset(block_->mutable_data() + filled_, 0, static_cast<size_t>(kTextSlack));
  return Status::OK();
}

bool LineReader::FindEnd(int64_t from, int64_t* end, int64_t* next) const {
  const char* text = data();
  if (!separator_.empty()) {
    const int64_t overlap = std::max<int64_t>(line_start_, from - static_cast<int64_t>(separator_.size()) + 1);
    const size_t found =
        std::string_view(text, static_cast<size_t>(filled_)).find(separator_, static_cast<size_t>(overlap));
    if (found == std::string_view::npos) return false;
    *end = static_cast<int64_t>(found);
    *next = *end + static_cast<int64_t>(separator_.size());
    return true;
  }
  const auto left = static_cast<size_t>(filled_ - from);
  const auto* feed = static_cast<const char*>(std::memchr(text + from, '\n', left));
  const size_t before_feed = feed != nullptr ? static_cast<size_t>(feed - text - from) : left;
  const auto* carriage = static_cast<const char*>(std::memchr(text + from, '\r', before_feed));
  if (carriage != nullptr) {
    *end = carriage - text;
    if (*end + 1 == filled_ && !at_end_) return false;  // a line feed may follow
    *next = *end + 1 + (*end + 1 < filled_ && text[*end + 1] == '\n');
    return true;
  }
  if (feed == nullptr) return false;
  *end = feed - text;
  *next = *end + 1;
  return true;
}

Result<bool> LineReader::Next(std::string_view* line) {
  if (block_position_ + line_start_ > end_position_) return false;
  int64_t from = line_start_, end = 0, next = 0;
  while (!FindEnd(from, &end, &next)) {
    if (at_end_) {
      if (line_start_ == filled_) return false;
      end = next = filled_;
      break;
    }
    const int64_t scanned = filled_ - line_start_;
    const bool carriage_last = separator_.empty() && filled_ > line_start_ && data()[filled_ - 1] == '\r';
    TW_RETURN_NOT_OK(Refill());
    from = scanned - (carriage_last ? 1 : 0);
  }
  *line = {data() + line_start_, static_cast<size_t>(end - line_start_)};
  line_start_ = next;
  return true;
}

}  // namespace thalweg::data
