#pragma once

#include <optional>
#include <string>

#include "data/formats/option_list.h"
#include "data/formats/text/byte_stream.h"
#include "data/text/datetime_pattern.h"
#include "data/text/time_zone.h"

namespace thalweg::data {

/// What to do with a quote inside a quoted value that is not escaped. Names are univocity's.
enum class UnescapedQuotes : uint8_t { kStopAtClosingQuote, kStopAtDelimiter, kSkipValue, kRaiseError };

/// Options of CSV readers and writers, Spark's names and defaults. A character that is 0 is off.
struct CsvOptions {
  std::string delimiter = ",";
  char quote = '"';
  char escape = '\\';
  char escape_of_escape = '\\';  ///< charToEscapeQuoteEscaping; by default `escape`, off when that is the quote
  char comment = 0;
  bool header = false;
  bool infer_schema = false;
  bool enforce_schema = true;
  bool multi_line = false;
  bool column_pruning = true;
  bool ignore_leading_blanks = false;
  bool ignore_trailing_blanks = false;
  std::string null_value;
  std::string empty_value;
  std::string nan_value = "NaN";
  std::string positive_infinity = "Inf";
  std::string negative_infinity = "-Inf";
  std::string encoding;  ///< empty: UTF-8
  std::optional<std::string> line_separator;
  int64_t max_columns = 20480;
  UnescapedQuotes unescaped_quotes = UnescapedQuotes::kStopAtDelimiter;
  ParseMode mode = ParseMode::kPermissive;
  std::string corrupt_record_column = "_corrupt_record";
  TimeZone time_zone;
  std::optional<DateTimePattern> date_format;  ///< absent: as CAST reads
  std::optional<DateTimePattern> timestamp_format;
  std::optional<DateTimePattern> timestamp_ntz_format;
  bool prefer_date = true;
  double sampling_ratio = 1.0;

  // Writing.
  std::string write_empty_value = "\"\"";
  bool quote_all = false;
  bool escape_quotes = true;
  bool trim_leading_blanks = true;
  bool trim_trailing_blanks = true;
  DateTimePattern write_timestamp_format;
  DateTimePattern write_timestamp_ntz_format;
  DateTimePattern write_date_format;
  Compression compression = Compression::kNone;

  /// `session_zone` is spark.sql.session.timeZone. Errors: ILLEGAL_ARGUMENT, INVALID_OPTION_VALUE,
  /// INVALID_DELIMITER_VALUE.*, INVALID_DATETIME_PATTERN.*, UNSUPPORTED_FEATURE.THALWEG.
  static Result<CsvOptions> Make(const OptionList& options, const std::string& session_zone);

 private:
  CsvOptions(DateTimePattern timestamp, DateTimePattern timestamp_ntz, DateTimePattern date)
      : write_timestamp_format(std::move(timestamp)),
        write_timestamp_ntz_format(std::move(timestamp_ntz)),
        write_date_format(std::move(date)) {}
};

}  // namespace thalweg::data
