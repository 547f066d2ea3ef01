#include "data/formats/csv/csv_records.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/string_case.h"
#include "data/formats/text/charset.h"
#include "data/text/utf8.h"

namespace thalweg::data {
namespace {

/// Whether nothing but blanks and control characters stands there (java.lang.String.trim).
bool IsBlankLine(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) <= ' '; });
}

/// The line separator of a text by its first line end: "\n", "\r" or "\r\n".
std::string DetectSeparator(std::string_view text) {
  const size_t first = text.find_first_of("\r\n");
  if (first == std::string_view::npos || text[first] == '\n') return "\n";
  return first + 1 < text.size() && text[first + 1] == '\n' ? "\r\n" : "\r";
}

/// Every `separator` becomes a line feed, in place; the new end.
char* Normalize(char* begin, char* end, std::string_view separator) {
  if (separator == "\n") return end;
  char* to = begin;
  for (char* from = begin; from < end;) {
    if (std::string_view(from, static_cast<size_t>(end - from)).starts_with(separator)) {
      *to++ = '\n';
      from += separator.size();
    } else {
      *to++ = *from++;
    }
  }
  return to;
}

}  // namespace

CsvRecords::CsvRecords(const CsvOptions& options)
    : options_(options), tokenizer_(options, options.multi_line ? '\n' : '\0') {}

Status CsvRecords::Open(FileSystem& file_system, const FileRange& range) {
  if (lines_ != nullptr) bytes_of_earlier_files_ += std::exchange(lines_, nullptr)->bytes_read();
  if (options_.multi_line) return OpenWhole(file_system, range);
  TW_ASSIGN_OR_RETURN(lines_,
                      LineReader::Open(file_system, range.path, {range.start, range.length},
                                       options_.line_separator.value_or(""), options_.encoding, range.file_size));
  return Status::OK();
}

Status CsvRecords::OpenWhole(FileSystem& file_system, const FileRange& range) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> stream, OpenByteStream(file_system, range.path));
  if (!options_.encoding.empty()) {
    TW_ASSIGN_OR_RETURN(stream, DecodeToUtf8(std::move(stream), options_.encoding));
  }
  int64_t size = 0;
  TW_ASSIGN_OR_RETURN(whole_, ReadAll(*stream, range.file_size, &size));
  bytes_of_earlier_files_ += size;
  char* begin = reinterpret_cast<char*>(whole_->mutable_data());
  const std::string_view text(begin, static_cast<size_t>(size));
  if (text.starts_with(kUtf8ByteOrderMark)) begin += kUtf8ByteOrderMark.size();
  at_ = begin;
  end_ = Normalize(begin, begin + (text.data() + text.size() - begin),
                   options_.line_separator ? *options_.line_separator : DetectSeparator(text));
  return Status::OK();
}

bool CsvRecords::NextOfWhole() {
  while (at_ < end_) {
    if (*at_ == '\n') {
      ++at_;
      continue;
    }
    if (options_.comment != 0 && *at_ == options_.comment) {
      const void* feed = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
      at_ = feed == nullptr ? end_ : static_cast<const char*>(feed) + 1;
      continue;
    }
    const char* const next = tokenizer_.Parse(at_, end_);
    record_ = {at_, static_cast<size_t>(next - at_)};
    if (record_.ends_with('\n')) record_.remove_suffix(1);
    at_ = next;
    return true;
  }
  return false;
}

Result<bool> CsvRecords::Next(bool cut) {
  if (options_.multi_line) return NextOfWhole();
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool more, lines_->Next(&record_));
    if (!more) return false;
    if (record_.empty() || (static_cast<unsigned char>(record_[0]) <= ' ' && IsBlankLine(record_))) continue;
    if (options_.comment != 0 && record_[0] == options_.comment) continue;
    if (cut) tokenizer_.Parse(record_.data(), record_.data() + record_.size());
    return true;
  }
}

std::vector<std::string> CsvColumnNames(const CsvTokenizer& first, const CsvOptions& options, bool case_sensitive) {
  std::vector<std::string> names;
  const auto spelled = [&](size_t i) {
    std::string name;
    AppendValidUtf8(first.Text(i), &name);
    return name;
  };
  const auto folded = [&](const std::string& name) {
    std::string lower;
    if (case_sensitive) return name;
    AppendLower(name, &lower);
    return lower;
  };
  std::unordered_map<std::string, int> times;
  for (size_t i = 0; i < first.size(); ++i) {
    if (!first.IsNull(i)) ++times[folded(spelled(i))];
  }
  for (size_t i = 0; i < first.size(); ++i) {
    const std::string index = std::to_string(i);
    if (!options.header || first.IsNull(i) || first.Text(i).empty() || first.Text(i) == options.null_value) {
      names.push_back("_c" + index);
      continue;
    }
    const std::string name = spelled(i);
    names.push_back(times[folded(name)] > 1 ? name + index : name);
  }
  return names;
}

}  // namespace thalweg::data
