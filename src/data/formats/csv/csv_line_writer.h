#pragma once

#include <string>
#include <string_view>

#include "data/columnar/chunk.h"
#include "data/formats/csv/csv_options.h"

namespace thalweg::data {

/// Rows as lines of CSV. Thread: confined (it keeps a scratch buffer).
/// Rules, as recorded of Spark's writer: a value is quoted when it holds the separator, a line end or a quote, begins with
/// the comment character in the first column, or always on demand; inside quotes, quotes and escapes are escaped; blanks
/// around values go by default; null and empty text have their own words, which are not quoted a second time.
class CsvLineWriter {
 public:
  explicit CsvLineWriter(const CsvOptions& options);
  /// One line with its end; nothing when it would be empty. Columns are flat or constant.
  void AppendRow(const Chunk& chunk, int64_t row, std::string* out);
  void AppendHeader(const Schema& schema, std::string* out);

 private:
  /// Puts a field's text where it has to go; `fixed`: it is the word for null or for empty text.
  void AppendField(size_t index, std::string_view text, bool fixed, std::string* out) const;
  void AppendQuoted(std::string_view text, std::string* out) const;
  void AppendText(size_t index, std::string_view text, std::string* out) const;
  void EndLine(size_t start, std::string* out) const;

  CsvOptions options_;
  char comment_;
  std::string separator_;
  std::string line_ends_;  // characters that end lines for somebody
  std::string scratch_;
};

/// A value as CSV files show it; the value is not null, the column flat or constant.
void AppendCsvValue(const Column& column, int64_t row, const CsvOptions& options, std::string* out);

}  // namespace thalweg::data
