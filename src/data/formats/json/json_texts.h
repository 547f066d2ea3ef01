#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "data/formats/file_reader.h"
#include "data/formats/json/json_options.h"
#include "data/formats/text/line_reader.h"

namespace thalweg::data {

/// The JSON texts of files: lines, or whole files with `multiLine`; always UTF-8. Thread: confined.
class JsonTexts {
 public:
  explicit JsonTexts(const JsonOptions& options) : options_(options) {}
  Status Open(FileSystem& file_system, const FileRange& range);
  /// The next text of the open file; false at its end. Valid until the next call; kTextSlack bytes behind it may be read.
  Result<bool> Next(std::string_view* text);
  /// What the last text lies in.
  const std::shared_ptr<Buffer>& block() const { return lines_ != nullptr ? lines_->block() : whole_; }
  int64_t bytes_read() const { return bytes_of_earlier_files_ + (lines_ != nullptr ? lines_->bytes_read() : 0); }

 private:
  Status OpenWhole(FileSystem& file_system, const FileRange& range);

  const JsonOptions& options_;
  std::unique_ptr<LineReader> lines_;
  std::shared_ptr<Buffer> whole_;  // with multiLine: the file, until it was given out
  size_t whole_bytes_ = 0;
  bool whole_given_ = false;
  int64_t bytes_of_earlier_files_ = 0;
};

/// The charset of a reader's options to decode from; empty for UTF-8.
std::string CharsetToDecode(const JsonOptions& options);

}  // namespace thalweg::data
