#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "data/formats/csv/csv_options.h"
#include "data/formats/csv/csv_tokenizer.h"
#include "data/formats/file_reader.h"
#include "data/formats/text/line_reader.h"

namespace thalweg::data {

/// The records of CSV files, cut into fields: lines, or with `multiLine` whatever quotes hold together. Blank lines and
/// comments are left out. Thread: confined.
class CsvRecords {
 public:
  explicit CsvRecords(const CsvOptions& options);
  /// Begins a file; a header is not taken for anything else than a record.
  Status Open(FileSystem& file_system, const FileRange& range);
  /// Cuts the next record into fields(); false at the end of the file. `cut` false: the record is only found (lines).
  Result<bool> Next(bool cut = true);
  const CsvTokenizer& fields() const { return tokenizer_; }
  /// The record as it stands in the file, without its line end.
  std::string_view record() const { return record_; }
  /// What the record lies in.
  const std::shared_ptr<Buffer>& block() const { return lines_ != nullptr ? lines_->block() : whole_; }
  int64_t bytes_read() const { return bytes_of_earlier_files_ + (lines_ != nullptr ? lines_->bytes_read() : 0); }

 private:
  Status OpenWhole(FileSystem& file_system, const FileRange& range);
  bool NextOfWhole();

  const CsvOptions& options_;
  CsvTokenizer tokenizer_;
  std::unique_ptr<LineReader> lines_;
  std::shared_ptr<Buffer> whole_;  // with multiLine: the file, lines ended by one line feed
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::string_view record_;
  int64_t bytes_of_earlier_files_ = 0;
};

/// The names of columns by the first record of a file, as Spark makes them safe: `_c0` without a header or a name, an index
/// behind names that repeat.
std::vector<std::string> CsvColumnNames(const CsvTokenizer& first, const CsvOptions& options, bool case_sensitive);

}  // namespace thalweg::data
